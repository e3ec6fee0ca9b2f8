import type { ByteReader } from "./byte-reader.ts";
import type { ProtocolVersion, Qos, SubackPacket, SubscribePacket, SubscriptionRequest, UnsubscribePacket } from "./packet.ts";
import { propertyContext, readProperties } from "./properties.ts";
import { PacketError, reasonCode } from "./reason-code.ts";
import { isSharedFilter, isTopicFilter, parseSharedFilter, shownName } from "./topic.ts";

const malformed = (message: string) => new PacketError(reasonCode.malformedPacket, message);
const protocolError = (message: string) => new PacketError(reasonCode.protocolError, message);

export function readPacketId(reader: ByteReader): number {
  const packetId = reader.twoBytes();
  if (packetId === 0) throw protocolError("The packet identifier is 0.");
  return packetId;
}

export function decodeSubscribe(reader: ByteReader, version: ProtocolVersion): SubscribePacket {
  const packetId = readPacketId(reader);
  const properties = version === 5 ? readProperties(reader, propertyContext.subscribe) : undefined;
  const subscriptions: SubscriptionRequest[] = [];
  while (reader.remaining > 0) subscriptions.push(readSubscription(reader, version));
  // [MQTT-3.8.3-3]
  if (subscriptions.length === 0) throw protocolError("The SUBSCRIBE has no topic filter.");
  return { type: "subscribe", packetId, properties, subscriptions };
}

function readSubscription(reader: ByteReader, version: ProtocolVersion): SubscriptionRequest {
  const filter = readFilter(reader);
  const options = reader.byte();
  const qos = options & 0x03;
  if (version < 5) {
    // [MQTT-3.8.3-4]
    if (options > 2) throw malformed("The requested QoS is not 0, 1 or 2.");
    return { filter, qos: qos as Qos, noLocal: false, retainAsPublished: false, retainHandling: 0 };
  }
  // [MQTT5-3.8.3-5]
  if (options & 0xc0) throw malformed("Reserved bits of the subscription options are set.");
  const retainHandling = (options >> 4) & 0x03;
  if (qos === 3) throw protocolError("The maximum QoS is 3.");
  if (retainHandling === 3) throw protocolError("The retain handling is 3.");
  const noLocal = (options & 0x04) !== 0;
  // [MQTT5-4.8.2-1], [MQTT5-4.8.2-2]
  if (isSharedFilter(filter) && !parseSharedFilter(filter)) throw protocolError("A shared subscription is malformed.");
  // [MQTT5-3.8.3-4]
  if (noLocal && isSharedFilter(filter)) throw protocolError("No Local is set on a shared subscription.");
  return {
    filter,
    qos: qos as Qos,
    noLocal,
    retainAsPublished: (options & 0x08) !== 0,
    retainHandling: retainHandling as 0 | 1 | 2,
  };
}

export function decodeUnsubscribe(reader: ByteReader, version: ProtocolVersion): UnsubscribePacket {
  const packetId = readPacketId(reader);
  const properties = version === 5 ? readProperties(reader, propertyContext.unsubscribe) : undefined;
  const filters: string[] = [];
  while (reader.remaining > 0) filters.push(readFilter(reader));
  // [MQTT-3.10.3-2]
  if (filters.length === 0) throw protocolError("The UNSUBSCRIBE has no topic filter.");
  return { type: "unsubscribe", packetId, properties, filters };
}

function readFilter(reader: ByteReader): string {
  reader.countItem();
  const filter = reader.string();
  // §3.14.2.1: 0x8F is for well-formed filters.
  if (!isTopicFilter(filter)) throw malformed(`The topic filter ${shownName(filter)} is malformed.`);
  return filter;
}

export function decodeSuback(reader: ByteReader, version: ProtocolVersion, type: SubackPacket["type"]): SubackPacket {
  const packetId = readPacketId(reader);
  const context = type === "suback" ? propertyContext.suback : propertyContext.unsuback;
  const properties = version === 5 ? readProperties(reader, context) : undefined;
  if (type === "unsuback" && version < 5) reader.expectEnd();
  return { type, packetId, properties, reasons: [...reader.rest()] };
}
