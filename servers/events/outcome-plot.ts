import { type AcceptanceBar, type EventFilter, type EventRange, eventOutcomes, type OutcomePlot } from "../../contract/events.ts";
import { eventTime } from "./completion-event.ts";
import { nextTurn } from "./jobs/event-jobs.ts";
import type { EventStore, PlotCounts } from "./store/event-store.ts";
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

/** More days than this are not drawn one by one anyway; a wrong clock must not make a million of them. */
const mostSteps = 4_000;
const catchUpMs = 150;

/** Outcomes over time and acceptance by language and provider, with every step of the range. */
export async function outcomePlot(store: EventStore, range: EventRange, filter: EventFilter, now: number): Promise<OutcomePlot> {
  const behind = filter.device_id ? 0 : await catchUp(store);
  const { step, stepMs, spanMs } = ranges[range];
  const end = Math.floor(now / stepMs) * stepMs;
  const start = Number.isFinite(spanMs) ? end - spanMs + stepMs : undefined;
  const counts = await store.plot({ step, since: start === undefined ? "" : eventTime(start).slice(0, stepLength[step]), filter });
  const at = stepTimes(counts, start, end, stepMs);
  const position = new Map(at.map((time, index) => [time, index]));
  const series = new Map<string, number[]>(eventOutcomes.map((outcome) => [outcome, at.map(() => 0)]));
  let total = 0;
  for (const { at: name, outcome, events } of counts.steps) {
    const index = position.get(stepTime(name));
    let values = series.get(outcome);
    if (!values) {
      values = at.map(() => 0);
      series.set(outcome, values);
    }
    if (index !== undefined) values[index] = (values[index] ?? 0) + events;
    total += events;
  }
  return {
    step,
    at,
    series: [...series].map(([outcome, values]) => ({ outcome, counts: values })),
    byLanguage: bars(counts.languages),
    byProvider: bars(counts.providers),
    total,
    accepted: counts.steps.reduce((sum, { outcome, events }) => sum + (outcome === "accepted" ? events : 0), 0),
    behind,
    ...(counts.sampled !== undefined && { sampled: counts.sampled }),
  };
}

async function catchUp(store: EventStore): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const left = await store.catchUpPlots();
    if (left === 0 || performance.now() - startedAt > catchUpMs) return left;
    await nextTurn();
  }
}

function stepTimes(counts: PlotCounts, start: number | undefined, end: number, stepMs: number): number[] {
  const times = counts.steps.map(({ at }) => stepTime(at)).filter((time) => !Number.isNaN(time));
  const last = times.reduce((latest, time) => Math.max(latest, time), start === undefined ? (times[0] ?? end) : end);
  const first = Math.max(start ?? times.reduce((earliest, time) => Math.min(earliest, time), last), last - (mostSteps - 1) * stepMs);
  return Array.from({ length: Math.floor((last - first) / stepMs) + 1 }, (_, index) => first + index * stepMs);
}

/** "2026-11-20", "…T23", "…T23:2" and "…T23:28" as milliseconds. */
const stepTime = (name: string) => Date.parse(`${name}${"0000-00-00T00:00:00Z".slice(name.length)}`.replace(/^(.{15})0:00Z?$/, "$10:00Z"));

function bars(counts: PlotCounts["languages"]): AcceptanceBar[] {
  const byName = new Map<string, { name: string; total: number; accepted: number }>();
  for (const { name, outcome, events } of counts) {
    const bar = byName.get(name) ?? { name, total: 0, accepted: 0 };
    bar.total += events;
    if (outcome === "accepted") bar.accepted += events;
    byName.set(name, bar);
  }
  return [...byName.values()].filter(({ total }) => total > 0).sort((left, right) => right.total - left.total);
}
