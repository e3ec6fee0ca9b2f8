import type { Signal } from "../../signalling/signalling-event.ts";
import { isObject } from "../json-value.ts";
import { candidateOf, descriptionOf } from "../session-text.ts";

export interface YWebrtcTopics {
  readonly type: "subscribe" | "unsubscribe";
  readonly topics: readonly string[];
}

export type YWebrtcRequest =
  | YWebrtcTopics
  | { readonly type: "publish"; readonly topic: string; readonly message: Readonly<Record<string, unknown>> }
  | { readonly type: "ping" };

export function parseYWebrtcMessage(value: unknown): YWebrtcRequest | { readonly problem: string } {
  if (!isObject(value)) return { problem: "A message is an object" };
  switch (value.type) {
    case "ping":
      return { type: "ping" };
    case "subscribe":
    case "unsubscribe": {
      const { type, topics = [] } = value;
      if (!Array.isArray(topics) || !topics.every((topic) => typeof topic === "string" && topic !== ""))
        return { problem: "topics is a list of names" };
      return { type, topics };
    }
    case "publish":
      if (typeof value.topic !== "string" || value.topic === "") return { problem: "A message that is published has a topic" };
      return { type: "publish", topic: value.topic, message: value };
    default:
      return { problem: "The type of a message is subscribe, unsubscribe, publish or ping" };
  }
}

/** What the client puts into `data`, unless it encrypts it with the password of its document. */
export interface YWebrtcData {
  readonly type: "announce" | "signal";
  /** The id that the client has chosen for this topic. */
  readonly from: string;
  readonly to?: string;
  readonly token?: number;
  readonly signal?: unknown;
}

export function dataOf({ data }: Readonly<Record<string, unknown>>): YWebrtcData | undefined {
  if (!isObject(data) || typeof data.from !== "string" || data.from === "") return undefined;
  if (data.to !== undefined && typeof data.to !== "string") return undefined;
  return data.type === "announce" || data.type === "signal" ? (data as unknown as YWebrtcData) : undefined;
}

/** What other dialects understand of a message. */
export function signalOfYWebrtc(message: Readonly<Record<string, unknown>>): Signal {
  const passed = { dialect: "ywebrtc", payload: message } as const;
  const { signal } = dataOf(message) ?? {};
  const description = descriptionOf(signal);
  if (description) return { ...description, ...passed };
  const candidate = isObject(signal) && signal.type === "candidate" ? candidateOf(signal.candidate) : undefined;
  return candidate === undefined ? { kind: "other", ...passed } : { kind: "candidate", candidate, ...passed };
}

/** A message of another dialect as the client expects it; undefined for what it has no message for. */
export function yWebrtcData(from: string, to: string, { kind, sdp, candidate }: Signal): YWebrtcData | undefined {
  const base = { type: "signal", from, to } as const;
  if ((kind === "offer" || kind === "answer") && sdp !== undefined) {
    // As the client makes it: of two offers that cross, the one with the smaller token is rejected.
    const token = kind === "offer" ? { token: Date.now() + Math.random() } : {};
    return { ...base, ...token, signal: { type: kind, sdp } };
  }
  return kind === "candidate" && candidate ? { ...base, signal: { type: "candidate", candidate } } : undefined;
}

/** A message that is published, with the number of its subscribers. */
export type EncodePublish = (message: Readonly<Record<string, unknown>>, clients: number) => Buffer;

/** What is sent to all subscribers, one after the other, is written once. */
export function createPublishEncoder(): EncodePublish {
  let last: { readonly message: object; readonly clients: number; readonly bytes: Buffer } | undefined;
  return (message, clients) => {
    if (last?.message !== message || last.clients !== clients)
      last = { message, clients, bytes: Buffer.from(JSON.stringify({ ...message, clients })) };
    return last.bytes;
  };
}
