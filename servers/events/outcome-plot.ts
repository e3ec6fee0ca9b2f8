import { setImmediate as nextTurn } from "node:timers/promises";
import { type AcceptanceBar, type EventFilter, type EventRange, eventOutcomes, type OutcomePlot } from "../../contract/services/events.ts";
import { eventTime } from "./completion-event.ts";
import { catchUpPlots } from "./count-matching.ts";
import type { EventStore, PlotCount, PlotStep } from "./store/event-store.ts";
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
  const plot = await plotOfRange(store, range, filter, now);
  if (range !== "all" || plot.total === 0 || plot.at.length >= fewDays || plot.sampled !== undefined) return plot;
  for (const finer of plot.at.length > daysInOne ? (["7d"] as const) : finerRanges) {
    const candidate = await plotOfRange(store, finer, filter, now);
    // More than all of them: some arrived in between.
    if (candidate.total >= plot.total && candidate.at.length < mostSteps) return candidate;
  }
  return plot;
}

async function plotOfRange(store: EventStore, range: EventRange, filter: EventFilter, now: number): Promise<OutcomePlot> {
  const { step, stepMs, spanMs } = ranges[range];
  const end = Math.floor(now / stepMs) * stepMs;
  const start = Number.isFinite(spanMs) ? end - spanMs + stepMs : undefined;
  const { counts, behind, sampled } = isPlotFilter(filter)
    ? await countFromTables(store, step, start, filter)
    : await countByScan(store, step, start, filter);
  const at = stepTimes(counts, start, end, stepMs);
  const position = new Map(at.map((time, index) => [time, index]));
  const series = new Map<string, number[]>(eventOutcomes.map((outcome) => [outcome, at.map(() => 0)]));
  const byLanguage = new Map<string, AcceptanceBar>();
  const byProvider = new Map<string, AcceptanceBar>();
  const all = new Map<string, AcceptanceBar>();
  for (const count of counts) {
    const { outcome, events } = count;
    const index = position.get(stepTime(count.at));
    let values = series.get(outcome);
    if (!values) {
      values = at.map(() => 0);
      series.set(outcome, values);
    }
    if (index !== undefined) values[index] = (values[index] ?? 0) + events;
    addTo(byLanguage, count.language, count);
    addTo(byProvider, count.provider, count);
    addTo(all, "", count);
  }
  const { total = 0, accepted = 0 } = all.get("") ?? {};
  return {
    step,
    at,
    series: [...series].map(([outcome, values]) => ({ outcome, counts: values })),
    byLanguage: largestFirst(byLanguage),
    byProvider: largestFirst(byProvider),
    total,
    accepted,
    behind,
    ...(sampled !== undefined && { sampled }),
  };
}

interface Counted {
  readonly counts: readonly PlotCount[];
  readonly behind: number;
  readonly sampled?: number;
}

async function countFromTables(store: EventStore, step: PlotStep, start: number | undefined, filter: EventFilter): Promise<Counted> {
  const behind = await catchUpPlots(store);
  const since = start === undefined ? "" : eventTime(start).slice(0, stepLength[step]);
  return { counts: await store.plot({ step, since, filter }), behind };
}

/** The newest first, as far as the time allows. */
async function countByScan(store: EventStore, step: PlotStep, start: number | undefined, filter: EventFilter): Promise<Counted> {
  const timed = start === undefined ? filter : { ...filter, from: Math.max(start, filter.from ?? start) };
  const startedAt = performance.now();
  const counts: PlotCount[] = [];
  let from: number | undefined;
  for (;;) {
    const part = await store.plotBetween(timed, step, { direction: "descending", from, limit: eventsAtOnce });
    for (const count of part.found) counts.push(count);
    from = part.reached;
    if (part.ended) return { counts, behind: 0 };
    if (performance.now() - startedAt > scanBudgetMs) {
      return { counts, behind: 0, sampled: counts.reduce((sum, { events }) => sum + events, 0) };
    }
    await nextTurn();
  }
}

function stepTimes(counts: readonly PlotCount[], start: number | undefined, end: number, stepMs: number): number[] {
  const times = counts.map(({ at }) => stepTime(at)).filter((time) => !Number.isNaN(time));
  const last = times.reduce((latest, time) => Math.max(latest, time), start === undefined ? (times[0] ?? end) : end);
  const first = Math.max(start ?? times.reduce((earliest, time) => Math.min(earliest, time), last), last - (mostSteps - 1) * stepMs);
  return Array.from({ length: Math.floor((last - first) / stepMs) + 1 }, (_, index) => first + index * stepMs);
}

/** "2026-11-20", "…T23", "…T23:2" and "…T23:28" as milliseconds. */
const stepTime = (name: string) => Date.parse(`${name}${"0000-00-00T00:00:00Z".slice(name.length)}`.replace(/^(.{15})0:00Z?$/, "$10:00Z"));

function addTo(bars: Map<string, AcceptanceBar>, name: string, { outcome, events }: PlotCount): void {
  const { total = 0, accepted = 0 } = bars.get(name) ?? {};
  bars.set(name, { name, total: total + events, accepted: accepted + (outcome === "accepted" ? events : 0) });
}

const largestFirst = (bars: ReadonlyMap<string, AcceptanceBar>): AcceptanceBar[] =>
  [...bars.values()].sort((left, right) => right.total - left.total);
