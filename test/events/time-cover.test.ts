import { expect, it } from "vitest";
import { coverTime, hourPlotMs, minutePlotMs } from "../../servers/events/store/time-cover.ts";
import { seededRandom } from "../support/seeded-random.ts";

const now = Date.UTC(2026, 10, 20, 13, 30, 31);
const lengths = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const timeOf = (name: string) => Date.parse(`${name}${"0000-00-00T00:00:00Z".slice(name.length)}`);

it("[EV-66] a time range is covered once, by whole rollup steps, and by seconds at its ends", () => {
  const random = seededRandom(3);
  for (let round = 0; round < 3_000; round++) {
    const age = [400 * 86_400_000, hourPlotMs, minutePlotMs, 3_600_000][round % 4] as number;
    const from = Math.floor((now - random.below(age)) / 1_000) * 1_000;
    const to = from + random.below(now - from + 1);
    const { spans, edges } = coverTime({ from, to }, now);
    const end = Math.floor(to / 1_000) * 1_000 + 1_000;
    const parts = [
      ...spans.map(({ step, since, until = "" }) => {
        const [first, last] = [timeOf(since), timeOf(until)];
        expect([(last - first) % lengths[step], first % lengths[step]]).toEqual([0, 0]);
        const keptMs = { minute: minutePlotMs, hour: hourPlotMs, day: Number.POSITIVE_INFINITY }[step];
        expect(first).toBeGreaterThan(now - keptMs);
        return [first, last] as const;
      }),
      ...edges.map((edge) => [edge.from ?? 0, (edge.to ?? 0) + 1] as const),
    ].sort(([one], [other]) => one - other);
    expect(parts[0]?.[0]).toBe(from);
    expect(parts.at(-1)?.[1]).toBe(end);
    for (let index = 1; index < parts.length; index++) expect(parts[index]?.[0]).toBe(parts[index - 1]?.[1]);
    expect([spans.length <= 5, edges.length <= 2]).toEqual([true, true]);
  }
});

it("[EV-66] an open end needs no scan, and data kept by day only needs a scan of one day at most", () => {
  expect(coverTime({}, now)).toEqual({ spans: [{ step: "day", since: "" }], edges: [] });
  expect(coverTime({ from: Date.UTC(2026, 10, 20, 12, 45, 10) }, now)).toEqual({
    spans: [
      { step: "minute", since: "2026-11-20T12:46", until: "2026-11-20T13:00" },
      { step: "hour", since: "2026-11-20T13", until: "2026-11-21T00" },
      { step: "day", since: "2026-11-21" },
    ],
    edges: [{ from: Date.UTC(2026, 10, 20, 12, 45, 10), to: Date.UTC(2026, 10, 20, 12, 46) - 1 }],
  });
  const { spans, edges } = coverTime({ from: Date.UTC(2026, 0, 5, 6) }, now);
  expect(spans).toEqual([{ step: "day", since: "2026-01-06" }]);
  expect(edges).toEqual([{ from: Date.UTC(2026, 0, 5, 6), to: Date.UTC(2026, 0, 6) - 1 }]);
});
