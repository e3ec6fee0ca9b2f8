import { Button } from "@mantine/core";
import { webrtcActions } from "../../../../../contract/services/webrtc.ts";
import type { WebrtcMediaTrack } from "../../../../../contract/traffic/webrtc-media.ts";
import { useControl } from "../../../control/client-context.tsx";
import { InspectorFrame, InspectorPanel, type InspectorProps } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { rowMark, ToneMark } from "../../../list/tone-mark.tsx";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatBytes, formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../../ui/texts/time.ts";

const trackText = ({ format, packets, bytes, lost, jitterMs, retransmitted }: WebrtcMediaTrack): string =>
  [
    ...(format === "" ? [] : [format]),
    `${formatCount(packets)} packets, ${formatBytes(bytes)}`,
    `${formatCount(lost)} lost`,
    ...(retransmitted > 0 ? [`${formatCount(retransmitted)} sent again`] : []),
    ...(jitterMs === undefined ? [] : [`jitter ${jitterMs} ms`]),
  ].join(" · ");

/** A player or a publisher: its tracks, the way of its packets, and what it does not get. */
export function MediaInspector({ row, detail, onClose }: InspectorProps<"webrtc-media">) {
  const client = useControl();
  const { protocol, path, tracks, leftOut, pair, candidates, checks, rttMs, keyFrameRequests, userAgent, at, ended, totalMs } = detail;
  const end = () => void attempt(client.action(webrtcActions, "webrtc", "media.end", { row: row.id }));
  return (
    <InspectorFrame
      title={`${protocol.toUpperCase()} /${shownText(path)}`}
      hint={`/${path}`}
      mark={<ToneMark tone={rowMark(row)} word={row.outcome} />}
      actions={row.tone === "pending" && <Button onClick={end}>Disconnect</Button>}
      onClose={onClose}
    >
      <InspectorPanel label="Session">
        <Section title="Media">
          {leftOut.map(({ kind, reason }) => (
            <Note key={kind}>{reason}</Note>
          ))}
          <Pairs>
            {tracks.map((track) => (
              <Pair key={track.kind} name={track.codec}>
                {trackText(track)}
              </Pair>
            ))}
            <Pair name="Key frames asked for">{formatCount(keyFrameRequests)}</Pair>
            <Pair name="Began" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
            <Pair name="Ended">{ended ?? "still open"}</Pair>
            {totalMs !== undefined && <Pair name="Lasted">{formatTook(totalMs)}</Pair>}
          </Pairs>
        </Section>
        <Section title="Connection">
          <Pairs>
            <Pair name="Here" mono>
              {pair?.local ?? "not connected"}
            </Pair>
            <Pair name="Client" mono>
              {pair?.remote ?? detail.remote}
            </Pair>
            {rttMs !== undefined && <Pair name="Round trip">{formatTook(rttMs)}</Pair>}
            <Pair name="Checks of ICE">{formatCount(checks)}</Pair>
            <Pair name="Candidates of the client" mono>
              {candidates.join(", ") || "none told"}
            </Pair>
            <Pair name="Software">{shownText(userAgent) || "not given"}</Pair>
          </Pairs>
        </Section>
      </InspectorPanel>
    </InspectorFrame>
  );
}
