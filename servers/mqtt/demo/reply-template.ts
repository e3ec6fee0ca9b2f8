import { isUtf8 } from "node:buffer";
import type { Message } from "../engine/routing/message.ts";

const placeholders = /(\{topic\}|\{payload\})/;

/** The topic or the payload of a reply. Undefined where it would have more than `mostBytes`. */
export type ReplyTemplate = (message: Message, mostBytes: number) => Buffer | undefined;

/** Puts topic and payload of the message in the place of `{topic}` and `{payload}`, whose inserted text is not searched again. */
export function compileTemplate(text: string): ReplyTemplate {
  const pieces = text.split(placeholders).map((piece) => (placeholders.test(piece) ? piece : Buffer.from(piece)));
  const count = (name: string) => pieces.filter((piece) => piece === name).length;
  const [topics, payloads] = [count("{topic}"), count("{payload}")];
  const ownBytes = pieces.reduce((sum, piece) => sum + (typeof piece === "string" ? 0 : piece.length), 0);
  return ({ topic, payload }, mostBytes) => {
    const topicBytes = topics === 0 ? undefined : Buffer.from(topic);
    const payloadBytes = payloads === 0 || isUtf8(payload) ? payload : Buffer.from(payload.toString("utf8"));
    const length = ownBytes + topics * (topicBytes?.length ?? 0) + payloads * payloadBytes.length;
    if (length > mostBytes) return undefined;
    return Buffer.concat(
      pieces.map((piece) => (typeof piece !== "string" ? piece : piece === "{topic}" && topicBytes ? topicBytes : payloadBytes)),
      length,
    );
  };
}
