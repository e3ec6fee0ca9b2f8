import { Button } from "@mantine/core";
import { useState } from "react";
import { webrtcActions } from "../../../../../contract/services/webrtc.ts";
import type { LadderSignal } from "../../../../../contract/services/webrtc-signals.ts";
import type { WebrtcPeer } from "../../../../../contract/traffic/webrtc.ts";
import { dialectTitles, signalTitle } from "../../../../../contract/traffic/webrtc-words.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { ConnectionPairs } from "../../../inspectors/connection-pairs.tsx";
import { InspectorFrame, type InspectorProps, InspectorTabs } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { rowMark, ToneMark } from "../../../list/cells/tone-mark.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { timeColumn } from "../../../list/columns/traffic-columns.tsx";
import { DataTable } from "../../../list/data-table.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { Caption, Pair, Pairs } from "../../../ui/panel.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatBytes, formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../../ui/texts/time.ts";
import { FaultPairs } from "../faults/fault-badges.tsx";
import { WebrtcFaultMenu } from "../faults/webrtc-fault-menu.tsx";
import { peerName } from "../ladder/ladder-columns.tsx";
import { requestedLadders } from "../ladder/ladder-scope.ts";
import { type PeerLabels, peerLabels } from "../peer-labels.ts";
import { ChatForm } from "../rooms/chat-form.tsx";
import { useWebrtcView } from "../use-webrtc-view.ts";
import styles from "./inspectors.module.css";

/** A client of signalling: what it exchanged, and its connection. */
export function PeerInspector({ row, detail, onRow, onClose }: InspectorProps<"webrtc-peer">) {
  const isHere = detail.ended === undefined && row.tone === "pending";
  return (
    <InspectorFrame
      title={shownText(detail.name || detail.peer)}
      hint={detail.peer}
      mark={<ToneMark tone={rowMark(row)} word={row.outcome || "connected"} title={row.reason ?? row.outcome} />}
      actions={isHere && <KickButton peer={detail.peer} name={detail.name || detail.peer} />}
      onClose={onClose}
    >
      <InspectorTabs
        rememberAs="inspector.webrtc-peer-tab"
        tabs={[
          {
            name: "exchanged",
            title: "Exchanged",
            content: <Exchanged peer={detail.peer} total={detail.received + detail.sent} onRow={onRow} onClose={onClose} />,
          },
          { name: "peer", title: "Peer", content: <PeerFacts detail={detail} isHere={isHere} /> },
        ]}
      />
    </InspectorFrame>
  );
}

function KickButton({ peer, name }: { readonly peer: string; readonly name: string }) {
  const client = useControl();
  const confirm = useConfirm();
  const kick = async () => {
    const isSure = await confirm({
      title: `Disconnect ${name}?`,
      text: "Its signalling connection is closed and it leaves its rooms. Many clients connect again by themselves.",
      action: "Disconnect",
    });
    if (isSure) await attempt(client.action(webrtcActions, "webrtc", "peer.kick", { peer }));
  };
  return <Button onClick={() => void kick()}>Disconnect</Button>;
}

const signalRow = ({ row }: LadderSignal) => row;

interface ExchangedProps {
  readonly peer: string;
  readonly total: number;
  readonly onRow: (row: number) => void;
  readonly onClose: () => void;
}

