import type { WebrtcSignalKind } from "../../../contract/traffic/webrtc.ts";
import type { HeldDeliveries } from "./held-deliveries.ts";
import type { Peer } from "./peer.ts";
import type { Room, RoomPassword } from "./room.ts";
import type { ChatEvent, DeliveryEffect, Refusal, SignalEvent } from "./signalling-event.ts";

/** What became of a message. */
export interface SignalFact {
  readonly kind: WebrtcSignalKind;
  /** Absent for one of the dashboard. */
  readonly peer: Peer | undefined;
  readonly to?: string | undefined;
  readonly room?: string | undefined;
  readonly raw: string | Uint8Array;
  /** Clients that it was sent on to, with those for which it is held back. */
  readonly deliveries: number;
  /** It is for one that is connected to another instance, where it may be held back or dropped yet. */
  readonly isElsewhere?: boolean;
  /** Of these deliveries the ones that faults hold back, or have held back. */
  readonly held?: HeldDeliveries | undefined;
  /** What faults did to it, one for each client that they concerned. */
  readonly effects?: readonly DeliveryEffect[];
  readonly refusal?: Refusal | undefined;
}

/** Who ended a connection. */
export type EndedBy = "client" | "server";

export interface SignallingObserver {
  onConnected(peer: Peer): void;
  onDisconnected(peer: Peer, reason: string, by: EndedBy): void;
  onMessage(fact: SignalFact): void;
}

/** The other instances of a cluster: what they are told. A peer whose message they are told of is held while too much waits to be sent to them. */
export interface OtherInstances {
  /** Also where the peer was in the room and has a new name. */
  joined(peer: Peer, room: Room): void;
  left(peer: Peer, room: Room): void;
  /** They keep it, and tell their members. */
  said(room: Room, event: ChatEvent): void;
  /** They bring it to the members that are connected there, and not in one of the rooms beside it. */
  broadcast(room: Room, event: SignalEvent, beside: readonly Room[]): void;
  roomClosed(name: string): void;
}

/** A room as another instance knows it. */
export interface RoomElsewhere {
  readonly name: string;
  readonly since: number;
  readonly password: RoomPassword | undefined;
}
