import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { statusWord } from "../../../../contract/traffic/row-filter.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { CellText } from "../cells/cell-text.tsx";
import { PathText } from "../cells/path-text.tsx";
import { rowMark, ToneMark } from "../cells/tone-mark.tsx";
import type { Column } from "./column.ts";
import { beganColumn, bytesColumn, clientColumn, tookColumn } from "./traffic-columns.tsx";

/** Scopes of a filter over HTTP exchanges; those that failed have a status of 5xx, or were aborted. */
export const statusScopes = [
  { value: "all", label: "All" },
  { value: "open", label: "Open" },
  { value: "ok", label: "2xx" },
  { value: "neutral", label: "3xx" },
  { value: "refused", label: "4xx" },
  { value: "failed", label: "Failed" },
] as const;

export const httpColumns: readonly Column<TrafficRow>[] = [
  beganColumn(1),
  {
    id: "method",
    title: "Method",
    sortBy: "verb",
    minSample: "OPTIONS",
    preferredSample: "PROPPATCH",
    face: "mono-bold",
    rank: 0,
    cell: (row) => (
      <CellText mono strong>
        {shownText(row.verb)}
      </CellText>
    ),
  },
  {
    id: "path",
    title: "Path",
    sortBy: "target",
    rank: 0,
    cell: (row, roomCh) =>
      row.kind === "websocket-message" ? (
        <>
          {shownText(row.preview)} <CellText small>{shownText(redactTarget(row.target))}</CellText>
        </>
      ) : (
        <PathText text={redactTarget(row.target)} roomCh={roomCh} />
      ),
  },
  {
    id: "status",
    title: "Status",
    sortBy: "status",
    // A WebSocket's end: its code tells the outcome.
    minSample: "closed 1000",
    face: "mono-bold",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={rowMark(row)} word={statusWord(row)} title={row.outcome} />,
  },
  tookColumn(2),
  bytesColumn({ id: "size", title: "Size", rank: 3, of: "bytesOut" }),
  clientColumn(4, { minSample: "EventSource :00000", preferredSample: "Apache-HttpClient :00000" }),
];
