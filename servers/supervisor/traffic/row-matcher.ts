import type { toneFilters } from "../../../contract/control.ts";
import type { Tone } from "../../../contract/traffic/row.ts";
import { readRow, rowParent, rowTexts, rowTone } from "../../core/traffic/row-record.ts";

export interface RowFilter {
  readonly text: string;
  readonly tone: (typeof toneFilters)[number];
  /** Only rows that belong to this one. */
  readonly parent?: number | undefined;
}

const tonesOf: Readonly<Record<RowFilter["tone"], readonly Tone[] | undefined>> = {
  all: undefined,
  ok: ["ok"],
  neutral: ["neutral"],
  refused: ["refused"],
  failed: ["failed", "aborted"],
};

/** Tests the bytes of a row; its texts are read only if needed. */
export function createRowMatcher({ text, tone, parent }: RowFilter): (row: Buffer) => boolean {
  const tones = tonesOf[tone];
  const needle = text.trim().toLowerCase();
  const word = needle.split(/\s+/).reduce((longest, one) => (one.length > longest.length ? one : longest));
  return (bytes) => {
    if (tones && !tones.includes(rowTone(bytes))) return false;
    if (parent !== undefined && rowParent(bytes) !== parent) return false;
    if (needle === "") return true;
    if (isAscii(word) && !mayHave(bytes, word)) return false;
    const row = readRow(bytes);
    return `${row.verb} ${row.target}\n${row.outcome}\n${row.client} ${row.peer}\n${row.user ?? ""} ${row.reason ?? ""}\n${row.preview}`
      .toLowerCase()
      .includes(needle);
  };
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

/** Most rows are decided by one search over all their texts: a word without spaces can only be within one of them. */
function mayHave(row: Buffer, word: string): boolean {
  const texts = rowTexts(row);
  // The lower case of some characters outside ASCII is an ASCII letter.
  return !isAscii(texts) || texts.toLowerCase().includes(word);
}
