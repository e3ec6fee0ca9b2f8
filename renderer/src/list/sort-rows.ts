import type { Column } from "./column.ts";
import type { TableSort } from "./data-table.tsx";

/** The rows in the order of a column, in their own order where it is equal; rows without a value come last. */
export function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sort: TableSort): readonly Row[] {
  const columnValue = columns.find(({ id }) => id === sort.column)?.sortValue;
  if (!columnValue) return rows;
  const sign = sort.direction === "ascending" ? 1 : -1;
  return rows
    .map((row) => ({ row, value: columnValue(row) }))
    .sort(({ value: one }, { value: other }) => {
      if (one === other) return 0;
      if (one === undefined || other === undefined) return one === undefined ? 1 : -1;
      return sign * (one < other ? -1 : 1);
    })
    .map(({ row }) => row);
}

/** Largest first, then smallest first, then as it came. */
export function nextSort(sort: TableSort | undefined, column: string): TableSort | undefined {
  if (sort?.column !== column) return { column, direction: "descending" };
  return sort.direction === "descending" ? { column, direction: "ascending" } : undefined;
}
