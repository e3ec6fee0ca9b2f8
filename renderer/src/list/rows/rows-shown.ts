import { formatCount } from "../../ui/texts/quantity.ts";
import { isFiltering } from "../filter/traffic-filter.ts";
import type { TrafficRowsView } from "./traffic-rows.ts";

type Shown = Pick<TrafficRowsView, "filter" | "count" | "kept" | "matching" | "answered" | "failure" | "isFull" | "sort">;

/** Whether the source is still looking for the rows: so far nobody knows how many there are. */
export const isSearching = ({ answered, failure }: Pick<Shown, "answered" | "failure">): boolean => !answered && failure === undefined;

/** Whether there is no row to show: also with any other filter, where nothing is kept. */
export const isKnownEmpty = ({ loaded, answered, count, kept }: Pick<TrafficRowsView, "loaded" | "answered" | "count" | "kept">): boolean =>
  loaded && count === 0 && (answered || kept === 0);

/** Whether there are rows that meet the filter, or so far nobody knows. */
export const findsRows = ({ answered, matching, kept }: Pick<Shown, "answered" | "matching" | "kept">): boolean =>
  !answered || matching > 0 || kept === 0;

/** "showing 500 of 12,480 that match", "500 of 12,480 loaded", "searching 12,480 rows…"; empty while nothing is known. */
export function rowsShownText(view: Shown): string {
  const { count, kept, matching, answered } = view;
  if (!answered) return unansweredText(view);
  const filtered = isFiltering(view.filter);
  const whole = Math.max(filtered ? matching : kept, count);
  if (!filtered && !view.isFull && count < whole) return `${formatCount(count)} of ${formatCount(whole)} loaded`;
  return `showing ${view.isFull ? `the ${view.sort ? "first" : "newest"} ` : ""}${formatCount(count)} of ${formatCount(whole)}${filtered ? " that match" : ""}`;
}

function unansweredText(view: Shown): string {
  const found = view.count > 0 ? `showing ${formatCount(view.count)}` : "";
  if (!isSearching(view) || view.kept === 0) return found;
  return found ? `${found} so far, ${searchingText(view)}` : searchingText(view);
}

/** "searching 12,480 rows…" */
export const searchingText = ({ kept }: Pick<Shown, "kept">): string => `searching ${formatCount(kept)} ${kept === 1 ? "row" : "rows"}…`;
