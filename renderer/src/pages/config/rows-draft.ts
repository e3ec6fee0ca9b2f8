import type { ConfigColumn, ConfigRows } from "../../../../contract/config.ts";

/** The parts of an item, one per column; while it is edited, any of them may be empty. */
export type Row = readonly string[];

/** Separators; a part contains neither. */
const rowSeparator = "\n";
const partSeparator = "\t";

export const rowsOf = (draft: string): readonly Row[] =>
  draft === "" ? [] : draft.split(rowSeparator).map((line) => line.split(partSeparator));

export const draftOfRows = (rows: readonly Row[]): string =>
  rows.map((row) => row.map((part) => part.replace(/[\n\t]/g, " ")).join(partSeparator)).join(rowSeparator);

/** An invalid item is split as far as possible. */
export function rowsDraft({ columns }: ConfigRows, value: unknown): string {
  if (!Array.isArray(value)) return "";
  const row = (item: unknown) => {
    const words = String(item).trim().split(/\s+/);
    const rest = String(item)
      .trim()
      .replace(new RegExp(`^(?:\\S+\\s*){0,${columns.length - 1}}`), "");
    return columns.map((_, index) => (index < columns.length - 1 ? (words[index] ?? "") : rest));
  };
  return draftOfRows(value.map(row));
}

export const newRow = ({ columns }: ConfigRows): Row => columns.map(({ choices }) => choices?.[0]?.value ?? "");

const fits = ({ pattern }: ConfigColumn, part: string) => new RegExp(`^(?:${pattern})$`).test(part);

/** The column of the first part that is wrong; -1 if the item is valid. */
export const wrongColumn = ({ columns }: ConfigRows, row: Row): number =>
  columns.findIndex((column, index) => !fits(column, (row[index] ?? "").trim()));

/** The problem; undefined if the item is valid. */
export const problemOfRow = (type: ConfigRows, row: Row): string | undefined => type.columns[wrongColumn(type, row)]?.problem;

/** The items as they are saved, or the first problem. */
export function parseRows(type: ConfigRows, draft: string): { readonly value: readonly string[] } | { readonly problem: string } {
  const rows = rowsOf(draft);
  for (const [index, row] of rows.entries()) {
    const problem = problemOfRow(type, row);
    if (problem !== undefined) return { problem: `The ${type.row} in line ${index + 1}: ${problem}` };
  }
  return { value: rows.map((row) => row.map((part) => part.trim()).join(" ")) };
}

/** The rows with one of them moved; unchanged if the target does not exist. */
export function movedTo(rows: readonly Row[], from: number, to: number): readonly Row[] {
  const row = rows[from];
  if (row === undefined || to < 0 || to >= rows.length) return rows;
  return rows.toSpliced(from, 1).toSpliced(to, 0, row);
}
