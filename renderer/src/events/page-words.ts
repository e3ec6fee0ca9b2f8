import { formatCount } from "../format/quantity.ts";
import type { EventPagesView } from "./event-pages.ts";

/** "1 to 50 of 12,480"; with a plus where the whole was not counted. */
export function pageWords({ rows, skipped, matching, exact }: Pick<EventPagesView, "rows" | "skipped" | "matching" | "exact">): string {
  if (rows.length === 0) return exact ? "none" : "none so far";
  const last = skipped + rows.length;
  return `${formatCount(skipped + 1)} to ${formatCount(last)} of ${formatCount(Math.max(matching, last))}${exact ? "" : "+"}`;
}
