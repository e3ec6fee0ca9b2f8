import { useCallback, useState } from "react";
import { z } from "zod";
import type { EventFormat, EventJob, EventRow, EventsViews } from "../../../../contract/services/events.ts";
import { stampedName, startExport } from "../../app/exports/export-words.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useControl } from "../../control/client-context.tsx";
import { lastViewsOf, useRate, useService, viewsOf } from "../../control/use-store.ts";
import { httpInspectors } from "../../inspectors/http-inspectors.ts";
import { ColumnMenu } from "../../list/columns/column-choice.tsx";
import { DataTable } from "../../list/data-table.tsx";
import { httpStatuses } from "../../list/filter/filter-terms.ts";
import { NewRows } from "../../list/follow-mark.tsx";
import { ListArea, ListFrame } from "../../list/list-page.tsx";
import { useRowChoice } from "../../list/use-row-choice.ts";
import { OtherRowInspector, OtherRows, useOtherRows } from "../../pages/service/other-rows.tsx";
import { ServiceEmpty } from "../../pages/service/service-empty.tsx";
import { usePauseCommand } from "../../ui/commands.ts";
import { Failed, Loading } from "../../ui/status/answered.tsx";
import { Boundary } from "../../ui/status/boundary.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { originOf } from "../../ui/texts/address.ts";
import { formatCountOf } from "../../ui/texts/quantity.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { eventTableColumns, useEventColumns } from "./event-columns.tsx";
import { filterAt, isFiltering, noFilter, shownFilterSchema } from "./event-filter.ts";
import { EventInspector } from "./event-inspector.tsx";
import { newestFirst, orderAfter } from "./event-pages.ts";
import { eventRowCommands } from "./event-row-commands.ts";
import { EventsBar } from "./events-bar.tsx";
import { EventsStopped, emptyAfter, NothingMatches } from "./events-empty.tsx";
import styles from "./events-live.module.css";
import { EventsStatusLine, pageSizes } from "./events-status-line.tsx";
import { EventsToolbar } from "./events-toolbar.tsx";
import { GenerateDialog } from "./jobs/generate-dialog.tsx";
import { eventsAsk, importFile } from "./jobs/import-file.ts";
import { ImportReport } from "./jobs/import-report.tsx";
import { useDeletion } from "./jobs/use-deletion.ts";
import { PlotsBand } from "./plots/plots-band.tsx";
import { useOutcomePlot } from "./plots/use-outcome-plot.ts";
import { SampleEventsNote } from "./sample-events-note.tsx";
import { useEventPages } from "./use-event-pages.ts";

const useEventsView = viewsOf<EventsViews>("events");
const useLastEventsView = lastViewsOf<EventsViews>("events");
const requests = {
  title: "Requests",
  unsuccessful: "Refused",
  ofKind: "",
  placeholder: "Reason, client, path",
  terms: { fields: ["status", "method", "path", "client", "reason", "took", "size"], statuses: httpStatuses },
  inspectors: httpInspectors,
  rowCommands: eventRowCommands,
} as const;
const noJobs: readonly EventJob[] = [];

