import { Button } from "@mantine/core";
import { useState } from "react";
import type { RtspPathView } from "../../../../contract/services/rtsp.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useService } from "../../control/use-store.ts";
import { CellText } from "../../list/cells/cell-text.tsx";
import { MarkedText } from "../../list/cells/marked-text.tsx";
import type { Column } from "../../list/columns/column.ts";
import { ColumnMenu, useColumnChoice } from "../../list/columns/column-choice.tsx";
import { DataTable } from "../../list/data-table.tsx";
import { ListPage } from "../../list/list-page.tsx";
import { Fact } from "../../list/list-status.tsx";
import { useRowChoice } from "../../list/use-row-choice.ts";
import { useHandover } from "../../pages/service/handover.ts";
import { useCommands } from "../../ui/commands.ts";
import { DropZone } from "../../ui/forms/drop-zone.tsx";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { StartServiceButton } from "../../ui/services/start-service-button.tsx";
import { Loading } from "../../ui/status/answered.tsx";
import { EmptyState, NoRows } from "../../ui/status/empty-state.tsx";
import { EmptyPage } from "../../ui/status/first-steps.tsx";
import { formatBitRate, formatBytes, formatCount, formatCountOf, formatRate } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { Facts, StatusLine } from "../../ui/toolbar.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { FaultBadges } from "./faults/fault-badges.tsx";
import { AddFilesButton, addFiles } from "./files/add-files-button.tsx";
import { FilesPanel } from "./files/files-panel.tsx";
import { useAddFiles } from "./files/use-add-files.ts";
import { PathInspector, sourceTexts } from "./path-inspector.tsx";
import { codecName } from "./picture/stream-texts.ts";
import { PublishDialog } from "./publish/publish-dialog.tsx";
import { requestedPaths } from "./requested-paths.ts";
import { useRtspView } from "./use-rtsp-view.ts";

const publishStream = { id: "rtsp-publish", title: "Publish a stream…", keywords: "ffmpeg gstreamer obs rtmp" } as const;
export const pathsCommands = [publishStream, addFiles];

const pathName = ({ name }: RtspPathView) => name;

const none = <CellText tone="quiet">–</CellText>;

const pathColumns: readonly Column<RtspPathView>[] = [
  {
    id: "name",
    title: "Path",
    face: "mono",
    rank: 0,
    cell: ({ name }) => (
      <MarkedText title={shownText(`/${name}`)} marks={<FaultBadges target={{ kind: "path", path: name }} />}>
        <code>{shownText(`/${name}`)}</code>
      </MarkedText>
    ),
  },
  {
    id: "source",
    title: "Source",
    minSample: "RTMP publisher",
    rank: 1,
    cell: ({ source }) => <CellText title={source.title}>{sourceTexts[source.kind]}</CellText>,
  },
  {
    id: "tracks",
    title: "Tracks",
    minSample: "H.264 1280×720",
    preferredSample: "H.264 1280×720 · AAC 48 kHz, stereo",
    rank: 2,
    cell({ tracks }) {
      const text = tracks.map(({ codec, format }) => `${codecName(codec)} ${format}`).join(" · ");
      return (
        <CellText tone="soft" title={text}>
          {text}
        </CellText>
      );
    },
  },
  { id: "readers", title: "Readers", align: "end", minSample: "00,000", rank: 1, cell: ({ readers }) => formatCount(readers) },
  {
    id: "bit-rate",
    title: "Bit rate",
    align: "end",
    minSample: "00.00 Mbit/s",
    rank: 1,
    cell: ({ bitRate }) => (bitRate === 0 ? none : formatBitRate(bitRate)),
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
  const files = useRtspView("files");
  const { upload, refused, add, dismiss } = useAddFiles();
  const [text, setText] = useRemembered("rtsp.paths.filter", "");
  const [isPublishing, setPublishing] = useState(false);
  useCommands([{ ...publishStream, run: () => setPublishing(true) }]);
  const columns = useColumnChoice("rtsp-paths", pathColumns);
  const choice = useRowChoice(pathName);
  useHandover(requestedPaths, "rtsp", choice.openId);
  const isRunning = service?.status.state === "running";
  const zone = {
    hint: "Drop MP4 files with H.264 or H.265 and AAC: each becomes a stream",
    refusal: isRunning ? undefined : "Start RTSP first: the running service keeps and plays the files",
    onDrop: ({ files: dropped }: DataTransfer) => add([...dropped]),
  };
  if (!isRunning) {
    return (
      <DropZone {...zone}>
        <EmptyPage>
          <EmptyState title="RTSP is not running" text="Start the service to see its streams.">
            <StartServiceButton id="rtsp" service={service} title="Start RTSP" />
          </EmptyState>
        </EmptyPage>
      </DropZone>
    );
  }
  const needle = text.trim().toLowerCase();
  const rows = view?.paths.filter(({ name }) => name.toLowerCase().includes(needle));
  const { opened } = choice;
  const shown = opened && (view?.paths.find(({ name }) => name === opened.id) ?? opened.row);
  return (
    <DropZone {...zone}>
      <ListPage
        label="Paths"
        toolbarLabel="Paths"
        filter={<FilterInput width={242} placeholder="Path" value={text} onChange={setText} />}
        tools={
          <>
            <Button onClick={() => setPublishing(true)}>Publish…</Button>
            <AddFilesButton onAdd={add} />
            <ColumnMenu all={pathColumns} choice={columns} />
          </>
        }
        below={
          <>
            {isPublishing && <PublishDialog onClose={() => setPublishing(false)} />}
            <FilesPanel files={files?.files} upload={upload} refused={refused} dismiss={dismiss} />
            {shown && (
              <InspectorSlot shows={shown.name}>
                <PathInspector key={shown.name} path={shown} onClose={choice.close} />
              </InspectorSlot>
            )}
          </>
        }
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
    </DropZone>
  );
}
