import { type ReactNode, useCallback } from "react";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import type { RowSort, RowSortField } from "../../../contract/traffic/row-sort.ts";
import type { Command } from "../ui/commands.ts";
import { Loading } from "../ui/status/answered.tsx";
import { capitalized, formatCountOf } from "../ui/texts/quantity.ts";
import type { Column } from "./columns/column.ts";
import { DataTable } from "./data-table.tsx";
import { NewRows } from "./follow-mark.tsx";
import { ListAnswer } from "./list-answer.tsx";
import { RowMenu } from "./row-menu.tsx";
import { loadToEnd } from "./rows/load-to-end.ts";
import { isSearching } from "./rows/rows-shown.ts";
import type { TrafficRows } from "./rows/traffic-rows.ts";
import { useRowsView } from "./rows/use-list-rows.ts";
import type { RowChoice } from "./use-row-choice.ts";

interface LiveTableProps {
  readonly rows: TrafficRows;
  readonly choice: RowChoice<TrafficRow, number>;
  readonly columns: readonly Column<TrafficRow>[];
  /** "requests" */
  readonly items: string;
  readonly onFollow: () => void;
  /** Of the menu that the right button opens on a row. */
  readonly commandsOf: (row: TrafficRow) => readonly Command[];
  /** Shown instead of rows, once the list knows that it has none. */
  readonly empty?: ReactNode;
  /** It is beside the page's own table. */
  readonly isSecondary?: boolean;
}

/** The rows of a live list; only this component renders for each frame with new rows. */
export function LiveTable({ rows, choice, columns, items, onFollow, commandsOf, empty, isSecondary = false }: LiveTableProps) {
  const version = useRowsView(rows, (view) => view.version);
  const count = useRowsView(rows, (view) => view.count);
  const sort = useRowsView(rows, (view) => view.sort);
  const answered = useRowsView(rows, (view) => view.answered);
  const column = sort && columns.find(({ sortBy }) => sortBy === sort.by);
  const { chosen, chosenRow } = choice;
  // A Backlot that was started again numbers its rows from the start: another row may have the same number.
  const isOther = chosenRow !== undefined && rows.find(chosenRow)?.at !== chosenRow.at;
  const onSort = (id: string) => {
    choice.table.current?.toTop();
    const by = columns.find((one) => one.id === id)?.sortBy;
    if (by) void rows.sortBy(nextSort(sort, by));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version has different rows in the same places.
  const rowAt = useCallback((index: number) => rows.rowAt(index), [rows, version]);
  const onEndNear = useCallback(() => void rows.loadOlder(), [rows]);
  const loadAll = useCallback((isWanted: () => boolean) => loadToEnd(rows, isWanted), [rows]);
  return (
    <ListAnswer rows={rows} what={`the ${items}`}>
      <Arrived rows={rows} onFollow={onFollow} />
      <RowMenu commandsOf={commandsOf}>
        {(onRowMenu) => (
          <DataTable
            {...choice.tableProps}
            chosen={isOther ? undefined : chosen}
            label={`${capitalized(items)}, ${sort ? "sorted" : "newest first"}`}
            count={count}
            rowAt={rowAt}
            columns={columns}
            {...(sort && column && { sort: { column: column.id, direction: sort.direction } })}
            onSort={onSort}
            onScrolledAway={rows.scrolled}
            onAimed={rows.aimed}
            onEndNear={onEndNear}
            loadAll={loadAll}
            onRowMenu={onRowMenu}
            empty={count === 0 && !answered ? <Searching rows={rows} /> : empty}
            isSecondary={isSecondary}
          />
        )}
      </RowMenu>
    </ListAnswer>
  );
}

/** Largest first, then smallest first, then as it came. */
export function nextSort(sort: RowSort | undefined, by: RowSortField): RowSort | undefined {
  if (sort?.by !== by) return { by, direction: "descending" };
  return sort.direction === "descending" ? { by, direction: "ascending" } : undefined;
}

/** Where the filter has no answer yet, and no loaded row matches. If there will be none, the table says why above. */
function Searching({ rows }: Pick<LiveTableProps, "rows">) {
  const kept = useRowsView(rows, (view) => view.kept);
  return useRowsView(rows, isSearching) && <Loading doing="Searching" what={formatCountOf(kept, "row")} />;
}

function Arrived({ rows, onFollow }: Pick<LiveTableProps, "rows" | "onFollow">) {
  const arrived = useRowsView(rows, (view) => (view.mode === "scrolled" ? view.arrived : 0));
  return arrived > 0 && <NewRows count={arrived} onFollow={onFollow} />;
}
