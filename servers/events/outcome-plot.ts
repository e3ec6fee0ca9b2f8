import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFilter, EventRange, OutcomePlot } from "../../contract/services/events.ts";
import { eventTime } from "./completion-event.ts";
import { catchUpPlots } from "./count-matching.ts";
import { PlotSums } from "./plot-sums.ts";
import { StepBudget } from "./step-budget.ts";
import type { EventStore, PlotCount, PlotKey, PlotSlice, PlotStep } from "./store/event-store.ts";
import { isPlotFilter } from "./store/filter-sql.ts";
import { stepLength } from "./store/sqlite-plots.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

const ranges = {
  "15m": { step: "minute", stepMs: minuteMs, spanMs: 15 * minuteMs },
  "1h": { step: "minute", stepMs: minuteMs, spanMs: 60 * minuteMs },
  "24h": { step: "10 minutes", stepMs: 10 * minuteMs, spanMs: dayMs },
  "7d": { step: "hour", stepMs: 60 * minuteMs, spanMs: 7 * dayMs },
  all: { step: "day", stepMs: dayMs, spanMs: Number.POSITIVE_INFINITY },
} as const satisfies Record<EventRange, unknown>;

/** Most days in a plot: an event with a wrong clock must not create a million of them. */
const mostSteps = 4_000;
/** Time allowed for a scan where the plot rollups cannot answer; the plot shows what was counted until then. */
const scanBudgetMs = 400;
/** Likewise where the rollups have a row for nearly each event, since each names another language. */
const tablesBudgetMs = 2_000;
const eventsAtOnce = 20_000;

/** Up to this number of days a finer step is used. */
const fewDays = 7;
const finerRanges = ["1h", "24h", "7d"] as const satisfies readonly EventRange[];
/** Events on more days than this cannot all lie within 24 hours. */
const daysInOne = 2;

/**
 * Outcomes over time and acceptance by language and provider, with every step of the range. The range "all" uses the steps
 * of a shorter range if the store's events fit into it.
 */
export async function outcomePlot(store: EventStore, range: EventRange, filter: EventFilter, now: number): Promise<OutcomePlot> {
  const withLater = range === "all";
  const plot = await plotOfRange(store, range, filter, now, withLater);
  if (range !== "all" || plot.total === 0 || plot.at.length >= fewDays || plot.sampled !== undefined) return plot;
  for (const finer of plot.at.length > daysInOne ? (["7d"] as const) : finerRanges) {
    const candidate = await plotOfRange(store, finer, filter, now, withLater);
    // More than all of them: some arrived in between.
    if (candidate.total >= plot.total && candidate.at.length < mostSteps) return candidate;
  }
  return plot;
}

/** Events that are later than now, by a wrong clock or an import, are in no range that ends now. */
async function plotOfRange(
  store: EventStore,
  range: EventRange,
  filter: EventFilter,
  now: number,
  withLater: boolean,
): Promise<OutcomePlot> {
  const { step, stepMs, spanMs } = ranges[range];
  const end = Math.floor(now / stepMs) * stepMs;
  const start = Number.isFinite(spanMs) ? end - spanMs + stepMs : undefined;
  const sums = new PlotSums(withLater ? undefined : eventTime(end).slice(0, stepLength[step]));
  const asked = { step, start, filter };
  const { behind, sampled } = isPlotFilter(filter) ? await countFromTables(store, sums, asked) : await countByScan(store, sums, asked);
  const steps = [...sums.steps].map(([name, counts]) => ({ time: stepTime(name), counts })).filter(({ time }) => !Number.isNaN(time));
  const at = stepTimes(
    steps.map(({ time }) => time),
    start,
    end,
    stepMs,
  );
  const position = new Map(at.map((time, index) => [time, index]));
  const series = new Map([...sums.outcomes].map((outcome) => [outcome, at.map(() => 0)]));
  for (const { time, counts } of steps) {
    const index = position.get(time);
    if (index === undefined) continue;
    for (const [outcome, events] of counts) {
      const values = series.get(outcome);
      if (values) values[index] = (values[index] ?? 0) + events;
    }
  }
  return {
    step,
    at,
    series: [...series].map(([outcome, counts]) => ({ outcome, counts })),
    byLanguage: sums.languages.bars(),
    byProvider: sums.providers.bars(),
    total: sums.total,
    accepted: sums.accepted,
    behind,
    ...(sampled !== undefined && { sampled }),
  };
}

/** What is counted: from `start`, in milliseconds, or from the beginning. */
interface Asked {
  readonly step: PlotStep;
  readonly start: number | undefined;
  readonly filter: EventFilter;
}

interface Counted {
  readonly behind: number;
  readonly sampled?: number;
}

/** The newest steps first, as far as the time allows. */
async function countFromTables(store: EventStore, sums: PlotSums, { step, start, filter }: Asked): Promise<Counted> {
  const behind = await catchUpPlots(store);
  const since = start === undefined ? "" : eventTime(start).slice(0, stepLength[step]);
  const budget = new StepBudget(store, tablesBudgetMs);
  let below: PlotKey | undefined;
  do {
    const query = { step, since, filter, below };
    const slice: PlotSlice<PlotCount[]> = await budget.take(() => store.plot(query));
    for (const count of slice.found) sums.add(count);
    below = slice.edge;
    if (below && budget.isSpent()) return { behind, sampled: sums.total };
    if (below) await nextTurn();
  } while (below);
  return { behind };
}

/** The newest events first, as far as the time allows. */
async function countByScan(store: EventStore, sums: PlotSums, { step, start, filter }: Asked): Promise<Counted> {
  const timed = start === undefined ? filter : { ...filter, from: Math.max(start, filter.from ?? start) };
  const budget = new StepBudget(store, scanBudgetMs);
  let from: number | undefined;
  for (;;) {
    const range = { direction: "descending", from, limit: eventsAtOnce } as const;
    const part = await budget.take(() => store.plotBetween(timed, step, range));
    for (const count of part.found) sums.add(count);
    from = part.reached;
    if (part.ended) return { behind: 0 };
    if (budget.isSpent()) return { behind: 0, sampled: sums.total };
    await nextTurn();
  }
}

function stepTimes(times: readonly number[], start: number | undefined, end: number, stepMs: number): number[] {
  const latest = times.reduce((one, time) => Math.max(one, time), start === undefined ? (times[0] ?? end) : end);
  const earliest = start ?? times.reduce((one, time) => Math.min(one, time), latest);
  const longestMs = (mostSteps - 1) * stepMs;
  // Where they do not fit, the present is shown.
  const last = latest - earliest > longestMs && earliest <= end ? Math.min(latest, end) : latest;
  const first = Math.max(earliest, last - longestMs);
  return Array.from({ length: Math.floor((last - first) / stepMs) + 1 }, (_, index) => first + index * stepMs);
}

/** "2026-11-20", "…T23", "…T23:2" and "…T23:28" as milliseconds. */
const stepTime = (name: string) => Date.parse(`${name}${"0000-00-00T00:00:00Z".slice(name.length)}`.replace(/^(.{15})0:00Z?$/, "$10:00Z"));
