import { SegmentedControl } from "@mantine/core";
import { IconCircleDotted } from "@tabler/icons-react";
import { useMemo } from "react";
import { z } from "zod";
import type { GrpcCodec } from "../../../../contract/traffic/grpc.ts";
import { formatLimit } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { ToggleButton } from "../../ui/toolbar.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { ContentViewer } from "../../viewer/content-viewer.tsx";
import styles from "./grpc.module.css";
import { hasTooManyFields, type MessageJson, readMessage, readMessageStart, readWithDefaults } from "./schema/message-json.ts";
import { useGrpcSchema } from "./schema/use-grpc-schema.ts";

interface MessageViewerProps {
  /** The kept part of the serialized message. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly totalBytes: number;
  /** JSON is shown as it was sent. */
  readonly codec?: GrpcCodec;
  readonly typeName: string;
  /** Revision of the protocol files with its type; undefined for those that are served now. */
  readonly revision: string | undefined;
  /** Path of the method. */
  readonly rememberAs: string;
  readonly facts?: string | undefined;
  /** It was cut because so much of other messages was kept at the time. */
  readonly overBudget?: boolean | undefined;
}

const views = ["json", "bytes"] as const;
const viewChoices = [
  { value: "json", label: "JSON" },
  { value: "bytes", label: "Bytes" },
];

/** Titles of the settings that say how much of messages is kept. */
const cutBy = "Recorded message";
const restBy = "Recorded rest of messages";

/** A message decoded by its type, or as its bytes. */
export function MessageViewer({
  bytes,
  totalBytes,
  codec = "proto",
  typeName,
  revision,
  rememberAs,
  facts,
  overBudget,
}: MessageViewerProps) {
  const schema = useGrpcSchema(revision).value;
  const [view, setView] = useRemembered<(typeof views)[number]>("grpc.message-view", "json", z.enum(views));
  const [hasDefaults, setHasDefaults] = useRemembered("grpc.show-defaults", false);
  const isCut = bytes.length < totalBytes;
  const read = useMemo((): Partial<MessageJson> | undefined => {
    if (codec !== "proto") return undefined;
    if (isCut) return { json: readMessageStart(schema, typeName, bytes) };
    return hasDefaults ? readWithDefaults(schema, typeName, bytes) : { json: readMessage(schema, typeName, bytes) };
  }, [codec, bytes, isCut, hasDefaults, schema, typeName]);
  const json = read?.json;
  const isTooWide = useMemo(
    () => codec === "proto" && json === undefined && !isCut && hasTooManyFields(schema, typeName, bytes),
    [codec, json, isCut, schema, typeName, bytes],
  );
  const isText = codec === "json";
  const showsJson = view === "json" && json !== undefined;
  const content = useMemo(() => {
    const shown = showsJson ? new TextEncoder().encode(JSON.stringify(json)) : bytes;
    return { bytes: shown, totalBytes: showsJson ? shown.length : totalBytes, overBudget };
  }, [showsJson, json, bytes, totalBytes, overBudget]);
  const isJson = showsJson || isText;
  return (
    <div className={styles.message}>
      <ContentViewer
        key={String(showsJson)}
        of="message"
        title={isJson ? "JSON" : "Bytes"}
        heading={
          <code className={styles.typeName} title={shownText(typeName)}>
            {shownText(typeName.slice(typeName.lastIndexOf(".") + 1))}
          </code>
        }
        sourceBytes={totalBytes}
        facts={[
          facts,
          isTooWide && "its JSON would have too many fields, with those that have their default",
          showsJson && read?.isTerse && "without the fields that have their default: too many",
          showsJson &&
            isCut &&
            `whole fields of the first ${formatLimit(bytes.length)}; a larger “${overBudget ? restBy : cutBy}” in Config keeps more`,
        ]
          .filter(Boolean)
          .join(" · ")}
        controls={
          json !== undefined && (
            <>
              {showsJson && !isCut && (
                <ToggleButton label="Show defaults" icon={IconCircleDotted} on={hasDefaults} onClick={() => setHasDefaults(!hasDefaults)} />
              )}
              <SegmentedControl
                aria-label="Show the message as"
                data={viewChoices}
                value={view}
                onChange={(value) => setView(value as typeof view)}
              />
            </>
          )
        }
        hasFormats={!isJson}
        hasRaw={!showsJson}
        content={content}
        contentType={isJson ? "application/json" : "application/protobuf"}
        rememberAs={isJson ? "grpc json" : `grpc ${rememberAs}`}
        cutBy={cutBy}
        restBy={restBy}
        emptyText="The message is empty: every field has its default."
      />
    </div>
  );
}
