import { eventOutcomes, type OutcomePlot } from "../../../../../contract/services/events.ts";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { clockMinutes, dayAndMonth, utcDayAndMonth } from "../../../ui/texts/time.ts";
import type { Tokens } from "../../../ui/theme-tokens.ts";

/** Outcomes over time, ready to draw: at most `mostBars`, without the empty steps before the first event. */
export interface OutcomeBars {
  /** Start of each bar in milliseconds. */
  readonly at: readonly number[];
  readonly step: OutcomePlot["step"];
  /** Steps of the service that one bar holds. */
  readonly merged: number;
  readonly series: readonly { readonly outcome: string; readonly counts: readonly number[] }[];
  /** Events before the first bar. */
  readonly leftOut: number;
}

const mostBars = 180;
/** Empty steps before the first event are cut down to as many bars as this in all. */
const fewestBars = 24;
/** At most this share of the events, long before all others, is left out. */
const strayShare = 0.005;

export function outcomeBars(
  plot: Pick<OutcomePlot, "step" | "at" | "series">,
  options: { readonly outcome: string; readonly trim: boolean },
): OutcomeBars {
  const wanted = plot.series.filter(
    ({ outcome, counts }) =>
      (options.outcome === "" || outcome === options.outcome) && (isKnown(outcome) || counts.some((count) => count > 0)),
  );
  const totals = plot.at.map((_, index) => wanted.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0));
  const from = options.trim ? Math.max(0, Math.min(firstDrawn(totals) - 1, plot.at.length - fewestBars)) : 0;
  const merged = Math.max(1, Math.ceil((plot.at.length - from) / mostBars));
  const bars = Math.ceil((plot.at.length - from) / merged);
  const sum = (counts: readonly number[], bar: number) => {
    let total = 0;
    for (let index = from + bar * merged; index < from + (bar + 1) * merged; index++) total += counts[index] ?? 0;
    return total;
  };
  return {
    at: Array.from({ length: bars }, (_, bar) => plot.at[from + bar * merged] ?? 0),
    step: plot.step,
    merged,
    series: wanted.map(({ outcome, counts }) => ({ outcome, counts: Array.from({ length: bars }, (_, bar) => sum(counts, bar)) })),
    leftOut: totals.slice(0, from).reduce((sum, count) => sum + count, 0),
  };
}

/** The step of the first event; if a few outliers would take more than half of the width, that of the first event after them. */
function firstDrawn(totals: readonly number[]): number {
  const all = totals.reduce((sum, count) => sum + count, 0);
  const first = Math.max(
    0,
    totals.findIndex((count) => count > 0),
  );
  let next = first;
  for (let strays = 0; next < totals.length; next++) {
    strays += totals[next] ?? 0;
    if (strays > strayShare * all) break;
  }
  return Math.max(fewestBars, totals.length - next) < (totals.length - first) / 2 ? next : first;
}

const isKnown = (outcome: string) => eventOutcomes.some((known) => known === outcome);

/** Bar numbers, then each series stacked on those before it, the total first: each is drawn over the one that contains it. */
export function stackedBars({ at, series }: OutcomeBars): number[][] {
  const sums: number[][] = [];
  for (const { counts } of series) sums.push(counts.map((count, index) => count + (sums.at(-1)?.[index] ?? 0)));
  return [at.map((_, index) => index), ...sums.reverse()];
}

const colorTokens: Readonly<Record<string, keyof Tokens>> = { accepted: "--bl-s2", rejected: "--bl-s7", ignored: "--bl-s3" };
export const outcomeToken = (outcome: string): keyof Tokens => colorTokens[outcome] ?? "--bl-s5";

/** "events a minute", "events in 20 min", "events in 3 days" */
export function stepWords({ step, merged }: Pick<OutcomeBars, "step" | "merged">): string {
  const [size, unit] = step === "10 minutes" ? [10 * merged, "minute"] : [merged, step];
  if (size === 1) return `events ${unit === "hour" ? "an" : "a"} ${unit}`;
  return unit === "minute" ? `events in ${size} min` : `events in ${formatCountOf(size, unit)}`;
}

/** Start of a bar: the clock for minutes, day and clock for hours, the day for days, which the service counts in UTC. */
export function barLabel(at: number, step: OutcomePlot["step"]): string {
  const date = new Date(at);
  switch (step) {
    case "minute":
    case "10 minutes":
      return clockMinutes(at);
    case "hour":
      return `${dayAndMonth(date)} ${clockMinutes(at)}`;
    case "day":
      return utcDayAndMonth(date);
    default:
      return step satisfies never;
  }
}

const minuteMs = 60_000;
const niceMs = [1, 5, 10, 15, 30, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60, 48 * 60, 96 * 60].map((minutes) => minutes * minuteMs);

/** The bars with a label: those at round times, at most `most`. */
export function labelledBars({ at, step }: Pick<OutcomeBars, "at" | "step">, most: number): number[] {
  if (step === "day") {
    const every = Math.max(1, Math.ceil(at.length / most));
    return at.flatMap((_, index) => (index % every === 0 ? [index] : []));
  }
  for (const every of niceMs) {
    const round = at.flatMap((time, index) => ((time - new Date(time).getTimezoneOffset() * minuteMs) % every === 0 ? [index] : []));
    if (round.length <= most && round.length > 0) return round;
  }
  const every = Math.ceil(at.length / most);
  return at.flatMap((_, index) => (index % every === 0 ? [index] : []));
}

/** "46 %"; "99.9 %" and "0.1 %" where it is nearly all or nothing, which only all and none are; a dash if nothing was counted. */
export function shareText(accepted: number, total: number): string {
  if (total === 0) return "–";
  const percent = (accepted / total) * 100;
  if (percent >= 99.5 && percent < 100) return `${(Math.floor(percent * 10) / 10).toFixed(1)} %`;
  if (percent > 0 && percent < 0.5) return `${(Math.ceil(percent * 10) / 10).toFixed(1)} %`;
  return `${Math.round(percent)} %`;
}
