import { type ReactNode, useCallback } from "react";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { capitalized } from "../ui/texts/quantity.ts";
import type { Column } from "./column.ts";
import { DataTable } from "./data-table.tsx";
import { NewRows } from "./follow-mark.tsx";
import { ListAnswer } from "./list-answer.tsx";
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
  /** Shown instead of rows. */
  readonly empty: ReactNode;
}

/** The rows of a live list; only this component renders for each frame with new rows. */
export function LiveTable({ rows, choice, columns, items, onFollow, empty }: LiveTableProps) {
  const version = useRowsView(rows, (view) => view.version);
  const count = useRowsView(rows, (view) => view.count);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version has other rows in the same places.
  const rowAt = useCallback((index: number) => rows.rowAt(index), [rows, version]);
  const onEndNear = useCallback(() => void rows.loadOlder(), [rows]);
  return (
    <ListAnswer rows={rows} what={`the ${items}`}>
      <Arrived rows={rows} onFollow={onFollow} />
      <DataTable
        {...choice.tableProps}
        label={`${capitalized(items)}, newest first`}
        count={count}
        rowAt={rowAt}
        columns={columns}
        onScrolledAway={rows.scrolled}
        onEndNear={onEndNear}
        empty={empty}
      />
    </ListAnswer>
  );
}

function Arrived({ rows, onFollow }: Pick<LiveTableProps, "rows" | "onFollow">) {
  const arrived = useRowsView(rows, (view) => (view.mode === "scrolled" ? view.arrived : 0));
  return arrived > 0 && <NewRows count={arrived} onFollow={onFollow} />;
}
