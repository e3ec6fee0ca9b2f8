import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { formatBytes } from "../ui/texts/quantity.ts";
import { shownText } from "../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../ui/texts/time.ts";
import { CellText } from "./cell-text.tsx";
import type { Column } from "./column.ts";
import styles from "./http-columns.module.css";
import { PathText } from "./path-text.tsx";
import { ToneMark } from "./tone-mark.tsx";

/** The status code, or a word for an exchange without one; the title has the full outcome. */
export function statusWord({ tone, kind, outcome }: Pick<TrafficRow, "tone" | "kind" | "outcome">): string {
  switch (tone) {
    case "pending":
      // A response in progress: a stream, or a WebSocket.
      return kind === "http" && outcome === "" ? "pending" : "open";
    case "aborted":
      return "aborted";
    default:
      return /^\d{3}(?=, )/.exec(outcome)?.[0] ?? outcome;
  }
}

/** Scopes of a filter over HTTP exchanges. */
export const statusScopes = [
  { value: "all", label: "All" },
  { value: "ok", label: "2xx" },
  { value: "neutral", label: "3xx" },
  { value: "refused", label: "4xx" },
  { value: "failed", label: "5xx" },
] as const;

export const httpColumns: readonly Column<TrafficRow>[] = [
  {
    id: "time",
    title: "Time",
    sortValue: ({ at }) => at,
    minSample: "00:00:00.000",
    face: "mono",
    rank: 1,
    cell: (row) => (
      <CellText tone="quiet" mono title={isoTime(row.at)}>
        {clockTime(row.at)}
      </CellText>
    ),
  },
  {
    id: "method",
    title: "Method",
    sortValue: ({ verb }) => verb,
    minSample: "OPTIONS",
    face: "mono-bold",
    rank: 0,
    cell: (row) => <span className={styles.method}>{shownText(row.verb)}</span>,
  },
  { id: "path", title: "Path", sortValue: ({ target }) => target, rank: 0, cell: (row) => <PathText text={row.target} /> },
  {
    id: "status",
    title: "Status",
    sortValue: statusWord,
    minSample: "pending",
    face: "mono-bold",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={row.tone} word={statusWord(row)} title={row.outcome} />,
  },
  {
    id: "took",
    title: "Took",
    sortValue: ({ tookMs }) => tookMs,
    align: "end",
    minSample: "00 m 00 s",
    rank: 2,
    cell: (row) => (row.tookMs === undefined ? <CellText tone="quiet">–</CellText> : formatTook(row.tookMs)),
  },
  {
    id: "size",
    title: "Size",
    sortValue: ({ bytesOut }) => bytesOut,
    align: "end",
    minSample: "000 MB",
    rank: 3,
    cell: (row) => <CellText tone="soft">{row.bytesOut === 0 ? "–" : formatBytes(row.bytesOut)}</CellText>,
  },
  {
    id: "client",
    title: "Client",
    sortValue: ({ client }) => client,
    minSample: "EventSource :00000",
    preferredSample: "Apache-HttpClient :00000",
    rank: 4,
    cell: (row) => (
      <CellText tone="soft" title={row.peer}>
        {shownText(row.client)} <span className={styles.quietSmall}>{row.peer.slice(row.peer.lastIndexOf(":"))}</span>
      </CellText>
    ),
  },
];
