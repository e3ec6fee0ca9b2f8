import type { AckPacket } from "../../codec/packet.ts";
import { PacketError } from "../../codec/packet-error.ts";
import { reasonCode } from "../../codec/reason-code.ts";
import type { Session } from "../session/session.ts";
import { acknowledge } from "./acknowledge.ts";
import type { Connection } from "./connection.ts";

/** The QoS 1 and QoS 2 handshakes (MQTT §4.3). */
export function handleAck(connection: Connection, packet: AckPacket): void {
  const session = connection.session as Session;
  const { type, packetId, reason } = packet;
  if (type === "pubrel") {
    const known = session.received.release(packetId);
    connection.leftOpen?.delete(packetId);
    if (known) session.store?.released(session.clientId, packetId);
    connection.sendAck("pubcomp", packetId, known ? 0 : reasonCode.packetIdentifierNotFound);
    return;
  }
  const result = acknowledge(session, type, packetId, reason);
  if (result === "unexpected") throw new PacketError(reasonCode.protocolError, `${type.toUpperCase()} does not fit what was sent.`);
  if (type !== "pubrec") return;
  // §4.3.3: an error in the PUBREC ends the exchange.
  if (reason >= 0x80) return;
  if (result === "unknown") {
    connection.sendAck("pubrel", packetId, reasonCode.packetIdentifierNotFound);
    return;
  }
  connection.sendAck("pubrel", packetId, 0);
}
