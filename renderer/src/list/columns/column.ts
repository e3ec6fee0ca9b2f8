import type { ReactNode } from "react";
import type { RowSortField } from "../../../../contract/traffic/row-sort.ts";

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** In place of the title, in the head of the table. */
  readonly head?: ReactNode;
  readonly align?: "start" | "end";
  /** The widest text that usually fits; without it the column fills the remaining width. */
  readonly minSample?: string;
  /** A narrower text, to which the column shrinks before one of rank 1 or 2 is hidden. */
  readonly leastSample?: string;
  /** The same for the filling column, as a width; it shrinks first. */
  readonly leastPx?: number;
  /** A wider text that should fit if there is room to spare. */
  readonly preferredSample?: string;
  /** Weight and family in which `minSample` is measured. */
  readonly face?: "text" | "mono" | "mono-bold";
  /** Width of other content beside that text, such as a status mark. */
  readonly besidePx?: number;
  /** The column can be sorted by its head, if the table can be sorted. */
  readonly sortable?: boolean;
  /** By what the supervisor sorts the rows of a live list; the column is sortable then. */
  readonly sortBy?: RowSortField;
  /** Columns with a higher rank are hidden first if there is no room; 0 is never hidden. */
  readonly rank: number;
  /** `roomCh` characters of the fixed-width font fit in a filling column. */
  readonly cell: (row: Row, roomCh: number) => ReactNode;
}

export const isSortable = <Row>({ sortable, sortBy }: Column<Row>): boolean => sortable === true || sortBy !== undefined;

export interface FittedColumns<Row> {
  readonly columns: readonly Column<Row>[];
  /** For `grid-template-columns`. */
  readonly template: string;
  /** Width of a filling column. */
  readonly fillPx: number;
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
  const isFilling = ({ minSample }: Column<Row>) => minSample === undefined;
  const usual = (column: Column<Row>) => (isFilling(column) ? fillMinimumPx : widthPx(column));
  const least = (column: Column<Row>) => {
    if (isFilling(column)) return column.leastPx ?? fillMinimumPx;
    return column.leastSample === undefined
      ? usual(column)
      : Math.min(usual(column), widthPx({ ...column, minSample: column.leastSample }));
  };
  let fitted = [...columns];
  /** Of these widths, negative if they fit. */
  const excess = (width: typeof usual) => fitted.reduce((sum, column) => sum + width(column) + gapPx, -gapPx) - roomPx;
  for (;;) {
    const out = fitted.filter(({ rank }) => rank > 0).sort((one, other) => other.rank - one.rank)[0];
    // The others shrink before a column of a low rank is hidden.
    if (!out || excess(out.rank > lowRank ? usual : least) <= 0) break;
    fitted = fitted.filter((column) => column !== out);
  }
  const widths = new Map(fitted.map((column) => [column, usual(column)]));
  let lacking = excess(usual);
  // The filling column first, then from the highest rank.
  for (const column of fitted.toSorted((one, other) => Number(isFilling(other)) - Number(isFilling(one)) || other.rank - one.rank)) {
    const less = Math.min(Math.max(0, lacking), usual(column) - least(column));
    widths.set(column, usual(column) - less);
    lacking -= less;
  }
  let spare = -lacking - (fillPreferredPx - fillMinimumPx);
  for (const column of fitted) {
    if (column.preferredSample === undefined) continue;
    const more = Math.min(Math.max(0, widthPx({ ...column, minSample: column.preferredSample }) - usual(column)), Math.max(0, spare));
    widths.set(column, (widths.get(column) ?? 0) + more);
    spare -= more;
  }
  const template = fitted.map((column) => (isFilling(column) ? "minmax(0, 1fr)" : `${widths.get(column)}px`)).join(" ");
  const filling = fitted.filter(isFilling);
  const taken = fitted.reduce((sum, column) => sum + (isFilling(column) ? 0 : (widths.get(column) ?? 0)) + gapPx, -gapPx);
  return { columns: fitted, template, fillPx: Math.max(0, roomPx - taken) / Math.max(1, filling.length) };
}
