import type { RtspPathView, RtspViews } from "../../../../contract/services/rtsp.ts";
import { useService, viewsOf } from "../../control/use-store.ts";
import { CellText } from "../../list/cell-text.tsx";
import type { Column } from "../../list/column.ts";
import { ColumnMenu, useColumnChoice } from "../../list/column-choice.tsx";
import { DataTable } from "../../list/data-table.tsx";
import { ListPage } from "../../list/list-page.tsx";
import { Fact } from "../../list/list-status.tsx";
import { useRowChoice } from "../../list/use-row-choice.ts";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { StartServiceButton } from "../../ui/services/start-service-button.tsx";
import { Loading } from "../../ui/status/answered.tsx";
import { EmptyState, NoRows } from "../../ui/status/empty-state.tsx";
import { EmptyPage } from "../../ui/status/first-steps.tsx";
import { formatBytes, formatCount, formatCountOf, formatDecimals, formatRate } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { Facts, StatusLine } from "../../ui/toolbar.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";

const useRtspView = viewsOf<RtspViews>("rtsp");
const pathName = ({ name }: RtspPathView) => name;
const sources = { clip: "looped file", publisher: "publisher", pull: "pulled" } as const;

const none = <CellText tone="quiet">–</CellText>;

const pathColumns: readonly Column<RtspPathView>[] = [
  { id: "name", title: "Path", face: "mono", rank: 0, cell: ({ name }) => <code>{shownText(`/${name}`)}</code> },
  {
    id: "source",
    title: "Source",
    minSample: "looped file",
    rank: 1,
    cell: ({ source }) => <CellText title={source.title}>{sources[source.kind]}</CellText>,
  },
  {
    id: "tracks",
    title: "Tracks",
    minSample: "h264 1280×720",
    preferredSample: "h264 1280×720, aac 48 kHz, stereo",
    rank: 2,
    cell: ({ tracks }) => <CellText tone="soft">{tracks.map(({ codec, format }) => `${codec} ${format}`).join(" · ")}</CellText>,
  },
  { id: "readers", title: "Readers", align: "end", minSample: "00,000", rank: 1, cell: ({ readers }) => formatCount(readers) },
  {
    id: "bit-rate",
    title: "Bit rate",
    align: "end",
    minSample: "00.00 Mbit/s",
    rank: 1,
    cell: ({ bitRate }) => (bitRate === 0 ? none : `${formatDecimals(bitRate / 1_000_000, 2, 2)} Mbit/s`),
  },
  {
    id: "frame-rate",
    title: "Frames/s",
    align: "end",
    minSample: "Frames/s",
    rank: 2,
    cell: ({ frameRate }) => (frameRate === 0 ? none : formatRate(frameRate)),
  },
  { id: "sent", title: "Sent", align: "end", minSample: "000 MB", rank: 3, cell: ({ bytesSent }) => formatBytes(bytesSent) },
];

/** The streams that can be played, where they come from and who reads them. */
export function RtspPaths() {
  const service = useService("rtsp");
  const view = useRtspView("paths");
  const [text, setText] = useRemembered("rtsp.paths.filter", "");
  const columns = useColumnChoice("rtsp-paths", pathColumns);
  const choice = useRowChoice(pathName);
  if (service?.status.state !== "running") {
    return (
      <EmptyPage>
        <EmptyState title="RTSP is not running" text="Start the service to see its streams.">
          <StartServiceButton id="rtsp" service={service} title="Start RTSP" />
        </EmptyState>
      </EmptyPage>
    );
  }
  const needle = text.trim().toLowerCase();
  const rows = view?.paths.filter(({ name }) => name.toLowerCase().includes(needle));
  return (
    <ListPage
      label="Paths"
      toolbarLabel="Paths"
      filter={<FilterInput width={242} placeholder="Path" value={text} onChange={setText} />}
      tools={<ColumnMenu all={pathColumns} choice={columns} />}
      status={
        <StatusLine>
          <Facts>
            {view && <Fact>{formatCountOf(view.paths.length + view.more, "path")}</Fact>}
            {view && (
              <Fact>
                {formatCountOf(
                  view.paths.reduce((sum, { readers }) => sum + readers, 0),
                  "reader",
                )}
              </Fact>
            )}
          </Facts>
        </StatusLine>
      }
    >
      {rows ? (
        <DataTable
          {...choice.tableProps}
          label="Paths"
          count={rows.length}
          rowAt={(index) => rows[index]}
          columns={columns.columns}
          empty={<NoRows text="No path matches the filter." action="Show all" onAction={() => setText("")} />}
        />
      ) : (
        <Loading what="the paths" />
      )}
    </ListPage>
  );
}
