/** The plots, which every store must count alike; run against each database by `store.test.ts`. */
import { describe, expect, it } from "vitest";
import type { EventFilter } from "../../contract/services/events.ts";
import { catchUpPlots, countMatching } from "../../servers/events/count-matching.ts";
import { outcomePlot } from "../../servers/events/outcome-plot.ts";
import { StepBudget } from "../../servers/events/step-budget.ts";
import type { EventStore } from "../../servers/events/store/event-store.ts";
import { device } from "./harness.ts";
import { fill, manyEvents, matches, start, stored } from "./store-contract.ts";

const dayMs = 86_400_000;

export function plotContract(name: string, makeStore: () => Promise<EventStore>): void {
  describe(name, () => {
    it("[EV-197] an event of a time to come leaves the plots of the present as they are", async () => {
      const store = await makeStore();
      const now = start + 1_200 * 7_000;
      await fill(store, manyEvents(1_200));
      const seen = async () => {
        const plots = [];
        for (const range of ["15m", "1h", "24h", "7d"] as const) plots.push(await outcomePlot(store, range, {}, now));
        plots.push(await outcomePlot(store, "24h", { text: "go" }, now));
        return plots;
      };
      const before = await seen();
      const times = [Date.UTC(2037), Date.UTC(9999), now + 2 * dayMs];
      await store.add(times.map((at) => stored({ language: "go" }, at)));
      expect(await seen()).toEqual(before);
      const all = await outcomePlot(store, "all", {}, now);
      expect([all.step, all.total, all.at.at(-1)]).toEqual(["10 minutes", 1_203, Math.floor(now / 600_000) * 600_000]);
      expect(all.series.reduce((sum, { counts }) => sum + counts.reduce((one, count) => one + count, 0), 0)).toBe(1_200);
    });

    it("[EV-65] plots count every event once, by minute, ten minutes, hour and day, and by language and provider", async () => {
      const store = await makeStore();
      const events = manyEvents(1_200);
      await fill(store, events);
      const now = start + 1_199 * 7_000;
      for (const [range, spanMs, stepMs] of [
        ["15m", 15 * 60_000, 60_000],
        ["1h", 3_600_000, 60_000],
        ["24h", 86_400_000, 600_000],
        ["7d", 7 * 86_400_000, 3_600_000],
        // All of them are younger than a day.
        ["all", undefined, 600_000],
      ] as const) {
        const plot = await outcomePlot(store, range, {}, now);
        const end = Math.floor(now / stepMs) * stepMs;
        const since = spanMs === undefined ? 0 : end - spanMs + stepMs;
        const within = events.filter(({ created_at }) => Date.parse(created_at) >= since);
        expect([plot.total, plot.behind]).toEqual([within.length, 0]);
        for (const { outcome, counts } of plot.series) {
          expect(counts).toEqual(
            plot.at.map(
              (at) =>
                within.filter((event) => event.outcome === outcome && Math.floor(Date.parse(event.created_at) / stepMs) * stepMs === at)
                  .length,
            ),
          );
        }
        expect(plot.byProvider.reduce((sum, { total }) => sum + total, 0)).toBe(within.length);
      }
      const stepOf = async (passedMs: number) => (await outcomePlot(store, "all", {}, now + passedMs)).step;
      expect([await stepOf(-7_800_000), await stepOf(2 * dayMs), await stepOf(9 * dayMs)]).toEqual(["minute", "hour", "day"]);
      const go = await outcomePlot(store, "7d", { language: "go", outcome: "accepted" }, now);
      expect(go.total).toBe(events.filter(({ language, outcome }) => language === "go" && outcome === "accepted").length);
      // What the plot rollups do not distinguish: a device, a text.
      for (const filter of [
        { device_id: device(1) },
        { text: "RUS" },
        { text: "go", provider: "b", device_id: device(2) },
      ] as EventFilter[]) {
        for (const [range, sinceMs] of [
          ["15m", 14 * 60_000],
          ["7d", 7 * dayMs],
          ["all", start],
        ] as const) {
          const within = events.filter(
            (event) => matches(event, filter) && Date.parse(event.created_at) >= Math.floor(now / 60_000) * 60_000 - sinceMs,
          );
          const plot = await outcomePlot(store, range, filter, now);
          expect(plot.sampled).toBeUndefined();
          expect([plot.total, plot.accepted]).toEqual([within.length, within.filter(({ outcome }) => outcome === "accepted").length]);
          expect(plot.series.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0)).toBe(within.length);
          expect(plot.byLanguage.reduce((sum, { total }) => sum + total, 0)).toBe(within.length);
        }
      }
    });

    it("[EV-196] plots and counts are right where nearly each event names another language and provider, and show the 50 largest", async () => {
      const store = await makeStore();
      const names = 4_500;
      const many = manyEvents(names).map((event, index) => ({ ...event, language: `l${index}`, provider: `p${index}` }));
      const go = manyEvents(20).map((event) => ({ ...event, language: "go", provider: "p1" }));
      await fill(store, [...many, ...go]);
      // A plot counts what is new for a bounded time only.
      await catchUpPlots(store, { budget: new StepBudget(store, Number.POSITIVE_INFINITY) });
      const now = start + 10 * dayMs;
      const plot = await outcomePlot(store, "7d", {}, start + names * 7_000);
      const { series, byLanguage, byProvider, total } = plot;
      expect([total, plot.sampled]).toEqual([names + 20, undefined]);
      expect(series.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0)).toBe(names + 20);
      expect([byLanguage[0]?.name, byLanguage[0]?.total, byProvider[0]?.total]).toEqual(["go", 20, 21]);
      for (const bars of [byLanguage, byProvider]) {
        expect(bars.length).toBe(51);
        expect(bars.at(-1)).toMatchObject({ name: "", isRest: true });
        expect(bars.reduce((sum, bar) => sum + bar.total, 0)).toBe(names + 20);
      }
      const count = async (filter: EventFilter) => (await countMatching(store, filter)).matching;
      expect([await count({ provider: "p1" }), await count({ language: "l4000" }), await count({ language: "none" })]).toEqual([21, 1, 0]);
      expect(await count({ from: start, to: now })).toBe(names + 20);
    });
  });
}
