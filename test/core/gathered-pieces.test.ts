import { expect, it } from "vitest";
import { GatheredPieces } from "../../servers/core/http/connections/gathered-pieces.ts";
import { BodyCapture } from "../../servers/core/http/record/body-capture.ts";
import type { RecordWriter } from "../../servers/core/traffic/record-writer.ts";

it("[HTTP-153] thousands of small pieces of a body take few buffers, in their order", () => {
  const pieces = new GatheredPieces();
  const expected: Buffer[] = [];
  for (let index = 0; index < 30_000; index++) {
    const piece = Buffer.alloc(index % 10_000 === 5_000 ? 3_000 : 1 + (index % 3), index);
    expected.push(piece);
    pieces.add(piece);
    if (index === 200) expect(Buffer.concat(pieces.all())).toEqual(Buffer.concat(expected));
  }
  expect(Buffer.concat(pieces.all())).toEqual(Buffer.concat(expected));
  expect(pieces.count).toBeLessThan(50);
  const single = Buffer.from("a");
  const one = new GatheredPieces();
  one.add(single);
  expect(one.first).toBe(single);
});

it("[HTTP-153] what is recorded of them is written once, also while more come", () => {
  const capture = new BodyCapture();
  const written: number[] = [];
  const record = { u8() {}, bytes: (part: Uint8Array) => void written.push(...part) } as unknown as RecordWriter;
  const expected = Array.from({ length: 3_000 }, (_, index) => index & 0xff);
  for (const [index, byte] of expected.entries()) {
    capture.add(Buffer.of(byte), undefined, 8_192);
    if (index % 1_000 === 10) capture.write(record, 1);
  }
  expect([...capture.kept()]).toEqual(expected);
  capture.write(record, 1);
  expect(written).toEqual(expected);
});
