import type { ByteReader } from "./byte-reader.ts";
import { checkResponseTopic } from "./decode-connect.ts";
import type { ProtocolVersion, PublishPacket, Qos } from "./packet.ts";
import { type Properties, propertyContext, readProperties } from "./properties.ts";
import { PacketError, reasonCode } from "./reason-code.ts";
import { hasWildcard, shownName } from "./topic.ts";
import { TopicCache } from "./topic-cache.ts";

/** Valid topic names only. */
const topics = new TopicCache();

/** The topic may be empty in 5.0 if an alias replaces it; the caller resolves the alias. */
export function decodePublish(reader: ByteReader, firstByte: number, version: ProtocolVersion): PublishPacket {
  const qos = (firstByte >> 1) & 0x03;
  const dup = (firstByte & 0x08) !== 0;
  // [MQTT-3.3.1-4]
  if (qos === 3) throw new PacketError(reasonCode.malformedPacket, "The QoS is 3.");
  // [MQTT-3.3.1-2]
  if (qos === 0 && dup) throw new PacketError(reasonCode.malformedPacket, "DUP is set with QoS 0.");
  const topicAt = reader.position;
  const known = reader.cachedString(topics);
  const topic = known ?? reader.string();
  const topicEnd = reader.position;
  let packetId = 0;
  if (qos > 0) {
    packetId = reader.twoBytes();
    // [MQTT-2.3.1-1]
    if (packetId === 0) throw new PacketError(reasonCode.protocolError, "The packet identifier is 0.");
  }
  let properties: Properties | undefined;
  if (version === 5) {
    properties = readProperties(reader, propertyContext.publish);
    if (properties) {
      checkResponseTopic(properties.responseTopic);
      if (properties.topicAlias === 0) throw new PacketError(reasonCode.topicAliasInvalid, "The topic alias is 0.");
    }
  }
  if (known === undefined) {
    checkTopic(topic, properties);
    topics.add(reader.bytes, topicAt + 2, topicEnd - topicAt - 2, topic);
  }
  return {
    type: "publish",
    dup,
    qos: qos as Qos,
    retain: (firstByte & 0x01) !== 0,
    topic,
    packetId,
    properties,
    payload: reader.rest(),
  };
}

function checkTopic(topic: string, properties: Properties | undefined): void {
  // [MQTT-3.3.2-2]; 0x90 is for well-formed names (§3.14.2.1).
  if (hasWildcard(topic)) throw new PacketError(reasonCode.malformedPacket, `The topic name ${shownName(topic)} contains a wildcard.`);
  if (topic === "" && properties?.topicAlias === undefined) {
    throw new PacketError(reasonCode.protocolError, "The topic name is empty and no alias is given.");
  }
}
