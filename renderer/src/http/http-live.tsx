import { UnstyledButton } from "@mantine/core";
import { IconArrowUp } from "@tabler/icons-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { TrafficRow } from "../../../contract/traffic.ts";
import { useClearTraffic } from "../components/use-clear-traffic.ts";
import { useRemembered } from "../components/use-remembered.ts";
import { useRate } from "../control/use-rate.ts";
import { useService } from "../control/use-services.ts";
import { formatCount } from "../format/quantity.ts";
import { InspectorSlot } from "../frame/inspector-slot.tsx";
import { ExchangeInspector } from "../inspector/exchange-inspector.tsx";
import { useColumnChoice } from "../table/column-choice.ts";
import { ColumnMenu } from "../table/column-menu.tsx";
import { DataTable, type DataTableHandle } from "../table/data-table.tsx";
import { isFiltering, noFilter, type TrafficFilter } from "../table/traffic-filter.ts";
import { useTrafficRows } from "../table/use-traffic-rows.ts";
import { httpOrigin } from "./endpoint.ts";
import { httpColumns } from "./http-columns.tsx";
import styles from "./http-live.module.css";
import { LiveEmpty, NothingMatches } from "./live-empty.tsx";
import { LiveStatusLine } from "./live-status-line.tsx";
import { LiveToolbar } from "./live-toolbar.tsx";
import { takeAskedRow } from "./shown-row.ts";
import { SsePanel } from "./sse-panel.tsx";
import { useSpace } from "./use-space.ts";

const filterAfterMs = 120;

/** Requests as they pass, the inspector of the chosen one, and who listens to server-sent events. */
export function HttpLive() {
  const clear = useClearTraffic();
  const service = useService("http");
  const rate = useRate("http");
  const [filter, setFilter] = useRemembered<TrafficFilter>("filter.http", noFilter);
  const [rows, view] = useTrafficRows("http", filter);
  const choice = useColumnChoice("http", httpColumns);
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
    setOpened((id) => (id === undefined ? undefined : row.id));
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

  const isEmpty = view.loaded && shown.length === 0;
  return (
    <section className={styles.live} aria-label="Live requests">
      <LiveToolbar
        filter={filter}
        onFilter={setFilter}
        paused={view.mode === "paused"}
        onPause={togglePause}
        onClear={() => void clear("http", "HTTP")}
        columnMenu={<ColumnMenu all={httpColumns} choice={choice} />}
      />
      <div className={styles.list}>
        {view.mode === "scrolled" && view.arrived > 0 && (
          <UnstyledButton className={styles.pill} onClick={follow}>
            <IconArrowUp size={13} stroke={2} aria-hidden="true" />
            {`${formatCount(view.arrived)} new`}
          </UnstyledButton>
        )}
        {isEmpty && !isFiltering(view.filter) ? (
          <LiveEmpty service={service} />
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
            empty={isEmpty && <NothingMatches kept={view.kept} onAll={() => setFilter(noFilter)} />}
          />
        )}
      </div>
      <LiveStatusLine view={view} rate={rate} service={service} onFollow={follow} />
      <SsePanel service={service} />
      {opened !== undefined && (
        <InspectorSlot>
          <ExchangeInspector service="http" row={opened} live={openedRow} origin={httpOrigin(service)} onClose={onClose} />
        </InspectorSlot>
      )}
    </section>
  );
}

const rowId = (row: TrafficRow) => row.id;
