import type { LeftOutTrack } from "../../../../../contract/services/rtsp-media.ts";
import type { WebrtcMediaSessionView } from "../../../../../contract/services/webrtc-media.ts";
import { CellText } from "../../../list/cells/cell-text.tsx";
import { type MarkTone, ToneMark } from "../../../list/cells/tone-mark.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { useNow } from "../../../ui/status/since.tsx";
import { formatBitRate, formatPercent } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatDurationExact, formatTook, isoTime } from "../../../ui/texts/time.ts";

const none = <CellText tone="quiet">–</CellText>;

const marks: Readonly<Record<WebrtcMediaSessionView["state"], { readonly tone: MarkTone; readonly word: string; readonly title: string }>> =
  {
    waiting: { tone: "pending", word: "waits for ICE", title: "The offer was answered; no connectivity check of the client has come yet." },
    handshake: { tone: "pending", word: "DTLS handshake", title: "A connectivity check has come; keys are being exchanged." },
    connected: { tone: "running", word: "connected", title: "Media passes." },
    ended: { tone: "ended", word: "ended", title: "" },
  };

export const withoutText = (kind: LeftOutTrack["kind"]): string => (kind === "audio" ? "without sound" : "without pictures");

/** Less is rounded to nothing. */
const leastLoss = 0.0005;

const doesText = (protocol: WebrtcMediaSessionView["protocol"]): string => (protocol === "whep" ? "plays" : "publishes");

/** What its list shows of a session, without figures. */
export const mediaTexts = ({ state, protocol, path, codecs, leftOut, client, remote }: WebrtcMediaSessionView): string =>
  [
    `${marks[state].word} ${doesText(protocol)} ${protocol}`,
    `/${path} ${codecs}`,
    ...leftOut.map(({ kind, codec }) => `${withoutText(kind)}: ${codec}`),
    `${client} ${remote}`,
  ].join(" ");

export const mediaColumns: readonly Column<WebrtcMediaSessionView>[] = [
  {
    id: "state",
    title: "State",
    minSample: "DTLS handshake",
    leastSample: "waits for ICE",
    face: "mono",
    besidePx: 14,
    rank: 0,
    cell: ({ state }) => <ToneMark {...marks[state]} />,
  },
  {
    id: "role",
    title: "Does",
    minSample: "publishes",
    rank: 0,
    cell: ({ protocol }) => <CellText title={protocol.toUpperCase()}>{doesText(protocol)}</CellText>,
  },
  {
    id: "path",
    title: "Path",
    face: "mono",
    minSample: "/cameras/entrance",
    leastSample: "/cameras",
    rank: 0,
    cell: ({ path }) => <code title={shownText(`/${path}`)}>{shownText(`/${path}`)}</code>,
  },
  {
    id: "codecs",
    title: "Codecs",
    rank: 0,
    leastPx: 178,
    cell: ({ codecs, leftOut }) => (
      <>
        {codecs}
        {leftOut.map(({ kind, codec, reason }) => (
          <CellText key={kind} tone="warn" title={reason}>
            {` · ${withoutText(kind)}: ${codec}`}
          </CellText>
        ))}
      </>
    ),
  },
  {
    id: "client",
    title: "Client",
    minSample: "Chrome headless :00000",
    leastSample: "Chrome :00000",
    rank: 2,
    cell: ({ client, remote }) => (
      <CellText tone="soft" title={remote}>
        {shownText(client)} <CellText small>{remote.slice(remote.lastIndexOf(":"))}</CellText>
      </CellText>
    ),
  },
  {
    id: "pair",
    title: "Candidate pair",
    face: "mono",
    minSample: "127.0.0.1:0000 → 127.0.0.1:00000",
    rank: 4,
    cell: ({ pair }) =>
      pair ? (
        <CellText tone="soft" mono title="The address here, and that of the client">
          {`${pair.local} → ${pair.remote}`}
        </CellText>
      ) : (
        none
      ),
  },
  {
    id: "bit-rate",
    title: "Bit rate",
    align: "end",
    minSample: "00.00 Mbit/s",
    rank: 1,
    cell: ({ bitRate }) => (bitRate === 0 ? none : formatBitRate(bitRate)),
  },
  {
    id: "loss",
    title: "Loss",
    align: "end",
    minSample: "00.0 %",
    face: "mono",
    besidePx: 14,
    rank: 1,
    cell({ lossFraction }) {
      if (lossFraction === undefined) return none;
      const text = formatPercent(lossFraction);
      return lossFraction < leastLoss ? <CellText tone="soft">{text}</CellText> : <ToneMark tone="refused" word={text} />;
    },
  },
  {
    id: "round-trip",
    title: "Round trip",
    align: "end",
    minSample: "Round trip",
    rank: 2,
    cell: ({ rttMs }) => (rttMs === undefined ? none : <CellText tone="soft">{formatTook(rttMs)}</CellText>),
  },
  {
    id: "since",
    title: "Lasted",
    align: "end",
    minSample: "00 m 00 s",
    rank: 3,
    cell: ({ since }) => <OpenFor since={since} />,
  },
];

function OpenFor({ since }: { readonly since: number }) {
  return (
    <CellText tone="quiet" title={`since ${isoTime(since)}`}>
      {formatDurationExact(Math.max(0, useNow() - since))}
    </CellText>
  );
}
