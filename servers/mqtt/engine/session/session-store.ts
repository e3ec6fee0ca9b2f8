import type { Delivery } from "../delivery/delivery.ts";
import type { Message } from "../routing/message.ts";
import type { SubscriptionOptions } from "../routing/subscription.ts";
import type { PendingWill } from "./pending-will.ts";

/**
 * Stores the data that survives the process: sessions that outlive their connection, and retained messages.
 * Calls record changes synchronously; `commit` makes them durable before the tick's bytes are sent.
 */
export interface SessionStore {
  saveSession(session: SavedSession): void;
  /** With all that it holds. */
  removeSession(clientId: string, held?: HeldRows): void;
  subscribed(clientId: string, filter: string, options: SubscriptionOptions): void;
  unsubscribed(clientId: string, filter: string): void;
  /** A message with QoS 1 or 2 is queued or in flight for the session. */
  queued(clientId: string, delivery: Delivery): void;
  /** The delivery's packet identifier or state changed. */
  updated(clientId: string, delivery: Delivery): void;
  removed(clientId: string, delivery: Delivery): void;
  /** A QoS 2 message of the client was received; later released. */
  received(clientId: string, packetId: number): void;
  released(clientId: string, packetId: number): void;
  retained(message: Message): void;
  retainedRemoved(topic: string): void;
  /** Other brokers may have replaced it by a newer one. */
  retainedExpired(message: Message): void;
  commit(): void;
  /** A commit of what is recorded takes longer than a turn of the event loop has time for. */
  readonly hasMuchToCommit?: boolean;
}

export interface HeldRows {
  readonly deliveries: Iterable<Delivery>;
  /** Of all kinds. */
  readonly rows: number;
}

/** The data of a session without its subscriptions and messages. */
export interface SavedSession extends Pick<StoredSession, "clientId" | "v5" | "expirySeconds" | "disconnectedAt" | "address"> {
  /** The connected client, if there is one. */
  readonly recipient: object | undefined;
  readonly will: PendingWill | undefined;
}

/** True if no other process writes to the store. */
export interface LocalSessionStore extends SessionStore {
  /** Loads the stored state; called once at the start. */
  load(): StoredState;
  close(): void;
}

export interface StoredState {
  readonly retained: readonly Message[];
  readonly sessions: readonly StoredSession[];
}

export interface StoredSession {
  readonly clientId: string;
  readonly v5: boolean;
  readonly expirySeconds: number;
  /** When its connection ended; 0 if the process ended first. */
  readonly disconnectedAt: number;
  readonly will?: PendingWill | undefined;
  /** From which its client connected last. */
  readonly address: string;
  readonly subscriptions: readonly { readonly filter: string; readonly options: SubscriptionOptions }[];
  /** In order. */
  readonly deliveries: readonly StoredDelivery[];
  readonly received: readonly number[];
}

/** A packet identifier of 0: the delivery is queued. */
export interface StoredDelivery extends Readonly<Pick<Delivery, "message" | "qos" | "retain" | "packetId">> {
  readonly id: number;
  readonly identifiers: readonly number[];
  readonly released: boolean;
  /** The filter of the shared subscription that matched, as the client sent it; empty if none. */
  readonly sharedFilter: string;
}
