import { useCallback, useEffect } from "react";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { usePauseCommand } from "../ui/commands.ts";
import { isSameFilter, type TrafficFilter } from "./filter/traffic-filter.ts";
import type { RowPlace, TrafficRows } from "./rows/traffic-rows.ts";
import { useRowsView } from "./rows/use-list-rows.ts";
import type { RowChoice } from "./use-row-choice.ts";

const filterAfterMs = 120;

/** Applies a filter that changes while it is typed. */
export function useLiveFilter(rows: TrafficRows, filter: TrafficFilter, onApply?: () => void): void {
  useEffect(() => {
    if (isSameFilter(filter, rows.view().filter)) return;
    const timer = setTimeout(() => {
      onApply?.();
      void rows.setFilter(filter);
    }, filterAfterMs);
    return () => clearTimeout(timer);
  }, [filter, rows, onApply]);
}

/** Behaviour of all live lists: follow, pause with Space, filter while typing, and arrow down from the filter to the rows. */
export function useLiveList(rows: TrafficRows, filter: TrafficFilter, choice: RowChoice<TrafficRow, number>) {
  const { table } = choice;
  const paused = useRowsView(rows, (view) => view.mode === "paused");
  useLiveFilter(
    rows,
    filter,
    useCallback(() => table.current?.toTop(), [table]),
  );
  const follow = () => {
    table.current?.toTop();
    rows.resume();
  };
  const togglePause = () => (paused ? follow() : rows.pause());
  usePauseCommand({ paused, onToggle: togglePause });
  const enterList = () => {
    table.current?.focus();
    const newest = rows.rowAt(0);
    if (choice.chosen === undefined && newest) choice.choose(newest);
  };
  return { paused, follow, togglePause, enterList };
}

/** The current state of a row, while the list has it; with `at` 0 of any row with this id. */
export const useRowNow = (rows: TrafficRows, place: RowPlace): TrafficRow | undefined =>
  useRowsView(rows, () => {
    const row = rows.find(place);
    return place.at === 0 || row?.at === place.at ? row : undefined;
  });
