import { Button } from "@mantine/core";
import { webrtcActions } from "../../../../contract/services/webrtc.ts";
import type { TurnDataCount } from "../../../../contract/traffic/webrtc.ts";
import { useControl } from "../../control/client-context.tsx";
import { InspectorFrame, InspectorPanel, type InspectorProps } from "../../inspectors/inspector-frame.tsx";
import { Section } from "../../inspectors/section.tsx";
import { rowMark, ToneMark } from "../../list/tone-mark.tsx";
import { Pair, Pairs } from "../../ui/panel.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { formatBytes, formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../ui/texts/time.ts";

const countText = ({ datagrams, bytes }: TurnDataCount): string => `${formatCount(datagrams)} datagrams, ${formatBytes(bytes)}`;

/** A relay of TURN: its addresses, what it may send to, and what it has passed on. */
export function AllocationInspector({ row, detail, onClose }: InspectorProps<"turn-allocation">) {
  const client = useControl();
  const { allocation, transport, remote, user, username, software, relayed, at, ended, totalMs } = detail;
  const close = () => void attempt(client.action(webrtcActions, "webrtc", "allocation.close", { allocation }));
  return (
    <InspectorFrame
      title={row.target}
      hint={row.target}
      mono
      mark={<ToneMark tone={rowMark(row)} word={row.outcome} />}
      actions={row.tone === "pending" && <Button onClick={close}>Close</Button>}
      onClose={onClose}
    >
      <InspectorPanel label="Relay">
        <Section title="Relay">
          <Pairs>
            <Pair name="Relayed address" mono>
              {relayed.join(", ")}
            </Pair>
            <Pair name="Client" mono>{`${remote} over ${transport.toUpperCase()}`}</Pair>
            <Pair name="User">{shownText(user)}</Pair>
            <Pair name="User name" mono>
              {shownText(username)}
            </Pair>
            {software !== undefined && <Pair name="Software">{shownText(software)}</Pair>}
            <Pair name="Opened" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
            <Pair name="Ended">{ended ?? "still open"}</Pair>
            {totalMs !== undefined && <Pair name="Lasted">{formatTook(totalMs)}</Pair>}
          </Pairs>
        </Section>
        <Section title="Data">
          <Pairs>
            <Pair name="To peers">{countText(detail.toPeers)}</Pair>
            <Pair name="From peers">{countText(detail.fromPeers)}</Pair>
            <Pair name="Not passed on">{formatCount(detail.lost)}</Pair>
            <Pair name="Permissions" mono>
              {detail.permissions.join(", ") || "none"}
            </Pair>
            <Pair name="Channels" mono>
              {detail.channels.map(({ number, peer }) => `0x${number.toString(16)} ${peer}`).join(", ") || "none"}
            </Pair>
          </Pairs>
        </Section>
      </InspectorPanel>
    </InspectorFrame>
  );
}
