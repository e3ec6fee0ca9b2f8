import { useMemo, useState } from "react";
import { z } from "zod";
import { type ServiceId, type ServiceView, serviceIds } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useServices } from "../../control/use-store.ts";
import { ColumnMenu, useColumnChoice } from "../../list/columns/column-choice.tsx";
import { DetailToggle } from "../../list/filter/detail-toggle.tsx";
import { allTerms, filterHint } from "../../list/filter/filter-terms.ts";
import { SampleToggle } from "../../list/filter/sample-toggle.tsx";
import { isFiltering, noFilter } from "../../list/filter/traffic-filter.ts";
import { ListPage } from "../../list/list-page.tsx";
import { LiveTable } from "../../list/live-table.tsx";
import { isKnownEmpty } from "../../list/rows/rows-shown.ts";
import type { TrafficRows } from "../../list/rows/traffic-rows.ts";
import { joinedId } from "../../list/rows/traffic-rows.ts";
import { useRowsView } from "../../list/rows/use-list-rows.ts";
import { useJoinedTrafficRows } from "../../list/rows/use-traffic-rows.ts";
import { useLiveList, useRowNow } from "../../list/use-live-list.ts";
import { useRowChoice } from "../../list/use-row-choice.ts";
import { firstCommand, rowCommandsOf } from "../../services/registry.ts";
import { CommandLine } from "../../ui/copy/command-line.tsx";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { PageTitle } from "../../ui/panel.tsx";
import { Loading } from "../../ui/status/answered.tsx";
import { Boundary } from "../../ui/status/boundary.tsx";
import { EmptyState } from "../../ui/status/empty-state.tsx";
import { PauseButton, ToolbarSeparator } from "../../ui/toolbar.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { ListMenu } from "../service/list-menu.tsx";
import { RowInspector } from "../service/row-inspector.tsx";
import { ServiceToggles } from "../service/service-toggles.tsx";
import { TrafficStatusLine } from "../service/traffic-status-line.tsx";
import { useRowCommands } from "../service/use-row-commands.ts";
import styles from "./timeline.module.css";
import { timelineColumns } from "./timeline-columns.tsx";

const noneHidden: readonly ServiceId[] = [];
const noTitles: ReadonlyMap<ServiceId, string> = new Map();
const rowId = (row: TrafficRow) => joinedId(row);

/** The traffic of all services on one time axis. */
export function TimelinePage() {
  const services = useServices();
  return (
    <div className={styles.page}>
      <PageTitle className={styles.title}>Timeline</PageTitle>
      {services.length === 0 ? (
        <Loading what="the services" />
      ) : (
        <Boundary region="timeline">
          <Timeline built={services.filter(({ built }) => built)} />
        </Boundary>
      )}
    </div>
  );
}

function Timeline({ built }: { readonly built: readonly ServiceView[] }) {
  const [hidden, setHidden] = useRemembered<readonly ServiceId[]>("timeline-hidden", noneHidden, z.array(z.enum(serviceIds)));
  const [filter, setFilter] = useState(noFilter);
  const titles = useTitles(built);
  const allColumns = useMemo(() => timelineColumns(titles), [titles]);
  const columns = useColumnChoice("timeline", allColumns);
  const shownIds = built.map(({ id }) => id).filter((id) => !hidden.includes(id));
  const rows = useJoinedTrafficRows(shownIds.join(), filter);
  const choice = useRowChoice(rowId);
  const list = useLiveList(rows, filter, choice);
  const commandsOf = useRowCommands(rowCommandsOf, choice.open);
  const isEmpty = useRowsView(rows, isKnownEmpty);
  const isFiltered = useRowsView(rows, (view) => isFiltering(view.filter) && view.kept > 0) || hidden.length > 0;
  const first = firstCommand(built);
  return (
    <ListPage
      label="Traffic of all services"
      toolbarLabel="Timeline"
      filter={
        <FilterInput
          value={filter.text}
          onChange={(text) => setFilter({ ...filter, text })}
          onDown={list.enterList}
          placeholder="Path, topic, client"
          hint={filterHint(allTerms)}
          options={<DetailToggle details="headers, bodies and messages" filter={filter} onFilter={setFilter} />}
        />
      }
      scopes={<ServiceToggles services={built} hidden={hidden} onHidden={setHidden} />}
      tools={
        <>
          <SampleToggle without={filter.withoutSample} onWithout={(withoutSample) => setFilter({ ...filter, withoutSample })} />
          <ColumnMenu all={allColumns} choice={columns} />
          <ListMenu rows={rows} ids={shownIds} stem="backlot-timeline" item="row" chosen={choice.chosenRow} commandsOf={commandsOf} />
          <ToolbarSeparator />
          <PauseButton paused={list.paused} onToggle={list.togglePause} />
        </>
      }
      status={<TrafficStatusLine rows={rows} service={undefined} terms={allTerms} onFollow={list.follow} />}
      below={choice.opened?.row && <OpenedRow rows={rows} opened={choice.opened.row} onClose={choice.close} />}
    >
      <LiveTable
        rows={rows}
        choice={choice}
        items="traffic of all services"
        columns={columns.columns}
        onFollow={list.follow}
        commandsOf={commandsOf}
        empty={
          isEmpty && (
            <EmptyState
              title={isFiltered ? "Nothing matches this filter" : "No traffic yet"}
              text="Every request, call and message of every service appears here, newest first, on one clock."
            >
              {first && <CommandLine command={first.command} />}
            </EmptyState>
          )
        }
      />
    </ListPage>
  );
}

/** Title of each service; the same map until a title changes, whatever else of the services does. */
function useTitles(services: readonly ServiceView[]): ReadonlyMap<ServiceId, string> {
  const [known, setKnown] = useState<ReadonlyMap<ServiceId, string>>(noTitles);
  if (known.size === services.length && services.every(({ id, title }) => known.get(id) === title)) return known;
  const titles = new Map(services.map(({ id, title }) => [id, title]));
  setKnown(titles);
  return titles;
}

interface OpenedRowProps {
  readonly rows: TrafficRows;
  readonly opened: TrafficRow;
  readonly onClose: () => void;
}

function OpenedRow({ rows, opened, onClose }: OpenedRowProps) {
  const live = useRowNow(rows, opened);
  return (
    <InspectorSlot shows={joinedId(opened)}>
      <RowInspector service={opened.service} row={opened.id} live={live} opened={opened} onClose={onClose} />
    </InspectorSlot>
  );
}
