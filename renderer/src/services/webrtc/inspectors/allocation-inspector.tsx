import { Button } from "@mantine/core";
import { type TurnAllocationHistory, type TurnAllocationView, webrtcActions } from "../../../../../contract/services/webrtc.ts";
import type { TurnAllocation } from "../../../../../contract/traffic/webrtc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { InspectorFrame, type InspectorProps, InspectorTabs } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { rowMark, ToneMark } from "../../../list/cells/tone-mark.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { type HistoryPanel, HistoryPlots } from "../../../ui/history-plots.tsx";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatByteRate, formatBytes, formatCount, formatRate } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, formatDurationExact, formatTook, isoTime } from "../../../ui/texts/time.ts";
import { FaultPairs } from "../faults/fault-badges.tsx";
import { WebrtcFaultMenu } from "../faults/webrtc-fault-menu.tsx";
import { usePeerName, useWebrtcView } from "../use-webrtc-view.ts";

/** A relay of TURN: what it passed on, over time and in all, and who may use it. */
export function AllocationInspector({ row, detail, onClose }: InspectorProps<"turn-allocation">) {
  const now = useWebrtcView("allocations", ({ allocations }) => allocations.find((one) => one.row === row.id));
  const isOpen = detail.ended === undefined && row.tone === "pending";
  return (
    <InspectorFrame
      title={shownText(row.target)}
      hint={row.target}
      mono
      mark={<ToneMark tone={rowMark(row)} word={row.outcome || "open"} />}
      actions={isOpen && <CloseRelay allocation={detail.allocation} relayed={row.target} />}
      onClose={onClose}
    >
      <InspectorTabs
        rememberAs="inspector.turn-allocation-tab"
        tabs={[
          { name: "plots", title: "Plots", content: <RelayPlots allocation={detail.allocation} isOpen={isOpen} /> },
          { name: "relay", title: "Relay", content: <RelayFacts detail={detail} now={now} /> },
        ]}
      />
    </InspectorFrame>
  );
}

export function CloseRelay({ allocation, relayed }: { readonly allocation: number; readonly relayed: string }) {
  const client = useControl();
  const confirm = useConfirm();
  const close = async () => {
    const isSure = await confirm({
      title: `Close the relay ${relayed}?`,
      text: "Its client loses it at once. Calls that use it are interrupted until they find another way.",
      action: "Close relay",
    });
    if (isSure) await attempt(client.action(webrtcActions, "webrtc", "allocation.close", { allocation }));
  };
  return <Button onClick={() => void close()}>Close relay</Button>;
}

const panels: readonly HistoryPanel<"toPeers" | "fromPeers" | "lost">[] = [
  { series: "toPeers", title: "To peers", color: "--bl-s1", text: formatByteRate, leastTop: 1_000, leastStep: 10 },
  { series: "fromPeers", title: "From peers", color: "--bl-s2", text: formatByteRate, leastTop: 1_000, leastStep: 10 },
  {
    series: "lost",
    title: "Datagrams not passed on",
    color: "--bl-s5",
    text: (rate) => `${formatRate(rate)}/s`,
    leastTop: 5,
    leastStep: 1,
  },
];

export function RelayPlots({ allocation, isOpen }: { readonly allocation: number; readonly isOpen: boolean }) {
  const client = useControl();
  const history = useAnswer({
    key: ["webrtc", "allocation.history", allocation],
    ask: () => client.action(webrtcActions, "webrtc", "allocation.history", { allocation }),
    everyMs: isOpen ? 1_000 : false,
    version: isOpen,
    keepsPrevious: false,
  });
  return (
    <Section title="Last two minutes">
      <Answered answer={history} what="the figures" compact>
        {(value) =>
          value ? <HistoryPlots panels={panels} history={inBytes(value)} /> : <Note>The relay is closed; its figures are gone.</Note>
        }
      </Answered>
    </Section>
  );
}

/** It is kept in bits per second; relays are counted in bytes everywhere else. */
function inBytes(history: TurnAllocationHistory): TurnAllocationHistory {
  const bytes = (bits: readonly (number | null)[]) => bits.map((value) => value && value / 8);
  return { ...history, toPeers: bytes(history.toPeers), fromPeers: bytes(history.fromPeers) };
}

