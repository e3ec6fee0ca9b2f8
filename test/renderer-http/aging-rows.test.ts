import { expect, it } from "vitest";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { noFilter, type TrafficFilter, trafficMatcher } from "../../renderer/src/list/filter/traffic-filter.ts";
import { createTrafficRows, type TrafficQuery, type TrafficRowsOptions } from "../../renderer/src/list/rows/traffic-rows.ts";

const row = (id: number, at: number, part: Partial<TrafficRow> = {}): TrafficRow => ({
  id,
  service: "http",
  at,
  kind: "http",
  verb: "GET",
  target: "/api/data",
  tone: "pending",
  outcome: "",
  bytesIn: 0,
  bytesOut: 0,
  client: "curl",
  peer: "127.0.0.1:5000",
  preview: "",
  ...part,
});

/** A list of which the clock is set, over a supervisor that keeps rows. */
async function listOf(text: string, filter: Partial<TrafficFilter> = {}, options: Partial<TrafficRowsOptions> = {}) {
  const clock = { now: 0 };
  const now = () => clock.now;
  const kept: TrafficRow[] = [];
  const asked: TrafficQuery[] = [];
  const rows = createTrafficRows({
    now,
    nextFrame: (run) => run(),
    filter: { ...noFilter, ...filter, text },
    match: async () => [],
    async read(query) {
      asked.push(query);
      const matching = kept.filter(trafficMatcher(query, now)).toReversed();
      return { rows: matching.slice(0, query.limit), matching: matching.length, kept: kept.length, total: kept.length, dropped: 0 };
    },
    ...options,
  });
  await rows.reload();
  return {
    rows,
    asked,
    arrive(...items: TrafficRow[]) {
      kept.push(...items);
      rows.receive(items, 0);
    },
    /** What the supervisor has and the list was not sent. */
    keep: (...items: TrafficRow[]) => kept.push(...items),
    async at(time: number) {
      clock.now = time;
      await rows.passed();
      return shown();
    },
    shown,
  };
  function shown() {
    return Array.from({ length: rows.view().count }, (_, index) => rows.rowAt(index)?.id).toReversed();
  }
}

it("[BL-562] an open row joins a list when it is open for as long as the filter says", async () => {
  const { arrive, at, shown, rows } = await listOf("took:>1m");
  arrive(row(1, 0), row(2, 30_000), row(3, 30_000, { tone: "ok", outcome: "200", tookMs: 5 }));
  expect(shown()).toEqual([]);
  expect(await at(60_000)).toEqual([]);
  expect(await at(61_000)).toEqual([1]);
  expect(rows.view()).toMatchObject({ matching: 1, kept: 3 });
  expect(await at(91_000)).toEqual([1, 2]);
  expect(await at(92_000)).toEqual([1, 2]);
  expect(rows.view()).toMatchObject({ matching: 2, kept: 3 });
  arrive(row(2, 30_000, { tone: "ok", outcome: "200", tookMs: 62_000 }));
  expect(shown()).toEqual([1, 2]);
});

it("[BL-562] it leaves a list when it is open for longer", async () => {
  const { arrive, at, rows } = await listOf("took:<1m");
  arrive(row(1, 0), row(2, 30_000));
  expect(await at(31_000)).toEqual([1, 2]);
  expect(await at(60_000)).toEqual([2]);
  expect(rows.view()).toMatchObject({ matching: 1, kept: 2 });
  expect(await at(90_000)).toEqual([]);
  expect(rows.view().matching).toBe(0);
});

it("[BL-562] a row of which the list was not told is counted once", async () => {
  const { keep, arrive, at, rows } = await listOf("took:>1m");
  keep(row(1, 0), row(2, 0));
  expect(await at(61_000)).toEqual([1, 2]);
  expect(rows.view()).toMatchObject({ matching: 2, kept: 2 });
  arrive(row(3, 61_000));
  expect(rows.view()).toMatchObject({ matching: 2, kept: 3 });
});

it("[BL-562] a list that is held keeps its rows and counts those that match by now", async () => {
  const { arrive, at, rows } = await listOf("took:>1m");
  arrive(row(1, 0), row(2, 10_000), row(3, 20_000, { tone: "ok", outcome: "200", tookMs: 70_000 }), row(4, 30_000));
  expect(await at(61_000)).toEqual([1, 3]);
  rows.pause();
  expect(await at(95_000)).toEqual([1, 3]);
  expect(rows.view().arrived).toBe(1);
  await at(96_000);
  expect(rows.view().arrived).toBe(1);
  rows.resume();
  expect(await at(97_000)).toEqual([1, 2, 3, 4]);
});

it.each([
  ["/api", {}],
  ["", {}],
  ["took:>", {}],
  ["took:>1m", { tone: "failed" }],
] as const)("[BL-562] with the filter %j %j nothing is asked again", async (text, filter) => {
  const { at, asked } = await listOf(text, filter);
  await at(61_000);
  expect(asked).toHaveLength(1);
});

it("[BL-562] open rows are asked for one after the other, and for the present filter", async () => {
  let answer = () => {};
  const kept = [row(1, 0)];
  const asked: string[] = [];
  const { rows, at } = await listOf(
    "took:>1s",
    {},
    {
      read: async ({ text, tone }) => {
        asked.push(`${tone} ${text}`);
        if (tone === "open") await new Promise<void>((resolve) => (answer = resolve));
        return { rows: tone === "open" ? kept : [], matching: 0, kept: 1, total: 1, dropped: 0 };
      },
    },
  );
  const first = at(2_000);
  await rows.passed();
  expect(asked).toEqual(["all took:>1s", "open took:>1s"]);
  await rows.setFilter({ ...noFilter, text: "took:>1m" });
  answer();
  expect(await first).toEqual([]);
});
