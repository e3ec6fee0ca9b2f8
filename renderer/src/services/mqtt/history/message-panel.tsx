import { useElementSize } from "@mantine/hooks";
import { IconDownload, IconRepeat } from "@tabler/icons-react";
import { useMemo } from "react";
import type { MqttMessage, MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { notWhole } from "../../../inspectors/kind-commands.ts";
import { CommandButton } from "../../../ui/command-items.tsx";
import { type Command, useCommands } from "../../../ui/commands.ts";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { saveFile } from "../../../ui/copy/files.ts";
import { EdgeHandle } from "../../../ui/edge-handle.tsx";
import { Chip, Note, PanelHead } from "../../../ui/panel.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatBytes, formatLimit } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import type { FormatChoice } from "../../../viewer/content-format.ts";
import { noteText, textToCopy } from "../../../viewer/content-viewer.tsx";
import { ContentWell } from "../../../viewer/content-well.tsx";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import { sizeInText } from "../../../viewer/draw-image.ts";
import { fileName } from "../../../viewer/file-name.ts";
import { imageSize } from "../../../viewer/image-size.ts";
import { ImageView } from "../../../viewer/image-view.tsx";
import type { LayoutRequest } from "../../../viewer/layout/content-layout.ts";
import { bytesInHexLine } from "../../../viewer/layout/hex-lines.ts";
import type { LaidOutText } from "../../../viewer/layout/laid-out-text.ts";
import { useContentLayout } from "../../../viewer/use-content-layout.ts";
import { versionText } from "../clients/mqtt-texts.ts";
import { type PublishDraft, wholeDraftOf } from "../publish/publish-draft.ts";
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
  readonly view: FormatChoice;
  readonly onPublish: (draft: PublishDraft) => void;
}

/** Below this width, 16 bytes and their text do not fit on one line. */
const wideHexPx = 590;
const heightBounds = { minimum: 120, maximum: 640 };
/** Until the user drags its edge, the panel is as high as what it shows, up to a limit. */
const asContent = 0;

const linePx = 20;
const letterPx = 7.2;
/** Margins above and below the text. */
const wellPx = 16;
/** Numbers, signs and margins beside it. */
const besidePx = 64;
/** More lines are higher than the limit. */
const countedLines = 40;

/** What the text takes with its long lines wrapped. */
function textHeightPx({ text, hex, images = [] }: LaidOutText, widthPx: number): number {
  const letters = Math.max(20, (widthPx - besidePx) / letterPx);
  const lines = text.split("\n", countedLines);
  const rows = lines.reduce((sum, line) => sum + (hex ? 1 : Math.max(1, Math.ceil(line.length / letters))), 0);
  const imagesPx = images.reduce((sum, { size }) => sum + sizeInText(size).height, 0);
  return rows * linePx + imagesPx + wellPx;
}

/** One message in full: payload, difference to the previous message, and properties. */
export function MessagePanel({ detail: { message, answer, gone }, before, onCompare, showsDiff, view, onPublish }: MessagePanelProps) {
  const [chosenPx, setChosenPx] = useRemembered("mqtt.message-px", asContent);
  const panel = useElementSize();
  const isChosen = chosenPx !== asContent;
  return (
    <section ref={panel.ref} className={styles.panel} style={isChosen ? { height: chosenPx } : undefined} aria-label="Message">
      <EdgeHandle
        axis="y"
        {...heightBounds}
        value={isChosen ? chosenPx : Math.round(panel.height)}
        onChange={setChosenPx}
        label="Height of the message"
      />
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
        answer && (
          <Answered answer={answer} what="the message" compact>
            {() => gone && <Note className={styles.gone}>This message is no longer kept: newer ones replaced it.</Note>}
          </Answered>
        )
      )}
    </section>
  );
}

interface MessageProps extends Omit<MessagePanelProps, "detail"> {
  readonly message: MqttMessage;
}

function Message({ message, before, onCompare, showsDiff, view, onPublish }: MessageProps) {
  const { message: previous, gone: isPreviousGone } = useMessage(before);
  const bytes = useMemo(() => fromBase64(message.payload), [message.payload]);
  const isCut = bytes.length < message.bytes;
  const well = useElementSize();
  const bytesInLine = well.width === 0 || well.width >= wideHexPx ? bytesInHexLine : bytesInHexLine / 2;
  const request = useMemo<LayoutRequest>(() => {
    const old = showsDiff && previous ? fromBase64(previous.payload) : undefined;
    const { contentType = "", payloadFormatIndicator } = message.properties;
    return {
      bytes,
      isCut,
      format: view,
      contentType,
      isText: payloadFormatIndicator === 1,
      expanded: true,
      bytesInLine,
      ...(old && previous && { before: { bytes: old, isCut: old.length < previous.bytes, contentType } }),
    };
  }, [bytes, isCut, view, message.properties, bytesInLine, showsDiff, previous]);
  const layout = useContentLayout(request);
  const { laidOut } = layout;
  const image = laidOut?.format === "image" ? imageSize(bytes) : undefined;
  const note = noteText(laidOut, [
    isCut && `The first ${formatLimit(bytes.length)} are shown.`,
    showsDiff && isPreviousGone && "The other message is no longer kept.",
  ]);
  const name = message.topic.replace(/[^\w.-]+/g, "-").slice(0, 80) || "message";
  const commands: readonly Command[] = [
    {
      id: "message-publish",
      title: "Edit and publish again",
      icon: IconRepeat,
      run: () => void attempt((async () => onPublish(wholeDraftOf(message, notWhole)))()),
    },
    {
      id: "message-save",
      title: isCut ? "Save this part of the payload as a file" : "Save the payload as a file",
      icon: IconDownload,
      run: () => saveFile(fileName(name, message.properties.contentType ?? "", laidOut?.format ?? "hex", bytes), bytes),
    },
  ];
  useCommands(commands);
  return (
    <>
      <PanelHead plain className={styles.head}>
        <h2 className={styles.title} title={shownText(message.topic)}>
          <TopicName topic={message.topic} />
        </h2>
        <time className={styles.time} title={isoTime(message.at)}>
          {clockTime(message.at)}
        </time>
        <Chip>{`QoS ${message.qos}`}</Chip>
        <Chip>{formatBytes(message.bytes)}</Chip>
        {message.version !== undefined && <Chip className={styles.version}>{`MQTT ${versionText(message.version)}`}</Chip>}
        {message.retain && <Chip>retain</Chip>}
        {message.dup && <Chip>duplicate</Chip>}
        <span className={styles.spring} />
        {before !== undefined && <CompareMenu message={message} other={previous} view={view} onCompare={onCompare} />}
        {commands.map((command) => (
          <CommandButton key={command.id} command={command} />
        ))}
        <CopyButton text={() => textToCopy(laidOut, request)} what={isCut ? "this part of the payload" : "the payload"} />
      </PanelHead>
      <div className={styles.content}>
        {message.bytes === 0 ? (
          <p className={styles.empty}>
            {message.retain ? "An empty payload with retain: it deletes the topic's retained message." : "An empty payload."}
          </p>
        ) : (
          <div
            ref={well.ref}
            className={styles.payload}
            style={laidOut && !image ? { height: textHeightPx(laidOut, well.width) + (note === "" ? 0 : linePx + wellPx) } : undefined}
          >
            {image ? (
              <ImageView bytes={bytes} size={image} isCut={isCut} />
            ) : (
              <ContentWell label="Payload" layout={layout} bytes={bytes.length} wrap={laidOut?.hex === undefined} note={note} />
            )}
          </div>
        )}
        <PropertyList message={message} />
      </div>
    </>
  );
}
