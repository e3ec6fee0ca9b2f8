/** The text of a filter of rows: terms about single fields, words that rows must not have, and the rest, which is searched as one text. */
import type { TrafficRow } from "./row.ts";
import { hasText, reasonTexts, searchNeedle, statusWord } from "./row-filter.ts";

type Texts = Omit<TrafficRow, "service">;

/** `status:4xx`, `-path:/health`, or `-word`, without a field. */
interface RowTerm {
  readonly field: TermField | undefined;
  /** In lower case. */
  readonly value: string;
  readonly isExcluded: boolean;
}

export interface RowQuery {
  /** What is left of the text beside the terms, as it is compared. */
  readonly needle: string;
  readonly terms: readonly RowTerm[];
  /** The terms alone: a text whose query has the same terms and no needle. */
  readonly termText: string;
}

const termFields = {
  status: (row, value) =>
    /^\d[\dx]{2}$/.test(value) ? hasCode(row, value) : `${row.outcome}\n${statusWord(row)}`.toLowerCase().includes(value),
  /** Of a call it is the last part of its path. */
  method: (row, value) => row.verb.toLowerCase() === value || (row.kind === "grpc-call" && row.target.toLowerCase().endsWith(`/${value}`)),
  path: (row, value) => row.target.toLowerCase().includes(value),
  client: (row, value) => `${row.client} ${row.peer}`.toLowerCase().includes(value),
  user: (row, value) => (row.user ?? "").toLowerCase().includes(value),
  reason: (row, value) => reasonTexts(row).toLowerCase().includes(value),
} satisfies Readonly<Record<string, (row: Texts, value: string) => boolean>>;
export type TermField = keyof typeof termFields;
export const termFieldNames = Object.keys(termFields) as readonly TermField[];

/** "4xx" is any code that begins with 4. */
function hasCode(row: Texts, value: string): boolean {
  const code = statusWord(row);
  return /^\d{3}$/.test(code) && [...value].every((digit, at) => digit === "x" || digit === code[at]);
}

/** A value with spaces is in quotes; one that is not typed yet is no term. `-` before a digit may be a number that is searched. */
const termPattern = /(?<=^|\s)(?:(-?)(status|method|path|client|user|reason):("[^"]*"?|\S*)|-([\p{L}/_]\S*))(?=\s|$)/giu;

export function parseRowQuery(text: string): RowQuery {
  const terms: RowTerm[] = [];
  const texts: string[] = [];
  const rest = text.replace(termPattern, (term, minus: string | undefined, field: string | undefined, quoted = "", word = "") => {
    const value = (field ? quoted.replaceAll('"', "") : word).toLowerCase();
    if (value === "") return "";
    terms.push({ field: field?.toLowerCase() as TermField | undefined, value, isExcluded: minus !== "" });
    texts.push(term);
    return "";
  });
  const needle = searchNeedle(rest === text ? text : rest.replace(/\s+/g, " "));
  return { needle, terms, termText: texts.join(" ") };
}

/** `foo:bar` of a field that there is not: names in the order of the text. A URL and a time of day are none. */
const foreignTerm = /(?<=^|\s)-?(\p{L}[\p{L}\d_-]*):(?=[^\s/])/giu;
export const unknownFields = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(foreignTerm)].flatMap(([, name = ""]) => (Object.hasOwn(termFields, name.toLowerCase()) ? [] : [name]))),
];

/** Fields that the terms of a text name, in its order. */
export const namedFields = (text: string): readonly TermField[] => [
  ...new Set(parseRowQuery(text).terms.flatMap(({ field }) => (field ? [field] : []))),
];

/** `status:>=500`, `method:GET,PUT`: terms whose value no row has, since it is a comparison or a list, with their fields. */
export const termsOfSeveral = (text: string): readonly { readonly term: string; readonly field: TermField }[] =>
  [...text.matchAll(termPattern)].flatMap(([term, , field = "", value = ""]) =>
    /^(?:status|method)$/i.test(field) && /^[<>=]|^[^"].*,/.test(value) ? [{ term, field: field.toLowerCase() as TermField }] : [],
  );

/** By the texts of a row that lists show. */
export const meetsTerms = (row: Texts, terms: readonly RowTerm[]): boolean =>
  terms.every(({ field, value, isExcluded }) => (field ? termFields[field](row, value) : hasText(row, value)) !== isExcluded);
