import type { EventFilter } from "../../../contract/services/events.ts";
import { eventTime } from "../completion-event.ts";

/** Milliseconds since the epoch, both included; open if absent. Events have whole seconds. */
export type TimeRange = Pick<EventFilter, "from" | "to">;

/** How long counts by the minute and by the hour are kept for the plots; those by the day stay. */
export const minutePlotMs = 48 * 3_600_000;
export const hourPlotMs = 62 * 86_400_000;
/** Instances that share a database may differ in their clocks. */
const clockMarginMs = 3_600_000;

const steps = [
  { step: "minute", ms: 60_000, length: 16, keptMs: minutePlotMs - clockMarginMs },
  { step: "hour", ms: 3_600_000, length: 13, keptMs: hourPlotMs - clockMarginMs },
  { step: "day", ms: 86_400_000, length: 10, keptMs: Number.POSITIVE_INFINITY },
] as const;

/** Whole steps from `since` to before `until`, as the plot rollups name them; open if `until` is absent. */
export interface StepSpan {
  readonly step: "minute" | "hour" | "day";
  readonly since: string;
  readonly until?: string;
}

/** Covers a time range with as few whole steps as possible, the finest at its ends, plus the edges that are not whole steps. */
export function coverTime(
  { from, to }: TimeRange,
  now: number,
): { readonly spans: readonly StepSpan[]; readonly edges: readonly TimeRange[] } {
  const end = to === undefined ? Number.POSITIVE_INFINITY : Math.floor(to / 1_000) * 1_000 + 1_000;
  const spans: StepSpan[] = [];
  const edges: TimeRange[] = [];
  const usable = (at: number) => steps.filter(({ keptMs }) => at >= now - keptMs);
  if (from === undefined) {
    const until = Number.isFinite(end) ? Math.floor(end / 86_400_000) * 86_400_000 : undefined;
    spans.push({ step: "day", since: "", ...(until !== undefined && { until: eventTime(until).slice(0, 10) }) });
    if (until === undefined) return { spans, edges };
    walk(until);
  } else walk(from);
  return { spans, edges };

  function walk(start: number): void {
    let at = start;
    const finest = (usable(at)[0] as (typeof steps)[number]).ms;
    const firstWhole = Math.ceil(at / finest) * finest;
    if (firstWhole >= end) {
      if (at < end) edges.push({ from: at, to: end - 1 });
      return;
    }
    if (at < firstWhole) edges.push({ from: at, to: firstWhole - 1 });
    at = firstWhole;
    while (at < end) {
      // The largest step that begins here and ends in time.
      const largest = usable(at).findLast(({ ms }) => at % ms === 0 && at + ms <= end);
      if (!largest) break;
      const { step, ms, length } = largest;
      const larger = steps.find((other) => other.ms > ms);
      // Up to the start of a larger step, or to the last whole step.
      const last = larger ? Math.min(Math.ceil((at + 1) / larger.ms) * larger.ms, Math.floor(end / ms) * ms) : Math.floor(end / ms) * ms;
      const name = (time: number) => eventTime(time).slice(0, length);
      if (!Number.isFinite(last)) {
        spans.push({ step, since: name(at) });
        return;
      }
      spans.push({ step, since: name(at), until: name(last) });
      at = last;
    }
    if (at < end) edges.push({ from: at, to: end - 1 });
  }
}
