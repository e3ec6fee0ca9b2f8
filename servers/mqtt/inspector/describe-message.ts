import type {
  MqttDelivery,
  MqttMessage,
  MqttMessageProperties,
  MqttMessageSummary,
  MqttOwnPublisher,
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
  /** To another broker of the cluster. */
  readonly moved: number;
  readonly queued: number;
  /** Sent or held back, and not acknowledged. */
  readonly open: number;
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

/** After "dropped for …", for those that were lost with the process. */
export const lostText = (lost: number, dropped: number): string => `${lost < dropped ? `, ${lost} of them` : ""} when the broker stopped`;

export function describeSummary(message: PublishedMessage, routed: RoutedMessage): MqttMessageSummary {
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
    ...(routed.moved > 0 && { moved: routed.moved }),
    ...(routed.queued > 0 && { queued: routed.queued }),
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
