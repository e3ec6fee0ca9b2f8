import type { Qos } from "../../codec/packet.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { DropReason, Message } from "../routing/message.ts";
import type { Recipient } from "./recipient.ts";

/** To which it is delivered. */
interface NotedSession {
  readonly clientId: string;
  drop(message: Pick<Message, "trace">, why: DropReason): void;
}

/**
 * A message to a frozen or delayed client counts as delivered when it is written. If the client is gone before, one of QoS 0 is dropped; `delivery`, of QoS 1
 * or 2, is sent when the client comes back.
 */
export function noteDelivered(
  session: NotedSession,
  { trace }: Pick<Message, "trace">,
  qos: Qos,
  { output }: Recipient,
  delivery?: Delivery,
): void {
  const { clientId } = session;
  const wasHeldBack = delivery?.isHeldBack === true;
  if (!output.heldBack) {
    if (wasHeldBack) release(delivery, clientId);
    else trace?.delivered(clientId, qos);
    return;
  }
  if (!wasHeldBack) trace?.heldBack(clientId, qos);
  if (delivery) delivery.isHeldBack = true;
  // Of a message of QoS 0 it holds no more than the trace: its payload may be a small part of much that was read at once.
  output.whenHandedOver((isSent) => {
    if (delivery) {
      if (isSent) release(delivery, clientId);
    } else if (isSent) trace?.released(clientId, qos);
    else {
      session.drop({ trace }, "connection ended");
      trace?.unsent();
    }
  });
}

function release(delivery: Delivery, clientId: string): void {
  if (!delivery.isHeldBack) return;
  delivery.isHeldBack = false;
  delivery.message.trace?.released(clientId, delivery.qos);
}
