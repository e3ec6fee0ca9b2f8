import { describe, expect, it } from "vitest";
import type { OutcomePlot } from "../../contract/services/events.ts";
import { noFilter, type ShownFilter } from "../../renderer/src/services/events/event-filter.ts";
import { isDrawnEmpty, nothingCounted } from "../../renderer/src/services/events/plots/nothing-counted.ts";
import {
  barLabel,
  labelledBars,
  outcomeBars,
  shareText,
  stackedBars,
  stepWords,
} from "../../renderer/src/services/events/plots/outcome-bars.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const start = Date.UTC(2026, 10, 20, 0, 0);

function plotOf(
  steps: number,
  stepMs: number,
  counts: Readonly<Record<string, readonly number[]>>,
): Pick<OutcomePlot, "step" | "at" | "series"> {
  return {
    step: stepMs === dayMs ? "day" : "minute",
    at: Array.from({ length: steps }, (_, index) => start + index * stepMs),
    series: Object.entries(counts).map(([outcome, values]) => ({ outcome, counts: values })),
  };
}

describe("outcomes over time", () => {
  it("are stacked with the total first, so that each is drawn over the one that contains it", () => {
    const bars = outcomeBars(plotOf(2, minuteMs, { accepted: [3, 1], rejected: [1, 2], ignored: [0, 4] }), { outcome: "", trim: false });
    expect(stackedBars(bars)).toEqual([
      [0, 1],
      [4, 7],
      [4, 3],
      [3, 1],
    ]);
  });

  it("show only the chosen outcome, and an outcome of older files only if it occurs", () => {
    const plot = plotOf(2, minuteMs, { accepted: [3, 1], rejected: [0, 0], error: [0, 1], unused: [0, 0] });
    expect(outcomeBars(plot, { outcome: "", trim: false }).series.map(({ outcome }) => outcome)).toEqual(["accepted", "rejected", "error"]);
    expect(outcomeBars(plot, { outcome: "accepted", trim: false }).series.map(({ outcome }) => outcome)).toEqual(["accepted"]);
  });

  it("of many days are drawn several per bar, none lost", () => {
    const counts = Array.from({ length: 1_000 }, () => 2);
    const bars = outcomeBars(plotOf(1_000, dayMs, { accepted: counts }), { outcome: "", trim: true });
    expect([bars.merged, bars.at.length, bars.at[1]]).toEqual([6, 167, start + 6 * dayMs]);
    expect(bars.series[0]?.counts.reduce((sum, count) => sum + count, 0)).toBe(2_000);
    expect(stepWords(bars)).toBe("events in 6 days");
  });

  it("begin one step before the first event if all time is shown, else with the range", () => {
    const counts = Array.from({ length: 168 }, (_, index) => (index >= 100 ? 1 : 0));
    const plot = plotOf(168, minuteMs, { accepted: counts });
    expect(outcomeBars(plot, { outcome: "", trim: true }).at[0]).toBe(start + 99 * minuteMs);
    expect(outcomeBars(plot, { outcome: "", trim: false }).at.length).toBe(168);
    const late = plotOf(168, minuteMs, { accepted: counts.map((_, index) => (index === 167 ? 1 : 0)) });
    expect(outcomeBars(late, { outcome: "", trim: true }).at.length).toBe(24);
  });

  it("leave out a few very old events that would compress all others, and say how many", () => {
    const counts = Array.from({ length: 400 }, (_, index) => (index === 3 ? 2 : index >= 350 ? 100 : 0));
    const strays = plotOf(400, dayMs, { accepted: counts, rejected: counts });
    const bars = outcomeBars(strays, { outcome: "", trim: true });
    expect([bars.at[0], bars.at.length, bars.merged, bars.leftOut]).toEqual([start + 349 * dayMs, 51, 1, 4]);
    expect(outcomeBars(strays, { outcome: "rejected", trim: true }).leftOut).toBe(2);
    expect(outcomeBars(strays, { outcome: "", trim: false })).toMatchObject({ leftOut: 0, merged: 3 });
    const many = plotOf(400, dayMs, { accepted: counts.map((count, index) => (index === 3 ? 200 : count)) });
    expect(outcomeBars(many, { outcome: "", trim: true })).toMatchObject({ leftOut: 0, merged: 3 });
    const last = plotOf(60, dayMs, {
      accepted: counts.slice(0, 60).map((count, index) => (index === 40 ? 1 : index === 59 ? 1_000 : count)),
    });
    expect(outcomeBars(last, { outcome: "", trim: true })).toMatchObject({ leftOut: 2, at: { length: 24 } });
    const near = plotOf(60, dayMs, { accepted: counts.slice(340).map((count, index) => (index === 0 ? 1 : count)) });
    expect(outcomeBars(near, { outcome: "", trim: true })).toMatchObject({ leftOut: 0, at: { length: 60 } });
  });

  it.each([
    [{ step: "minute", merged: 1 }, "events a minute"],
    [{ step: "10 minutes", merged: 1 }, "events in 10 min"],
    [{ step: "10 minutes", merged: 2 }, "events in 20 min"],
    [{ step: "hour", merged: 1 }, "events an hour"],
    [{ step: "day", merged: 1 }, "events a day"],
  ] as const)("%j: %s", (bars, words) => {
    expect(stepWords(bars)).toBe(words);
  });

  it("are labelled at round times, no more of them than fit", () => {
    const at = Array.from({ length: 60 }, (_, index) => start + (index + 7) * minuteMs);
    const labels = labelledBars({ at, step: "minute" }, 5);
    expect(labels.length).toBeLessThanOrEqual(5);
    expect(labels.map((index) => new Date(at[index] ?? 0).getMinutes() % 15)).toEqual(labels.map(() => 0));
    const week = Array.from({ length: 168 }, (_, index) => new Date(2026, 10, 20, index + 7).getTime());
    const days = labelledBars({ at: week, step: "hour" }, 5).map((index) => new Date(week[index] ?? 0).getHours());
    expect([days.length > 2, new Set(days)]).toEqual([true, new Set([0])]);
    expect(labelledBars({ at: at.slice(0, 30), step: "day" }, 10)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
  });

  it("name days as the service counts them", () => {
    expect(barLabel(Date.UTC(2026, 10, 20), "day")).toBe("20 Nov");
  });
});

describe("acceptance", () => {
  it.each([
    [1, 2, "50 %"],
    [0, 3, "0 %"],
    [2, 3, "67 %"],
    [0, 0, "–"],
    [213, 214, "99.5 %"],
    [199, 200, "99.5 %"],
    [99_999, 100_000, "99.9 %"],
    [100_000, 100_000, "100 %"],
    [1, 100_000, "0.1 %"],
    [1, 214, "0.5 %"],
  ])("[EV-247] %d of %d is %s", (accepted, total, text) => {
    expect(shareText(accepted, total)).toBe(text);
  });
});

it("[EV-245] a plot without events says whether the filter or the period is the reason, and of all time draws no axis of one day", () => {
  const parts = ["text", "language"] as const;
  const said = (filter: Partial<ShownFilter>, sampled?: number) =>
    nothingCounted({ ...noFilter, ...filter }, parts, sampled === undefined ? {} : { sampled });
  expect(said({})).toBe("No events yet.");
  expect(said({ range: "1h", device: "other" })).toBe("No events in this period.");
  expect(said({ text: "xyzzy" })).toBe("No event matches the filter.");
  expect(said({ language: "go", range: "1h" })).toBe("No event in this period matches the filter.");
  expect(said({ text: "xyzzy" }, 50_000)).toBe("None of the events searched so far matches the filter.");
  const isDrawn = (filter: Partial<ShownFilter>) => isDrawnEmpty({ ...noFilter, ...filter }, parts);
  expect([isDrawn({}), isDrawn({ range: "1h" }), isDrawn({ text: "xyzzy" }), isDrawn({ range: "1h", text: "xyzzy" })]).toEqual([
    false,
    true,
    false,
    false,
  ]);
});
