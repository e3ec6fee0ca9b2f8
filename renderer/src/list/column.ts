import type { ReactNode } from "react";

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  readonly align?: "start" | "end";
  /** The widest text that has to fit; without it the column fills the remaining width. */
  readonly minSample?: string;
  /** Width to which the filling column shrinks before a column of rank 1 or 2 is hidden. */
  readonly leastPx?: number;
  /** A wider text that should fit if there is room to spare. */
  readonly preferredSample?: string;
  /** Weight and family in which `minSample` is measured. */
  readonly face?: "text" | "mono" | "mono-bold";
  /** Width of other content beside that text, such as a status mark. */
  readonly besidePx?: number;
  /** The column can be sorted by its head, if the table can be sorted. */
  readonly sortable?: boolean;
  /** By what the rows of a live list are sorted; the column is sortable then. */
  readonly sortValue?: (row: Row) => number | string | undefined;
  /** Columns with a higher rank are hidden first if there is no room; 0 is never hidden. */
  readonly rank: number;
  readonly cell: (row: Row) => ReactNode;
}

export const isSortable = <Row>({ sortable, sortValue }: Column<Row>): boolean => sortable === true || sortValue !== undefined;

export interface FittedColumns<Row> {
  readonly columns: readonly Column<Row>[];
  /** For `grid-template-columns`. */
  readonly template: string;
}

const gapPx = 16;
const fillMinimumPx = 168;
const lowRank = 2;
/** Width reserved for the filling column before others get more than their minimum. */
const fillPreferredPx = 280;

/** The columns that fit, in order, and their widths. */
export function fitColumns<Row>(
  columns: readonly Column<Row>[],
  roomPx: number,
  widthPx: (column: Column<Row>) => number,
): FittedColumns<Row> {
  const needs = (column: Column<Row>) => (column.minSample === undefined ? fillMinimumPx : widthPx(column)) + gapPx;
  let fitted = [...columns];
  let room = roomPx + gapPx - fitted.reduce((sum, column) => sum + needs(column), 0);
  const fillLeastPx = columns.find(({ minSample }) => minSample === undefined)?.leastPx ?? fillMinimumPx;
  while (room < 0) {
    const out = fitted.filter((column) => column.rank > 0).sort((one, other) => other.rank - one.rank)[0];
    if (!out || (out.rank <= lowRank && room >= fillLeastPx - fillMinimumPx)) break;
    fitted = fitted.filter((column) => column !== out);
    room += needs(out);
  }
  let spare = room - (fillPreferredPx - fillMinimumPx);
  const width = (column: Column<Row>): number => {
    const least = widthPx(column);
    if (column.preferredSample === undefined) return least;
    const more = Math.min(Math.max(0, widthPx({ ...column, minSample: column.preferredSample }) - least), Math.max(0, spare));
    spare -= more;
    return least + more;
  };
  const template = fitted.map((column) => (column.minSample === undefined ? "minmax(0, 1fr)" : `${width(column)}px`)).join(" ");
  return { columns: fitted, template };
}
