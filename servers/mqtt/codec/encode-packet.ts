import { ByteWriter, putVariable, variableLength } from "./byte-writer.ts";
import { encodeProperties } from "./encode-properties.ts";
import { type AckPacket, type ConnectPacket, type Packet, type ProtocolVersion, type PublishPacket, packetTypes } from "./packet.ts";
import type { Properties } from "./properties.ts";

/** Encodes a complete packet. PUBLISH packets to subscribers are written by `OutgoingMessage`, which is faster. */
export function encodePacket(packet: Packet, version: ProtocolVersion): Buffer {
  const writer = new ByteWriter();
  const flags = writeBody(writer, packet, version);
  const firstByte = (packetTypes.indexOf(packet.type) << 4) | flags;
  const body = writer.bytes();
  const bytes = Buffer.allocUnsafe(1 + variableLength(body.length) + body.length);
  bytes[0] = firstByte;
  bytes.set(body, putVariable(bytes, 1, body.length));
  return bytes;
}

/** Returns the low four bits of the first byte. */
function writeBody(writer: ByteWriter, packet: Packet, version: ProtocolVersion): number {
  switch (packet.type) {
    case "connect":
      writeConnect(writer, packet);
      return 0;
    case "connack":
      writer.byte(packet.sessionPresent ? 1 : 0).byte(packet.reason);
      writeProperties(writer, packet.properties, version);
      return 0;
    case "publish":
      writePublish(writer, packet, version);
      return (packet.dup ? 8 : 0) | (packet.qos << 1) | (packet.retain ? 1 : 0);
    case "puback":
    case "pubrec":
    case "pubrel":
    case "pubcomp":
      writeAck(writer, packet, version);
      return packet.type === "pubrel" ? 2 : 0;
    case "subscribe":
      writer.twoBytes(packet.packetId);
      writeProperties(writer, packet.properties, version);
      for (const { filter, qos, noLocal, retainAsPublished, retainHandling } of packet.subscriptions) {
        writer.string(filter).byte(qos | (noLocal ? 4 : 0) | (retainAsPublished ? 8 : 0) | (retainHandling << 4));
      }
      return 2;
    case "unsubscribe":
      writer.twoBytes(packet.packetId);
      writeProperties(writer, packet.properties, version);
      for (const filter of packet.filters) writer.string(filter);
      return 2;
    case "suback":
    case "unsuback":
      writer.twoBytes(packet.packetId);
      writeProperties(writer, packet.properties, version);
      // §3.11 of 3.1.1: an UNSUBACK has no payload.
      if (packet.type === "suback" || version === 5) writer.raw(Buffer.from(packet.reasons));
      return 0;
    case "pingreq":
    case "pingresp":
      return 0;
    case "disconnect":
    case "auth":
      if (version === 5 && (packet.reason !== 0 || packet.properties)) {
        writer.byte(packet.reason);
        if (packet.properties) writeProperties(writer, packet.properties, version);
      }
      return 0;
    default:
      return packet satisfies never;
  }
}

function writeProperties(writer: ByteWriter, properties: Properties | undefined, version: ProtocolVersion): void {
  if (version < 5) return;
  const bytes = encodeProperties(properties);
  writer.variable(bytes.length).raw(bytes);
}

function writeConnect(writer: ByteWriter, packet: ConnectPacket): void {
  const { will, username, password, version } = packet;
  const flags =
    (username === undefined ? 0 : 0x80) |
    (password === undefined ? 0 : 0x40) |
    (will ? 0x04 | (will.qos << 3) | (will.retain ? 0x20 : 0) : 0) |
    (packet.cleanStart ? 0x02 : 0);
  writer
    .string(version === 3 ? "MQIsdp" : "MQTT")
    .byte(version)
    .byte(flags)
    .twoBytes(packet.keepAliveSeconds);
  writeProperties(writer, packet.properties, version);
  writer.string(packet.clientId);
  if (will) {
    writeProperties(writer, will.properties, version);
    writer.string(will.topic).binary(will.payload);
  }
  if (username !== undefined) writer.string(username);
  if (password !== undefined) writer.binary(password);
}

function writePublish(writer: ByteWriter, packet: PublishPacket, version: ProtocolVersion): void {
  writer.string(packet.topic);
  if (packet.qos > 0) writer.twoBytes(packet.packetId);
  writeProperties(writer, packet.properties, version);
  writer.raw(packet.payload);
}

function writeAck(writer: ByteWriter, packet: AckPacket, version: ProtocolVersion): void {
  writer.twoBytes(packet.packetId);
  if (version < 5 || (packet.reason === 0 && !packet.properties)) return;
  writer.byte(packet.reason);
  if (packet.properties) writeProperties(writer, packet.properties, version);
}
