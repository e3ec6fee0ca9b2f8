import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { CellText } from "../../list/cell-text.tsx";
import type { Column } from "../../list/column.ts";
import { ToneMark } from "../../list/tone-mark.tsx";
import { formatBytes, formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../ui/texts/time.ts";

/** Scopes of the filter over sessions. */
export const sessionScopes = [
  { value: "all", label: "All" },
  { value: "ok", label: "Ended" },
  { value: "refused", label: "Refused" },
  { value: "failed", label: "Failed" },
] as const;

export const rtspColumns: readonly Column<TrafficRow>[] = [
  {
    id: "time",
    title: "Time",
    sortValue: ({ at }) => at,
    minSample: "00:00:00.000",
    face: "mono",
    rank: 2,
    cell: (row) => (
      <CellText tone="quiet" mono title={isoTime(row.at)}>
        {clockTime(row.at)}
      </CellText>
    ),
  },
  {
    id: "role",
    title: "Does",
    sortValue: ({ verb }) => verb,
    minSample: "DESCRIBE",
    preferredSample: "GET_PARAMETER",
    rank: 1,
    cell: (row) => <CellText tone="soft">{row.verb}</CellText>,
  },
  {
    id: "path",
    title: "Path",
    sortValue: ({ target }) => target,
    face: "mono",
    rank: 0,
    cell: (row) => <code>{shownText(row.target)}</code>,
  },
  {
    id: "state",
    title: "State",
    sortValue: ({ outcome }) => outcome,
    minSample: "454 Session Not",
    preferredSample: "the client has disconnected",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={row.tone} word={row.outcome || "open"} title={row.reason ?? row.outcome} />,
  },
  {
    id: "requests",
    title: "Messages",
    sortValue: ({ parts }) => parts,
    align: "end",
    minSample: "000,000",
    rank: 4,
    cell: (row) => formatCount(row.parts ?? 0),
  },
  {
    id: "received",
    title: "Received",
    sortValue: ({ bytesIn }) => bytesIn,
    align: "end",
    minSample: "000 MB",
    rank: 3,
    cell: (row) => <CellText tone="soft">{formatBytes(row.bytesIn)}</CellText>,
  },
  {
    id: "sent",
    title: "Sent",
    sortValue: ({ bytesOut }) => bytesOut,
    align: "end",
    minSample: "000 MB",
    rank: 1,
    cell: (row) => <CellText tone="soft">{formatBytes(row.bytesOut)}</CellText>,
  },
  {
    id: "took",
    title: "Lasted",
    sortValue: ({ tookMs }) => tookMs,
    align: "end",
    minSample: "00 m 00 s",
    rank: 2,
    cell: (row) => (row.tookMs === undefined ? <CellText tone="quiet">–</CellText> : formatTook(row.tookMs)),
  },
  {
    id: "client",
    title: "Client",
    sortValue: ({ client }) => client,
    minSample: "GStreamer :00000",
    rank: 5,
    cell: (row) => (
      <CellText tone="soft" title={row.peer}>
        {row.client} {row.peer.slice(row.peer.lastIndexOf(":"))}
      </CellText>
    ),
  },
];
