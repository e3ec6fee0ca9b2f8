import {
  droppedText,
  type MqttDelivery,
  type MqttMessage,
  type MqttMessageProperties,
  type MqttMessageSummary,
  type MqttOwnPublisher,
} from "../../../contract/traffic/mqtt.ts";
import { previewBytes } from "../../../contract/traffic/row.ts";
import { decodeForwarded } from "../codec/properties.ts";
import type { DropReason } from "../engine/routing/message.ts";

/** A message as published. `forwarded` and `bytes` are Latin-1 strings, which take a fifth of the memory of small buffers. */
export interface PublishedMessage {
  readonly id: number;
  readonly at: number;
  readonly topic: string;
  readonly qos: number;
  readonly retain: boolean;
  readonly publisherId: string;
  readonly internalSource: MqttOwnPublisher | undefined;
  readonly isWill: boolean;
  readonly dup: boolean;
  /** 0 for the broker itself. */
  readonly version: number;
  /** 0 without. */
  readonly topicAlias: number;
  /** -1 without. */
  readonly expirySeconds: number;
  /** Sessions outlived the process. */
  readonly isStored: boolean;
  readonly cluster: "here" | "elsewhere" | undefined;
  /** The forwarded properties, as `encodeForwarded` wrote them. */
  readonly forwarded: string;
  /** The PUBLISH as received, or the payload if the broker itself published; the payload may be truncated. */
  readonly bytes: string;
  /** Offset of the payload in `bytes`. */
  readonly payloadAt: number;
  /** Size of the whole payload. */
  readonly payloadBytes: number;
  /** Messages on its topic, including this one; 0 if the topic is not in the tree. */
  readonly topicCount: number;
}

/**
 * Where the queues are: with a broker, or in stored sessions that none has, since persistence was switched off. There they wait, and the counts stay as they
 * are: a broker with persistence goes on with them. When the time of the message is over they are as good as dropped, there and while no broker runs.
 */
export const waitingPlaces = ["with a broker", "on disk", "expired"] as const;
export type WaitingPlace = (typeof waitingPlaces)[number];

/** Its deliveries so far. */
export interface RoutedMessage {
  readonly matched: number;
  readonly sentAsRetained: number;
  readonly delivered: number;
  readonly acknowledgeable: number;
  readonly acknowledged: number;
  readonly dropped: number;
  /** Of `dropped`, because the broker stopped. */
  readonly lost: number;
  /** Of `dropped`, because their time was over. */
  readonly expired: number;
  /** To another broker of the cluster. */
  readonly moved: number;
  readonly queued: number;
  /** Sent or held back, and not acknowledged. */
  readonly open: number;
  readonly waits: WaitingPlace;
  /** The first deliveries. */
  readonly deliveries: readonly NotedDelivery[];
}

/** The delivery of a recorded message to one client. */
export interface NotedDelivery {
  readonly clientId: string;
  readonly qos: number;
  readonly afterMicros: number;
  /** -1 while the acknowledgement is pending. */
  acknowledgedAfterMicros: number;
  reason: number;
  dropped: DropReason | undefined;
  moved: boolean;
  readonly asRetained: boolean;
}

/** What is told of the deliveries that are `queued`. */
export function toldOf(routed: RoutedMessage): Omit<RoutedMessage, "waits"> & { readonly onDisk: number } {
  const { waits, queued, dropped, expired } = routed;
  switch (waits) {
    case "with a broker":
      return { ...routed, onDisk: 0 };
    case "on disk":
      return { ...routed, queued: 0, onDisk: queued };
    case "expired":
      return { ...routed, queued: 0, onDisk: 0, dropped: dropped + queued, expired: expired + queued };
    default:
      return waits satisfies never;
  }
}

