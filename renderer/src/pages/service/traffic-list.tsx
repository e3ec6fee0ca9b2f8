import { SegmentedControl } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useCallback, useEffect, useMemo } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useRate, useService } from "../../control/use-store.ts";
import { useColumnChoice } from "../../list/column-choice.ts";
import { ColumnMenu } from "../../list/column-menu.tsx";
import { DataTable } from "../../list/data-table.tsx";
import { ListPage } from "../../list/list-page.tsx";
import { NewRows } from "../../list/new-rows.tsx";
import { isFiltering, noFilter, type TrafficFilter } from "../../list/traffic-filter.ts";
import { useRowChoice } from "../../list/use-row-choice.ts";
import { useTrafficRows } from "../../list/use-traffic-rows.ts";
import { FilterInput } from "../../ui/filter-input.tsx";
import { Nothing } from "../../ui/nothing.tsx";
import { formatCountOf } from "../../ui/quantity.ts";
import { capitalized } from "../../ui/texts.ts";
import { IconButton, PauseButton, ToolbarSeparator } from "../../ui/toolbar.tsx";
import { useClearTraffic } from "../../ui/use-clear-traffic.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { useSpace } from "../../ui/use-space.ts";
import type { TrafficTab } from "./define-service-page.ts";
import { useRequestedRow } from "./requested-row.ts";
import { RowInspector } from "./row-inspector.tsx";
import { ServiceEmpty } from "./service-empty.tsx";
import { TrafficStatusLine } from "./traffic-status-line.tsx";

const filterAfterMs = 120;
const rowId = (row: TrafficRow) => row.id;

/** A service's traffic as it passes, and the inspector of the chosen row. */
export function TrafficList({ id, tab }: { readonly id: ServiceId; readonly tab: TrafficTab }) {
  const { columns: allColumns, item, Below } = tab;
  const clear = useClearTraffic();
  const service = useService(id);
  const rate = useRate(id);
  const [filter, setFilter] = useRemembered<TrafficFilter>(`filter.${id}`, noFilter);
  const [rows, view] = useTrafficRows(id, filter);
  const columns = useColumnChoice(id, allColumns);
  const choice = useRowChoice(rowId);
  const { table, opened } = choice;
  useRequestedRow(id, choice.openId);

  useEffect(() => {
    if (filter === rows.view().filter) return;
    const timer = setTimeout(() => {
      table.current?.toTop();
      void rows.setFilter(filter);
    }, filterAfterMs);
    return () => clearTimeout(timer);
  }, [filter, rows, table]);

  const { rows: shown } = view;
  const rowAt = useCallback((index: number) => shown[shown.length - 1 - index], [shown]);
  const onEndNear = useCallback(() => void rows.loadOlder(), [rows]);
  const openedRow = useMemo(() => opened && shown.find((row) => row.id === opened.id), [shown, opened]);

  const paused = view.mode === "paused";
  const follow = () => {
    table.current?.toTop();
    rows.resume();
  };
  const togglePause = () => (paused ? follow() : rows.pause());
  useSpace(togglePause);
  const enterList = () => {
    table.current?.focus();
    const newest = rowAt(0);
    if (choice.chosen === undefined && newest) choice.choose(newest);
  };

  const isEmpty = view.loaded && shown.length === 0;
  return (
    <ListPage
      label={`Live ${item.many}`}
      toolbarLabel={capitalized(item.many)}
      filter={
        <>
          <FilterInput
            width={242}
            placeholder={tab.filterPlaceholder}
            value={filter.text}
            onChange={(text) => setFilter({ ...filter, text })}
            onDown={enterList}
          />
          <SegmentedControl
            flex="none"
            aria-label="Status"
            data={tab.scopes.map((scope) => ({ ...scope }))}
            value={filter.tone}
            onChange={(tone) => setFilter({ ...filter, tone: tone as TrafficFilter["tone"] })}
          />
        </>
      }
      tools={
        <>
          <IconButton label="Clear the list" icon={IconTrash} onClick={() => void clear(id, service?.title ?? id)} />
          <ColumnMenu all={allColumns} choice={columns} />
          <ToolbarSeparator />
          <PauseButton paused={paused} onToggle={togglePause} />
        </>
      }
      status={<TrafficStatusLine id={id} view={view} rate={rate} service={service} onFollow={follow} />}
      below={
        <>
          {Below && <Below service={service} />}
          {opened && (
            <InspectorSlot>
              <RowInspector service={id} row={opened.id} live={openedRow} onClose={choice.close} />
            </InspectorSlot>
          )}
        </>
      }
    >
      {view.mode === "scrolled" && view.arrived > 0 && <NewRows count={view.arrived} onFollow={follow} />}
      {isEmpty && !isFiltering(view.filter) ? (
        <ServiceEmpty id={id} service={service} text={tab.empty} />
      ) : (
        <DataTable
          {...choice.tableProps}
          label={`${capitalized(item.many)}, newest first`}
          count={shown.length}
          rowAt={rowAt}
          columns={columns.columns}
          onScrolledAway={rows.scrolled}
          onEndNear={onEndNear}
          empty={
            isEmpty && (
              <Nothing
                text={`None of ${formatCountOf(view.kept, item.one, item.many)} matches the filter.`}
                action="Show all"
                onAction={() => setFilter(noFilter)}
              />
            )
          }
        />
      )}
    </ListPage>
  );
}
