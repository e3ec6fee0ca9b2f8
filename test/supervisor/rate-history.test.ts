import { describe, expect, it } from "vitest";
import type { RateSample } from "../../contract/traffic/row.ts";
import { createRateHistory } from "../../servers/supervisor/rate-history.ts";
import { supervise } from "./supervise.ts";

const start = 1_700_000_000_000 - (1_700_000_000_000 % 60_000);
const sample = (at: number, itemsPerSecond: number, service: RateSample["service"] = "http"): RateSample => ({
  service,
  at,
  itemsPerSecond,
  bytesInPerSecond: 100,
  bytesOutPerSecond: 200,
  clients: 0,
  total: 0,
  dropped: 0,
  figures: [],
  note: "",
});

describe("rate history", () => {
  it("[BL-49] a steady rate is flat at every resolution, up to the last step", () => {
    let now = start;
    const history = createRateHistory(() => now);
    for (let second = 0; second < 7_300; second++) {
      now = start + second * 1_000 + 400;
      history.add(sample(now, 10));
    }
    for (const [seconds, points, step] of [
      [120, 120, 1],
      [3_600, 300, 12],
      [7_200, 240, 30],
      [7_200, 100, 90],
    ] as const) {
      const { stepSeconds, at, series } = history.read(seconds, points);
      const values = series[0]?.itemsPerSecond ?? [];
      expect({ seconds, stepSeconds, length: at.length, off: values.filter((value) => Math.abs(value - 10) > 1e-6) }).toEqual({
        seconds,
        stepSeconds: step,
        length: seconds / step,
        off: [],
      });
      expect((at.at(-1) ?? 0) + step * 1_000).toBeLessThanOrEqual(now);
      expect(series[0]?.bytesPerSecond[0]).toBeCloseTo(300);
    }
  });

  it("[BL-418] rates go on when the clock is set back, and the time that comes again is not counted twice", () => {
    let now = start;
    const history = createRateHistory(() => now);
    const run = (from: number) => {
      for (let second = 0; second < 120; second++) {
        now = start + from + second * 1_000 + 400;
        history.add(sample(now, 10));
      }
    };
    run(0);
    run(-60_000);
    const { series } = history.read(60, 60);
    expect(series[0]?.itemsPerSecond.filter((value) => Math.abs(value - 10) > 1e-6)).toEqual([]);
    run(-3_600_000);
    expect(history.read(60, 60).series[0]?.itemsPerSecond.filter((value) => Math.abs(value - 10) > 1e-6)).toEqual([]);
  });

  it("[BL-49] a late sample leaves no gap, an early one is not counted twice", () => {
    let now = start;
    const history = createRateHistory(() => now);
    for (const offset of [100, 1_100, 2_150, 3_000, 3_990, 5_020, 8_500, 9_500]) history.add(sample(start + offset, 10));
    now = start + 10_000;
    expect(history.read(10, 10).series[0]?.itemsPerSecond).toEqual(Array.from({ length: 10 }, () => 10));
  });

  it("[BL-49] a stopped service shows nothing afterwards, and services are separate", () => {
    let now = start;
    const history = createRateHistory(() => now);
    history.add(sample(start, 10));
    history.add(sample(start, 4, "mqtt"));
    history.add(sample(start + 1_000, 0));
    history.add(sample(start + 60_000, 10));
    now = start + 61_000;
    const { series } = history.read(61, 61);
    expect(series.map(({ service, itemsPerSecond }) => [service, itemsPerSecond.reduce((sum, value) => sum + value, 0)])).toEqual([
      ["http", 20],
      ["mqtt", 4],
    ]);
  });

  it("[BL-49] keeps an hour by second and a day by half minute", () => {
    let now = start;
    const history = createRateHistory(() => now);
    for (let second = 0; second < 100_000; second++) history.add(sample(start + second * 1_000, 1));
    now = start + 100_000_000;
    const whole = (seconds: number, points: number) =>
      history.read(seconds, points).series[0]?.itemsPerSecond.every((value) => Math.abs(value - 1) < 1e-6);
    expect([whole(3_600, 300), whole(86_400, 960), whole(86_400, 2)]).toEqual([true, true, true]);
  });
});

it("[BL-162] a service's counters have their units, as values or as rates", async () => {
  const { dashboard } = await supervise();
  const rates = dashboard.follow("rate");
  await dashboard.call("service.start", { id: "http" });
  await rates.until(({ service, figures }) => service === "http" && figures.length === 2);
  await dashboard.call("service.action", { id: "http", action: "flood", params: { rows: 100, logs: 0 } });
  const sample = await rates.until(({ itemsPerSecond }) => itemsPerSecond > 0);
  expect(sample.figures).toEqual([
    { label: "made", unit: "part/s", value: expect.closeTo(10 * sample.itemsPerSecond, 5) },
    { label: "rows in all", unit: "", value: 100 },
  ]);
});
