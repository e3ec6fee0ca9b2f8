import type { Delivery } from "../delivery/delivery.ts";
import type { Session } from "../session/session.ts";

/** What the client says of a message that was sent to it (MQTT §4.3.2, §4.3.3). */
export function acknowledge(
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
  if (type !== "pubcomp") tell(session, delivery, reason);
  session.pump();
  return "ok";
}

function received(session: Session, delivery: Delivery, reason: number): void {
  delivery.state = "awaiting pubcomp";
  // [MQTT-4.6.0-4]: PUBRELs keep the order of the PUBRECs.
  session.inflight.putLast(delivery);
  session.store?.updated(session.clientId, delivery);
  tell(session, delivery, reason);
}

function tell({ clientId }: Session, { message, asRetained }: Delivery, reason: number): void {
  if (asRetained) message.trace?.acknowledgedAsRetained(clientId, reason);
  else message.trace?.acknowledged(clientId, reason);
}
