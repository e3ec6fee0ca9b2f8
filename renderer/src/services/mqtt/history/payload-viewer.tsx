import { useMemo } from "react";
import type { MqttMessage } from "../../../../../contract/traffic/mqtt.ts";
import { ContentViewer } from "../../../viewer/content-viewer.tsx";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";

interface PayloadViewerProps {
  readonly message: Pick<MqttMessage, "topic" | "payload" | "bytes" | "properties">;
  /** The setting that cut the payload. */
  readonly cutBy?: string;
  readonly emptyText: string;
}

/** The payload of one message, in the format that was chosen for its topic. */
export function PayloadViewer({ message, cutBy, emptyText }: PayloadViewerProps) {
  const { topic, payload, bytes, properties } = message;
  const content = useMemo(() => ({ bytes: fromBase64(payload), totalBytes: bytes }), [payload, bytes]);
  return (
    <ContentViewer
      of="message"
      title="Payload"
      content={content}
      contentType={properties.contentType ?? ""}
      isText={properties.payloadFormatIndicator === 1}
      rememberAs={`mqtt ${topic}`}
      {...(cutBy !== undefined && { cutBy })}
      emptyText={emptyText}
    />
  );
}
