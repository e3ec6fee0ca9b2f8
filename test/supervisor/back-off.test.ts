import { expect, it } from "vitest";
import { createBackOff } from "../../servers/supervisor/back-off.ts";

it("[BL-9] waits 0.5, 1, 2 and 4 s; [BL-10] the fifth crash within a minute ends it", () => {
  const backOff = createBackOff(500, () => 0);
  expect([1, 2, 3, 4, 5].map(() => backOff.next())).toEqual([500, 1_000, 2_000, 4_000, undefined]);
});

it("[BL-11] counts the crashes of the last minute, and can be reset", () => {
  let time = 0;
  const backOff = createBackOff(500, () => time);
  const at = (seconds: number) => {
    time = seconds * 1_000;
    return backOff.next();
  };
  expect([0, 10, 20, 30].map(at)).toEqual([500, 1_000, 2_000, 4_000]);
  // The first has left the minute.
  expect([60, 61].map(at)).toEqual([4_000, undefined]);
  backOff.reset();
  expect(at(62)).toBe(500);
  expect(at(200)).toBe(500);
});
