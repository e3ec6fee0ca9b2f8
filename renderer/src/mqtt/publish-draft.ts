import type { MqttMessage, MqttPublishParams } from "../../../contract/mqtt-message.ts";
import { fromBase64, fromHex, toBase64, toHex } from "./base64.ts";
import { utf8Text } from "./utf8-text.ts";

/** What the form holds, as typed. */
export interface PublishDraft {
  readonly topic: string;
  readonly payload: string;
  readonly encoding: "text" | "hex" | "base64";
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
  /** The rest is of MQTT 5.0. */
  readonly isUtf8: boolean;
  readonly expirySeconds: string;
  readonly contentType: string;
  readonly responseTopic: string;
  /** Text, or hex after "0x". */
  readonly correlationData: string;
  readonly userProperties: readonly (readonly [key: string, value: string])[];
}

export interface SavedMessage {
  readonly name: string;
  readonly draft: PublishDraft;
}

export const firstDraft: PublishDraft = {
  topic: "test/topic",
  payload: '{"message":"Hello, MQTT!","status":"test"}',
  encoding: "text",
  qos: 0,
  retain: false,
  isUtf8: false,
  expirySeconds: "",
  contentType: "",
  responseTopic: "",
  correlationData: "",
  userProperties: [],
};

export type ParsedDraft =
  | { readonly params: MqttPublishParams }
  | { readonly field: "topic" | "payload" | "expirySeconds" | "responseTopic" | "correlationData"; readonly problem: string };

/** The draft as the broker takes it, or which field is wrong and why. */
export function parsePublishDraft(draft: PublishDraft): ParsedDraft {
  const { topic, payload, encoding, qos, retain, isUtf8, expirySeconds, contentType, responseTopic, correlationData } = draft;
  const topicProblem = problemOfTopic(topic);
  if (topicProblem) return { field: "topic", problem: topicProblem };
  const bytes = encoding === "hex" ? fromHex(payload) : encoding === "base64" ? base64Bytes(payload) : undefined;
  if (encoding !== "text" && !bytes) return { field: "payload", problem: `This is no ${encoding}.` };
  const expiry = expirySeconds.trim() === "" ? undefined : Number(expirySeconds);
  if (expiry !== undefined && !(Number.isInteger(expiry) && expiry >= 0 && expiry <= 0xffff_ffff))
    return { field: "expirySeconds", problem: "Whole seconds, up to 4294967295." };
  const responseProblem = responseTopic && problemOfTopic(responseTopic);
  if (responseProblem) return { field: "responseTopic", problem: responseProblem };
  const correlation = correlationData === "" ? undefined : correlationBytes(correlationData);
  if (correlationData !== "" && !correlation) return { field: "correlationData", problem: "After 0x come pairs of hex digits." };
  const userProperties = draft.userProperties.filter(([key]) => key !== "").map(([key, value]): [string, string] => [key, value]);
  return {
    params: {
      topic,
      payload: bytes ? toBase64(bytes) : payload,
      encoding: bytes ? "base64" : "text",
      qos,
      retain,
      ...(isUtf8 && { payloadFormatIndicator: 1 }),
      ...(expiry !== undefined && { messageExpiryInterval: expiry }),
      ...(contentType && { contentType }),
      ...(responseTopic && { responseTopic }),
      ...(correlation && { correlationData: toBase64(correlation) }),
      ...(userProperties.length > 0 && { userProperties }),
    },
  };
}

export function problemOfTopic(topic: string): string | undefined {
  if (topic === "") return "A topic has at least one character.";
  if (/[+#]/.test(topic)) return "A topic to publish on holds no + and no #.";
  if (topic.includes("\0")) return "A topic holds no NUL.";
  return undefined;
}

/** The same message once more. */
export function draftOfMessage({ topic, payload, qos, retain, properties }: MqttMessage): PublishDraft {
  const bytes = fromBase64(payload);
  const text = utf8Text(bytes, false);
  return {
    topic,
    payload: text ?? toHex(bytes),
    encoding: text === undefined ? "hex" : "text",
    qos: qos as 0 | 1 | 2,
    retain,
    isUtf8: properties.payloadFormatIndicator === 1,
    expirySeconds: properties.messageExpiryInterval === undefined ? "" : String(properties.messageExpiryInterval),
    contentType: properties.contentType ?? "",
    responseTopic: properties.responseTopic ?? "",
    correlationData: properties.correlationData === undefined ? "" : correlationText(fromBase64(properties.correlationData)),
    userProperties: properties.userProperties ?? [],
  };
}

/** Whether it says anything that 3.1.1 cannot. */
export const usesVersion5 = (draft: PublishDraft): boolean =>
  draft.isUtf8 ||
  [draft.expirySeconds, draft.contentType, draft.responseTopic, draft.correlationData].some((text) => text !== "") ||
  draft.userProperties.length > 0;

export function correlationBytes(text: string): Uint8Array | undefined {
  return /^0x/i.test(text) ? fromHex(text.slice(2)) : new TextEncoder().encode(text);
}

/** As text where it is printable, else "0x" and hex. */
export function correlationText(bytes: Uint8Array): string {
  const text = utf8Text(bytes, false);
  return text !== undefined && !/^0x/i.test(text) && !/[\r\n\t]/.test(text) ? text : `0x${toHex(bytes).replaceAll(" ", "")}`;
}

function base64Bytes(text: string): Uint8Array | undefined {
  try {
    return fromBase64(text.replace(/\s+/g, ""));
  } catch {
    return undefined;
  }
}
