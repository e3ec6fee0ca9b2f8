import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createMetricsHistory, type MetricCounts } from "../../servers/grpc/observe/metrics-history.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000 }));
afterEach(() => void vi.useRealTimers());

const counts = (part: Partial<MetricCounts>): MetricCounts => ({
  calls: 0,
  errors: 0,
  open: 0,
  received: 0,
  sent: 0,
  bytesIn: 0,
  bytesOut: 0,
  ...part,
});

it("[GRPC-144] counts become rates of each second, with percentiles of the calls that ended in it", () => {
  const history = createMetricsHistory();
  history.sample(counts({}), Date.now() - 3_000);
  for (let ms = 1; ms <= 100; ms++) history.addLatency(ms);
  history.sample(counts({ calls: 100, errors: 5, open: 3, received: 100, sent: 200, bytesIn: 1_000, bytesOut: 2_000 }), Date.now() - 2_000);
  history.sample(counts({ calls: 110, errors: 5, received: 110, sent: 210, bytesIn: 1_000, bytesOut: 2_000 }), Date.now() - 1_000);
  const metrics = history.read({ seconds: 300, points: 300 });
  expect(metrics).toEqual({
    stepSeconds: 1,
    at: [999_998, 999_999],
    calls: [100, 10],
    errors: [5, 0],
    open: [3, 0],
    received: [100, 10],
    sent: [200, 10],
    bytesIn: [1_000, 0],
    bytesOut: [2_000, 0],
    p50: [51, null],
    p95: [96, null],
  });
});

it("[GRPC-144] a longer time has steps with means, and the highest of open calls and latencies; an hour is kept", () => {
  const history = createMetricsHistory();
  const start = Date.now() - 8_000_000;
  for (let second = 0; second <= 8_000; second++) {
    if (second % 12 === 1) history.addLatency(second % 7 === 0 ? 9 : 2);
    history.sample(counts({ calls: second * 4, open: second % 12 }), start + second * 1_000);
  }
  const metrics = history.read({ seconds: 3_600, points: 300 });
  expect(metrics.stepSeconds).toBe(12);
  expect(metrics.at.length).toBeGreaterThanOrEqual(299);
  expect(metrics.at.length).toBeLessThanOrEqual(301);
  expect(new Set(metrics.calls)).toEqual(new Set([4]));
  expect(metrics.open.slice(1, -1).every((open) => open >= 10)).toBe(true);
  expect(metrics.p95.some((value) => value === 9)).toBe(true);
});