/** For the row of a message. Undefined where there is nothing to say. */
export function outcomeOf(routed: RoutedMessage): string | undefined {
  const { delivered, acknowledgeable, acknowledged, queued, onDisk, moved, dropped, lost, expired } = toldOf(routed);
  const parts: string[] = [];
  if (acknowledgeable > 0) parts.push(`${acknowledged} of ${acknowledgeable} acknowledged`);
  else if (delivered > 0) parts.push(`to ${delivered}`);
  if (queued > 0) parts.push(parts.length > 0 ? `queued for ${queued}` : "queued");
  if (onDisk > 0) parts.push(`on disk for ${onDisk}, persistence is off`);
  if (moved > 0) parts.push(`moved for ${moved}`);
  if (dropped > 0) parts.push(droppedText({ dropped, lost, expired }));
  return parts.length > 0 ? parts.join(", ") : undefined;
}

export function describeSummary(message: PublishedMessage, counts: RoutedMessage): MqttMessageSummary {
  const routed = toldOf(counts);
  return {
    id: message.id,
    at: message.at,
    topic: message.topic,
    qos: message.qos,
    retain: message.retain,
    publisher: message.publisherId,
    ...(message.internalSource && { internalSource: message.internalSource }),
    ...(message.isWill && { will: true }),
    ...(message.cluster && { cluster: message.cluster }),
    bytes: message.payloadBytes,
    start: payloadOf(message, previewBytes).toString("base64"),
    matched: routed.matched,
    delivered: routed.delivered,
    acknowledged: routed.acknowledged,
    acknowledgeable: routed.acknowledgeable,
    dropped: routed.dropped,
    ...(routed.lost > 0 && { lost: routed.lost }),
    ...(routed.expired > 0 && { expired: routed.expired }),
    ...(routed.moved > 0 && { moved: routed.moved }),
    ...(routed.queued > 0 && { queued: routed.queued }),
    ...(routed.onDisk > 0 && { onDisk: routed.onDisk }),
  };
}

export function describeMessage(message: PublishedMessage, routed: RoutedMessage): MqttMessage {
  return {
    kind: "mqtt-message",
    ...describeSummary(message, routed),
    dup: message.dup,
    ...(message.version > 0 && { version: message.version }),
    properties: describeProperties(message),
    sentAsRetained: routed.sentAsRetained,
    deliveries: routed.deliveries.map(describeDelivery),
    payload: payloadOf(message).toString("base64"),
    ...(message.version > 0 && { packet: Buffer.from(message.bytes, "latin1").toString("base64") }),
  };
}

const payloadOf = ({ bytes, payloadAt }: PublishedMessage, limit = bytes.length) =>
  Buffer.from(bytes.slice(payloadAt, payloadAt + limit), "latin1");

export function describeProperties({ forwarded, expirySeconds, topicAlias }: PublishedMessage): MqttMessageProperties {
  const decoded = decodeForwarded(Buffer.from(forwarded, "latin1"));
  return {
    ...(decoded?.payloadFormatIndicator !== undefined && { payloadFormatIndicator: decoded.payloadFormatIndicator }),
    ...(expirySeconds >= 0 && { messageExpiryInterval: expirySeconds }),
    ...(decoded?.contentType !== undefined && { contentType: decoded.contentType }),
    ...(decoded?.responseTopic !== undefined && { responseTopic: decoded.responseTopic }),
    ...(decoded?.correlationData && { correlationData: decoded.correlationData.toString("base64") }),
    ...(topicAlias > 0 && { topicAlias }),
    ...(decoded?.userProperties && { userProperties: decoded.userProperties }),
  };
}

const describeDelivery = ({
  clientId,
  qos,
  afterMicros,
  acknowledgedAfterMicros,
  reason,
  dropped,
  moved,
  asRetained,
}: NotedDelivery): MqttDelivery => ({
  clientId,
  qos,
  afterMs: afterMicros / 1_000,
  ...(acknowledgedAfterMicros >= 0 && { acknowledgedAfterMs: acknowledgedAfterMicros / 1_000 }),
  ...(reason > 0 && { reason }),
  ...(dropped && { dropped }),
  ...(moved && { moved }),
  ...(asRetained && { asRetained }),
});
