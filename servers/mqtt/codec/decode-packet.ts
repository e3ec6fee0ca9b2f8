import { ByteReader } from "./byte-reader.ts";
import { decodeConnect } from "./decode-connect.ts";
import { decodePublish } from "./decode-publish.ts";
import { decodeSuback, decodeSubscribe, decodeUnsubscribe, readPacketId } from "./decode-subscribe.ts";
import { type AckPacket, type ConnackPacket, type DisconnectPacket, type Packet, type ProtocolVersion, packetTypes } from "./packet.ts";
import { propertyContext, readProperties } from "./properties.ts";
import { PacketError, reasonCode } from "./reason-code.ts";

const malformed = (message: string) => new PacketError(reasonCode.malformedPacket, message);

/** Decoding is synchronous, so all connections of the process can share one reader. */
const reader = new ByteReader();

/** Topic filters and user properties of the packet that was decoded last. */
export const decodedItems = (): number => reader.items;

/**
 * Decodes one complete packet whose body is `bytes[start..end)`. Throws PacketError with MQTT 5.0's reason code.
 * `version` is that of the connection; a CONNECT brings its own. `mostItems` is the most topic filters and user properties;
 * `isOfClient`: subscription identifiers of a message are refused, and user properties of messages and acknowledgements are checked and left out.
 */
export function decodePacket(
  firstByte: number,
  bytes: Buffer,
  start: number,
  end: number,
  version: ProtocolVersion,
  mostItems: number,
  isOfClient: boolean,
): Packet {
  reader.open(bytes, start, end, mostItems, isOfClient);
  const type = packetTypes[firstByte >> 4] as (typeof packetTypes)[number];
  if (type === "publish") return decodePublish(reader, firstByte, version);
  if (type === "connect") return decodeConnect(reader, firstByte);
  // [MQTT-2.2.2-2], [MQTT-3.6.1-1], [MQTT-3.8.1-1], [MQTT-3.10.1-1]
  const flags = type === "pubrel" || type === "subscribe" || type === "unsubscribe" ? 0x02 : 0x00;
  // MQTT 3.1 has DUP on these three.
  const unused = version === 3 && flags !== 0 ? 0x08 : 0x00;
  if ((firstByte & 0x0f & ~unused) !== flags) throw malformed("The reserved bits of the fixed header are invalid.");
  switch (type) {
    case "connack":
      return decodeConnack(version);
    case "puback":
    case "pubrec":
    case "pubrel":
    case "pubcomp":
      return decodeAck(type, version);
    case "subscribe":
      return decodeSubscribe(reader, version);
    case "unsubscribe":
      return decodeUnsubscribe(reader, version);
    case "suback":
    case "unsuback":
      return decodeSuback(reader, version, type);
    case "pingreq":
    case "pingresp":
      reader.expectEnd();
      return { type };
    case "disconnect":
      return decodeDisconnect(type, version, propertyContext.disconnect);
    case "auth":
      if (version < 5) throw malformed("AUTH is a packet of MQTT 5.0.");
      return decodeDisconnect(type, version, propertyContext.auth);
    case "reserved":
      throw malformed("Packet type 0 is reserved.");
    default:
      return type satisfies never;
  }
}

function decodeConnack(version: ProtocolVersion): ConnackPacket {
  const flags = reader.byte();
  if (flags > 1) throw malformed("Reserved bits of the connect acknowledge flags are set.");
  const reason = reader.byte();
  const properties = version === 5 ? readProperties(reader, propertyContext.connack) : undefined;
  reader.expectEnd();
  return { type: "connack", sessionPresent: flags === 1, reason, properties };
}

/** §3.4.2.1 and corresponding sections: the reason codes that each acknowledgement may carry. */
const ackReasons: Readonly<Record<AckPacket["type"], ReadonlySet<number>>> = {
  puback: new Set([0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99]),
  pubrec: new Set([0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99]),
  pubrel: new Set([0x00, 0x92]),
  pubcomp: new Set([0x00, 0x92]),
};

function decodeAck(type: AckPacket["type"], version: ProtocolVersion): AckPacket {
  const packetId = readPacketId(reader);
  if (version < 5) {
    reader.expectEnd();
    return { type, packetId, reason: 0 };
  }
  // §3.4.2.1: with a remaining length of 2 the reason is success.
  if (reader.remaining === 0) return { type, packetId, reason: 0 };
  const reason = reader.byte();
  if (!ackReasons[type].has(reason)) throw new PacketError(reasonCode.protocolError, "The reason is not one of this packet.");
  const properties = reader.remaining > 0 ? readProperties(reader, propertyContext.ack) : undefined;
  reader.expectEnd();
  return { type, packetId, reason, properties };
}

/** §3.14.2.1, §3.15.2.1. */
const disconnectReasons: ReadonlySet<number> = new Set([
  0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8b, 0x8d, 0x8e, 0x8f, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c,
  0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2,
]);
const authReasons: ReadonlySet<number> = new Set([0x00, 0x18, 0x19]);

function decodeDisconnect(
  type: DisconnectPacket["type"],
  version: ProtocolVersion,
  context: typeof propertyContext.disconnect | typeof propertyContext.auth,
): DisconnectPacket {
  if (version < 5 || reader.remaining === 0) {
    reader.expectEnd();
    return { type, reason: 0 };
  }
  const reason = reader.byte();
  const known = type === "disconnect" ? disconnectReasons : authReasons;
  if (!known.has(reason)) throw new PacketError(reasonCode.protocolError, "The reason is not one of this packet.");
  const properties = reader.remaining > 0 ? readProperties(reader, context) : undefined;
  reader.expectEnd();
  return { type, reason, properties };
}
