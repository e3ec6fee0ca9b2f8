import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { CellText } from "../../list/cell-text.tsx";
import type { Column } from "../../list/column.ts";
import { PathText } from "../../list/path-text.tsx";
import { ToneMark } from "../../list/tone-mark.tsx";
import { useNow } from "../../ui/status/since.tsx";
import { formatBytes, formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, formatDurationExact, formatTook, isoTime } from "../../ui/texts/time.ts";

export const grpcColumns: readonly Column<TrafficRow>[] = [
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
    id: "pattern",
    title: "Pattern",
    sortValue: ({ verb }) => verb,
    minSample: "server stream",
    rank: 3,
    cell: (row) => <CellText tone="soft">{row.verb}</CellText>,
  },
  {
    id: "method",
    title: "Method",
    sortValue: ({ target }) => target,
    leastPx: 140,
    rank: 0,
    cell: (row) => <PathText text={row.target} quiet />,
  },
  {
    id: "status",
    title: "Status",
    sortValue: ({ outcome }) => outcome,
    minSample: "DEADLINE_EXCEEDED",
    face: "mono-bold",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={row.tone} word={row.tone === "pending" ? "open" : row.outcome} title={row.reason ?? row.outcome} />,
  },
  {
    id: "messages",
    title: "Messages",
    sortValue: ({ parts }) => parts,
    align: "end",
    minSample: "000,000",
    rank: 1,
    cell: (row) => formatCount(row.parts ?? 0),
  },
  {
    id: "took",
    title: "Took",
    sortValue: ({ tookMs }) => tookMs,
    align: "end",
    minSample: "00 m 00 s",
    rank: 1,
    cell: (row) => (row.tookMs === undefined ? <OpenFor since={row.at} /> : formatTook(row.tookMs)),
  },
  {
    id: "size",
    title: "Size",
    sortValue: ({ bytesIn, bytesOut }) => bytesIn + bytesOut,
    align: "end",
    minSample: "000 MB",
    rank: 4,
    cell: (row) => <CellText tone="soft">{formatBytes(row.bytesIn + row.bytesOut)}</CellText>,
  },
  {
    id: "client",
    title: "Client",
    sortValue: ({ client }) => client,
    minSample: "grpc-node-js :000000",
    rank: 5,
    cell: (row) => (
      <CellText tone="soft" title={row.peer}>
        {shownText(row.client)} {row.peer.slice(row.peer.lastIndexOf(":"))}
      </CellText>
    ),
  },
];

/** No live region: it changes each second. */
function OpenFor({ since }: { readonly since: number }) {
  const ms = useNow() - since;
  return <CellText tone="quiet">{ms < 1_000 ? "–" : formatDurationExact(ms)}</CellText>;
}
