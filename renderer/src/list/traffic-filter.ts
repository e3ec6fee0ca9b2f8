import { z } from "zod";
import { isSampleClient } from "../../../contract/client-mark.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import {
  hasKind,
  hasOutcome,
  hasTarget,
  hasText,
  hasTone,
  rowFilterFields,
  type ToneFilter,
} from "../../../contract/traffic/row-filter.ts";
import {
  meetsTerms,
  namedFields,
  parseRowQuery,
  type TermField,
  termsOfSeveral,
  unknownFields,
} from "../../../contract/traffic/row-query.ts";

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

const termExamples: Readonly<Record<TermField, string>> = {
  status: "status:4xx",
  method: "method:POST",
  path: "path:/api",
  client: "client:curl",
  user: "user:anna",
  reason: "reason:token",
};

/** For the field of `text`. `fields` are those that the rows of a list have. */
export const filterHint = (fields: readonly TermField[]): string =>
  `Several words are searched as one text, in this order. Also ${fields.map((field) => termExamples[field]).join(" ")}, of which rows meet all; a - before one leaves those rows out`;

/**
 * Names the fields of a filter's text that there are not, or that the rows of the list do not have, and those that they have; else the
 * terms that no row can meet.
 */
export function filterNote(text: string, fields: readonly TermField[]): { readonly text: string; readonly title: string } | undefined {
  const unknown = unknownFields(text);
  const foreign = namedFields(text).filter((field) => !fields.includes(field));
  if (unknown.length === 0 && foreign.length === 0) return severalNote(text, fields);
  const names = [...unknown, ...foreign].map((name) => `“${name}:”`);
  const are = names.length === 1 ? "is no field" : "are no fields";
  const searched = unknown.length === 0 ? "No row of this list has it." : "Searched as text.";
  return { text: `${names.join(", ")} ${are}: use ${fields.join(", ")}`, title: `${searched} ${filterHint(fields)}` };
}

function severalNote(text: string, fields: readonly TermField[]): { readonly text: string; readonly title: string } | undefined {
  const [several] = termsOfSeveral(text);
  if (!several) return undefined;
  return {
    text: `“${several.term}” is no single value: use ${termExamples[several.field]}`,
    title: `A term has one value: there are no comparisons and no lists. ${filterHint(fields)}`,
  };
}

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

/** Decides by the texts of rows. */
export function trafficMatcher({ text, tone, target, outcome, ofKind, withoutSample }: TrafficFilter): (row: TrafficRow) => boolean {
  const { needle, terms } = parseRowQuery(text);
  return (row) =>
    hasTone(row.tone, tone) &&
    hasKind(row.kind, ofKind) &&
    hasTarget(row.target, target) &&
    hasOutcome(row.outcome, outcome) &&
    !(withoutSample && isSampleClient(row.client)) &&
    meetsTerms(row, terms) &&
    (needle === "" || hasText(row, needle));
}