/** The collected events, their plots, and the actions on them. */
export function EventsLive() {
  const client = useControl();
  const service = useService("events");
  const rate = useRate("events");
  const totals = useLastEventsView("totals");
  const limits = useEventsView("limits");
  const jobs = useEventsView("jobs") ?? noJobs;
  const storage = useEventsView("storage");
  const [filter, setFilter] = useRemembered("filter.events", noFilter, shownFilterSchema);
  const [pageRows, setPageRows] = useRemembered<number>("events.page-rows", 50, z.literal(pageSizes));
  const [plotsShown, setPlotsShown] = useRemembered("events.plots", true);
  const [pages, view] = useEventPages({ filter, pageRows, totals, service });
  const plots = useOutcomePlot({
    filter: view.filter,
    version: `${totals?.newestId} ${totals?.events} ${service?.status.state} ${storage?.place}`,
    held: view.mode === "paused",
  });
  const columns = useEventColumns(view.rows);
  const deletion = useDeletion(filter);
  const choice = useRowChoice(rowId);
  const { table, opened } = choice;
  const others = useOtherRows("events", requests, view.mode === "paused");
  const [generating, setGenerating] = useState(false);
  const [report, setReport] = useState<EventJob>();
  const ask = eventsAsk(client);
  const running = service?.status.state === "running";

  const { rows, order } = view;
  const isNewestFirst = order.column === newestFirst.column && order.direction === newestFirst.direction;
  const rowAt = useCallback((index: number) => rows[index], [rows]);
  const follow = () => {
    table.current?.toTop();
    void pages.follow();
  };
  const togglePause = () => (view.mode === "paused" ? follow() : pages.pause());
  usePauseCommand({ paused: view.mode === "paused", onToggle: togglePause, enabled: running });
  const sortBy = (column: string) => {
    table.current?.toTop();
    void pages.setOrder(orderAfter(order, column));
  };

  const exportAs = (format: EventFormat, { raw } = { raw: false }) =>
    attempt(
      startExport(client, {
        source: { kind: "action", id: "events", action: "export", params: { format, raw, filter: filterAt(filter, Date.now()) } },
        name: stampedName("events", format),
        item: "event",
      }),
    );
  const startImport = (file: File) =>
    attempt(
      importFile(ask, file)
        .then(({ sent }) => sent)
        .then(showRefused),
    );
  const showRefused = (job: EventJob | undefined) => {
    if (job && (job.refused ?? 0) > 0) setReport(job);
  };

  /** The service answers: it runs, or is open for reading its data. */
  const available = view.failure?.code !== "SERVICE_NOT_RUNNING";
  const filtered = isFiltering(view.filter);
  const isEmpty = view.answered && rows.length === 0;
  const isGone = view.failure !== undefined && rows.length === 0;
  /** Nothing to count: the space shows how to send the first event. */
  const isBare = isGone || (isEmpty && !filtered);
  const failure = available ? (storage?.failure ?? view.failure) : undefined;
  return (
    <ListFrame label="Live events">
      <Boundary region="events: toolbar" line>
        <EventsToolbar filter={filter} onFilter={setFilter} view={view} />
      </Boundary>
      {plotsShown && !isBare && (
        <Boundary region="events: figures" line>
          <PlotsBand plots={plots} filter={view.filter} onFilter={setFilter} limits={limits} running={running} />
        </Boundary>
      )}
      {failure && failure.code !== "CONNECTION_LOST" && (
        <Failed what="the events" failure={failure} onRetry={pages.reload} isRetrying={view.reading} isOutdated={rows.length > 0} compact />
      )}
      <Boundary region="events: bar" line>
        <EventsBar
          view={view}
          jobs={jobs}
          filtered={filtered}
          available={available}
          running={running}
          plotsShown={isBare ? undefined : plotsShown}
          withoutSample={filter.sample === "without"}
          onWithoutSample={(without) => setFilter({ ...filter, sample: without ? "without" : "all" })}
          columnMenu={<ColumnMenu all={eventTableColumns} choice={columns} />}
          onPlots={() => setPlotsShown(!plotsShown)}
          onExport={(format, options) => void exportAs(format, options)}
          onImport={(file) => void startImport(file)}
          onGenerate={() => setGenerating(true)}
          deletion={deletion}
          onPause={togglePause}
          onReport={setReport}
        />
      </Boundary>
      <Boundary region="events: sample events" line>
        <SampleEventsNote ask={ask} available={available} jobs={jobs} />
      </Boundary>
      <ListArea region="events: list">
        {view.mode === "held" && view.arrived > 0 && running && <NewRows count={view.arrived} onFollow={follow} />}
        {!view.loaded && !view.failure ? (
          <Loading what="the events" />
        ) : isGone ? (
          running ? null : (
            <EventsStopped service={service} kept={totals?.events} />
          )
        ) : isEmpty && !filtered ? (
          <ServiceEmpty id="events" service={service} text={emptyAfter(rate?.total ?? 0)} isCleared={false} />
        ) : (
          <DataTable
            {...choice.tableProps}
            onChoose={(row) => {
              others.choice.release();
              if (others.choice.opened) choice.open(row);
              else choice.choose(row);
            }}
            onOpen={(row) => {
              others.choice.release();
              choice.open(row);
            }}
            label={isNewestFirst ? "Events, newest first" : "Events, sorted"}
            count={rows.length}
            rowAt={rowAt}
            columns={columns.columns}
            sort={order}
            onSort={sortBy}
            onScrolledAway={pages.scrolled}
            onAimed={pages.aimed}
          />
        )}
        {view.loaded && !view.answered && view.reading && rows.length === 0 && (
          <div className={styles.nothing}>
            <Loading doing="Searching" what={formatCountOf(totals?.events ?? 0, "event")} />
          </div>
        )}
        {isEmpty && filtered && !isGone && (
          // Over the table and not in it: a grid may contain only rows.
          <div className={styles.nothing}>
            <NothingMatches
              events={totals?.events ?? 0}
              more={view.more}
              onAll={() => setFilter(noFilter)}
              onFurther={() => void pages.next()}
            />
          </div>
        )}
      </ListArea>
      <Boundary region="events: requests" line>
        <OtherRows others={others} />
      </Boundary>
      <Boundary region="events: status line" line>
        <EventsStatusLine
          pages={pages}
          view={view}
          rate={rate}
          service={service}
          available={available}
          onFollow={follow}
          onPageRows={setPageRows}
        />
      </Boundary>
      <Boundary region="events: dialogs" line>
        <GenerateDialog opened={generating} onClose={() => setGenerating(false)} />
        <ImportReport job={report} onClose={() => setReport(undefined)} />
      </Boundary>
      <OtherRowInspector others={others} />
      {!others.choice.opened && opened?.row && (
        <InspectorSlot shows={opened.row.id}>
          <EventInspector
            row={opened.row}
            origin={originOf(service)}
            onDevice={(device) => setFilter({ ...filter, device })}
            onClose={choice.close}
          />
        </InspectorSlot>
      )}
    </ListFrame>
  );
}

const rowId = (row: EventRow) => row.id;
