import { isSampleClient } from "../../../contract/client-mark.ts";
import type { ServiceId } from "../../../contract/service.ts";
import { refusalsSaying } from "../../../contract/traffic/refusal-words.ts";
import {
  hasKind,
  hasOutcome,
  hasTarget,
  hasText,
  hasTone,
  mayBeEncoded,
  possibleWords,
  type ToneFilter,
} from "../../../contract/traffic/row-filter.ts";
import { meetsTerms, parseRowQuery } from "../../../contract/traffic/row-query.ts";
import { readRow, rowParent, rowTexts, rowTone } from "../../core/traffic/row-record.ts";

export interface RowFilter {
  readonly text: string;
  /** The text may be in the row's detail or parts too. */
  readonly inDetails?: boolean | undefined;
  readonly tone: ToneFilter;
  readonly target?: string | undefined;
  readonly outcome?: string | undefined;
  readonly ofKind?: string | undefined;
  readonly withoutSample?: boolean | undefined;
  /** Only rows that belong to this one. */
  readonly parent?: number | undefined;
}

/** Whether it lets less than all rows through. */
export const isFiltering = ({ text, tone, target = "", outcome = "", ofKind = "", withoutSample = false, parent }: RowFilter): boolean =>
  text.trim() !== "" || tone !== "all" || target !== "" || outcome !== "" || ofKind !== "" || withoutSample || parent !== undefined;

/** The bytes of a row's detail, and those of each of its parts. */
export type RowContents = () => Iterable<Buffer>;

/** Tests the bytes of a row; its texts are read only if needed, and its contents only if the text is searched in them. `now` is for all rows of a search. */
export function createRowMatcher(service: ServiceId, filter: RowFilter, now = Date.now()): (row: Buffer, contents: RowContents) => boolean {
  const { text, inDetails = false, tone, target = "", outcome = "", ofKind = "", withoutSample = false, parent } = filter;
  const { needle, terms } = parseRowQuery(text);
  const longestWord = needle.split(/\s+/).reduce((longest, one) => (one.length > longest.length ? one : longest));
  const isIn = inDetails ? createContentSearch(needle) : () => false;
  const words = [inDetails ? "" : longestWord, target, outcome, ofKind]
    .map((word) => word.toLowerCase())
    .filter((word) => word !== "" && isAscii(word))
    .map((word) => ({ word, refusals: service === "account" ? refusalsSaying(word) : [] }));
  const isEncoded = mayBeEncoded({ service });
  const readsTexts = needle !== "" || terms.length > 0 || target !== "" || outcome !== "" || ofKind !== "" || withoutSample;
  return (bytes, contents) => {
    if (!hasTone(rowTone(bytes), tone)) return false;
    if (parent !== undefined && rowParent(bytes) !== parent) return false;
    if (!readsTexts) return true;
    if (!mayHave(bytes, words, possibleWords(service, rowTone(bytes)), isEncoded)) return false;
    const row = Object.assign(readRow(bytes), { service });
    return (
      hasKind(row.kind, ofKind) &&
      hasTarget(row.target, target) &&
      hasOutcome(row.outcome, outcome) &&
      !(withoutSample && isSampleClient(row.client)) &&
      meetsTerms(row, terms, now) &&
      (needle === "" || hasText(row, needle) || (inDetails && isInAny(contents(), isIn)))
    );
  };
}

function isInAny(contents: Iterable<Buffer>, isIn: (content: Buffer) => boolean): boolean {
  for (const content of contents) if (isIn(content)) return true;
  return false;
}

/** What a record has between the name of a field and its value: the length of the value. */
const mostBetween = 5;

/** Searches recorded bytes for a text in lower case; "name: value" also finds a header field. */
function createContentSearch(needle: string): (content: Buffer) => boolean {
  // Bytes that are no text have a character each, so that nothing has to be decoded.
  const lower = isAscii(needle)
    ? (content: Buffer) => content.toString("latin1").toLowerCase()
    : (content: Buffer) => content.toString().toLowerCase();
  const field = /^([\w-]+): *([^ ].*)$/.exec(needle);
  if (!field) return (content) => lower(content).includes(needle);
  const [name = "", value = ""] = field.slice(1).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const pattern = new RegExp(`${name}[\\s\\S]{1,${mostBetween}}${value}`);
  return (content) => {
    const text = lower(content);
    return text.includes(needle) || pattern.test(text);
  };
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

/** Most rows are decided by one search over all their texts: a word without spaces can only be within one of them. */
function mayHave(row: Buffer, words: readonly SearchedWord[], added: string, isEncoded: boolean): boolean {
  if (words.length === 0) return true;
  const texts = rowTexts(row);
  if (!isAscii(texts) || (isEncoded && texts.includes("%"))) return true;
  const lower = texts.toLowerCase();
  return words.every(
    ({ word, refusals }) => lower.includes(word) || added.includes(word) || refusals.some((refusal) => lower.includes(refusal)),
  );
}

/** A word, and the recorded reasons that a list shows with it. */
interface SearchedWord {
  readonly word: string;
  readonly refusals: readonly string[];
}
