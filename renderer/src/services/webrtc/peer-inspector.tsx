import { Button } from "@mantine/core";
import { webrtcActions } from "../../../../contract/services/webrtc.ts";
import { useControl } from "../../control/client-context.tsx";
import { ConnectionPairs } from "../../inspectors/connection-pairs.tsx";
import { InspectorFrame, InspectorPanel, type InspectorProps } from "../../inspectors/inspector-frame.tsx";
import { Section } from "../../inspectors/section.tsx";
import { rowMark, ToneMark } from "../../list/tone-mark.tsx";
import { Pair, Pairs } from "../../ui/panel.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../ui/texts/time.ts";

/** A client of signalling: its rooms, counts and connection. */
export function PeerInspector({ row, detail, onClose }: InspectorProps<"webrtc-peer">) {
  const client = useControl();
  const { peer, dialect, name, rooms, userAgent, origin, received, sent, ended, totalMs, connection, at } = detail;
  const kick = () => void attempt(client.action(webrtcActions, "webrtc", "peer.kick", { peer }));
  return (
    <InspectorFrame
      title={shownText(peer)}
      hint={peer}
      mono
      mark={<ToneMark tone={rowMark(row)} word={row.outcome} />}
      actions={row.tone === "pending" && <Button onClick={kick}>Disconnect</Button>}
      onClose={onClose}
    >
      <InspectorPanel label="Peer">
        <Section title="Peer">
          <Pairs>
            <Pair name="Dialect">{dialect}</Pair>
            {name !== "" && <Pair name="Name">{shownText(name)}</Pair>}
            <Pair name="Rooms">{rooms.length === 0 ? "none" : shownText(rooms.join(", "))}</Pair>
            <Pair name="Messages">{`${formatCount(received)} received, ${formatCount(sent)} sent`}</Pair>
            <Pair name="Connected" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
            <Pair name="Ended">{ended ?? "still connected"}</Pair>
            {totalMs !== undefined && <Pair name="Lasted">{formatTook(totalMs)}</Pair>}
          </Pairs>
        </Section>
        <Section title="Connection">
          <Pairs>
            <ConnectionPairs connection={connection} />
            <Pair name="Software">{shownText(userAgent) || "not given"}</Pair>
            {origin !== undefined && <Pair name="Page">{shownText(origin)}</Pair>}
          </Pairs>
        </Section>
      </InspectorPanel>
    </InspectorFrame>
  );
}