/** What it sent and what it was sent, newest first. */
function Exchanged({ peer, total, onRow, onClose }: ExchangedProps) {
  const client = useControl();
  const all = useWebrtcView("signals", (view) => view.total);
  const answer = useAnswer({
    key: ["webrtc", "signals.list", "of", peer],
    ask: () => client.action(webrtcActions, "webrtc", "signals.list", { peers: [peer] }),
    version: all ?? total,
    restMs: 500,
    keepsPrevious: false,
  });
  const choice = useRowChoice(signalRow);
  return (
    <Answered answer={answer} what="the signals" compact>
      {({ signals, more, ...named }) => (
        <div className={styles.exchanged}>
          <div className={styles.head}>
            <Caption grow>
              {more > 0
                ? `${formatCountOf(signals.length, "signal")}, ${formatCount(more)} older ones not shown`
                : formatCountOf(signals.length, "signal")}
            </Caption>
            <Button
              size="compact-xs"
              onClick={() => {
                requestedLadders.give("webrtc", { room: "", peers: [peer] });
                goTo(servicePage("webrtc", "signals"));
              }}
            >
              Show as a ladder
            </Button>
          </div>
          <div className={styles.table}>
            <DataTable
              {...choice.tableProps}
              onOpen={({ row }) => onRow(row)}
              onClose={onClose}
              label="Signals, newest first"
              count={signals.length}
              rowAt={(index) => signals[signals.length - 1 - index]}
              columns={exchangedColumns(peer, peerLabels(named))}
              empty={<Caption className={styles.head}>It has sent and got no signal yet.</Caption>}
            />
          </div>
        </div>
      )}
    </Answered>
  );
}

const exchangedColumns = (peer: string, names: PeerLabels): readonly Column<LadderSignal>[] => [
  { id: "direction", title: "Direction", minSample: "from peer", rank: 1, cell: ({ from }) => (from === peer ? "from peer" : "to peer") },
  timeColumn(2),
  {
    id: "signal",
    title: "Signal",
    rank: 0,
    cell: ({ kind, summary }) => (
      <span title={shownText(summary)}>{shownText(summary === "" ? signalTitle(kind) : `${signalTitle(kind)} · ${summary}`)}</span>
    ),
  },
  {
    id: "with",
    title: "With",
    minSample: "Ada Lovelace",
    rank: 1,
    cell: ({ from, to, room }) =>
      shownText(from === peer ? (to === undefined ? `#${room ?? ""}` : peerName(to, names)) : peerName(from, names)),
  },
];

function PeerFacts({ detail, isHere }: { readonly detail: WebrtcPeer; readonly isHere: boolean }) {
  const now = useWebrtcView("peers", ({ peers }) => peers.find(({ id }) => id === detail.peer));
  const [isSaid, setSaid] = useState(0);
  const { peer, dialect, name, userAgent, origin, ended, totalMs, connection, at } = detail;
  const rooms = now?.rooms ?? detail.rooms;
  return (
    <>
      {isHere && (
        <Section title="Say something to it">
          <ChatForm key={isSaid} target={{ to: peer }} label={`Message to ${name || peer}`} onSaid={() => setSaid((count) => count + 1)} />
        </Section>
      )}
      {isHere && (
        <Section title="Faults" actions={<WebrtcFaultMenu target={{ kind: "peer", peer, name }} />}>
          <FaultPairs target={{ kind: "peer", peer, name }} />
        </Section>
      )}
      <Section title="Peer">
        <Pairs>
          <Pair name="Identifier" mono>
            {peer}
          </Pair>
          <Pair name="Name">{name || "not given"}</Pair>
          <Pair name="Dialect">{dialectTitles[dialect]}</Pair>
          <Pair name="Rooms">{rooms.length === 0 ? "none" : rooms.join(", ")}</Pair>
          <Pair name="Connected" mono title={isoTime(at)}>
            {clockTime(at)}
          </Pair>
          <Pair name="From peer">{formatCountOf(now?.received ?? detail.received, "message")}</Pair>
          <Pair name="To peer">{formatCountOf(now?.sent ?? detail.sent, "message")}</Pair>
          {now !== undefined && now.unsentBytes > 0 && <Pair name="Not taken yet">{formatBytes(now.unsentBytes)}</Pair>}
          {ended !== undefined && <Pair name="Ended">{ended}</Pair>}
          {totalMs !== undefined && <Pair name="Lasted">{formatTook(totalMs)}</Pair>}
        </Pairs>
      </Section>
      <Section title="Connection">
        <Pairs>
          <ConnectionPairs connection={connection} />
          <Pair name="Software">{userAgent || "not given"}</Pair>
          {origin !== undefined && (
            <Pair name="Page" mono>
              {origin}
            </Pair>
          )}
        </Pairs>
      </Section>
    </>
  );
}
