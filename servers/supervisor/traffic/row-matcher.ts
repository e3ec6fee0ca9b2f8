import { hasKind, hasOutcome, hasTarget, hasText, hasTone, searchNeedle, type ToneFilter } from "../../../contract/traffic/row-filter.ts";
import { readRow, rowParent, rowTexts, rowTone } from "../../core/traffic/row-record.ts";

export interface RowFilter {
  readonly text: string;
  readonly tone: ToneFilter;
  readonly target?: string | undefined;
  readonly outcome?: string | undefined;
  readonly ofKind?: string | undefined;
  /** Only rows that belong to this one. */
  readonly parent?: number | undefined;
}

/** Whether it lets less than all rows through. */
export const isFiltering = ({ text, tone, target = "", outcome = "", ofKind = "", parent }: RowFilter): boolean =>
  text.trim() !== "" || tone !== "all" || target !== "" || outcome !== "" || ofKind !== "" || parent !== undefined;

/** Tests the bytes of a row; its texts are read only if needed. */
export function createRowMatcher({ text, tone, target = "", outcome = "", ofKind = "", parent }: RowFilter): (row: Buffer) => boolean {
  const needle = searchNeedle(text);
  const words = [needle.split(/\s+/).reduce((longest, one) => (one.length > longest.length ? one : longest)), target, outcome, ofKind]
    .map((word) => word.toLowerCase())
    .filter((word) => word !== "" && isAscii(word));
  const readsTexts = needle !== "" || target !== "" || outcome !== "" || ofKind !== "";
  return (bytes) => {
    if (!hasTone(rowTone(bytes), tone)) return false;
    if (parent !== undefined && rowParent(bytes) !== parent) return false;
    if (!readsTexts) return true;
    if (!mayHave(bytes, words)) return false;
    const row = readRow(bytes);
    return (
      hasKind(row.kind, ofKind) &&
      hasTarget(row.target, target) &&
      hasOutcome(row.outcome, outcome) &&
      (needle === "" || hasText(row, needle))
    );
  };
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

/** Most rows are decided by one search over all their texts: a word without spaces can only be within one of them. */
function mayHave(row: Buffer, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const texts = rowTexts(row);
  if (!isAscii(texts)) return true;
  const lower = texts.toLowerCase();
  return words.every((word) => lower.includes(word));
}
