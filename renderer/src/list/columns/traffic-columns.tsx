import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { useNow } from "../../ui/status/since.tsx";
import { formatBytes } from "../../ui/texts/quantity.ts";
import { clockTime, formatDurationExact, formatTook, isoTime } from "../../ui/texts/time.ts";
import { CellText } from "../cells/cell-text.tsx";
import { ClientName } from "../cells/client-name.tsx";
import type { Column } from "./column.ts";

/** The time of day of a part or message. */
export const timeColumn = <Row extends { readonly at: number }>(rank: number): Column<Row> => ({
  id: "time",
  title: "Time",
  minSample: "00:00:00.000",
  face: "mono",
  rank,
  cell: ({ at }) => <time title={isoTime(at)}>{clockTime(at)}</time>,
});

/** The time of day at which a row began. */
export const beganColumn = (rank: number): Column<TrafficRow> => ({
  ...timeColumn<TrafficRow>(rank),
  sortBy: "at",
  cell: ({ at }) => (
    <CellText tone="quiet" mono title={isoTime(at)}>
      {clockTime(at)}
    </CellText>
  ),
});

export const tookColumn = (rank: number): Column<TrafficRow> => ({
  id: "took",
  title: "Took",
  sortBy: "tookMs",
  align: "end",
  minSample: "00 m 00 s",
  rank,
  cell: ({ at, tookMs }) => (tookMs === undefined ? <OpenFor since={at} /> : formatTook(tookMs)),
});

interface BytesColumn {
  readonly id: string;
  readonly title: string;
  readonly rank: number;
  /** Sent, received or both. */
  readonly of: "bytesIn" | "bytesOut" | "bytes";
}

export const bytesColumn = ({ id, title, rank, of }: BytesColumn): Column<TrafficRow> => ({
  id,
  title,
  sortBy: of,
  align: "end",
  minSample: "000 MB",
  rank,
  cell: (row) => <CellText tone="soft">{shownBytes(of === "bytes" ? row.bytesIn + row.bytesOut : row[of])}</CellText>,
});

const shownBytes = (bytes: number) => (bytes === 0 ? "–" : formatBytes(bytes));

/** The client's software and port. */
export const clientColumn = (rank: number, samples: Pick<Column<TrafficRow>, "minSample" | "preferredSample">): Column<TrafficRow> => ({
  id: "client",
  title: "Client",
  sortBy: "client",
  ...samples,
  rank,
  cell: ({ client, peer }) => (
    <CellText tone="soft" title={peer}>
      {client === "" ? (
        peer
      ) : (
        <>
          <ClientName client={client} /> <CellText small>{peer.slice(peer.lastIndexOf(":"))}</CellText>
        </>
      )}
    </CellText>
  ),
});

/** No live region: it changes each second. */
function OpenFor({ since }: { readonly since: number }) {
  const ms = useNow() - since;
  return <CellText tone="quiet">{ms < 1_000 ? "–" : formatDurationExact(ms)}</CellText>;
}
