import type { OutcomePlot } from "../../../../../contract/services/events.ts";
import type { ShownFilter } from "../event-filter.ts";

/** Parts of the filter that choose among the events of a plot. */
type Part = "text" | "device" | "outcome" | "language" | "provider";

const isChosenBy = (filter: ShownFilter, parts: readonly Part[]): boolean => parts.some((part) => filter[part].trim() !== "");

/** Why a plot that these parts of the filter are about has no events. */
export function nothingCounted(filter: ShownFilter, parts: readonly Part[], { sampled }: Pick<OutcomePlot, "sampled">): string {
  if (!isChosenBy(filter, parts)) return filter.range === "all" ? "No events yet." : "No events in this period.";
  if (sampled !== undefined) return "None of the events searched so far matches the filter.";
  return filter.range === "all" ? "No event matches the filter." : "No event in this period matches the filter.";
}

/** An empty period is drawn, as events may come; what nothing matches is not, and of all time there would be the time of one day. */
export const isDrawnEmpty = (filter: ShownFilter, parts: readonly Part[]): boolean => filter.range !== "all" && !isChosenBy(filter, parts);
