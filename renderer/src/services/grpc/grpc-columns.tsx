import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { CellText } from "../../list/cells/cell-text.tsx";
import { PathText } from "../../list/cells/path-text.tsx";
import { rowMark, ToneMark } from "../../list/cells/tone-mark.tsx";
import type { Column } from "../../list/columns/column.ts";
import { beganColumn, bytesColumn, clientColumn, tookColumn } from "../../list/columns/traffic-columns.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";

export const grpcColumns: readonly Column<TrafficRow>[] = [
  beganColumn(1),
  {
    id: "pattern",
    title: "Pattern",
    sortBy: "verb",
    minSample: "server stream",
    rank: 3,
    cell: (row) => <CellText tone="soft">{row.verb}</CellText>,
  },
  {
    id: "method",
    title: "Method",
    sortBy: "target",
    leastPx: 140,
    rank: 0,
    cell: (row, roomCh) => <PathText text={row.target} quiet roomCh={roomCh} />,
  },
  {
    id: "status",
    title: "Status",
    sortBy: "outcome",
    minSample: "cancelled at deadline",
    face: "mono-bold",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={rowMark(row)} word={row.tone === "pending" ? "open" : row.outcome} title={row.reason ?? row.outcome} />,
  },
  {
    id: "messages",
    title: "Messages",
    sortBy: "parts",
    align: "end",
    minSample: "000,000",
    rank: 2,
    cell: (row) => formatCount(row.parts ?? 0),
  },
  tookColumn(2),
  bytesColumn({ id: "size", title: "Size", rank: 4, of: "bytes" }),
  clientColumn(5, { minSample: "grpc-node-js :000000" }),
];
