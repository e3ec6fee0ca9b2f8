import { encodeForwarded } from "../codec/encode-properties.ts";
import { decodeForwarded } from "../codec/properties.ts";
import { isReservedTopic } from "../codec/topic.ts";
import { Message } from "../engine/routing/message.ts";

const mostTopicBytes = 65_535;

/**
 * A simulated device: a message on `commands/{device}/{command}` is answered on its response topic or, if it has none, on the
 * same topic followed by `/result`.
 */
export function answerCommand(message: Message): Message | undefined {
  const { topic } = message;
  if (!topic.startsWith("commands/") || topic.endsWith("/result") || message.retain) return undefined;
  // A response topic may be below commands/ too.
  if (message.internalSource === "device" || message.internalSource === "reply rule") return undefined;
  const properties = decodeForwarded(message.forwarded);
  const answerTopic = properties?.responseTopic ?? `${topic}/result`;
  if (isReservedTopic(answerTopic) || Buffer.byteLength(answerTopic) > mostTopicBytes) return undefined;
  const command = topic.slice("commands/".length);
  const answer = {
    command,
    status: "done",
    received: message.payload.toString("utf8", 0, 4_000).slice(0, 1_000),
    at: new Date().toISOString(),
  };
  return new Message({
    topic: answerTopic,
    payload: Buffer.from(JSON.stringify(answer)),
    qos: message.qos,
    retain: false,
    forwarded: encodeForwarded({
      payloadFormatIndicator: 1,
      contentType: "application/json",
      ...(properties?.correlationData && { correlationData: properties.correlationData }),
    }),
  });
}
