import type { Qos } from "../../codec/packet.ts";
import type { DeliveryPlace, Message } from "../routing/message.ts";
import type { Subscription } from "../routing/subscription.ts";

/** The acknowledgement that is expected for a message with QoS 1 or 2. */
export type DeliveryState = "queued" | "awaiting puback" | "awaiting pubrec" | "awaiting pubcomp";

/** Memory of a subscription identifier. */
const identifierBytes = 8;

/** The delivery of one message to one session. */
export class Delivery {
  readonly message: Message;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly identifiers: readonly number[] | undefined;
  /** Present for a shared subscription: other members of its group may get the message instead. */
  readonly shared: Subscription | undefined;
  state: DeliveryState = "queued";
  packetId = 0;
  /** Sequence number within the session, in the order of sending. */
  order = 0;
  /** In flight with a payload that may be part of a larger chunk. */
  inChunk = false;
  /** Row in the session store. */
  storedId = 0;
  /** Delivered as a retained message, to a later subscription. */
  asRetained = false;
  /** For a client that was frozen or delayed: it has not been sent yet. */
  isHeldBack = false;

  constructor(message: Message, qos: Qos, retain: boolean, identifiers: readonly number[] | undefined, shared: Subscription | undefined) {
    this.message = message;
    this.qos = qos;
    this.retain = retain;
    this.identifiers = identifiers;
    this.shared = shared;
  }

  /** In a queue or sent, it is owed to the client; or no more. As a retained message it is not what its publisher asked for. */
  owed(place: DeliveryPlace, more: 1 | -1): void {
    if (!this.asRetained && this.state !== "awaiting pubcomp") this.message.trace?.owes(place, more);
  }

  /** Nothing is sent of it any more: it is over, or another session has the message. */
  leftInflight(): void {
    if (!this.isHeldBack) return;
    this.isHeldBack = false;
    this.message.trace?.unsent();
  }

  /** Of its message and its identifiers, of which there may be one for each subscription of the session. */
  get bytes(): number {
    return this.message.bytes + this.identifierBytes;
  }

  get identifierBytes(): number {
    return this.identifiers ? this.identifiers.length * identifierBytes : 0;
  }
}