interface RelayFactsProps {
  readonly detail: TurnAllocation;
  /** While it is open: its newest state. */
  readonly now: TurnAllocationView | undefined;
}

const lossWords: Readonly<Record<keyof TurnAllocationView["lost"], string>> = {
  notPermitted: "without a permission",
  withoutChannel: "on a channel that is not bound",
  impaired: "by faults on demand",
  clientBehind: "the client takes too little",
  unsendable: "the system could not send them",
};

export function RelayFacts({ detail, now }: RelayFactsProps) {
  const { at, transport, remote, user, username, software, relayed, ended, totalMs } = detail;
  const name = usePeerName(user);
  const toPeers = now?.toPeers ?? detail.toPeers;
  const fromPeers = now?.fromPeers ?? detail.fromPeers;
  const permissions = now?.permissions ?? detail.permissions.map((address) => ({ address, leftMs: undefined }));
  const channels = now?.channels ?? detail.channels.map((channel) => ({ ...channel, leftMs: undefined }));
  const losses = now ? (Object.entries(now.lost) as [keyof typeof lossWords, number][]).filter(([, count]) => count > 0) : [];
  return (
    <>
      <Section title="Relay">
        <Pairs>
          <Pair name="Relayed" mono>
            {relayed.join(", ")}
          </Pair>
          <Pair name="Client" mono>
            {remote}
          </Pair>
          <Pair name="Over">{transport.toUpperCase()}</Pair>
          {name !== undefined && <Pair name="Peer">{shownText(name)}</Pair>}
          <Pair name="User" mono>
            {user}
          </Pair>
          <Pair name="User name" mono>
            {username}
          </Pair>
          {software !== undefined && <Pair name="Software">{software}</Pair>}
          <Pair name="Opened" mono title={isoTime(at)}>
            {clockTime(at)}
          </Pair>
          {now && <Pair name="Time left">{formatDurationExact(now.leftMs)}</Pair>}
          {ended !== undefined && <Pair name="Ended">{ended}</Pair>}
          {totalMs !== undefined && <Pair name="Lasted">{formatTook(totalMs)}</Pair>}
        </Pairs>
      </Section>
      {now && (
        <Section title="Faults" actions={<WebrtcFaultMenu target={{ kind: "relay", allocation: detail.allocation }} />}>
          <FaultPairs target={{ kind: "relay", allocation: detail.allocation }} />
        </Section>
      )}
      <Section title="Data">
        <Pairs>
          <Pair name="To peers">{`${formatBytes(toPeers.bytes)}, ${formatCount(toPeers.datagrams)} datagrams`}</Pair>
          <Pair name="From peers">{`${formatBytes(fromPeers.bytes)}, ${formatCount(fromPeers.datagrams)} datagrams`}</Pair>
          {losses.map(([why, count]) => (
            <Pair key={why} name="Not passed on">{`${formatCount(count)}, ${lossWords[why]}`}</Pair>
          ))}
          {!now && detail.lost > 0 && <Pair name="Not passed on">{formatCount(detail.lost)}</Pair>}
        </Pairs>
      </Section>
      <Section title="Permissions" facts={formatCount(permissions.length)}>
        {permissions.length === 0 ? (
          <Note>None: nothing is passed to or from any peer.</Note>
        ) : (
          <Pairs>
            {permissions.map(({ address, leftMs }) => (
              <Pair key={address} name={address}>
                {leftMs === undefined ? "" : `${formatDurationExact(leftMs)} left`}
              </Pair>
            ))}
          </Pairs>
        )}
      </Section>
      <Section title="Channels" facts={formatCount(channels.length)}>
        {channels.length === 0 ? (
          <Note>None: data goes in Send and Data indications.</Note>
        ) : (
          <Pairs>
            {channels.map(({ number, peer, leftMs }) => (
              <Pair key={number} name={`0x${number.toString(16).toUpperCase()}`} mono>
                {leftMs === undefined ? peer : `${peer}, ${formatDurationExact(leftMs)} left`}
              </Pair>
            ))}
          </Pairs>
        )}
      </Section>
    </>
  );
}
