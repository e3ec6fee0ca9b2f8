import { droppedText, type MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { SampleMark } from "../../../list/cells/client-name.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { capitalized, formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";
import type { FormatChoice } from "../../../viewer/content-format.ts";
import { previewLine } from "../../../viewer/payload-preview.ts";
import { movedText, noDeliveryText, noSubscriberText, onDiskText, publisherText } from "../clients/mqtt-texts.ts";
import { TopicName } from "../tree/topic-name.tsx";
import { isMixed, type TopicScope, topicWithin } from "../tree/topic-scope.ts";
import styles from "./history-panel.module.css";

export function historyColumns(view: FormatChoice, scope: TopicScope): readonly Column<MqttMessageSummary>[] {
  return [
    {
      id: "time",
      title: "Time",
      minSample: "00:00:00.000",
      face: "mono",
      rank: 0,
      cell: ({ at }) => (
        <time className={styles.time} title={isoTime(at)}>
          {clockTime(at)}
        </time>
      ),
    },
    ...(isMixed(scope)
      ? [
          {
            id: "topic",
            title: "Topic",
            minSample: "hall-a/temperature",
            leastSample: "temperature",
            preferredSample: "plant/building-12/line-3/device-76/value",
            face: "mono",
            rank: 0,
            cell: ({ topic }: MqttMessageSummary) => (
              <span className={styles.topicCell} title={shownText(topic)}>
                <TopicName topic={topicWithin(scope, topic)} />
              </span>
            ),
          } as const,
        ]
      : []),
    { id: "payload", title: "Payload", rank: 0, leastPx: 80, cell: (message) => <Payload message={message} view={view} /> },
    { id: "qos", title: "QoS", minSample: "QoS", rank: 2, cell: ({ qos }) => qos },
    {
      id: "publisher",
      title: "Published by",
      minSample: "sensor-gw-0001",
      preferredSample: "line-3-controller-0001",
      rank: 3,
      cell: (message) => (
        <span className={styles.soft} title={shownText(publisherText(message))}>
          {message.internalSource === "sample traffic" ? <SampleMark /> : shownText(publisherText(message))}
        </span>
      ),
    },
    { id: "acked", title: "Acked", minSample: "0 of 00", besidePx: 12, rank: 1, cell: (message) => <Acknowledged message={message} /> },
  ];
}

function Payload({ message, view }: { readonly message: MqttMessageSummary; readonly view: FormatChoice }) {
  const text = previewLine(message, view);
  return (
    <span className={styles.mono}>
      {message.retain && (
        <span className={styles.retained} title="Published with retain">
          R
        </span>
      )}
      {text === "" ? <span className={styles.soft}>empty</span> : text}
    </span>
  );
}

/** Acknowledgements of deliveries with QoS 1 and 2; with QoS 0 only the deliveries. */
function Acknowledged({ message }: { readonly message: MqttMessageSummary }) {
  const { acknowledged, acknowledgeable, delivered, dropped, expired, matched, moved = 0, queued = 0, onDisk = 0 } = message;
  if (dropped > 0) {
    return (
      <span className={styles.dropped} title={capitalized(droppedText(message, formatCount))}>
        <StatusShape shape="failed" />
        {`${formatCount(dropped)} ${expired === dropped ? "expired" : "lost"}`}
      </span>
    );
  }
  if (onDisk > 0) {
    return (
      <span className={styles.soft} title={onDiskText}>
        on disk
      </span>
    );
  }
  if (moved > 0) {
    return (
      <span className={styles.soft} title={movedText}>
        {`${formatCount(moved)} moved`}
      </span>
    );
  }
  if (acknowledgeable > 0) {
    const text = `${formatCount(acknowledged)} of ${formatCount(acknowledgeable)}`;
    if (acknowledged === acknowledgeable) return <span className={styles.soft}>{text}</span>;
    return (
      <span className={styles.waiting} title="Acknowledgements are awaited">
        <StatusShape shape="warning" />
        {text}
      </span>
    );
  }
  const quiet = delivered > 0 ? `to ${formatCount(delivered)}` : queued > 0 ? "queued" : "–";
  return (
    <span className={styles.quiet} title={delivered + queued > 0 ? undefined : matched === 0 ? noSubscriberText(message) : noDeliveryText}>
      {quiet}
    </span>
  );
}
