import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { collectAtRest } from "../../servers/core/service/collect-at-rest.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("[BL-110] a process that is idle after a second of work or more collects its garbage, once", () => {
  let active = 0;
  let collections = 0;
  const end = collectAtRest({ collect: () => collections++, activeMs: () => active, everyMs: 1_000 });
  const spend = (ms: number) => {
    active += ms;
    vi.advanceTimersByTime(1_000);
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
  expect(spend(20), "rests").toBe(2);
  end();
  expect(vi.getTimerCount()).toBe(0);
});
