import { mqttOwnPublishers } from "../../../contract/traffic/mqtt.ts";
import type { ByteReader } from "../codec/byte-reader.ts";
import type { Qos } from "../codec/packet.ts";
import { decodeForwarded } from "../codec/properties.ts";
import { PacketError, reasonCode } from "../codec/reason-code.ts";
import { isTopicName } from "../codec/topic.ts";
import { Message } from "../engine/routing/message.ts";
import { fromComputerTime, toComputerTime } from "../engine/steady-clock.ts";
import type { FrameWriter } from "./frame-writer.ts";

export const malformed = (message: string): PacketError => new PacketError(reasonCode.malformedPacket, message);
const retainFlag = 0x04;
const willFlag = 0x08;

export function putMessage(writer: FrameWriter, message: Message): void {
  writer.byte(message.qos | (message.retain ? retainFlag : 0) | (message.isWill ? willFlag : 0));
  writer
    .string(message.topic)
    .string(message.publisherId)
    .string(message.internalSource ?? "");
  writer.double(toComputerTime(message.expiresAt)).binary(message.forwarded).binary(message.payload);
}

/** Decodes and validates a message: anyone with write access to the Redis could have written it. Throws PacketError. */
export function readMessage(reader: ByteReader): Message {
  const flags = reader.byte();
  const qos = flags & ~(retainFlag | willFlag);
  if (qos > 2) throw malformed("The QoS is invalid.");
  const topic = reader.string();
  if (!isTopicName(topic)) throw malformed("The topic name is invalid.");
  const publisherId = reader.string();
  const ownName = reader.string();
  const expiryTime = reader.view(8).readDoubleBE(0);
  if (!Number.isFinite(expiryTime) || expiryTime < 0) throw malformed("The expiry time is invalid.");
  const forwarded = readBinary(reader);
  decodeForwarded(forwarded);
  const expiresAt = fromComputerTime(expiryTime);
  const payload = readBinary(reader);
  const message = new Message({ topic, payload, qos: qos as Qos, retain: (flags & retainFlag) !== 0, forwarded, expiresAt, publisherId });
  message.isWill = (flags & willFlag) !== 0;
  message.internalSource = mqttOwnPublishers.find((name) => name === ownName);
  return message;
}

const readBinary = (reader: ByteReader): Buffer => reader.view(reader.fourBytes());
