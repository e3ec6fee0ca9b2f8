import type { Delivery } from "../delivery/delivery.ts";
import type { Message } from "../routing/message.ts";
import type { Subscription, SubscriptionOptions } from "../routing/subscription.ts";
import type { PendingWill } from "./pending-will.ts";

/**
 * Stores the data that survives the process: sessions that outlive their connection, and retained messages.
 * Calls record changes synchronously; `commit` makes them durable before the tick's bytes are sent.
 */
export interface SessionStore {
  saveSession(session: SavedSession): void;
  /** With all that it holds. */
  removeSession(session: SessionKey, held?: HeldRows): void;
  subscribed(session: SessionKey, subscription: Pick<Subscription, "filter" | "options" | "storedId">): void;
  unsubscribed(session: SessionKey, filter: string): void;
  /** A message with QoS 1 or 2 is queued or in flight for the session. */
  queued(session: SessionKey, delivery: Delivery): void;
  /** The delivery's packet identifier or state changed. */
  updated(session: SessionKey, delivery: Delivery): void;
  removed(session: SessionKey, delivery: Delivery): void;
  /** The session of these deliveries belongs to another broker: they stay in the store, and are no longer known here. */
  handedOver?(deliveries: Iterable<Delivery>): void;
  /** A QoS 2 message of the client was received; later released. */
  received(session: SessionKey, packetId: number): void;
  released(session: SessionKey, packetId: number): void;
  retained(message: Message): void;
  retainedRemoved(topic: string): void;
  /** Other brokers may have replaced it by a newer one. */
  retainedExpired(message: Message): void;
  commit(): void;
  /** A commit of what is recorded takes longer than a turn of the event loop has time for. */
  readonly hasMuchToCommit?: boolean;
}

/** A session as the store knows it. */
export interface SessionKey {
  readonly clientId: string;
  /** Its row in the store; 0 if it has none. A client may have a long identifier: rows of the session name this number. */
  storedId: number;
}

export interface HeldRows {
  readonly deliveries: Iterable<Delivery>;
  /** Of all kinds. */
  readonly rows: number;
}

/** The data of a session without its subscriptions and messages. */
export interface SavedSession extends SessionKey, Pick<StoredSession, "v5" | "expirySeconds" | "disconnectedAt" | "address"> {
  /** The connected client, if there is one. */
  readonly recipient: object | undefined;
  readonly will: PendingWill | undefined;
}

/** True if no other process writes to the store. */
export interface LocalSessionStore extends SessionStore {
  /** The stored state; to be iterated once, at the start. */
  load(): StoredState;
  close(): void;
}

/** Read as it is iterated, in short steps. */
export interface StoredState {
  readonly retained: Iterable<Message>;
  /** Undefined for each step that finds none. */
  readonly sessions: Iterable<StoredSession | undefined>;
}

export interface StoredSession extends Readonly<SessionKey> {
  readonly v5: boolean;
  readonly expirySeconds: number;
  /** When its connection ended; 0 if the process ended first. */
  readonly disconnectedAt: number;
  readonly will?: PendingWill | undefined;
  /** From which its client connected last. */
  readonly address: string;
  readonly subscriptions: Iterable<StoredSubscription>;
  /** In order; to be iterated after the subscriptions. */
  readonly deliveries: Iterable<StoredDelivery>;
  readonly received: readonly number[];
}

export interface StoredSubscription {
  readonly filter: string;
  readonly options: SubscriptionOptions;
  /** As in `Subscription`. */
  readonly storedId: number;
}

/** A packet identifier of 0: the delivery is queued. */
export interface StoredDelivery extends Readonly<Pick<Delivery, "message" | "qos" | "retain" | "packetId">> {
  readonly id: number;
  readonly identifiers: readonly number[];
  readonly released: boolean;
  /** As in `Delivery`, where that is known. */
  readonly asRetained?: boolean;
  /** The filter of the shared subscription that matched, as the client sent it; empty if none. */
  readonly sharedFilter: string;
}
