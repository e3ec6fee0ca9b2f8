import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { CellText } from "../../list/cell-text.tsx";
import type { Column } from "../../list/column.ts";
import { rowMark, ToneMark } from "../../list/tone-mark.tsx";
import { beganColumn, bytesColumn, clientColumn, tookColumn } from "../../list/traffic-columns.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";

/** Scopes of the filter over rows. */
export const webrtcScopes = [
  { value: "all", label: "All" },
  { value: "open", label: "Open" },
  { value: "ok", label: "OK" },
  { value: "refused", label: "Refused" },
  { value: "failed", label: "Failed" },
] as const;

export const webrtcColumns: readonly Column<TrafficRow>[] = [
  beganColumn(2),
  {
    id: "what",
    title: "What",
    sortValue: ({ verb }) => verb,
    minSample: "candidate",
    preferredSample: "create permission",
    rank: 0,
    cell: (row) => <CellText tone="soft">{row.verb}</CellText>,
  },
  {
    id: "target",
    title: "To",
    sortValue: ({ target }) => target,
    face: "mono",
    leastPx: 104,
    rank: 0,
    cell: (row) => <code>{shownText(row.target)}</code>,
  },
  {
    id: "user",
    title: "Who",
    sortValue: ({ user }) => user,
    minSample: "1795000000:anna",
    rank: 3,
    cell: ({ user }) => <CellText tone="soft">{user === undefined ? "–" : shownText(user)}</CellText>,
  },
  {
    id: "outcome",
    title: "Outcome",
    sortValue: ({ outcome }) => outcome,
    minSample: "too-many-rooms",
    preferredSample: "refreshed with lifetime 0",
    face: "mono-bold",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={rowMark(row)} word={row.outcome || "open"} title={row.reason ?? row.outcome} />,
  },
  bytesColumn({ id: "received", title: "Received", rank: 4, bytesOf: ({ bytesIn }) => bytesIn }),
  bytesColumn({ id: "sent", title: "Sent", rank: 4, bytesOf: ({ bytesOut }) => bytesOut }),
  { ...tookColumn(3), title: "Lasted" },
  clientColumn(3, { minSample: "Chrome :00000" }),
];
