/** The terms of a filter's text: what a list offers, and what is wrong with those that were typed. */
import { grpcStatusNames } from "../../../../contract/traffic/grpc.ts";
import {
  comparisonWithoutColon,
  namedFields,
  parseRowQuery,
  type TermField,
  termFieldNames,
  unknownFields,
} from "../../../../contract/traffic/row-query.ts";

/** What the rows of a list have. */
export interface FilterTerms {
  readonly fields: readonly TermField[];
  readonly statuses?: StatusWords;
}

interface StatusWords {
  /** "status:4xx" */
  readonly example: string;
  /** Nearly all that a status may be, besides codes. */
  readonly words: readonly string[];
}

export const httpStatuses: StatusWords = {
  example: "status:4xx",
  words: ["pending", "open", "aborted", "client left", "service stopped", "closed", "echoed", "not sent"],
};
export const grpcStatuses: StatusWords = {
  example: "status:NOT_FOUND",
  words: [...grpcStatusNames, "pending", "open", "refused", "HTTP", "no status", "client cancelled", "cancelled at deadline"],
};

export const allTerms: FilterTerms = { fields: termFieldNames };

const examples: Readonly<Record<TermField, string>> = {
  status: "status:4xx",
  method: "method:POST",
  path: "path:/api",
  client: "client:curl",
  user: "user:anna",
  reason: "reason:token",
  took: "took:>100ms",
  size: "size:>10kB",
};

const exampleOf = (field: TermField, { statuses }: FilterTerms): string =>
  field === "status" ? (statuses?.example ?? examples.status) : examples[field];

/** For the field of `text`. */
export const filterHint = (terms: FilterTerms): string =>
  `Several words are searched as one text, in this order. Also ${terms.fields.map((field) => exampleOf(field, terms)).join(" ")}, of which rows meet all; a - before one leaves those rows out`;

interface FilterNote {
  readonly text: string;
  readonly title: string;
}

/**
 * Names what is wrong with the terms of a filter's text: fields that there are not, or that the rows of the list do not have; else the
 * first term that no row can meet. `finds` is whether rows meet all of it.
 */
export function filterNote(text: string, terms: FilterTerms, finds: boolean): FilterNote | undefined {
  const note = fieldNote(text, terms) ?? valueNote(text, terms, finds);
  return note && { text: note.text, title: `${note.title} ${filterHint(terms)}` };
}

function fieldNote(text: string, { fields }: FilterTerms): FilterNote | undefined {
  const unknown = unknownFields(text);
  const foreign = namedFields(text).filter((field) => !fields.includes(field));
  if (unknown.length === 0 && foreign.length === 0) return undefined;
  const names = [...unknown, ...foreign].map((name) => `“${name}:”`);
  const are = names.length === 1 ? "is no field" : "are no fields";
  const title = unknown.length === 0 ? "No row of this list has it." : "Searched as text.";
  return { text: `${names.join(", ")} ${are}: use ${fields.join(", ")}`, title };
}

const kinds: Readonly<Partial<Record<TermField, string>>> = {
  status: "status",
  took: "time to compare with",
  size: "size to compare with",
};

function valueNote(text: string, terms: FilterTerms, finds: boolean): FilterNote | undefined {
  const shown = parseRowQuery(text).terms.find(
    ({ field, value, meets }) => field && (!meets || (!finds && isOtherStatus(field, value, terms))),
  );
  if (shown?.field) {
    const what = shown.value.includes(",") ? "single value" : (kinds[shown.field] ?? "single value");
    return { text: `“${shown.term}” is no ${what}: use ${exampleOf(shown.field, terms)}`, title: "No row meets it." };
  }
  const compared = terms.fields.includes("took") ? comparisonWithoutColon(text) : undefined;
  return compared === undefined
    ? undefined
    : { text: `“${compared}” is searched as text: use ${examples.took} or ${examples.size}`, title: "A comparison is behind a colon." };
}

/** A word that is in no status that is known. */
const isOtherStatus = (field: TermField, value: string, { statuses }: FilterTerms): boolean =>
  field === "status" && /^\D+$/.test(value) && statuses !== undefined && !statuses.words.some((word) => word.toLowerCase().includes(value));
