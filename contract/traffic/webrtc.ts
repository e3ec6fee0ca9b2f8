/** WebRTC: a client of signalling is a row, and each of its messages a row that belongs to it. An allocation of TURN is a row, and so is each request. */
import type { ConnectionHead } from "./connection.ts";

/** The messages that a client of signalling speaks. */
export const webrtcDialects = ["json", "peerjs", "socketio", "ywebrtc", "whep", "whip", "service"] as const;
export type WebrtcDialect = (typeof webrtcDialects)[number];

/** What a message is about, whatever its dialect. "bad": it was not understood. */
export const webrtcSignalKinds = ["offer", "answer", "candidate", "chat", "join", "leave", "other", "bad"] as const;
export type WebrtcSignalKind = (typeof webrtcSignalKinds)[number];

/** A client of signalling, from its connection to its end. The row's target is its identifier, its verb the dialect. */
export interface WebrtcPeer {
  readonly kind: "webrtc-peer";
  /** `TrafficRow.id` */
  readonly id: number;
  readonly at: number;
  readonly peer: string;
  readonly dialect: WebrtcDialect;
  /** As it calls itself; empty where it does not. */
  readonly name: string;
  /** It is in these now, or was at its end. */
  readonly rooms: readonly string[];
  readonly userAgent: string;
  /** Of the page that opened the connection; absent for a program. */
  readonly origin?: string;
  /** Messages from and to it. */
  readonly received: number;
  readonly sent: number;
  /** Why it ended; absent while it is connected. */
  readonly ended?: string;
  readonly totalMs?: number;
  readonly connection: ConnectionHead;
}

/** A message of a client, or of the dashboard. The row's verb is the kind, its target to whom it went: a peer's identifier, or "#" and a room. */
export interface WebrtcSignal {
  readonly kind: "webrtc-signal";
  readonly id: number;
  /** `TrafficRow.id` of the client that sent it; absent for a message of the dashboard. */
  readonly parent?: number;
  readonly at: number;
  readonly signal: WebrtcSignalKind;
  readonly dialect: WebrtcDialect;
  /** Identifiers of peers; `to` is absent where it went to a room. */
  readonly from: string;
  readonly to?: string;
  /** That it went to, or in which both peers were. */
  readonly room?: string;
  /** Clients that it was sent on to. */
  readonly deliveries: number;
  /** As in `LadderSignal`. */
  readonly outcome: string;
  readonly bytes: number;
  /** The message as it came, without passwords; cut where it is longer than the recorder's limit. */
  readonly base64: string;
}

export type TurnTransport = "udp" | "tcp" | "tls";

export interface StunAttributeView {
  /** As in the RFC, or "0x" and the number of one that is not known. */
  readonly name: string;
  /** Of its value. */
  readonly bytes: number;
  /** Its value in words; empty where it has none, and of MESSAGE-INTEGRITY. */
  readonly text: string;
}

/** A message of STUN as it crossed the wire. */
export interface StunMessageView {
  readonly bytes: number;
  /** Magic cookie and transaction id, in hexadecimal digits. */
  readonly transaction: string;
  /** In order; of a long message the first ones. */
  readonly attributes: readonly StunAttributeView[];
}

/** A request of STUN or TURN with its answer. The row's verb is the method. */
export interface TurnRequest {
  readonly kind: "turn-request";
  readonly id: number;
  /** `TrafficRow.id` of its allocation. */
  readonly parent?: number;
  readonly at: number;
  readonly transport: TurnTransport;
  readonly remote: string;
  readonly method: string;
  /** 0 for success, else the error code. */
  readonly code: number;
  /** Of a refusal, in words. */
  readonly why?: string;
  /** As the client wrote it, right or wrong. */
  readonly username?: string;
  readonly software?: string;
  /** Absent in rows of older versions. */
  readonly request?: StunMessageView;
  /** Absent where none was sent. */
  readonly answer?: StunMessageView;
}

export interface TurnDataCount {
  readonly datagrams: number;
  readonly bytes: number;
}

/** A relay of TURN, from its opening to its end. The row's target is the relayed address. Times are milliseconds. */
export interface TurnAllocation {
  readonly kind: "turn-allocation";
  readonly id: number;
  readonly at: number;
  /** Counts from 1 within a run of the service. */
  readonly allocation: number;
  readonly transport: TurnTransport;
  readonly remote: string;
  readonly user: string;
  readonly username: string;
  readonly software?: string;
  /** One for each address family. */
  readonly relayed: readonly string[];
  readonly permissions: readonly string[];
  readonly channels: readonly { readonly number: number; readonly peer: string }[];
  readonly toPeers: TurnDataCount;
  readonly fromPeers: TurnDataCount;
  /** Datagrams that were not passed on. */
  readonly lost: number;
  /** Why it ended; absent while it is open. */
  readonly ended?: string;
  readonly totalMs?: number;
}
