import { Button, SegmentedControl } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useRate, useService } from "../../control/use-store.ts";
import { ColumnMenu, useColumnChoice } from "../../list/columns/column-choice.tsx";
import { DetailToggle } from "../../list/filter/detail-toggle.tsx";
import { filterHint } from "../../list/filter/filter-terms.ts";
import { SampleToggle } from "../../list/filter/sample-toggle.tsx";
import { isFiltering, noFilter, searchesDetails, type TrafficFilter, trafficFilterSchema } from "../../list/filter/traffic-filter.ts";
import { ListPage } from "../../list/list-page.tsx";
import { LiveTable } from "../../list/live-table.tsx";
import { isKnownEmpty } from "../../list/rows/rows-shown.ts";
import type { TrafficRows } from "../../list/rows/traffic-rows.ts";
import { useRowsView } from "../../list/rows/use-list-rows.ts";
import { useTrafficRows } from "../../list/rows/use-traffic-rows.ts";
import { useLiveList, useRowNow } from "../../list/use-live-list.ts";
import { type RowChoice, useRowChoice } from "../../list/use-row-choice.ts";
import { rowCommandsOf } from "../../services/registry.ts";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { useClearTraffic } from "../../ui/services/use-clear-traffic.ts";
import { NoRows } from "../../ui/status/empty-state.tsx";
import { capitalized, formatCountOf } from "../../ui/texts/quantity.ts";
import { IconButton, PauseButton, ToolbarSeparator } from "../../ui/toolbar.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import type { TrafficTab } from "./define-service-page.ts";
import { requestedRows, useHandover } from "./handover.ts";
import { ListMenu } from "./list-menu.tsx";
import { RowInspector } from "./row-inspector.tsx";
import { ServiceEmpty } from "./service-empty.tsx";
import { searchedInPartText, TrafficStatusLine } from "./traffic-status-line.tsx";
import { useRowCommands } from "./use-row-commands.ts";

const rowId = (row: TrafficRow) => row.id;

/** A service's live traffic, and the inspector of the selected row. */
export function TrafficList({ id, tab }: { readonly id: ServiceId; readonly tab: TrafficTab }) {
  const { columns: allColumns, item, Picks, Above, Below } = tab;
  const clear = useClearTraffic();
  const service = useService(id);
  const [filter, setFilter] = useRemembered(`filter.${id}`, noFilter, trafficFilterSchema);
  const rows = useTrafficRows(id, filter);
  const columns = useColumnChoice(id, allColumns);
  const choice = useRowChoice(rowId);
  const list = useLiveList(rows, filter, choice);
  useHandover(requestedRows, id, choice.openId);
  const commandsOf = useRowCommands(rowCommandsOf, choice.open);
  const isEmpty = useRowsView(rows, isKnownEmpty);
  const isFiltered = useRowsView(rows, (view) => isFiltering(view.filter) && view.kept > 0);
  // What a service has had stays in the list until that is cleared.
  const isCleared = (useRate(id)?.total ?? 0) > 0;
  const scopes = (
    <SegmentedControl
      flex="none"
      aria-label="Status"
      data={tab.scopes.map((scope) => ({ ...scope }))}
      value={filter.tone}
      onChange={(tone) => setFilter({ ...filter, tone: tone as TrafficFilter["tone"] })}
    />
  );
  return (
    <ListPage
      label={`Live ${item.many}`}
      toolbarLabel={capitalized(item.many)}
      above={Above && <Above />}
      filter={
        <FilterInput
          width={Picks ? 190 : 242}
          placeholder={tab.filterPlaceholder}
          hint={filterHint(tab.filterTerms)}
          value={filter.text}
          onChange={(text) => setFilter({ ...filter, text })}
          onDown={list.enterList}
          options={tab.details && <DetailToggle details={tab.details} filter={filter} onFilter={setFilter} />}
        />
      }
      scopesWidth={Picks ? "wide" : "narrow"}
      scopes={
        <>
          {scopes}
          {Picks && <Picks filter={filter} onFilter={setFilter} />}
        </>
      }
      tools={
        <>
          <SampleToggle without={filter.withoutSample} onWithout={(withoutSample) => setFilter({ ...filter, withoutSample })} />
          <IconButton label="Clear the list" icon={IconTrash} onClick={() => void clear(id, service?.title ?? id)} />
          <ColumnMenu all={allColumns} choice={columns} />
          <ListMenu rows={rows} ids={[id]} stem={`backlot-${id}`} item={item.one} chosen={choice.chosenRow} commandsOf={commandsOf} />
          <ToolbarSeparator />
          <PauseButton paused={list.paused} onToggle={list.togglePause} />
        </>
      }
      status={<TrafficStatusLine rows={rows} service={service} terms={tab.filterTerms} onFollow={list.follow} />}
      below={
        <>
          {Below && <Below service={service} />}
          {choice.opened && <OpenedRow rows={rows} service={id} opened={choice.opened} onClose={choice.close} />}
        </>
      }
    >
      {isEmpty && !isFiltered ? (
        <ServiceEmpty id={id} service={service} text={tab.empty} isCleared={isCleared} />
      ) : (
        <LiveTable
          rows={rows}
          choice={choice}
          items={item.many}
          columns={columns.columns}
          onFollow={list.follow}
          commandsOf={commandsOf}
          empty={isEmpty && <NoneMatches rows={rows} tab={tab} filter={filter} onFilter={setFilter} />}
        />
      )}
    </ListPage>
  );
}

interface NoneMatchesProps {
  readonly rows: TrafficRows;
  readonly tab: Pick<TrafficTab, "item" | "details">;
  readonly filter: TrafficFilter;
  readonly onFilter: (filter: TrafficFilter) => void;
}

function NoneMatches({ rows, tab: { item, details }, filter, onFilter }: NoneMatchesProps) {
  const kept = useRowsView(rows, (view) => view.kept);
  const inPart = useRowsView(rows, (view) => view.searchedInPart);
  const isMoreToSearch = details !== undefined && !filter.inDetails && searchesDetails({ ...filter, inDetails: true });
  const texts = [
    `None of ${formatCountOf(kept, item.one, item.many)} matches the filter.`,
    isMoreToSearch && `Of ${details}, only what the list shows was searched.`,
    inPart > 0 && `${searchedInPartText(inPart)}: of long bodies and messages the start is kept.`,
  ];
  return (
    <NoRows text={texts.filter((text) => text !== false).join(" ")} action="Show all" onAction={() => onFilter(noFilter)}>
      {isMoreToSearch && <Button onClick={() => onFilter({ ...filter, inDetails: true })}>Search all of them</Button>}
    </NoRows>
  );
}

interface OpenedRowProps {
  readonly rows: TrafficRows;
  readonly service: ServiceId;
  readonly opened: NonNullable<RowChoice<TrafficRow, number>["opened"]>;
  readonly onClose: () => void;
}

function OpenedRow({ rows, service, opened: { id, row }, onClose }: OpenedRowProps) {
  const live = useRowNow(rows, row ?? { service, id, at: 0 });
  return (
    <InspectorSlot shows={id}>
      <RowInspector service={service} row={id} live={live} opened={row} onClose={onClose} />
    </InspectorSlot>
  );
}
