import type { ConnectPacket, PublishPacket, SubscriptionRequest } from "../codec/packet.ts";
import type { PacketError } from "../codec/reason-code.ts";
import type { DropReason, Message } from "./routing/message.ts";

/** Origin of a connection. */
export interface ConnectionOrigin {
  readonly transport: "tcp" | "tls" | "ws" | "wss";
  /** "127.0.0.1:53110". */
  readonly peer: string;
  /** Common name of a verified client certificate. */
  readonly certificateName?: string | undefined;
}

/** The same object for all that is observed of one connection. */
export interface ObservedClient {
  /** Empty before its CONNECT. */
  readonly clientId: string;
  readonly origin: ConnectionOrigin;
}

/** The client that published a message. */
export interface ObservedPublisher extends ObservedClient {
  readonly version: number;
  /** The PUBLISH as it came; good until the next packet. */
  rawPacket(): Buffer;
}

/** Callbacks for what happens in the engine. All are optional; a missing one costs nothing. */
export interface EngineObserver {
  connected?(client: ObservedClient, packet: ConnectPacket): void;
  connectRefused?(client: ObservedClient, why: string): void;
  /** More connections are open than there may be. */
  turnedAway?(): void;
  /** Its CONNECT did not come in time. */
  connectTimedOut?(): void;
  /** `wasConnected`: its CONNECT had been accepted. */
  disconnected?(client: ObservedClient, why: string, wasConnected: boolean): void;
  /** Before it is routed; may set `message.trace`. Publisher and packet are absent for what the broker itself publishes. */
  published?(message: Message, publisher: ObservedPublisher | undefined, packet: PublishPacket | undefined): void;
  routed?(message: Message): void;
  /** With the reason codes of 5.0, also for clients of 3.1.1. */
  subscribed?(client: ObservedClient, requests: readonly SubscriptionRequest[], reasons: readonly number[]): void;
  unsubscribed?(client: ObservedClient, filters: readonly string[]): void;
  dropped?(clientId: string, why: DropReason): void;
  publishRefused?(client: ObservedClient, topic: string, why: string): void;
  /** It was routed, and not kept: there are too many. */
  notRetained?(message: Message): void;
  refused?(client: ObservedClient, error: PacketError): void;
  retainedChanged?(topic: string, message: Message | undefined): void;
}

export interface EngineLog {
  debug(text: string): void;
  info(text: string): void;
  warning(text: string): void;
  error(text: string): void;
}

/** For a fault of ours: with where it happened. */
export const faultText = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
