import { useMemo, useState } from "react";
import type { WebrtcViews } from "../../../../../contract/services/webrtc.ts";
import { InspectorSlot } from "../../../app/inspector-slot.tsx";
import { goTo, servicePage } from "../../../app/route.ts";
import { useService } from "../../../control/use-store.ts";
import { ColumnMenu, useColumnChoice } from "../../../list/columns/column-choice.tsx";
import { DataTable } from "../../../list/data-table.tsx";
import { ListPage } from "../../../list/list-page.tsx";
import { Fact } from "../../../list/list-status.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { useCommands } from "../../../ui/commands.ts";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { ServiceStopped } from "../../../ui/services/start-service-button.tsx";
import { Loading } from "../../../ui/status/answered.tsx";
import { EmptyState, NoRows } from "../../../ui/status/empty-state.tsx";
import { EmptyPage } from "../../../ui/status/first-steps.tsx";
import { formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { Facts, StatusLine } from "../../../ui/toolbar.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { ClientLines } from "../client-lines-view.tsx";
import { WebrtcRow } from "../inspectors/webrtc-row.tsx";
import { TestPageButton } from "../test-page/test-page-button.tsx";
import { useWebrtcView } from "../use-webrtc-view.ts";
import { roomColumns } from "./room-columns.tsx";
import { RoomInspector } from "./room-inspector.tsx";
import { type RoomRow, roomRows } from "./room-rows.ts";

const rowId = (row: RoomRow) => row.id;

/** Rooms with their members, of every dialect. */
export function WebrtcRooms() {
  const service = useService("webrtc");
  const rooms = useWebrtcView("rooms");
  const peers = useWebrtcView("peers");
  const [text, setText] = useRemembered("webrtc.rooms.filter", "");
  const columns = useColumnChoice("webrtc-rooms", roomColumns);
  const choice = useRowChoice(rowId);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(() => new Set());
  const rows = useMemo(() => (rooms && peers ? roomRows(rooms, peers, text, unfolded) : undefined), [rooms, peers, text, unfolded]);
  useCommands([
    {
      id: "webrtc-call",
      title: "Call between two peers of this page",
      keywords: "try webrtc",
      run: () => goTo(servicePage("webrtc", "try")),
    },
  ]);
  if (service?.status.state !== "running") return <ServiceStopped id="webrtc" text="Start the service to see its rooms and peers." />;
  const opened = choice.opened && (rows?.find(({ id }) => id === choice.opened?.id) ?? choice.opened.row);
  const isEmpty = rows?.length === 0 && text.trim() === "";
  return (
    <ListPage
      label="Rooms"
      toolbarLabel="Rooms"
      filter={<FilterInput width={242} placeholder="Room, peer, address" value={text} onChange={setText} />}
      tools={
        <>
          <TestPageButton />
          <ColumnMenu all={roomColumns} choice={columns} />
        </>
      }
      status={
        <StatusLine>
          <Facts>
            {rooms && <Fact>{formatCountOf(rooms.rooms.length + rooms.more, "room")}</Fact>}
            {peers && <Fact>{formatCountOf(peers.peers.length + peers.more, "peer")}</Fact>}
            {peers && peers.more > 0 && <Fact title="The newest are shown.">{`${formatCount(peers.more)} peers not named`}</Fact>}
          </Facts>
        </StatusLine>
      }
      below={
        opened && (opened.kind === "room" || opened.kind === "peer") && <OpenedRow row={opened} rooms={rooms} onClose={choice.close} />
      }
    >
      {rows === undefined ? (
        <Loading what="the rooms" />
      ) : isEmpty ? (
        <EmptyPage>
          <EmptyState
            title="Nobody is connected"
            text="Each room appears here with its members, whatever dialect they speak: their address, how long they are here, and what they exchanged. Connect one:"
          >
            <ClientLines first="websocat" />
          </EmptyState>
        </EmptyPage>
      ) : (
        <DataTable
          {...choice.tableProps}
          onOpen={(row) => (row.kind === "folded" ? setUnfolded((known) => new Set([...known, row.room])) : choice.open(row))}
          label="Rooms and peers"
          count={rows.length}
          rowAt={(index) => rows[index]}
          columns={columns.columns}
          empty={<NoRows text="No room or peer matches the filter." action="Show all" onAction={() => setText("")} />}
        />
      )}
    </ListPage>
  );
}

interface OpenedRowProps {
  readonly row: Extract<RoomRow, { kind: "room" | "peer" }>;
  readonly rooms: WebrtcViews["rooms"] | undefined;
  readonly onClose: () => void;
}

function OpenedRow({ row, rooms, onClose }: OpenedRowProps) {
  // Where not all are named, it may be among the others.
  const isOver = row.kind === "room" && rooms?.more === 0 && !rooms.rooms.some(({ name }) => name === row.room.name);
  return (
    <InspectorSlot shows={row.id}>
      {row.kind === "room" ? (
        <RoomInspector key={row.id} room={row.room} isOver={isOver} onClose={onClose} />
      ) : (
        <WebrtcRow row={row.peer.row} onClose={onClose} />
      )}
    </InspectorSlot>
  );
}
