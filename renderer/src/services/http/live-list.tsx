import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useRate, useService } from "../../control/use-store.ts";
import { ExchangeInspector } from "../../inspectors/http/exchange-inspector.tsx";
import type { Column } from "../../list/column.ts";
import { useColumnChoice } from "../../list/column-choice.ts";
import { ColumnMenu } from "../../list/column-menu.tsx";
import { DataTable, type DataTableHandle } from "../../list/data-table.tsx";
import styles from "../../list/list-page.module.css";
import { NewRows } from "../../list/new-rows.tsx";
import { isFiltering, noFilter, type TrafficFilter } from "../../list/traffic-filter.ts";
import { useTrafficRows } from "../../list/use-traffic-rows.ts";
import { Nothing } from "../../ui/nothing.tsx";
import { formatCountOf } from "../../ui/quantity.ts";
import { useClearTraffic } from "../../ui/use-clear-traffic.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { useSpace } from "../../ui/use-space.ts";
import { LiveStatusLine } from "./live-status-line.tsx";
import { LiveToolbar } from "./live-toolbar.tsx";
import { takeAskedRow } from "./shown-row.ts";

const filterAfterMs = 120;

interface LiveListProps {
  readonly id: ServiceId;
  readonly columns: readonly Column<TrafficRow>[];
  /** What the text filter looks at. */
  readonly placeholder: string;
  readonly origin: string;
  /** Its sample traffic is under way. */
  readonly sampling: boolean;
  /** In place of the table while there is nothing to show. */
  readonly empty: ReactNode;
  /** Below the status line. */
  readonly children?: ReactNode;
}

/** HTTP exchanges of a service as they pass, and the inspector of the chosen one. */
export function LiveList({ id, columns, placeholder, origin, sampling, empty, children }: LiveListProps) {
  const clear = useClearTraffic();
  const service = useService(id);
  const rate = useRate(id);
  const [filter, setFilter] = useRemembered<TrafficFilter>(`filter.${id}`, noFilter);
  const [rows, view] = useTrafficRows(id, filter);
  const choice = useColumnChoice(id, columns);
  const table = useRef<DataTableHandle>(null);
  const [chosen, setChosen] = useState<number | undefined>();
  const [opened, setOpened] = useState<number | undefined>(takeAskedRow);

  useEffect(() => {
    if (filter === rows.view().filter) return;
    const timer = setTimeout(() => {
      table.current?.toTop();
      void rows.setFilter(filter);
    }, filterAfterMs);
    return () => clearTimeout(timer);
  }, [filter, rows]);

  const { rows: shown } = view;
  const rowAt = useCallback((index: number) => shown[shown.length - 1 - index], [shown]);
  const onChoose = useCallback((row: TrafficRow) => {
    setChosen(row.id);
    setOpened((open) => (open === undefined ? undefined : row.id));
  }, []);
  const onOpen = useCallback((row: TrafficRow) => {
    setChosen(row.id);
    setOpened(row.id);
  }, []);
  const onClose = useCallback(() => {
    setOpened(undefined);
    table.current?.focus();
  }, []);
  const onEndNear = useCallback(() => void rows.loadOlder(), [rows]);
  const openedRow = useMemo(() => shown.find((row) => row.id === opened), [shown, opened]);

  const follow = () => {
    table.current?.toTop();
    rows.resume();
  };
  const togglePause = () => (view.mode === "paused" ? follow() : rows.pause());
  useSpace(togglePause);
  const enterList = () => {
    table.current?.focus();
    const newest = rowAt(0);
    if (chosen === undefined && newest) onChoose(newest);
  };

  const isEmpty = view.loaded && shown.length === 0;
  return (
    <section className={styles.page} aria-label="Live requests">
      <LiveToolbar
        filter={filter}
        onFilter={setFilter}
        placeholder={placeholder}
        paused={view.mode === "paused"}
        onPause={togglePause}
        onDown={enterList}
        onClear={() => void clear(id, service?.title ?? id)}
        columnMenu={<ColumnMenu all={columns} choice={choice} />}
      />
      <div className={styles.list}>
        {view.mode === "scrolled" && view.arrived > 0 && <NewRows count={view.arrived} onFollow={follow} />}
        {isEmpty && !isFiltering(view.filter) ? (
          empty
        ) : (
          <DataTable
            ref={table}
            label="Requests, newest first"
            count={shown.length}
            rowAt={rowAt}
            rowId={rowId}
            columns={choice.columns}
            chosen={chosen ?? opened}
            onChoose={onChoose}
            onOpen={onOpen}
            onClose={onClose}
            onScrolledAway={rows.scrolled}
            onEndNear={onEndNear}
            empty={
              isEmpty && (
                <Nothing
                  text={`None of ${formatCountOf(view.kept, "request")} matches the filter.`}
                  action="Show all"
                  onAction={() => setFilter(noFilter)}
                />
              )
            }
          />
        )}
      </div>
      <LiveStatusLine view={view} rate={rate} service={service} sampling={sampling} onFollow={follow} />
      {children}
      {opened !== undefined && (
        <InspectorSlot>
          <ExchangeInspector service={id} row={opened} live={openedRow} origin={origin} onClose={onClose} />
        </InspectorSlot>
      )}
    </section>
  );
}

const rowId = (row: TrafficRow) => row.id;
