import { z } from "zod";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import {
  hasKind,
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
  /** A kind of detail; empty for all. */
  readonly ofKind: string;
}

export const trafficFilterSchema: z.ZodType<TrafficFilter> = z.object(rowFilterFields);

export const noFilter: TrafficFilter = { text: "", tone: "all", target: "", outcome: "", ofKind: "" };

export const isFiltering = ({ text, tone, target, outcome, ofKind }: TrafficFilter): boolean =>
  text.trim() !== "" || tone !== "all" || target !== "" || outcome !== "" || ofKind !== "";

export const isSameFilter = (one: TrafficFilter, other: TrafficFilter): boolean =>
  one.text === other.text &&
  one.tone === other.tone &&
  one.target === other.target &&
  one.outcome === other.outcome &&
  one.ofKind === other.ofKind;

export function trafficMatcher({ text, tone, target, outcome, ofKind }: TrafficFilter): (row: TrafficRow) => boolean {
  const needle = searchNeedle(text);
  return (row) =>
    hasTone(row.tone, tone) &&
    hasKind(row.kind, ofKind) &&
    hasTarget(row.target, target) &&
    hasOutcome(row.outcome, outcome) &&
    (needle === "" || hasText(row, needle));
}
