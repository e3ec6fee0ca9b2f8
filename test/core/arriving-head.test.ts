import { expect, it } from "vitest";
import { ArrivingHead } from "../../servers/core/http/connections/arriving-head.ts";
import type { ClientError } from "../../servers/core/http/connections/parsed-socket.ts";

it("[HTTP-267] a head that comes byte by byte is gathered in one piece of memory, which is counted", () => {
  let held = 0;
  const head = new ArrivingHead((bytes) => {
    held += bytes;
  });
  const text = `GET / HTTP/1.1\r\nX: ${"x".repeat(3_000)}`;
  for (const byte of Buffer.from(text)) {
    // As Node reads it: of each packet it makes a buffer.
    const piece = Buffer.from([byte]);
    head.parsed(piece, undefined);
    // The first one may be kept as it is.
    if (head.size > 1) piece.fill(0);
  }
  const error: ClientError = Object.assign(new Error(), { rawPacket: Buffer.from("\0"), bytesParsed: 0 });
  head.complete(error);
  expect(error.rawPacket?.toString()).toBe(`${text}\0`);
  expect(error.bytesParsed).toBe(text.length);
  expect(held).toBeGreaterThanOrEqual(text.length);
  expect(held).toBeLessThan(3 * text.length);
  head.ended();
  head.parsed(Buffer.from("\r\n\r\n"), undefined);
  expect([held, head.size]).toEqual([0, 0]);
});

it("[HTTP-267] the beginning of a head at the end of a large piece keeps that piece no longer", () => {
  let held = 0;
  const head = new ArrivingHead((bytes) => {
    held += bytes;
  });
  const piece = Buffer.alloc(64 << 10, "G");
  head.parsed(piece.subarray(-1), undefined);
  piece.fill(0);
  const error: ClientError = Object.assign(new Error(), { rawPacket: Buffer.from("\0"), bytesParsed: 0 });
  head.complete(error);
  expect([error.rawPacket?.toString(), held]).toEqual(["G\0", 1]);
});
