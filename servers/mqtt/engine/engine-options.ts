import type { ConnectPacket, PublishPacket, SubscriptionRequest } from "../codec/packet.ts";
import type { PacketError } from "../codec/packet-error.ts";
import type { ClusterLink } from "./cluster-link.ts";
import type { Access } from "./connection/access.ts";
import type { Connection } from "./connection/connection.ts";
import type { DropReason } from "./delivery/delivery-trace.ts";
import type { EngineLimits } from "./engine-limits.ts";
import type { Message } from "./routing/message.ts";
import type { MessageBus } from "./routing/message-bus.ts";
import type { Session } from "./session/session.ts";
import type { SessionStore, StoredSession } from "./session/session-store.ts";

/** Told what happens; every part is optional, and what is not there costs nothing. */
export interface EngineObserver {
  connected?(connection: Connection, packet: ConnectPacket): void;
  connectRefused?(connection: Connection, why: string): void;
  /** More connections are open than there may be. */
  turnedAway?(): void;
  /** Its CONNECT did not come in time. */
  connectTimedOut?(): void;
  disconnected?(connection: Connection, why: string): void;
  /** Before it is routed; may set `message.trace`. The packet is absent for what the broker itself publishes. */
  published?(message: Message, connection: Connection | undefined, packet: PublishPacket | undefined): void;
  routed?(message: Message): void;
  /** With reasons of 5.0, which a client of 3.1.1 is not told. */
  subscribed?(session: Session, requests: readonly SubscriptionRequest[], reasons: readonly number[]): void;
  unsubscribed?(session: Session, filters: readonly string[]): void;
  dropped?(clientId: string, why: DropReason): void;
  publishRefused?(connection: Connection, topic: string, why: string): void;
  /** It was routed, and not kept: there are too many. */
  notRetained?(message: Message): void;
  refused?(connection: Connection, error: PacketError): void;
  retainedChanged?(topic: string, message: Message | undefined): void;
}

export interface EngineLog {
  debug(text: string): void;
  info(text: string): void;
  warning(text: string): void;
  error(text: string): void;
}

export interface EngineOptions {
  readonly limits: EngineLimits;
  readonly access: Access;
  readonly bus: MessageBus;
  readonly cluster?: ClusterLink | undefined;
  readonly store?: SessionStore | undefined;
  /** Sessions of an earlier run. */
  readonly restored?: readonly StoredSession[];
  readonly observer?: EngineObserver;
  readonly log: EngineLog;
}
