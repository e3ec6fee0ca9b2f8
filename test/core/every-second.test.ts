import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { everySecond } from "../../servers/core/service/every-second.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("leaves out the first turn after the process was kept from running, and not the next one", () => {
  let stalledMs = 0;
  const times: number[] = [];
  const start = performance.now();
  const stop = everySecond(
    (nowMs) => void times.push(nowMs - start),
    () => performance.now() + stalledMs,
  );
  vi.advanceTimersByTime(2_000);
  stalledMs = 12_000;
  vi.advanceTimersByTime(2_000);
  expect(times).toEqual([1_000, 2_000, 16_000]);
  // One that is always late still gets its turns.
  for (let turn = 0; turn < 4; turn++) {
    stalledMs += 5_000;
    vi.advanceTimersByTime(1_000);
  }
  expect(times).toHaveLength(6);
  stop();
  vi.advanceTimersByTime(5_000);
  expect(times).toHaveLength(6);
});
