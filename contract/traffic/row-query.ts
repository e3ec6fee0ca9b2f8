/** The text of a filter of rows: terms about single fields, words that rows must not have, and the rest, which is searched as one text. */
import { noUnits, parseComparison, sizeUnits, timeUnits } from "./comparison.ts";
import type { TrafficRow } from "./row.ts";
import { hasInTarget, hasText, reasonTexts, searchNeedle, statusWord, tookSoFar } from "./row-filter.ts";
import { turnUser } from "./webrtc-words.ts";

/** `status:4xx`, `-path:/health`, or `-word`, without a field. */
interface RowTerm {
  readonly field: TermField | undefined;
  /** As it stands in the text. */
  readonly term: string;
  /** In lower case. */
  readonly value: string;
  readonly isExcluded: boolean;
  /** Undefined for a value that no row can have. */
  readonly meets: Meets | undefined;
}

/** `now` in ms since the epoch: an open row takes longer and longer. */
type Meets = (row: TrafficRow, now: number) => boolean;

export interface RowQuery {
  /** What is left of the text beside the terms, as it is compared. */
  readonly needle: string;
  readonly terms: readonly RowTerm[];
  /** The terms alone: a text whose query has the same terms and no needle. */
  readonly termText: string;
}

const termFields = {
  status: meetsStatus,
  /** Of a call it is the last part of its path. */
  method: (value) =>
    isSeveral(value)
      ? undefined
      : (row) => row.verb.toLowerCase() === value || (row.kind === "grpc-call" && row.target.toLowerCase().endsWith(`/${value}`)),
  path: (value) => (row) => hasInTarget(row, value),
  client: (value) => (row) => `${row.client} ${row.peer}`.toLowerCase().includes(value),
  /** Of credentials the name too that lists show for them. */
  user: (value) => (row) => `${row.user ?? ""} ${(turnUser(row) && row.peerName) ?? ""}`.toLowerCase().includes(value),
  reason: (value) => (row) => reasonTexts(row).toLowerCase().includes(value),
  took: (value) => {
    const meets = parseComparison(value, timeUnits);
    return (
      meets &&
      ((row, now) => {
        const took = tookSoFar(row, now);
        return took !== undefined && meets(took);
      })
    );
  },
  size: (value) => {
    const meets = parseComparison(value, sizeUnits);
    return meets && ((row) => meets(sizeOf(row)));
  },
} satisfies Readonly<Record<string, (value: string) => Meets | undefined>>;
export type TermField = keyof typeof termFields;
export const termFieldNames = Object.keys(termFields) as readonly TermField[];

/** Of HTTP what was sent, as its lists show it; of others what crossed the wire in both directions. */
const sizeOf = ({ kind, bytesIn, bytesOut }: TrafficRow): number =>
  kind === "http" || kind === "websocket" || kind === "websocket-message" ? bytesOut : bytesIn + bytesOut;

/** "GET,PUT" */
const isSeveral = (value: string): boolean => /^[<>=]|\S,\S/.test(value);

/** "4xx" is any code that begins with 4; a part of a code or of a word is found in both. */
function meetsStatus(value: string): Meets | undefined {
  const compared = parseComparison(value, noUnits);
  if (compared) return (row) => compared(codeOf(row));
  if (/^[1-5][\dx]{2}$/.test(value)) {
    return (row) => {
      const code = String(codeOf(row));
      return [...value].every((digit, at) => digit === "x" || digit === code[at]);
    };
  }
  // Of one or two digits, or that a WebSocket was closed with.
  const isNumber = /^[\dx]*$/.test(value) && /\d/.test(value);
  if (isSeveral(value) || (isNumber && !/^(?:\d{1,2}|[1-4]\d{3})$/.test(value))) return undefined;
  return (row) => `${row.outcome}\n${statusWord(row)}`.toLowerCase().includes(value);
}

/** Of a status such as "404", "454 Session Not Found" or "HTTP 415"; NaN of others. */
const codeOf = (row: TrafficRow): number => Number(/^(?:HTTP )?(\d{3})(?!\d)/.exec(statusWord(row))?.[1]);

/** A value with spaces is in quotes; one that is not typed yet is no term. `-` before a digit may be a number that is searched. */
const termPattern = /(?<=^|\s)(?:(-?)(status|method|path|client|user|reason|took|size):("[^"]*"?|\S*)|-([\p{L}/_]\S*))(?=\s|$)/giu;

export function parseRowQuery(text: string): RowQuery {
  const terms: RowTerm[] = [];
  const rest = text.replace(termPattern, (term, minus: string | undefined, field: string | undefined, quoted = "", word = "") => {
    const value = (field ? quoted.replaceAll('"', "") : word).toLowerCase();
    // Of a comparison there may be only the sign yet.
    if (/^(?:[<>]=?)?$/.test(value)) return "";
    const known = field?.toLowerCase() as TermField | undefined;
    const meets = known ? termFields[known](value) : (row: TrafficRow) => hasText(row, value);
    terms.push({ field: known, term, value, isExcluded: minus !== "", meets });
    return "";
  });
  const needle = searchNeedle(rest === text ? text : rest.replace(/\s+/g, " "));
  return { needle, terms, termText: terms.map(({ term }) => term).join(" ") };
}

/** What quotes of a term have is none of its own. */
const withoutTerms = (text: string): string => text.replace(termPattern, (term, _, field) => (field ? "" : term));

/** `foo:bar` of a field that there is not: names in the order of the text. A URL and a time of day are none. */
const foreignTerm = /(?<=^|\s)-?(\p{L}[\p{L}\d_-]*):(?=[^\s/])/giu;
export const unknownFields = (text: string): readonly string[] => [
  ...new Set([...withoutTerms(text).matchAll(foreignTerm)].map(([, name = ""]) => name)),
];

/** Fields that the terms of a text name, in its order. */
export const namedFields = (text: string): readonly TermField[] => [
  ...new Set(parseRowQuery(text).terms.flatMap(({ field }) => (field ? [field] : []))),
];

/** `took>100ms`: what looks like a term with a comparison, and is searched as text. */
const signWithoutColon = /(?<=^|\s)-?\p{L}[\p{L}\d_-]*[<>]=?\d\S*/u;
export const comparisonWithoutColon = (text: string): string | undefined => signWithoutColon.exec(withoutTerms(text))?.[0];

/** By the texts and figures of a row that lists show. */
export const meetsTerms = (row: TrafficRow, terms: readonly RowTerm[], now: number): boolean =>
  terms.every(({ meets, isExcluded }) => (meets?.(row, now) ?? false) !== isExcluded);

/** Whether it depends on the time which open rows meet the terms. */
export const comparesTime = ({ terms }: RowQuery): boolean => terms.some(({ field, meets }) => field === "took" && meets !== undefined);
