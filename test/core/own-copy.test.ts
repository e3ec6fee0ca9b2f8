import { expect, it } from "vitest";
import { ownBytes, ownCopy } from "../../servers/core/streams/own-copy.ts";

it("[BL-427] copies for keeping are in memory of about their length", () => {
  for (const length of [0, 1, 255, 256, 257, 5_000]) {
    const bytes = Buffer.from(Array.from({ length }, (_, index) => index));
    const copies = Array.from({ length: 20 }, () => ownCopy(bytes));
    for (const copy of copies) expect([copy.equals(bytes), copy.buffer.byteLength <= Math.max(1_024, length)]).toEqual([true, true]);
  }
});

it("[BL-427] what is most of its memory already is not copied", () => {
  const whole = Buffer.allocUnsafeSlow(1_000);
  expect(ownBytes(whole.subarray(100))).toHaveProperty("buffer", whole.buffer);
  expect(ownBytes(whole.subarray(600)).buffer).not.toBe(whole.buffer);
});
