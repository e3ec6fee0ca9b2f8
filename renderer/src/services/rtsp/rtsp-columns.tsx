import type { RtspSessionView } from "../../../../contract/services/rtsp.ts";
import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { CellText } from "../../list/cells/cell-text.tsx";
import { MarkedText } from "../../list/cells/marked-text.tsx";
import { rowMark, ToneMark } from "../../list/cells/tone-mark.tsx";
import type { Column } from "../../list/columns/column.ts";
import { beganColumn, bytesColumn, clientColumn, tookColumn } from "../../list/columns/traffic-columns.tsx";
import { formatBitRate, formatBytes, formatCount, formatPercent } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { formatTook } from "../../ui/texts/time.ts";
import { FaultBadges } from "./faults/fault-badges.tsx";
import type { FaultTarget, SessionPart } from "./faults/fault-target.ts";
import { useRtspView } from "./use-rtsp-view.ts";

/** Its first request tells what it is: a reader over HTTP has a GET, a publisher by RTMP none. */
function partOf({ verb, preview }: TrafficRow): SessionPart {
  if (verb === "publish") return preview === "RTMP" ? "rtmp-publisher" : "publisher";
  return preview.startsWith("GET ") ? "http-reader" : "player";
}

/** What faults of a session's row are about. */
export const sessionOfRow = (row: TrafficRow): FaultTarget => ({
  kind: "session",
  row: row.id,
  path: row.target.replace(/^\//, ""),
  part: partOf(row),
});

/** Scopes of the filter over sessions. */
export const sessionScopes = [
  { value: "all", label: "All" },
  { value: "open", label: "Open" },
  { value: "ended", label: "Ended" },
  { value: "refused", label: "Refused" },
  { value: "failed", label: "Failed" },
] as const;

/** Less is rounded to nothing. */
const leastLoss = 0.0005;

interface SessionColumn extends Pick<Column<TrafficRow>, "id" | "title" | "rank" | "minSample" | "face" | "besidePx" | "align"> {
  readonly textOf: (session: RtspSessionView) => string;
  readonly warns?: (session: RtspSessionView) => boolean;
  /** After its end. */
  readonly endedText?: (row: TrafficRow) => string;
}

/** Of open sessions figures of the last second, which a view has; of others those of the whole session. */
function sessionColumn({ textOf, warns, endedText, ...column }: SessionColumn): Column<TrafficRow> {
  return {
    ...column,
    cell(row) {
      if (row.tone === "pending") return <SessionFigure row={row.id} textOf={textOf} warns={warns} />;
      const text = endedText?.(row) ?? "–";
      return text === "–" || text === "" ? nothing : <CellText tone="quiet">{text}</CellText>;
    },
  };
}

/** Over the whole session, with its requests. */
function meanBitRateText({ verb, bytesIn, bytesOut, tookMs = 0 }: TrafficRow): string {
  if (tookMs <= 0 || (verb !== "play" && verb !== "publish")) return "–";
  return formatBitRate(((verb === "play" ? bytesOut : bytesIn) * 8_000) / tookMs);
}

const overText = ({ transport }: Pick<RtspSessionView, "transport">): string => transport.split(",", 1)[0] ?? "";
const lossOf = ({ lossFraction }: Pick<RtspSessionView, "lossFraction">): string =>
  lossFraction === undefined ? "–" : formatPercent(lossFraction);
const jitterOf = ({ jitterMs }: Pick<RtspSessionView, "jitterMs">): string => (jitterMs === undefined ? "–" : formatTook(jitterMs));

const nothing = <CellText tone="quiet">–</CellText>;

function SessionFigure({
  row,
  textOf,
  warns,
}: Pick<SessionColumn, "textOf"> & { readonly row: number; readonly warns: SessionColumn["warns"] | undefined }) {
  const text = useRtspView("sessions", ({ sessions }) => {
    const session = sessions.find((one) => one.row === row);
    if (!session || session.state === "ready") return undefined;
    return warns?.(session) ? `!${textOf(session)}` : textOf(session);
  });
  if (text === undefined || text === "–") return nothing;
  return text.startsWith("!") ? <ToneMark tone="refused" word={text.slice(1)} /> : <CellText tone="soft">{text}</CellText>;
}

export const rtspColumns: readonly Column<TrafficRow>[] = [
  beganColumn(1),
  {
    id: "role",
    title: "Does",
    sortBy: "verb",
    minSample: "DESCRIBE",
    preferredSample: "GET_PARAMETER",
    rank: 1,
    cell: (row) => <CellText tone="soft">{row.verb}</CellText>,
  },
  {
    id: "path",
    title: "Path",
    sortBy: "target",
    face: "mono",
    leastPx: 104,
    rank: 0,
    cell: (row) => {
      const shown = shownText(redactTarget(row.target));
      const path = <code>{shown}</code>;
      if (row.tone !== "pending") return path;
      return (
        <MarkedText title={shown} marks={<FaultBadges target={sessionOfRow(row)} />}>
          {path}
        </MarkedText>
      );
    },
  },
  {
    id: "state",
    title: "State",
    sortBy: "outcome",
    minSample: "461 Unsupported Transport",
    leastSample: "454 Session Not Found",
    preferredSample: "the client has disconnected",
    face: "mono-bold",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={rowMark(row)} word={row.outcome || "open"} title={row.reason ?? row.outcome} />,
  },
  sessionColumn({
    id: "transport",
    title: "Over",
    rank: 3,
    minSample: "MPEG-TS0",
    textOf: overText,
    endedText: ({ media }) => media?.over ?? "–",
  }),
  sessionColumn({
    id: "bit-rate",
    title: "Bit rate",
    rank: 2,
    minSample: "00.00 Mbit/s",
    align: "end",
    textOf: ({ bitRate }) => formatBitRate(bitRate),
    endedText: meanBitRateText,
  }),
  sessionColumn({
    id: "loss",
    title: "Loss",
    rank: 3,
    minSample: "00.0 %",
    // With a warning it is a mark.
    face: "mono-bold",
    besidePx: 14,
    align: "end",
    textOf: lossOf,
    endedText: ({ media }) => lossOf(media ?? {}),
    warns: ({ lossFraction = 0 }) => lossFraction >= leastLoss,
  }),
  sessionColumn({
    id: "jitter",
    title: "Jitter",
    rank: 4,
    minSample: "000 ms",
    align: "end",
    textOf: jitterOf,
    endedText: ({ media }) => jitterOf(media ?? {}),
  }),
  sessionColumn({
    id: "unsent",
    title: "Unsent",
    rank: 5,
    minSample: "000 kB",
    align: "end",
    textOf: ({ unsentBytes }) => (unsentBytes === 0 ? "–" : formatBytes(unsentBytes)),
  }),
  {
    id: "requests",
    title: "Messages",
    sortBy: "parts",
    align: "end",
    minSample: "000,000",
    rank: 5,
    cell: (row) => formatCount(row.parts ?? 0),
  },
  bytesColumn({ id: "received", title: "Received", rank: 3, of: "bytesIn" }),
  bytesColumn({ id: "sent", title: "Sent", rank: 3, of: "bytesOut" }),
  { ...tookColumn(3), title: "Lasted" },
  clientColumn(4, { minSample: "Lavf59.27.100 :00000" }),
];
