import { Button } from "@mantine/core";
import type { ServiceView } from "../../../../contract/service.ts";
import { type RtspTransport, rtspActions } from "../../../../contract/services/rtsp.ts";
import type { DetailPart } from "../../../../contract/traffic/detail.ts";
import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import type { RtspMessagePart, RtspSession, RtspSessionTrack } from "../../../../contract/traffic/rtsp.ts";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { useService } from "../../control/use-store.ts";
import { ConnectionPairs } from "../../inspectors/connection-pairs.tsx";
import { CopyMenu } from "../../inspectors/copy-menu.tsx";
import { InspectorFrame, type InspectorProps, InspectorTabs } from "../../inspectors/inspector-frame.tsx";
import { directionText, PartsList } from "../../inspectors/parts-list.tsx";
import { Section } from "../../inspectors/section.tsx";
import { useParts } from "../../inspectors/use-detail.ts";
import { rowMark, ToneMark } from "../../list/cells/tone-mark.tsx";
import type { Column } from "../../list/columns/column.ts";
import { timeColumn } from "../../list/columns/traffic-columns.tsx";
import { type HistoryPanel, HistoryPlots } from "../../ui/history-plots.tsx";
import { Note, Pair, Pairs } from "../../ui/panel.tsx";
import { Answered } from "../../ui/status/answered.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { formatBitRate, formatBytes, formatCount, formatDecimals, formatPercent } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../ui/texts/time.ts";
import { FaultPairs } from "./faults/fault-badges.tsx";
import { type FaultTarget, isFaultOf } from "./faults/fault-target.ts";
import { faultNote } from "./faults/fault-texts.ts";
import { RtspFaultMenu } from "./faults/rtsp-fault-menu.tsx";
import { MessageContent } from "./message-content.tsx";
import { codecName } from "./picture/stream-texts.ts";
import { playerLine, players } from "./player-lines.ts";
import { type ReadMessage, readMessage } from "./read-message.ts";
import { sessionOfRow } from "./rtsp-columns.tsx";
import { streamUrl } from "./stream-addresses.ts";

/** A session: its requests and answers, its tracks and its connection. */
export function RtspSessionInspector({ row, detail, onClose }: InspectorProps<"rtsp">) {
  const parts = useParts(row.service, row.id, Math.max(row.parts ?? 0, detail.parts.total));
  const client = useControl();
  const service = useService(row.service);
  const word = row.outcome || "open";
  const canKick = row.tone === "pending" && detail.session !== undefined;
  const kick = () => void attempt(client.action(rtspActions, "rtsp", "session.kick", { row: row.id }));
  // A publisher by RTMP and a reader over HTTP have none.
  const hasRequests = detail.role === "none" || (row.parts ?? 0) > 0 || detail.parts.total > 0;
  const requests = {
    name: "messages",
    title: "Requests",
    content: (
      <PartsList
        item="message"
        parts={parts}
        isPart={isMessage}
        columns={messageColumns}
        content={(part) => <MessageContent title={part.direction === "received" ? "Request" : "Answer"} message={part} />}
        isOpen={row.tone === "pending"}
        onClose={onClose}
      />
    ),
  };
  const copies = playerCopies.map(({ title, text }) => ({ id: title, title, text: () => (service ? text(detail, service) : "") }));
  return (
    <InspectorFrame
      title={shownText(row.target)}
      hint={row.target}
      mono
      mark={<ToneMark tone={rowMark(row)} word={word} title={row.reason ?? word} />}
      actions={
        <>
          {canKick && <Button onClick={kick}>Disconnect</Button>}
          <CopyMenu rememberAs="copy-rtsp-as" choices={copies} />
        </>
      }
      onClose={onClose}
    >
      <InspectorTabs
        rememberAs="inspector.rtsp-tab"
        first={hasRequests ? requests.name : "session"}
        tabs={[
          ...(hasRequests ? [requests] : []),
          { name: "figures", title: "Plots", content: <SessionPlots row={row} /> },
          {
            name: "session",
            title: "Session",
            content: (
              <SessionFacts detail={detail} reason={row.reason} faulty={row.tone === "pending" ? faultyOf(row, detail) : undefined} />
            ),
          },
        ]}
      />
    </InspectorFrame>
  );
}

interface SessionFactsProps {
  readonly detail: RtspSession;
  readonly reason: string | undefined;
  /** While it can have faults. */
  readonly faulty: FaultTarget | undefined;
}

function SessionFacts({ detail, reason, faulty }: SessionFactsProps) {
  const { session, role, user, userAgent, tracks, startedMs, ended, totalMs, connection, at } = detail;
  return (
    <>
      <Section title="Session">
        <Pairs>
          <Pair name="Does">{roles[role]}</Pair>
          {session !== undefined && (
            <Pair name="Identifier" mono>
              {session}
            </Pair>
          )}
          {user !== undefined && <Pair name="User">{user}</Pair>}
          <Pair name="Began" mono title={isoTime(at)}>
            {clockTime(at)}
          </Pair>
          {startedMs !== undefined && <Pair name="Media after">{formatTook(startedMs)}</Pair>}
          <Pair name="Ended">{ended ?? "still open"}</Pair>
          {totalMs !== undefined && <Pair name="Lasted">{formatTook(totalMs)}</Pair>}
          {reason !== undefined && <Pair name="Refused">{reason}</Pair>}
        </Pairs>
      </Section>
      {faulty && (
        <Section title="Faults" actions={isFaultOf(faulty, "close") && <RtspFaultMenu target={faulty} />}>
          <FaultPairs target={faulty} />
          {faultNote(faulty) !== "" && <Note>{faultNote(faulty)}</Note>}
        </Section>
      )}
      {tracks.map((track) => (
        <TrackFacts key={track.index} track={track} />
      ))}
      <Section title="Connection">
        <Pairs>
          <ConnectionPairs connection={connection} />
          <Pair name="Software">{userAgent || "not given"}</Pair>
          {connection.isTunnel && <Pair name="Tunnel">through HTTP</Pair>}
        </Pairs>
      </Section>
    </>
  );
}

