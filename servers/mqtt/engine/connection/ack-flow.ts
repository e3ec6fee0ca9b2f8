import type { AckPacket } from "../../codec/packet.ts";
import { PacketError, reasonCode } from "../../codec/reason-code.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { Session } from "../session/session.ts";
import type { Connection } from "./connection.ts";

/** The QoS 1 and QoS 2 handshakes (MQTT §4.3). */
export function handleAck(connection: Connection, packet: AckPacket): void {
  const session = connection.session as Session;
  const { type, packetId, reason } = packet;
  if (type === "pubrel") {
    const known = session.releaseReceived(packetId);
    connection.leftOpen?.release(packetId);
    if (known) session.store?.released(session, packetId);
    connection.sendAck("pubcomp", packetId, known ? 0 : reasonCode.packetIdentifierNotFound);
    return;
  }
  const result = acknowledge(session, type, packetId, reason);
  if (result === "unexpected")
    throw new PacketError(reasonCode.protocolError, `${type.toUpperCase()} does not match the state of the delivery.`);
  if (type !== "pubrec") return;
  // §4.3.3: a PUBREC with an error ends the exchange.
  if (reason >= 0x80) return;
  if (result === "unknown") {
    connection.sendAck("pubrel", packetId, reasonCode.packetIdentifierNotFound);
    return;
  }
  connection.sendAck("pubrel", packetId, 0);
}

/** The client's acknowledgement of a message that was sent to it (MQTT §4.3.2, §4.3.3). */
function acknowledge(
  session: Session,
  type: "puback" | "pubrec" | "pubcomp",
  packetId: number,
  reason: number,
): "ok" | "unknown" | "unexpected" {
  const delivery = session.inflight.get(packetId);
  if (!delivery) return "unknown";
  switch (type) {
    case "puback":
      if (delivery.state !== "awaiting puback") return "unexpected";
      break;
    case "pubrec":
      if (delivery.qos !== 2) return "unexpected";
      if (reason < 0x80) {
        if (delivery.state === "awaiting pubrec") received(session, delivery, reason);
        return "ok";
      }
      break;
    case "pubcomp":
      if (delivery.state !== "awaiting pubcomp") return "unexpected";
      break;
    default:
      return type satisfies never;
  }
  session.forget(delivery);
  if (type !== "pubcomp") noteAcknowledged(session, delivery, reason);
  session.pump();
  return "ok";
}

function received(session: Session, delivery: Delivery, reason: number): void {
  delivery.owed("sent", -1);
  delivery.state = "awaiting pubcomp";
  // [MQTT-4.6.0-4]: PUBRELs keep the order of the PUBRECs.
  session.inflight.putLast(delivery);
  session.store?.updated(session, delivery);
  noteAcknowledged(session, delivery, reason);
}

function noteAcknowledged({ clientId }: Session, { message, asRetained }: Delivery, reason: number): void {
  if (asRetained) message.trace?.acknowledgedAsRetained(clientId, reason);
  else message.trace?.acknowledged(clientId, reason);
}
