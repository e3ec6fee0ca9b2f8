import { expect, it } from "vitest";
import type { Column } from "../../renderer/src/list/column.ts";
import { nextSort, sortRows } from "../../renderer/src/list/sort-rows.ts";

interface Row {
  readonly id: number;
  readonly took?: number;
}

it("[BL-259] rows are sorted by a column, equal ones in their order, and those without a value last", () => {
  const columns: readonly Column<Row>[] = [{ id: "took", title: "Took", rank: 0, cell: () => "", sortValue: ({ took }) => took }];
  const rows: readonly Row[] = [{ id: 1, took: 20 }, { id: 2 }, { id: 3, took: 100 }, { id: 4, took: 20 }];
  const ids = (direction: "ascending" | "descending") => sortRows(rows, columns, { column: "took", direction }).map(({ id }) => id);
  expect([ids("descending"), ids("ascending")]).toEqual([
    [3, 1, 4, 2],
    [1, 4, 3, 2],
  ]);
});

it("[BL-259] a column header sorts largest first, then smallest first, then not at all", () => {
  const first = nextSort(undefined, "took");
  const second = nextSort(first, "took");
  expect([first?.direction, second?.direction, nextSort(second, "took")]).toEqual(["descending", "ascending", undefined]);
  expect(nextSort(second, "size")).toEqual({ column: "size", direction: "descending" });
});
