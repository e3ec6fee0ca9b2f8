import { Button } from "@mantine/core";
import { webrtcActions } from "../../../../../contract/services/webrtc.ts";
import type { WebrtcMedia, WebrtcMediaTrack } from "../../../../../contract/traffic/webrtc-media.ts";
import { useControl } from "../../../control/client-context.tsx";
import { InspectorFrame, InspectorPanel, type InspectorProps } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { rowMark, ToneMark } from "../../../list/cells/tone-mark.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { Notice, Pair, Pairs } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatBitRate, formatBytes, formatCount, formatCountOf, formatPercent } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, formatTook, isoTime } from "../../../ui/texts/time.ts";
import { useWebrtcView } from "../use-webrtc-view.ts";
import { withoutText } from "./media-columns.tsx";

/** A player or a publisher: its tracks, the way of its packets, and what it does not get. */
export function MediaInspector({ row, detail, onClose }: InspectorProps<"webrtc-media">) {
  const { protocol, path, tracks, leftOut, keyFrameRequests, at, ended, totalMs } = detail;
  const now = useWebrtcView("media", ({ sessions }) => sessions.find((one) => one.row === row.id));
  const isOpen = row.tone === "pending";
  return (
    <InspectorFrame
      title={`${protocol === "whep" ? "Plays" : "Publishes"} /${shownText(path)}`}
      hint={`${protocol.toUpperCase()} /${path}`}
      mark={<ToneMark tone={rowMark(row)} word={row.outcome} title={row.outcome} />}
      actions={isOpen && <DisconnectButton row={row.id} detail={detail} />}
      onClose={onClose}
    >
      <InspectorPanel label="Session">
        {leftOut.map(({ kind, reason }) => (
          <Notice key={kind} tone="warn">
            <b>{`Played ${withoutText(kind)}.`}</b> {reason}
          </Notice>
        ))}
        <Section title="Session">
          <Pairs>
            <Pair name="Protocol">{protocol === "whep" ? "WHEP, from the RTSP service" : "WHIP, into the RTSP service"}</Pair>
            {now && now.bitRate > 0 && <Pair name="Bit rate">{formatBitRate(now.bitRate)}</Pair>}
            <Pair name={protocol === "whep" ? "Sent" : "Received"}>
              {formatBytes(protocol === "whep" ? detail.bytesSent : detail.bytesReceived)}
            </Pair>
            <Pair name="Key frames">{formatCountOf(keyFrameRequests, "request")}</Pair>
            <Pair name="Began" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
            {ended !== undefined && <Pair name="Ended">{ended}</Pair>}
            {totalMs !== undefined && <Pair name="Lasted">{formatTook(totalMs)}</Pair>}
          </Pairs>
        </Section>
        {tracks.map((track) => (
          <Track key={track.kind} track={track} isPlayed={protocol === "whep"} />
        ))}
        <Connection detail={detail} />
      </InspectorPanel>
    </InspectorFrame>
  );
}

function DisconnectButton({ row, detail: { protocol, path } }: { readonly row: number; readonly detail: WebrtcMedia }) {
  const client = useControl();
  const confirm = useConfirm();
  const end = async () => {
    const isSure = await confirm({
      title: protocol === "whep" ? `Disconnect the player of /${path}?` : `Disconnect the publisher of /${path}?`,
      text:
        protocol === "whep"
          ? "It gets no more pictures and sound. Some players connect again by themselves."
          : "The path ends, and with it the sessions of all who play it.",
      action: "Disconnect",
    });
    if (isSure) await attempt(client.action(webrtcActions, "webrtc", "media.end", { row }));
  };
  return <Button onClick={() => void end()}>Disconnect</Button>;
}

function Track({ track, isPlayed }: { readonly track: WebrtcMediaTrack; readonly isPlayed: boolean }) {
  const { kind, codec, format, packets, bytes, lost, lossFraction, jitterMs, retransmitted } = track;
  return (
    <Section title={kind === "video" ? "Pictures" : "Sound"} facts={codec}>
      <Pairs>
        {format !== "" && <Pair name="Format">{format}</Pair>}
        <Pair name={isPlayed ? "Sent" : "Received"}>{`${formatCount(packets)} packets, ${formatBytes(bytes)}`}</Pair>
        <Pair name="Lost">
          {lossFraction === undefined ? formatCount(lost) : `${formatCount(lost)}, lately ${formatPercent(lossFraction)}`}
        </Pair>
        {retransmitted > 0 && <Pair name={isPlayed ? "Sent again" : "Recovered"}>{formatCount(retransmitted)}</Pair>}
        {jitterMs !== undefined && <Pair name="Jitter">{formatTook(jitterMs)}</Pair>}
      </Pairs>
    </Section>
  );
}

function Connection({ detail }: { readonly detail: WebrtcMedia }) {
  const { pair, remote, rttMs, checks, candidates, userAgent } = detail;
  return (
    <Section title="Connection">
      <Pairs>
        <Pair name="Candidate pair" mono={pair !== undefined}>
          {pair ? `${pair.local} → ${pair.remote}` : "none: no connectivity check has come"}
        </Pair>
        <Pair name="HTTP client" mono>
          {remote}
        </Pair>
        {rttMs !== undefined && <Pair name="Round trip">{formatTook(rttMs)}</Pair>}
        <Pair name="ICE checks">{`${formatCount(checks)} with the right password`}</Pair>
        <Pair name="Candidates" mono={candidates.length > 0}>
          {candidates.join(", ") || "none named: its checks are answered all the same"}
        </Pair>
        <Pair name="Software">{shownText(userAgent) || "not given"}</Pair>
      </Pairs>
    </Section>
  );
}
