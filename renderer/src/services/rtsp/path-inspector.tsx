import { useState } from "react";
import { type RtspPathView, type RtspTransport, rtspActions } from "../../../../contract/services/rtsp.ts";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { InspectorFrame, InspectorPanel } from "../../inspectors/inspector-frame.tsx";
import { Section } from "../../inspectors/section.tsx";
import { type HistoryPanel, HistoryPlots } from "../../ui/history-plots.tsx";
import { Pair, Pairs } from "../../ui/panel.tsx";
import { formatBitRate, formatBytes, formatCount, formatRate } from "../../ui/texts/quantity.ts";
import { clockTime, isoTime } from "../../ui/texts/time.ts";
import { FaultPairs } from "./faults/fault-badges.tsx";
import { RtspFaultMenu } from "./faults/rtsp-fault-menu.tsx";
import { StreamPictureParts } from "./picture/stream-picture.tsx";
import { trackText } from "./picture/stream-texts.ts";
import { PlayWith } from "./play-with.tsx";
import styles from "./rtsp.module.css";

const panels: readonly HistoryPanel<"bitRate" | "frameRate">[] = [
  { series: "bitRate", title: "Bit rate", color: "--bl-s1", text: formatBitRate, leastTop: 100_000, leastStep: 10_000 },
  { series: "frameRate", title: "Frames a second", color: "--bl-s2", text: formatRate, leastTop: 5, leastStep: 1 },
];

export const sourceTexts = {
  clip: "looped file",
  publisher: "publisher",
  "rtmp-publisher": "RTMP publisher",
  "whip-publisher": "WHIP publisher",
  pull: "pulled",
} as const;

/** A path: its picture, what it is, its rates over time, and how to play it. */
export function PathInspector({ path, onClose }: { readonly path: RtspPathView; readonly onClose: () => void }) {
  const client = useControl();
  const [transport, setTransport] = useState<RtspTransport>("tcp");
  const { name, source, since, tracks, readers, bytesReceived, bytesSent, groupFrames, groupSeconds } = path;
  const history = useAnswer({
    key: ["rtsp", "path.history", name],
    ask: () => client.action(rtspActions, "rtsp", "path.history", { path: name }),
    version: path,
    restMs: 500,
    keepsPrevious: false,
  });
  return (
    <InspectorFrame title={`/${name}`} hint={`/${name}`} mono onClose={onClose}>
      <InspectorPanel label="Path">
        <StreamPictureParts path={path}>
          {({ picture, tools, losses, facts }) => (
            <>
              <div className={styles.large}>{picture}</div>
              <Section title="Stream" facts={[...losses, ...facts].join(" · ")} actions={<span className={styles.tools}>{tools}</span>}>
                <Pairs>
                  <Pair name="Source" title={source.title}>
                    {source.kind === "clip" || source.kind === "pull"
                      ? `${sourceTexts[source.kind]}, ${source.title}`
                      : sourceTexts[source.kind]}
                  </Pair>
                  {tracks.map((track, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a track is its place.
                    <Pair key={index} name={`Track ${index}`}>
                      {trackText(track)}
                    </Pair>
                  ))}
                  {groupFrames > 0 && (
                    <Pair name="Key frame">{`every ${formatCount(groupFrames)} frames, ${formatRate(groupSeconds)} s`}</Pair>
                  )}
                  <Pair name="Readers">{formatCount(readers)}</Pair>
                  <Pair name="Received">{formatBytes(bytesReceived)}</Pair>
                  <Pair name="Sent">{formatBytes(bytesSent)}</Pair>
                  <Pair name="Since" mono title={isoTime(since)}>
                    {clockTime(since)}
                  </Pair>
                </Pairs>
              </Section>
            </>
          )}
        </StreamPictureParts>
        <Section title="Faults" actions={<RtspFaultMenu target={{ kind: "path", path: name }} />}>
          <FaultPairs target={{ kind: "path", path: name }} />
        </Section>
        <Section title="Last two minutes">{history.value && <HistoryPlots panels={panels} history={history.value} />}</Section>
        <PlayWith path={name} transport={transport} onTransport={setTransport} />
      </InspectorPanel>
    </InspectorFrame>
  );
}
