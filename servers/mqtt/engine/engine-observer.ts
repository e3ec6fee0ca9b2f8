import type { ConnectPacket, DisconnectPacket, PublishPacket, SubscriptionRequest } from "../codec/packet.ts";
import type { Properties } from "../codec/properties.ts";
import { type PacketError, reasonCode } from "../codec/reason-code.ts";
import type { DropReason, Message } from "./routing/message.ts";

/** Origin of a connection. */
export interface ConnectionOrigin {
  readonly transport: "tcp" | "tls" | "ws" | "wss";
  /** "127.0.0.1:53110". */
  readonly peer: string;
  /** Common name of a verified client certificate. */
  readonly certificateName?: string | undefined;
}

/** The peer's address without the port. */
export const addressOf = ({ peer }: ConnectionOrigin): string => peer.slice(0, Math.max(0, peer.lastIndexOf(":")));

/** The same object in all callbacks for one connection. */
export interface ObservedClient {
  /** Empty before its CONNECT. */
  readonly clientId: string;
  readonly origin: ConnectionOrigin;
  /** Its CONNECT, until that is answered. */
  readonly asked?: ConnectPacket | undefined;
  /** Its DISCONNECT. */
  readonly goodbye?: DisconnectPacket | undefined;
}

/** The client that published a message. */
export interface ObservedPublisher extends ObservedClient {
  readonly version: number;
  /** The PUBLISH as received; valid until the next packet. */
  rawPacket(): Buffer;
}

/** Why a connection ended that its client ended as it should: for the reasons of a client's DISCONNECT that are no errors. */
export const orderlyEnds: ReadonlyMap<number, string> = new Map([
  [reasonCode.success, "disconnected"],
  [reasonCode.disconnectWithWill, "disconnected, with its will"],
]);

/** Callbacks for events in the engine. All are optional; a missing one costs nothing. */
export interface EngineObserver {
  connected?(client: ObservedClient, packet: ConnectPacket): void;
  connectRefused?(client: ObservedClient, why: string): void;
  /** A connection without a CONNECT was closed because the limit of open connections is reached. */
  turnedAway?(): void;
  /** Of a client of the TLS listeners. */
  handshakeFailed?(peer: string, why: string): void;
  /** The session of an absent client ended to make room for another one. */
  gaveWay?(): void;
  /** No CONNECT arrived within the timeout. */
  connectTimedOut?(): void;
  /** `wasConnected`: the client's CONNECT had been accepted. */
  disconnected?(client: ObservedClient, why: string, wasConnected: boolean): void;
  /** Called before routing; may set `message.trace`. Publisher and packet are absent for messages of the broker itself. */
  published?(message: Message, publisher: ObservedPublisher | undefined, packet: PublishPacket | undefined): void;
  routed?(message: Message): void;
  /** With reason codes of 5.0, for clients of 3.1.1 too. */
  subscribed?(client: ObservedClient, requests: readonly SubscriptionRequest[], reasons: readonly number[], properties?: Properties): void;
  unsubscribed?(client: ObservedClient, filters: readonly string[], properties?: Properties): void;
  dropped?(clientId: string, why: DropReason): void;
  publishRefused?(client: ObservedClient, topic: string, why: string): void;
  /** The message was routed but not retained: the limit is reached. */
  notRetained?(message: Message): void;
  /** A retained message was removed to make room for one of a client that had fewer. */
  retainedGaveWay?(): void;
  refused?(client: ObservedClient, error: PacketError): void;
  retainedChanged?(topic: string, message: Message | undefined): void;
}

export interface EngineLog {
  debug(text: string): void;
  info(text: string): void;
  warning(text: string): void;
  error(text: string): void;
}

/** The error's stack, for faults in Backlot. */
export const faultText = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