function TrackFacts({ track }: { readonly track: RtspSessionTrack }) {
  const { index, codec, transport, packets, bytes, dropped, lost, lossFraction, jitterMs } = track;
  return (
    <Section title={`Track ${index}, ${codecName(codec)}`}>
      <Pairs>
        <Pair name="Transport">{transport}</Pair>
        {packets > 0 && <Pair name="Packets">{`${formatCount(packets)}, ${formatBytes(bytes)}`}</Pair>}
        {dropped > 0 && <Pair name="Dropped">{formatCount(dropped)}</Pair>}
        {lost === undefined && lossFraction !== undefined && (
          <Pair name="Lost">{`unknown in all, ${formatDecimals(lossFraction * 100, 0, 1)} % in the last report`}</Pair>
        )}
        {lost !== undefined && (
          <Pair name="Lost">
            {lossFraction === undefined || lost <= 0
              ? formatCount(Math.max(0, lost))
              : `${formatCount(lost)}, ${formatDecimals(lossFraction * 100, 0, 1)} % in the last report`}
          </Pair>
        )}
        {jitterMs !== undefined && <Pair name="Jitter">{formatTook(jitterMs)}</Pair>}
      </Pairs>
    </Section>
  );
}

/** Commands that play the path of a session, in the way in which it does. */
export const playerCopies = players.map(({ value, label }) => ({
  title: label,
  text: ({ path, tracks, connection }: RtspSession, service: ServiceView) => {
    const transport = transportOf(tracks[0]?.transport, connection);
    const stream = { url: streamUrl(service, path, transport), transport };
    return playerLine(value, stream) ?? playerLine(value, { url: streamUrl(service, path), transport: "tcp" }) ?? "";
  },
}));

function transportOf(title: string | undefined, { tls, isTunnel }: RtspSession["connection"]): RtspTransport {
  if (tls !== undefined) return "tls";
  if (isTunnel) return "http";
  return title?.startsWith("UDP") ? "udp" : title?.startsWith("multicast") ? "multicast" : "tcp";
}

const historyPanels: readonly HistoryPanel<"bitRate" | "lossPercent" | "jitterMs">[] = [
  { series: "bitRate", title: "Bit rate", color: "--bl-s1", text: formatBitRate, leastTop: 100_000, leastStep: 10_000 },
  { series: "lossPercent", title: "Loss", color: "--bl-s3", text: (percent) => formatPercent(percent / 100), leastTop: 1, leastStep: 0.1 },
  { series: "jitterMs", title: "Jitter", color: "--bl-s4", text: formatTook, leastTop: 1, leastStep: 0.1 },
];

/** Rates of the last two minutes. Loss and jitter are those of the receiver's reports. */
function SessionPlots({ row }: { readonly row: TrafficRow }) {
  const client = useControl();
  const history = useAnswer({
    key: ["rtsp", "session.history", row.id],
    ask: () => client.action(rtspActions, "rtsp", "session.history", { row: row.id }),
    everyMs: row.tone === "pending" ? 1_000 : false,
    version: row.tone,
    keepsPrevious: false,
  });
  return (
    <Section title="Last two minutes">
      <Answered answer={history} what="the figures" compact>
        {(value) =>
          value ? (
            <HistoryPlots panels={historyPanels} history={value} />
          ) : (
            <Note>There are no figures: it has not played, or ended long ago.</Note>
          )
        }
      </Answered>
    </Section>
  );
}
/** Undefined where it cannot have faults. */
function faultyOf(row: TrafficRow, { role, tracks }: RtspSession): FaultTarget | undefined {
  const target = sessionOfRow(row);
  if (role === "none" || target.kind === "path" || target.part === "rtmp-publisher") return undefined;
  return { ...target, isMulticast: tracks.some(({ transport }) => transport.startsWith("multicast")) };
}

const isMessage = (part: DetailPart): part is RtspMessagePart => part.kind === "rtsp-message";
const roles = { none: "no session", read: "plays", publish: "publishes" } as const;
/** As lists show it: a URI may have a password, in its query too. */
const startLine = (part: RtspMessagePart): ReadMessage["startLine"] =>
  readMessage(part)
    .startLine.split(" ")
    .map((word) => redactTarget(word))
    .join(" ");

const messageColumns: readonly Column<RtspMessagePart>[] = [
  { id: "direction", title: "Direction", minSample: "from client", rank: 1, cell: ({ direction }) => directionText[direction] },
  timeColumn(2),
  { id: "content", title: "Message", rank: 0, cell: (part) => <code>{shownText(startLine(part))}</code> },
  { id: "size", title: "Size", minSample: "999 kB", align: "end", rank: 3, cell: ({ bytes }) => formatBytes(bytes) },
];
