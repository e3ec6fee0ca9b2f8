import { formatCount } from "../../ui/quantity.ts";
import type { EventPagesView } from "./event-pages.ts";

/** "1 to 50 of 12,480"; with a plus where the whole was not counted. */
export function pageWords({
  rows,
  skipped,
  matching,
  exact,
  sortedAmong,
}: Pick<EventPagesView, "rows" | "skipped" | "matching" | "exact" | "sortedAmong">): string {
  if (rows.length === 0) return exact ? "none" : "none so far";
  const last = skipped + rows.length;
  // Pages lead through what is sorted, and no further.
  if (sortedAmong !== undefined) return `${formatCount(skipped + 1)} to ${formatCount(last)} of ${formatCount(sortedAmong)}`;
  return `${formatCount(skipped + 1)} to ${formatCount(last)} of ${formatCount(Math.max(matching, last))}${exact ? "" : "+"}`;
}
