import { isDeepStrictEqual } from "node:util";
import { type MqttMessage, mqttOwnPublishers } from "../../../contract/traffic/mqtt.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { hidden } from "../../../contract/traffic/secret-headers.ts";
import { namesSecret } from "../../../contract/traffic/secret-names.ts";
import type { FoundCredentials } from "../../core/credentials/found-credentials.ts";
import { base64WithoutCredentials, targetWithoutCredentials, textWithoutCredentials } from "../../core/http/record/without-credentials.ts";
import type { DetailDecoder } from "../../core/traffic/detail-decoder.ts";
import { RecordError, RecordReader } from "../../core/traffic/record-reader.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import { type DropReason, dropReasons } from "../engine/routing/message.ts";
import { describeMessage, type NotedDelivery, type PublishedMessage, type RoutedMessage, waitingPlaces } from "./describe-message.ts";

/** Tags of the pieces of a message's detail: the message once, then each change of its deliveries. */
const messageTag = 1;
const deliveriesTag = 2;

const flag = { retain: 1, dup: 2, will: 4, here: 8, elsewhere: 16, stored: 32 } as const;
const deliveryFlag = { asRetained: 1, moved: 2 } as const;
/** Written in place of an index for "none". */
const none = 255;

/** In the order in which they are written. */
const deliveryCounts = [
  "matched",
  "sentAsRetained",
  "delivered",
  "acknowledgeable",
  "acknowledged",
  "dropped",
  "lost",
  "expired",
  "moved",
  "queued",
  "open",
] as const;
type DeliveryCounts = Record<(typeof deliveryCounts)[number], number>;
const countsOf = (read: () => number) => Object.fromEntries(deliveryCounts.map((name) => [name, read()])) as DeliveryCounts;

export function writeMessage(record: RecordWriter, message: PublishedMessage): void {
  record.u8(messageTag);
  record.u8(
    (message.retain ? flag.retain : 0) |
      (message.dup ? flag.dup : 0) |
      (message.isWill ? flag.will : 0) |
      (message.cluster === "here" ? flag.here : 0) |
      (message.cluster === "elsewhere" ? flag.elsewhere : 0) |
      (message.isStored ? flag.stored : 0),
  );
  record.u8(message.qos);
  record.u8(message.version);
  record.u8(message.internalSource ? mqttOwnPublishers.indexOf(message.internalSource) : none);
  record.u32(message.topicAlias);
  record.f64(message.expirySeconds);
  record.text(message.topic);
  record.text(message.publisherId);
  record.latin1(message.forwarded);
  record.u32(message.payloadBytes);
  record.u32(message.payloadAt);
  record.u32(message.topicCount);
  record.latin1(message.bytes);
}

export function writeDeliveries(record: RecordWriter, routed: RoutedMessage): void {
  record.u8(deliveriesTag);
  for (const name of deliveryCounts) record.u32(routed[name]);
  record.u8(waitingPlaces.indexOf(routed.waits));
  record.u32(routed.deliveries.length);
  for (const delivery of routed.deliveries) {
    record.text(delivery.clientId);
    record.u8(delivery.qos);
    record.f64(delivery.afterMicros);
    record.f64(delivery.acknowledgedAfterMicros);
    record.u8(delivery.reason);
    record.u8(delivery.dropped ? dropReasons.indexOf(delivery.dropped) : none);
    record.u8((delivery.asRetained ? deliveryFlag.asRetained : 0) | (delivery.moved ? deliveryFlag.moved : 0));
  }
}

/** Decodes a recorded message. Throws a RecordError for invalid bytes. */
export function readMessage(row: TrafficRow, detail: Buffer): { readonly message: PublishedMessage; readonly routed: RoutedMessage } {
  const reader = new RecordReader(detail);
  let message: PublishedMessage | undefined;
  let routed: RoutedMessage = { ...countsOf(() => 0), waits: "with a broker", deliveries: [] };
  while (!reader.atEnd) {
    switch (reader.u8()) {
      case messageTag:
        message = readPublished(row, reader);
        break;
      case deliveriesTag:
        routed = readRouted(reader);
        break;
      default:
        throw new RecordError("a piece of a message has an unknown tag");
    }
  }
  if (!message) throw new RecordError("a message is missing in its record");
  return { message, routed };
}

function readPublished({ id, at }: TrafficRow, reader: RecordReader): PublishedMessage {
  const flags = reader.u8();
  const qos = reader.u8();
  const version = reader.u8();
  const internalSource = mqttOwnPublishers[reader.u8()];
  const topicAlias = reader.u32();
  const expirySeconds = reader.f64();
  return {
    id,
    at,
    qos,
    version,
    internalSource,
    topicAlias,
    expirySeconds,
    retain: (flags & flag.retain) !== 0,
    dup: (flags & flag.dup) !== 0,
    isWill: (flags & flag.will) !== 0,
    isStored: (flags & flag.stored) !== 0,
    cluster: (flags & flag.here) !== 0 ? "here" : (flags & flag.elsewhere) !== 0 ? "elsewhere" : undefined,
    topic: reader.text(),
    publisherId: reader.text(),
    forwarded: reader.bytes().toString("latin1"),
    payloadBytes: reader.u32(),
    payloadAt: reader.u32(),
    topicCount: reader.u32(),
    bytes: reader.bytes().toString("latin1"),
  };
}

function readRouted(reader: RecordReader): RoutedMessage {
  const counts = countsOf(() => reader.u32());
  const waits = waitingPlaces[reader.u8()] ?? "with a broker";
  const deliveries: NotedDelivery[] = [];
  for (let left = reader.u32(); left > 0; left--) {
    const delivery = {
      clientId: reader.text(),
      qos: reader.u8(),
      afterMicros: reader.f64(),
      acknowledgedAfterMicros: reader.f64(),
      reason: reader.u8(),
      dropped: dropReasons[reader.u8()] as DropReason | undefined,
    };
    const flags = reader.u8();
    deliveries.push({ ...delivery, asRetained: (flags & deliveryFlag.asRetained) !== 0, moved: (flags & deliveryFlag.moved) !== 0 });
  }
  return { ...counts, waits, deliveries };
}

export const mqttMessageDecoder: DetailDecoder<"mqtt-message"> = {
  detail({ row, detail }) {
    const { message, routed } = readMessage(row, detail);
    return describeMessage(message, routed);
  },
  withoutCredentials: ({ row, detail }, found) => ({
    // A topic is no URL.
    row: { ...row, target: found.hideIn(row.target), preview: textWithoutCredentials(row.preview, found) },
    detail: detail && messageWithoutCredentials(detail, found),
  }),
};

function messageWithoutCredentials(message: MqttMessage, found: FoundCredentials): MqttMessage {
  const { packet, ...rest } = message;
  const type = { label: message.properties.contentType ?? "", isEncoded: false };
  const payload = base64WithoutCredentials(message.payload, found, type);
  const userProperties = message.properties.userProperties?.map(([key, value]) => {
    if (!namesSecret(key)) return [key, targetWithoutCredentials(value, found)] as const;
    found.add(value);
    return [key, hidden] as const;
  });
  const shown = {
    ...rest,
    topic: found.hideIn(rest.topic),
    start: base64WithoutCredentials(message.start, found, type, "perhaps"),
    payload,
    properties: { ...message.properties, ...(userProperties && { userProperties }) },
  };
  // The packet contains the payload and the properties again.
  return packet !== undefined && isDeepStrictEqual(shown, rest) ? message : shown;
}
