import { SegmentedControl } from "@mantine/core";
import { useMemo } from "react";
import { z } from "zod";
import type { GrpcCodec } from "../../../../contract/traffic/grpc.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { ContentViewer } from "../../viewer/content-viewer.tsx";
import styles from "./grpc.module.css";
import { readMessage } from "./schema/message-json.ts";
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
}

const views = ["json", "bytes"] as const;
const viewChoices = [
  { value: "json", label: "JSON" },
  { value: "bytes", label: "Bytes" },
];

/** A message decoded by its type, or as its bytes. */
export function MessageViewer({ bytes, totalBytes, codec = "proto", typeName, revision, rememberAs, facts }: MessageViewerProps) {
  const schema = useGrpcSchema(revision).value;
  const [view, setView] = useRemembered<(typeof views)[number]>("grpc.message-view", "json", z.enum(views));
  const read = useMemo(
    () => (codec === "proto" && bytes.length === totalBytes ? readMessage(schema, typeName, bytes) : undefined),
    [codec, bytes, totalBytes, schema, typeName],
  );
  const json = read?.json;
  const isText = codec === "json";
  const showsJson = view === "json" && json !== undefined;
  const content = useMemo(() => {
    const shown = showsJson ? new TextEncoder().encode(JSON.stringify(json)) : bytes;
    return { bytes: shown, totalBytes: showsJson ? shown.length : totalBytes };
  }, [showsJson, json, bytes, totalBytes]);
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
        facts={
          showsJson && read?.isTerse ? [facts, "without the fields that have their default: too many"].filter(Boolean).join(" · ") : facts
        }
        controls={
          json !== undefined && (
            <SegmentedControl
              aria-label="Show the message as"
              data={viewChoices}
              value={view}
              onChange={(value) => setView(value as typeof view)}
            />
          )
        }
        hasFormats={!isJson}
        content={content}
        contentType={isJson ? "application/json" : "application/protobuf"}
        rememberAs={isJson ? "grpc json" : `grpc ${rememberAs}`}
        cutBy="Recorded message"
        emptyText="The message is empty: every field has its default."
      />
    </div>
  );
}
