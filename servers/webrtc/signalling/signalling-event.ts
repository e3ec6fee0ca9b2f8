import type { IceServer } from "../../../contract/services/webrtc.ts";
import type { WebrtcDialect } from "../../../contract/traffic/webrtc.ts";

/** A message from one peer to another: what every dialect understands of it, and as it came. */
export interface Signal {
  readonly kind: "offer" | "answer" | "candidate" | "other";
  /** Of an offer or an answer. */
  readonly sdp?: string;
  /** Of a candidate, as `RTCIceCandidateInit`; null after the last one. */
  readonly candidate?: CandidateInit | null;
  readonly dialect: WebrtcDialect;
  /** For a peer of the same dialect, which gets it unchanged. */
  readonly payload: unknown;
}

export interface CandidateInit {
  readonly candidate: string;
  readonly sdpMid?: string | null;
  readonly sdpMLineIndex?: number | null;
  readonly usernameFragment?: string | null;
}

export interface Member {
  readonly id: string;
  readonly name: string;
}

/** The members of a room as a client is told of them. */
export interface ListedMembers extends Iterable<Member> {
  /** The array as JSON. */
  readonly json: string;
}

export interface SignalEvent {
  readonly type: "signal";
  readonly from: string;
  /** Where it was sent to all in it. */
  readonly room?: string | undefined;
  readonly signal: Signal;
}

/** What a peer is told. A dialect leaves out what it has no message for. */
export type PeerEvent =
  | { readonly type: "welcome"; readonly id: string; readonly iceServers: readonly IceServer[] }
  /** `peers`: those that were there before. */
  | { readonly type: "joined"; readonly room: string; readonly peers: ListedMembers }
  | { readonly type: "peer-joined"; readonly room: string; readonly id: string; readonly name: string }
  | { readonly type: "peer-left"; readonly room: string; readonly id: string }
  | SignalEvent
  | ChatEvent
  /** `re`: the type of the message that is refused; absent where there was none. */
  | { readonly type: "error"; readonly code: RefusalCode; readonly message: string; readonly re?: string | undefined };

/** What faults on demand did to an event on its way to a peer. */
export type DeliveryEffect = "dropped" | "delayed" | "duplicated" | "reordered";

export interface ChatEvent {
  readonly type: "chat";
  readonly from: string;
  readonly name: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Absent where it is for one peer. */
  readonly room?: string | undefined;
  /** It was sent before the peer joined. */
  readonly isHistory?: true;
}

/** Why a message is refused; docs/webrtc-signalling.md lists them. */
export type RefusalCode =
  | "bad-message"
  | "unknown-type"
  | "too-long"
  | "bad-name"
  | "peer-unknown"
  | "not-in-room"
  | "wrong-password"
  | "too-many-failures"
  | "room-full"
  | "too-many-rooms"
  | "room-closed";

export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
}
