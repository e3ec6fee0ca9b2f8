import { z } from "zod";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import {
  hasOutcome,
  hasTarget,
  hasText,
  hasTone,
  rowFilterFields,
  searchNeedle,
  type ToneFilter,
} from "../../../contract/traffic/row-filter.ts";

export interface TrafficFilter {
  readonly text: string;
  readonly tone: ToneFilter;
  /** A target, or the start of targets that ends in "/"; empty for all. */
  readonly target: string;
  /** Empty for all. */
  readonly outcome: string;
}

export const trafficFilterSchema: z.ZodType<TrafficFilter> = z.object(rowFilterFields);

export const noFilter: TrafficFilter = { text: "", tone: "all", target: "", outcome: "" };

export const isFiltering = ({ text, tone, target, outcome }: TrafficFilter): boolean =>
  text.trim() !== "" || tone !== "all" || target !== "" || outcome !== "";

export const isSameFilter = (one: TrafficFilter, other: TrafficFilter): boolean =>
  one.text === other.text && one.tone === other.tone && one.target === other.target && one.outcome === other.outcome;

export function trafficMatcher({ text, tone, target, outcome }: TrafficFilter): (row: TrafficRow) => boolean {
  const needle = searchNeedle(text);
  return (row) =>
    hasTone(row.tone, tone) && hasTarget(row.target, target) && hasOutcome(row.outcome, outcome) && (needle === "" || hasText(row, needle));
}
