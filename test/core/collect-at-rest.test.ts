import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { collectAtRest } from "../../servers/core/service/collect-at-rest.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("[BL-110] a process that is idle after a second of work or more collects its garbage, once, and not again for a minute", () => {
  let active = 0;
  let collections = 0;
  const end = collectAtRest({ collect: () => collections++, activeMs: () => active, everyMs: 10_000 });
  const spend = (ms: number) => {
    active += ms;
    vi.advanceTimersByTime(10_000);
    return collections;
  };
  expect(spend(10), "rests from the start").toBe(0);
  expect(spend(600), "works").toBe(0);
  expect(spend(10), "has not worked enough").toBe(0);
  expect(spend(600), "works on").toBe(0);
  expect(spend(10), "rests").toBe(1);
  expect(spend(10), "rests on").toBe(1);
  expect(spend(900), "works").toBe(1);
  expect(spend(900), "works").toBe(1);
  for (let seconds = 40; seconds < 60; seconds += 10) expect(spend(20), `rests, ${seconds} s after the first collection`).toBe(1);
  expect(spend(20), "a minute is over").toBe(2);
  for (const _ of Array.from({ length: 12 })) expect(spend(200), "has little to do, for a client that asks often").toBe(2);
  expect(spend(20), "rests").toBe(3);
  end();
  expect(vi.getTimerCount()).toBe(0);
});
