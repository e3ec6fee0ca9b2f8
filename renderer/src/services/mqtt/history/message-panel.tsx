import { ActionIcon, Tooltip } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconDownload, IconRepeat } from "@tabler/icons-react";
import { useMemo } from "react";
import type { MqttMessage, MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { EdgeHandle } from "../../../ui/edge-handle.tsx";
import { formatBytes } from "../../../ui/quantity.ts";
import { saveFile } from "../../../ui/save-file.ts";
import { clockTime, isoTime } from "../../../ui/time.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { fromBase64 } from "../../../viewer/base64.ts";
import { bytesInHexLine } from "../../../viewer/hex-lines.ts";
import { type DiffLine, diffLines } from "../../../viewer/line-diff.ts";
import { lineText, type PayloadView, payloadLines } from "../../../viewer/payload-lines.ts";
import { PayloadWell } from "../../../viewer/payload-well.tsx";
import { versionText } from "../clients/client-text.ts";
import { draftOfMessage, type PublishDraft } from "../publish/publish-draft.ts";
import { TopicName } from "../tree/topic-name.tsx";
import { CompareMenu } from "./compare-menu.tsx";
import styles from "./message-panel.module.css";
import { PropertyList } from "./property-list.tsx";
import { type ChosenMessage, useMessage } from "./use-chosen-message.ts";

interface MessagePanelProps {
  readonly detail: ChosenMessage;
  /** An older message of the same topic, with which it is compared. */
  readonly before: number | undefined;
  readonly onCompare: (other: MqttMessageSummary | undefined) => void;
  readonly showsDiff: boolean;
  readonly view: PayloadView;
  readonly onPublish: (draft: PublishDraft) => void;
}

/** Below this 16 bytes and their text do not fit beside each other. */
const wideHexPx = 590;
const heightBounds = { minimum: 120, maximum: 640 };

/** One message whole: what changed since the one before it, and its properties. */
export function MessagePanel({ detail: { message, gone }, before, onCompare, showsDiff, view, onPublish }: MessagePanelProps) {
  const [heightPx, setHeightPx] = useRemembered("mqtt.message-height", 236);
  return (
    <section className={styles.panel} style={{ height: heightPx }} aria-label="Message">
      <EdgeHandle axis="y" {...heightBounds} value={heightPx} onChange={setHeightPx} label="Height of the message" />
      {message ? (
        <Message
          message={message}
          before={showsDiff ? before : undefined}
          onCompare={onCompare}
          showsDiff={showsDiff}
          view={view}
          onPublish={onPublish}
        />
      ) : (
        gone && <p className={styles.gone}>This message has left the recorder: newer ones took its place.</p>
      )}
    </section>
  );
}

interface MessageProps {
  readonly message: MqttMessage;
  readonly before: number | undefined;
  readonly onCompare: (other: MqttMessageSummary | undefined) => void;
  readonly showsDiff: boolean;
  readonly view: PayloadView;
  readonly onPublish: (draft: PublishDraft) => void;
}

function Message({ message, before, onCompare, showsDiff, view, onPublish }: MessageProps) {
  const { message: previous, gone: isPreviousGone } = useMessage(before);
  const bytes = useMemo(() => fromBase64(message.payload), [message.payload]);
  const isCut = bytes.length < message.bytes;
  const well = useElementSize();
  const inLine = well.width === 0 || well.width >= wideHexPx ? bytesInHexLine : bytesInHexLine / 2;
  const shown = useMemo(() => payloadLines(bytes, view, isCut, inLine), [bytes, view, isCut, inLine]);
  const diff = useMemo(() => {
    if (!showsDiff || !previous) return undefined;
    const old = fromBase64(previous.payload);
    return diffLines(payloadLines(old, view, old.length < previous.bytes, inLine).lines, shown.lines);
  }, [shown, showsDiff, previous, view, inLine]);
  const lines = useMemo(() => diff ?? shown.lines.map((line): DiffLine => ({ change: "same", line })), [diff, shown]);
  const notes = [
    isCut && `first ${formatBytes(bytes.length)} recorded`,
    !isCut && shown.problem,
    showsDiff && previous && !diff && "too long to compare",
    showsDiff && isPreviousGone && "the other has left the recorder",
  ];
  const name = message.topic.replace(/[^\w.-]+/g, "-").slice(0, 80) || "message";
  return (
    <>
      <div className={styles.head}>
        <h2 className={styles.title} title={message.topic}>
          <TopicName topic={message.topic} />
        </h2>
        <time className={styles.time} title={isoTime(message.at)}>
          {clockTime(message.at)}
        </time>
        <span className={styles.chip}>{`QoS ${message.qos}`}</span>
        <span className={styles.chip}>{formatBytes(message.bytes)}</span>
        {message.version !== undefined && (
          <span className={`${styles.chip} ${styles.version}`}>{`MQTT ${versionText(message.version)}`}</span>
        )}
        {message.retain && <span className={styles.chip}>retain</span>}
        {message.dup && <span className={styles.chip}>duplicate</span>}
        <span className={styles.note} title={shown.problem}>
          {notes.filter(Boolean).join(" · ")}
        </span>
        {before !== undefined && <CompareMenu message={message} other={previous} view={view} onCompare={onCompare} />}
        <Tooltip label="Publish it again, or change it first">
          <ActionIcon aria-label="Publish it again" onClick={() => onPublish(draftOfMessage(message))}>
            <IconRepeat size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Save the payload as a file">
          <ActionIcon
            aria-label="Save the payload as a file"
            onClick={() => saveFile(`${name}.${view === "json" ? "json" : "bin"}`, bytes, "application/octet-stream")}
          >
            <IconDownload size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
        <CopyButton text={() => shown.lines.map(lineText).join("\n")} what="the payload" size={24} />
      </div>
      <div className={styles.content}>
        {message.bytes === 0 ? (
          <p className={styles.empty}>
            {message.retain ? "An empty payload with retain: it deletes the topic's retained message." : "An empty payload."}
          </p>
        ) : (
          <div ref={well.ref} className={styles.payload}>
            <PayloadWell lines={lines} isHex={shown.isHex ?? false} />
          </div>
        )}
        <PropertyList message={message} />
      </div>
    </>
  );
}
