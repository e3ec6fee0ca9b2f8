import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import type { Command } from "../ui/commands.ts";
import { capitalized } from "../ui/texts/quantity.ts";
import type { Column } from "./column.ts";
import { DataTable, type TableSort } from "./data-table.tsx";
import { NewRows } from "./follow-mark.tsx";
import { ListAnswer } from "./list-answer.tsx";
import { RowMenu } from "./row-menu.tsx";
import { nextSort, sortRows } from "./sort-rows.ts";
import type { TrafficRows } from "./traffic-rows.ts";
import { useRowsView } from "./use-list-rows.ts";
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
  /** Shown instead of rows. */
  readonly empty: ReactNode;
}

/** The rows of a live list; only this component renders for each frame with new rows. */
export function LiveTable({ rows, choice, columns, items, onFollow, commandsOf, empty }: LiveTableProps) {
  const version = useRowsView(rows, (view) => view.version);
  const count = useRowsView(rows, (view) => view.count);
  const { sort, onSort } = useSort(rows, choice.table);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version has different rows in the same places.
  const sorted = useMemo(() => sort && sortRows(rows.toArray(), columns, sort), [rows, version, columns, sort]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  const rowAt = useCallback((index: number) => (sorted ? sorted[index] : rows.rowAt(index)), [rows, version, sorted]);
  // Loading older rows would move the visible ones.
  const onEndNear = useCallback(() => void (sorted || rows.loadOlder()), [rows, sorted]);
  return (
    <ListAnswer rows={rows} what={`the ${items}`}>
      <Arrived rows={rows} onFollow={onFollow} />
      <RowMenu commandsOf={commandsOf}>
        {(onRowMenu) => (
          <DataTable
            {...choice.tableProps}
            label={`${capitalized(items)}, ${sort ? "sorted" : "newest first"}`}
            count={count}
            rowAt={rowAt}
            columns={columns}
            {...(sort && { sort })}
            onSort={onSort}
            onScrolledAway={rows.scrolled}
            onAimed={rows.aimed}
            onEndNear={onEndNear}
            onRowMenu={onRowMenu}
            empty={empty}
          />
        )}
      </RowMenu>
    </ListAnswer>
  );
}

/** Sorting pauses the list and orders the rows that it holds; following ends it. */
function useSort(rows: TrafficRows, table: RowChoice<TrafficRow, number>["table"]) {
  const [chosen, setChosen] = useState<TableSort>();
  const paused = useRowsView(rows, (view) => view.mode === "paused");
  const sort = paused ? chosen : undefined;
  if (chosen && !paused) setChosen(undefined);
  const onSort = (column: string) => {
    const next = nextSort(sort, column);
    table.current?.toTop();
    if (next) rows.pause();
    setChosen(next);
  };
  return { sort, onSort };
}

function Arrived({ rows, onFollow }: Pick<LiveTableProps, "rows" | "onFollow">) {
  const arrived = useRowsView(rows, (view) => (view.mode === "scrolled" ? view.arrived : 0));
  return arrived > 0 && <NewRows count={arrived} onFollow={onFollow} />;
}
