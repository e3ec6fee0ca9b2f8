import { hasText, hasTone, searchNeedle, type ToneFilter } from "../../../contract/traffic/row-filter.ts";
import { readRow, rowParent, rowTexts, rowTone } from "../../core/traffic/row-record.ts";

export interface RowFilter {
  readonly text: string;
  readonly tone: ToneFilter;
  /** Only rows that belong to this one. */
  readonly parent?: number | undefined;
}

/** Tests the bytes of a row; its texts are read only if needed. */
export function createRowMatcher({ text, tone, parent }: RowFilter): (row: Buffer) => boolean {
  const needle = searchNeedle(text);
  const word = needle.split(/\s+/).reduce((longest, one) => (one.length > longest.length ? one : longest));
  return (bytes) => {
    if (!hasTone(rowTone(bytes), tone)) return false;
    if (parent !== undefined && rowParent(bytes) !== parent) return false;
    if (needle === "") return true;
    return (!isAscii(word) || mayHave(bytes, word)) && hasText(readRow(bytes), needle);
  };
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

/** Most rows are decided by one search over all their texts: a word without spaces can only be within one of them. */
function mayHave(row: Buffer, word: string): boolean {
  const texts = rowTexts(row);
  // The lower case of some characters outside ASCII is an ASCII letter.
  return !isAscii(texts) || texts.toLowerCase().includes(word);
}
