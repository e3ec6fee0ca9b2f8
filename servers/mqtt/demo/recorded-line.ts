import { z } from "zod";
import type { MqttMessageProperties, MqttParsedPublish } from "../../../contract/traffic/mqtt.ts";
import { encodeForwarded } from "../codec/encode-properties.ts";
import { isTopicName } from "../codec/topic.ts";
import { Message } from "../engine/routing/message.ts";
import { steadyNow } from "../engine/steady-clock.ts";
import type { MessageRecord } from "../inspector/message-record.ts";

const line = z.object({
  /** Milliseconds since the epoch. */
  at: z.number(),
  topic: z.string().refine(isTopicName, "Not a valid topic name."),
  qos: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(0),
  retain: z.boolean().default(false),
  /** Base64. */
  payload: z.string(),
  properties: z
    .object({
      payloadFormatIndicator: z.int().min(0).max(1).optional(),
      messageExpiryInterval: z.int().min(0).max(0xffff_ffff).optional(),
      contentType: z.string().optional(),
      responseTopic: z.string().optional(),
      correlationData: z.string().optional(),
      userProperties: z.array(z.tuple([z.string(), z.string()])).optional(),
    })
    .default({}),
});

export interface RecordedLine {
  readonly at: number;
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
  readonly payload: string;
  readonly properties: MqttMessageProperties;
}

/** A recorded message as one line of JSONL. */
export function recordedLine(record: MessageRecord): string {
  const { at, topic, qos, retain, publisherId, internalSource } = record;
  return JSON.stringify({
    at,
    topic,
    qos,
    retain,
    publisher: publisherId || internalSource,
    payload: record.payload().toString("base64"),
    properties: record.properties(),
  });
}

/** Undefined if the text is not a recorded message. */
export function parseRecordedLine(text: string): RecordedLine | undefined {
  try {
    const parsed = line.safeParse(JSON.parse(text));
    return parsed.success ? (parsed.data as RecordedLine) : undefined;
  } catch {
    return undefined;
  }
}

export function messageOfLine({ topic, qos, retain, payload, properties }: RecordedLine): Message {
  return new Message({ topic, qos, retain, payload: Buffer.from(payload, "base64"), ...propertyFields(properties) });
}

/** Converts properties that a user entered to those of a message; the expiry interval starts now. */
export function propertyFields(properties: MqttMessageProperties): { readonly expiresAt: number; readonly forwarded: Buffer | undefined } {
  const { messageExpiryInterval, correlationData, userProperties, ...rest } = properties;
  return {
    expiresAt: messageExpiryInterval === undefined ? 0 : steadyNow() + messageExpiryInterval * 1_000,
    forwarded: encodeForwarded({
      ...rest,
      ...(userProperties && { userProperties: [...userProperties] }),
      ...(correlationData !== undefined && { correlationData: Buffer.from(correlationData, "base64") }),
    }),
  };
}

/** Creates a message from publish parameters, published now. */
export function messageOfParams({ topic, payload, encoding, qos, retain, ...properties }: MqttParsedPublish): Message {
  return new Message({
    topic,
    payload: Buffer.from(payload, encoding === "base64" ? "base64" : "utf8"),
    qos,
    retain,
    ...propertyFields(properties as MqttMessageProperties),
  });
}
