import type { Qos } from "../codec/packet.ts";
import { Message } from "../engine/routing/message.ts";
import type { PendingWill } from "../engine/session/pending-will.ts";

interface WillText {
  readonly topic: string;
  readonly payload: string;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly forwarded: string;
  readonly publisherId: string;
  readonly delaySeconds: number;
  readonly expirySeconds?: number;
  readonly username?: string;
}

export function willText({ message, delaySeconds, expirySeconds, username }: PendingWill): string {
  const { topic, payload, qos, retain, forwarded, publisherId } = message;
  const [payloadText, forwardedText] = [payload.toString("base64"), forwarded.toString("base64")];
  return JSON.stringify({
    topic,
    payload: payloadText,
    qos,
    retain,
    forwarded: forwardedText,
    publisherId,
    delaySeconds,
    expirySeconds,
    username,
  });
}

export function parseWill(text: string): PendingWill {
  const { payload, forwarded, delaySeconds, expirySeconds, username, ...rest } = JSON.parse(text) as WillText;
  const message = new Message({ ...rest, payload: Buffer.from(payload, "base64"), forwarded: Buffer.from(forwarded, "base64") });
  return { message, delaySeconds, username, ...(expirySeconds !== undefined && { expirySeconds }) };
}
