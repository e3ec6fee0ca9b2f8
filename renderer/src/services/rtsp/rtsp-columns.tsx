import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { CellText } from "../../list/cell-text.tsx";
import type { Column } from "../../list/column.ts";
import { ToneMark } from "../../list/tone-mark.tsx";
import { beganColumn, bytesColumn, clientColumn, tookColumn } from "../../list/traffic-columns.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";

/** Scopes of the filter over sessions. */
export const sessionScopes = [
  { value: "all", label: "All" },
  { value: "ok", label: "Ended" },
  { value: "refused", label: "Refused" },
  { value: "failed", label: "Failed" },
] as const;

export const rtspColumns: readonly Column<TrafficRow>[] = [
  beganColumn(2),
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
  bytesColumn({ id: "received", title: "Received", rank: 3, bytesOf: ({ bytesIn }) => bytesIn }),
  bytesColumn({ id: "sent", title: "Sent", rank: 1, bytesOf: ({ bytesOut }) => bytesOut }),
  { ...tookColumn(2), title: "Lasted" },
  clientColumn(5, { minSample: "GStreamer :00000" }),
];
