import type { Qos } from "../../codec/packet.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { Message } from "../routing/message.ts";
import type { SubscriptionOptions } from "../routing/subscription.ts";
import type { PendingWill } from "./pending-will.ts";
import type { Session } from "./session.ts";

/**
 * Keeps what must survive the process: sessions that outlive their connection, and retained messages.
 * Calls record changes synchronously; `commit` makes them durable before the tick's bytes are sent.
 */
export interface SessionStore {
  saveSession(session: Session): void;
  removeSession(clientId: string): void;
  subscribed(clientId: string, filter: string, options: SubscriptionOptions): void;
  unsubscribed(clientId: string, filter: string): void;
  /** A message with QoS 1 or 2 waits for the session, or is with the client. */
  queued(clientId: string, delivery: Delivery): void;
  /** Its packet identifier or its state changed. */
  updated(clientId: string, delivery: Delivery): void;
  removed(clientId: string, delivery: Delivery): void;
  /** A QoS 2 message of the client's was taken on, and released. */
  received(clientId: string, packetId: number): void;
  released(clientId: string, packetId: number): void;
  retained(message: Message): void;
  retainedRemoved(topic: string): void;
  /** Other brokers may have put a newer one in its place. */
  retainedExpired(message: Message): void;
  commit(): void;
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
  /** When its connection ended; 0 where the process ended first. */
  readonly disconnectedAt: number;
  readonly will?: PendingWill | undefined;
  readonly subscriptions: readonly { readonly filter: string; readonly options: SubscriptionOptions }[];
  /** In order. */
  readonly deliveries: readonly StoredDelivery[];
  readonly received: readonly number[];
}

export interface StoredDelivery {
  readonly id: number;
  readonly message: Message;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly identifiers: readonly number[];
  /** 0 while it waits. */
  readonly packetId: number;
  readonly released: boolean;
  /** The shared subscription that it came by, as the client wrote it; empty without. */
  readonly sharedFilter: string;
}
