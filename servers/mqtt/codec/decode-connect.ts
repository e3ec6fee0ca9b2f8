import { isUtf8 } from "node:buffer";
import type { ByteReader } from "./byte-reader.ts";
import type { ConnectPacket, ProtocolVersion, Qos, Will } from "./packet.ts";
import { propertyContext, readProperties } from "./properties.ts";
import { PacketError, reasonCode } from "./reason-code.ts";
import { isTopicName } from "./topic.ts";

const malformed = (message: string) => new PacketError(reasonCode.malformedPacket, message);

/** A CONNECT of an unsupported version; `level` decides the version in which the refusal is encoded. */
export class UnsupportedVersionError extends PacketError {
  readonly level: number;

  constructor(level: number) {
    super(reasonCode.unsupportedProtocolVersion, `Protocol level ${level} is not supported.`);
    this.level = level;
  }
}

export function decodeConnect(reader: ByteReader, firstByte: number): ConnectPacket {
  const { version, bridge } = readVersion(reader);
  const flags = reader.byte();
  // MQTT 3.1 does not define either.
  if (version > 3 && (firstByte & 0x0f) !== 0) throw malformed("The reserved bits of the fixed header are invalid.");
  // [MQTT-3.1.2-3]
  if (version > 3 && flags & 0x01) throw malformed("The reserved connect flag is set.");
  const hasWill = (flags & 0x04) !== 0;
  const willQos = (flags >> 3) & 0x03;
  const willRetain = (flags & 0x20) !== 0;
  const hasPassword = (flags & 0x40) !== 0;
  const hasUsername = (flags & 0x80) !== 0;
  // [MQTT-3.1.2-11] to [MQTT-3.1.2-15]
  if (willQos === 3) throw malformed("The will's QoS is 3.");
  if (!hasWill && (willQos !== 0 || willRetain)) throw malformed("Will flags are set without a will.");
  // [MQTT-3.1.2-22]; allowed in 5.0
  if (version < 5 && hasPassword && !hasUsername) throw malformed("The password has no user name.");
  const keepAliveSeconds = reader.twoBytes();
  const properties = version === 5 ? readProperties(reader, propertyContext.connect) : undefined;
  if (properties?.authenticationData && properties.authenticationMethod === undefined) {
    throw new PacketError(reasonCode.protocolError, "Authentication data needs an authentication method.");
  }
  const clientId = reader.string();
  const will = hasWill ? readWill(reader, version, willQos as Qos, willRetain) : undefined;
  const username = hasUsername ? reader.string() : undefined;
  const password = hasPassword ? Buffer.from(reader.binary()) : undefined;
  reader.expectEnd();
  return {
    type: "connect",
    version,
    ...(bridge && { bridge }),
    cleanStart: (flags & 0x02) !== 0,
    keepAliveSeconds,
    properties,
    clientId,
    will,
    username,
    password,
  };
}

/** Mosquitto's bridges set the highest bit of the levels before 5.0. */
const bridgeBit = 0x80;

function readVersion(reader: ByteReader): { version: ProtocolVersion; bridge: boolean } {
  const name = reader.binary().toString("latin1");
  if (name !== "MQTT" && name !== "MQIsdp") throw malformed("This is not MQTT.");
  const level = reader.byte();
  const bridge = level === (bridgeBit | 3) || level === (bridgeBit | 4);
  const version = bridge ? level & ~bridgeBit : level;
  if (name === "MQIsdp" ? version === 3 : version === 4 || version === 5) return { version: version as ProtocolVersion, bridge };
  throw new UnsupportedVersionError(level);
}

function readWill(reader: ByteReader, version: ProtocolVersion, qos: Qos, retain: boolean): Will {
  const properties = version === 5 ? readProperties(reader, propertyContext.will) : undefined;
  const topic = reader.string();
  const payload = Buffer.from(reader.binary());
  // As in a PUBLISH; 0x90 is for well-formed names (§3.2.2.2).
  if (topic === "") throw new PacketError(reasonCode.protocolError, "The will's topic is empty.");
  if (!isTopicName(topic)) throw malformed("The will's topic contains a wildcard.");
  checkResponseTopic(properties?.responseTopic);
  if (properties?.payloadFormatIndicator === 1 && !isUtf8(payload)) {
    throw new PacketError(reasonCode.payloadFormatInvalid, "The will's payload is not UTF-8.");
  }
  return { topic, payload, qos, retain, properties };
}

/** [MQTT5-3.3.2-14] */
export function checkResponseTopic(responseTopic: string | undefined): void {
  if (responseTopic !== undefined && !isTopicName(responseTopic)) {
    throw new PacketError(reasonCode.protocolError, "The response topic is not a topic name.");
  }
}
