import { IconChevronRight, IconLock } from "@tabler/icons-react";
import type { WebrtcPeerView } from "../../../../../contract/services/webrtc.ts";
import { dialectTitles } from "../../../../../contract/traffic/webrtc-words.ts";
import { CellText } from "../../../list/cells/cell-text.tsx";
import { MarkedText } from "../../../list/cells/marked-text.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { useNow } from "../../../ui/status/since.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { formatBytes, formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatDurationExact, isoTime } from "../../../ui/texts/time.ts";
import { FaultBadges } from "../faults/fault-badges.tsx";
import { NamedPeer } from "../named-peer.tsx";
import type { RoomRow } from "./room-rows.ts";
import styles from "./rooms.module.css";

const none = <CellText tone="quiet">–</CellText>;

const ofPeer =
  (cell: (peer: WebrtcPeerView) => ReturnType<Column<RoomRow>["cell"]>): Column<RoomRow>["cell"] =>
  (row) =>
    row.kind === "peer" ? cell(row.peer) : null;

export const roomColumns: readonly Column<RoomRow>[] = [
  { id: "name", title: "Room, peer", rank: 0, leastPx: 248, cell: (row) => <RoomName row={row} /> },
  {
    id: "dialect",
    title: "Dialect",
    minSample: "Socket.IO",
    rank: 1,
    cell: ofPeer(({ dialect }) => <CellText tone="soft">{dialectTitles[dialect]}</CellText>),
  },
  {
    id: "address",
    title: "Address",
    minSample: "127.0.0.1:00000",
    preferredSample: "192.168.100.100:00000",
    face: "mono",
    rank: 2,
    cell: ofPeer(({ remote, isSecure }) => (
      <CellText tone="soft" mono title={isSecure ? "over TLS" : "without TLS"}>
        {remote}
      </CellText>
    )),
  },
  {
    id: "since",
    title: "Lasted",
    align: "end",
    minSample: "00 m 00 s",
    rank: 1,
    cell: (row) =>
      row.kind === "room" ? <HereFor since={row.room.since} /> : row.kind === "peer" ? <HereFor since={row.peer.since} /> : null,
  },
  {
    id: "received",
    title: "From peer",
    align: "end",
    minSample: "000,000",
    rank: 2,
    cell: ofPeer(({ received }) => (received === 0 ? none : formatCount(received))),
  },
  {
    id: "sent",
    title: "To peer",
    align: "end",
    minSample: "000,000",
    rank: 2,
    cell: ofPeer(({ sent }) => (sent === 0 ? none : formatCount(sent))),
  },
  {
    id: "unsent",
    title: "Unsent",
    align: "end",
    minSample: "000 kB",
    rank: 4,
    cell: ofPeer(({ unsentBytes }) => (unsentBytes === 0 ? none : <CellText tone="warn">{formatBytes(unsentBytes)}</CellText>)),
  },
  {
    id: "chat",
    title: "Chat",
    align: "end",
    minSample: "000,000",
    rank: 3,
    cell: (row) => (row.kind === "room" ? (row.room.chatMessages === 0 ? none : formatCount(row.room.chatMessages)) : null),
  },
];

function HereFor({ since }: { readonly since: number }) {
  return (
    <CellText tone="quiet" title={isoTime(since)}>
      {formatDurationExact(useNow() - since)}
    </CellText>
  );
}

function RoomName({ row }: { readonly row: RoomRow }) {
  switch (row.kind) {
    case "room": {
      const { name, hasPassword, peerCount } = row.room;
      return (
        <span className={styles.room} title={shownText(name)}>
          <b>{shownText(name)}</b>
          {hasPassword && <IconLock size={12} stroke={1.5} aria-label="has a password" />}
          <CellText tone="quiet">{formatCountOf(peerCount, "peer")}</CellText>
        </span>
      );
    }
    case "peer":
      return (
        <span className={styles.peer} title={shownText(row.peer.id)}>
          <StatusShape shape="running" />
          <MarkedText marks={<FaultBadges target={{ kind: "peer", peer: row.peer.id, name: row.peer.name }} />}>
            <NamedPeer name={row.peer.name} id={row.peer.id} />
          </MarkedText>
        </span>
      );
    case "folded":
      return (
        <span className={styles.peer} title="Open it to list them.">
          <IconChevronRight size={14} stroke={1.5} aria-hidden="true" />
          {`and ${formatCount(row.count)} more`}
        </span>
      );
    case "more":
      return (
        <span className={styles.peer}>
          {row.isAll ? "not listed: more peers are connected than the list has" : `and ${formatCount(row.count)} more`}
        </span>
      );
    case "elsewhere":
      return (
        <span className={styles.peer} title="Disconnect them and start their faults at the instance that they are connected to.">
          {`and ${formatCountOf(row.count, "peer")} of other instances`}
        </span>
      );
    case "none":
      return (
        <span className={styles.room}>
          <b>No room</b>
          <CellText tone="quiet">{formatCountOf(row.count, "peer")}</CellText>
        </span>
      );
    default:
      return row satisfies never;
  }
}
