import { z } from "zod";
import { isSampleClient } from "../../../../contract/client-mark.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import {
  hasKind,
  hasOutcome,
  hasTarget,
  hasText,
  hasTone,
  rowFilterFields,
  type ToneFilter,
} from "../../../../contract/traffic/row-filter.ts";
import { comparesTime, meetsTerms, parseRowQuery } from "../../../../contract/traffic/row-query.ts";

export interface TrafficFilter {
  readonly text: string;
  /** The text is searched in details too: the supervisor decides for the rows of which it is not among the texts. */
  readonly inDetails: boolean;
  readonly tone: ToneFilter;
  /** A target, or the start of targets that ends in "/"; empty for all. */
  readonly target: string;
  /** Empty for all. */
  readonly outcome: string;
  /** A kind of detail; empty for all. */
  readonly ofKind: string;
  readonly withoutSample: boolean;
}

export const trafficFilterSchema: z.ZodType<TrafficFilter> = z.object(rowFilterFields);

export const noFilter: TrafficFilter = {
  text: "",
  inDetails: false,
  tone: "all",
  target: "",
  outcome: "",
  ofKind: "",
  withoutSample: false,
};

export const isFiltering = ({ text, tone, target, outcome, ofKind, withoutSample }: TrafficFilter): boolean =>
  text.trim() !== "" || tone !== "all" || target !== "" || outcome !== "" || ofKind !== "" || withoutSample;

export const isSameFilter = (one: TrafficFilter, other: TrafficFilter): boolean =>
  one.text === other.text &&
  one.inDetails === other.inDetails &&
  one.tone === other.tone &&
  one.target === other.target &&
  one.outcome === other.outcome &&
  one.ofKind === other.ofKind &&
  one.withoutSample === other.withoutSample;

/** Whether only the supervisor can decide for some rows. */
export const searchesDetails = ({ text, inDetails }: TrafficFilter): boolean => inDetails && parseRowQuery(text).needle !== "";

/** Whether it depends on the time which open rows meet it. */
export const filtersByTime = ({ text, tone }: TrafficFilter): boolean => hasTone("pending", tone) && comparesTime(parseRowQuery(text));

/** Decides by the texts of rows. */
export function trafficMatcher(
  { text, tone, target, outcome, ofKind, withoutSample }: TrafficFilter,
  now: () => number = Date.now,
): (row: TrafficRow) => boolean {
  const { needle, terms } = parseRowQuery(text);
  return (row) =>
    hasTone(row.tone, tone) &&
    hasKind(row.kind, ofKind) &&
    hasTarget(row.target, target) &&
    hasOutcome(row.outcome, outcome) &&
    !(withoutSample && isSampleClient(row.client)) &&
    meetsTerms(row, terms, now()) &&
    (needle === "" || hasText(row, needle));
}
