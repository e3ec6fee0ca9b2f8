import { z } from "zod";
import type { MqttMessage, MqttPublishParams } from "../../../../../contract/traffic/mqtt.ts";
import { createHandover } from "../../../pages/service/handover.ts";
import { withoutCredentialText, withoutCredentialValues } from "../../../ui/credentials.ts";
import { formatLimit } from "../../../ui/texts/quantity.ts";
import { decodeText, fromBase64, fromHex, toBase64, toHex } from "../../../viewer/decode/bytes.ts";
import { problemOfTopic } from "../tree/topic-scope.ts";
import { noProperties, type PropertyDraft, parseProperties, propertyDraft, setsProperties } from "./property-draft.ts";

/** The form, as typed. */
export interface PublishDraft extends PropertyDraft {
  readonly topic: string;
  readonly payload: string;
  readonly encoding: "text" | "hex" | "base64";
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
  /** An MQTT 5.0 property. Text, or hex after "0x". */
  readonly correlationData: string;
}

export const qosChoices = ([0, 1, 2] as const).map((value) => ({ value, label: `QoS ${value}` }));

export interface SavedMessage {
  readonly name: string;
  readonly draft: PublishDraft;
}

export const publishDraftSchema: z.ZodType<PublishDraft> = z.object({
  topic: z.string(),
  payload: z.string(),
  encoding: z.enum(["text", "hex", "base64"]),
  qos: z.literal([0, 1, 2]),
  retain: z.boolean(),
  correlationData: z.string(),
  isUtf8: z.boolean(),
  expirySeconds: z.string(),
  contentType: z.string(),
  responseTopic: z.string(),
  userProperties: z.array(z.tuple([z.string(), z.string()])),
});

/** What is remembered of a message: no payload, property or correlation that may be a credential. */
export const draftWithoutCredentials = (draft: PublishDraft): PublishDraft => ({
  ...draft,
  payload: withoutCredentialText(payloadText(draft)) && draft.payload,
  correlationData: withoutCredentialText(draft.correlationData),
  userProperties: withoutCredentialValues(draft.userProperties),
});

const payloadText = ({ payload, encoding }: PublishDraft): string => {
  const bytes = encoding === "hex" ? fromHex(payload) : encoding === "base64" ? base64Bytes(payload) : undefined;
  return bytes ? new TextDecoder().decode(bytes) : payload;
};

/** Recorded messages that were opened in Try. */
export const recordedMessages = createHandover<PublishDraft>();

export const firstDraft: PublishDraft = {
  topic: "test/topic",
  payload: '{"message":"Hello, MQTT!","status":"test"}',
  encoding: "text",
  qos: 0,
  retain: false,
  ...noProperties,
  correlationData: "",
};

export type ParsedDraft =
  | { readonly params: MqttPublishParams }
  | { readonly field: "topic" | "payload" | "expirySeconds" | "responseTopic" | "correlationData"; readonly problem: string };

/** The parameters of the broker's action, or the first invalid field with the problem. */
export function parsePublishDraft(draft: PublishDraft): ParsedDraft {
  const { topic, payload, encoding, qos, retain, correlationData } = draft;
  const topicProblem = problemOfTopic(topic);
  if (topicProblem) return { field: "topic", problem: topicProblem };
  const bytes = encoding === "hex" ? fromHex(payload) : encoding === "base64" ? base64Bytes(payload) : undefined;
  if (encoding !== "text" && !bytes) return { field: "payload", problem: encoding === "hex" ? "Not valid hex." : "Not valid Base64." };
  const parsed = parseProperties(draft);
  if ("problem" in parsed) return parsed;
  const correlation = correlationData === "" ? undefined : correlationBytes(correlationData);
  if (correlationData !== "" && !correlation)
    return { field: "correlationData", problem: "After 0x, an even number of hex digits is needed." };
  return {
    params: {
      topic,
      payload: bytes ? toBase64(bytes) : payload,
      encoding: bytes ? "base64" : "text",
      qos,
      retain,
      ...parsed.properties,
      ...(correlation && { correlationData: toBase64(correlation) }),
    },
  };
}

/** To publish a message again. */
export function draftOfMessage({ topic, payload, qos, retain, properties }: MqttMessage): PublishDraft {
  const bytes = fromBase64(payload);
  const text = decodeText(bytes, false);
  return {
    topic,
    payload: text ?? toHex(bytes),
    encoding: text === undefined ? "hex" : "text",
    qos: qos as 0 | 1 | 2,
    retain,
    ...propertyDraft(properties),
    correlationData: properties.correlationData === undefined ? "" : correlationText(fromBase64(properties.correlationData)),
  };
}

type Refusal = (why: string, hint: string) => Error;

/** The same, where all of its payload is at hand; otherwise throws what `fault` makes. */
export function wholeDraftOf(message: MqttMessage, fault: Refusal): PublishDraft {
  if (fromBase64(message.payload).length < message.bytes) {
    const hint = "Export it as JSONL and replay the file, or set a larger “Recorded payload” in Config.";
    throw fault(`Only the start of its payload is here, of ${formatLimit(message.bytes)}.`, hint);
  }
  return draftOfMessage(message);
}

/** Whether it has properties that 3.1.1 does not have. */
export const usesVersion5 = (draft: PublishDraft): boolean => draft.correlationData !== "" || setsProperties(draft);

export function correlationBytes(text: string): Uint8Array | undefined {
  return /^0x/i.test(text) ? fromHex(text.slice(2)) : new TextEncoder().encode(text);
}

/** As text if it is printable, otherwise "0x" and hex. */
export function correlationText(bytes: Uint8Array): string {
  const text = decodeText(bytes, false);
  return text !== undefined && !/^0x/i.test(text) && !/[\r\n\t]/.test(text) ? text : `0x${toHex(bytes).replaceAll(" ", "")}`;
}

function base64Bytes(text: string): Uint8Array | undefined {
  try {
    return fromBase64(text.replace(/\s+/g, ""));
  } catch {
    return undefined;
  }
}
