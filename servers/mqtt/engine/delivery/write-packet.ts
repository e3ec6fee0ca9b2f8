import { encodePacket } from "../../codec/encode-packet.ts";
import type { AckPacket, Packet } from "../../codec/packet.ts";
import type { PublishTarget } from "./write-publish.ts";

const firstBytes = { puback: 0x40, pubrec: 0x50, pubrel: 0x62, pubcomp: 0x70 } as const;

/** Writes an acknowledgement without properties into the target's output. */
export function writeAck({ v5, output }: PublishTarget, type: AckPacket["type"], packetId: number, reason: number): void {
  const withReason = v5 && reason !== 0;
  const slab = output.reserve(5);
  slab[output.end++] = firstBytes[type];
  slab[output.end++] = withReason ? 3 : 2;
  slab[output.end++] = packetId >> 8;
  slab[output.end++] = packetId & 0xff;
  if (withReason) slab[output.end++] = reason;
}

/** Writes any packet but PUBLISH, unless it exceeds the client's maximum packet size also without its reason string. */
export function writePacket({ v5, output, maximumPacketSize }: PublishTarget, packet: Packet): void {
  const version = v5 ? 5 : 4;
  let bytes = encodePacket(packet, version);
  if (maximumPacketSize > 0 && bytes.length > maximumPacketSize && "properties" in packet && packet.properties) {
    // [MQTT5-3.4.2-2] and corresponding clauses
    bytes = encodePacket({ ...packet, properties: { ...packet.properties, reasonString: undefined } }, version);
  }
  if (maximumPacketSize === 0 || bytes.length <= maximumPacketSize) output.put(bytes);
}
