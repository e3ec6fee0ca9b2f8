/** Actions and views of the WebRTC service. */
import { z } from "zod";
import type { History } from "../history.ts";
import { operation } from "../operation.ts";
import { type SampleViews, sampleActions } from "../sample-traffic.ts";
import type { TurnDataCount, TurnTransport, WebrtcDialect } from "../traffic/webrtc.ts";
import { type WebrtcFaultViews, webrtcFaultActions } from "./webrtc-faults.ts";
import { type WebrtcMediaViews, webrtcMediaActions } from "./webrtc-media.ts";
import { type WebrtcSignalViews, webrtcSignalActions } from "./webrtc-signals.ts";
import type { WebrtcTestPageViews } from "./webrtc-test-page.ts";
import { webrtcTryActions } from "./webrtc-try.ts";

/** The members of a room that a view names; of others only their number is known. */
export const mostShownMembers = 50;

export interface WebrtcRoomView {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly hasPassword: boolean;
  /** Identifiers of the first members that are connected to this instance. */
  readonly peers: readonly string[];
  readonly peerCount: number;
  /** Of these, connected to other instances. */
  readonly elsewhereCount: number;
  /** Messages of its chat so far, and how many of them are kept. */
  readonly chatMessages: number;
  readonly chatKept: number;
}

/** A connected client of signalling. */
export interface WebrtcPeerView {
  readonly id: string;
  /** `TrafficRow.id` */
  readonly row: number;
  readonly name: string;
  readonly dialect: WebrtcDialect;
  /** "127.0.0.1:53110" */
  readonly remote: string;
  readonly isSecure: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly rooms: readonly string[];
  /** Messages from and to it. */
  readonly received: number;
  readonly sent: number;
  /** What it has not taken yet. */
  readonly unsentBytes: number;
}

/** An open relay of TURN. Times are milliseconds. */
export interface TurnAllocationView {
  readonly id: number;
  /** `TrafficRow.id` */
  readonly row: number;
  readonly user: string;
  readonly username: string;
  readonly transport: TurnTransport;
  readonly remote: string;
  readonly software?: string;
  /** "127.0.0.1:49160", one for each address family. */
  readonly relayed: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly leftMs: number;
  readonly permissions: readonly { readonly address: string; readonly leftMs: number }[];
  readonly channels: readonly { readonly number: number; readonly peer: string; readonly leftMs: number }[];
  readonly toPeers: TurnDataCount;
  readonly fromPeers: TurnDataCount;
  /** Datagrams that were not passed on, by why. */
  readonly lost: Readonly<Record<"notPermitted" | "withoutChannel" | "impaired" | "clientBehind" | "unsendable", number>>;
  /** Trouble that was asked for. */
  readonly impairment: { readonly isCut: boolean; readonly loss: number; readonly delayMs: number };
}

/** Bits per second, and datagrams per second that were not passed on. */
export type TurnAllocationHistory = History<"toPeers" | "fromPeers" | "lost">;

/** As `RTCIceServer` of a browser. */
export interface IceServer {
  readonly urls: readonly string[];
  readonly username?: string;
  readonly credential?: string;
}

/** What the service is configured for. */
export interface WebrtcOffers {
  /** "ws://127.0.0.1:8443", without a path; on the LAN there are more. */
  readonly origins: readonly string[];
  readonly secureOrigins: readonly string[];
  /** Without credentials, as clients on this computer get them. */
  readonly iceServers: readonly IceServer[];
  readonly realm: string;
  /** How long the credentials of a welcome are valid. */
  readonly credentialSeconds: number;
  /** Names of users with a password of their own. */
  readonly turnUsers: readonly string[];
  readonly openToLan: boolean;
}

export interface WebrtcChatMessage {
  readonly from: string;
  readonly name: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Since the start, of STUN and TURN. */
export interface TurnTotals {
  readonly allocations: number;
  readonly opened: number;
  readonly connections: number;
  readonly requests: Readonly<Record<string, number>>;
  /** Error responses by code; without 401 to requests that have no credentials, which only ask for the nonce. */
  readonly errors: Readonly<Record<string, number>>;
  /** What is neither STUN nor ChannelData, or has wrong lengths. */
  readonly malformed: number;
  readonly withoutAllocation: number;
  readonly toPeers: TurnDataCount;
  readonly fromPeers: TurnDataCount;
}

/** `view/webrtc`, by name. */
export interface WebrtcViews extends SampleViews, WebrtcFaultViews, WebrtcMediaViews, WebrtcSignalViews, WebrtcTestPageViews {
  readonly offers: WebrtcOffers;
  /** Those with the most members first. */
  readonly rooms: { readonly rooms: readonly WebrtcRoomView[]; readonly more: number };
  /** The newest ones; `left` names those that were the last to leave, if they had a name: rows still mention them. */
  readonly peers: {
    readonly peers: readonly WebrtcPeerView[];
    readonly more: number;
    readonly left: readonly { readonly id: string; readonly name: string }[];
  };
  /** The newest ones. */
  readonly allocations: { readonly allocations: readonly TurnAllocationView[]; readonly more: number };
  readonly turn: TurnTotals;
}

const peer = z.string().min(1).max(200);
const room = z.string().min(1).max(500);
const allocation = z.strictObject({ allocation: z.int().min(1) });
const text = z.string().min(1).max(100_000);

export const webrtcActions = {
  /** False where there is no such peer, as below. */
  "peer.kick": operation<{ readonly kicked: boolean }>()(z.strictObject({ peer })),
  /** Its members stay connected. */
  "room.close": operation<{ readonly closed: boolean }>()(z.strictObject({ room })),
  /** The newest messages that are kept, as many as fit in an answer, the oldest first. */
  "room.chat": operation<readonly WebrtcChatMessage[]>()(z.strictObject({ room })),
  /** A message of the service, to a room or to one peer. */
  "chat.send": operation<{ readonly deliveries: number }>()(
    z.union([z.strictObject({ room, text }), z.strictObject({ to: peer, text })], { error: "A room or a peer is needed, and a text." }),
  ),
  "allocation.close": operation<{ readonly closed: boolean }>()(allocation),
  /** Null where it is not open. */
  "allocation.history": operation<TurnAllocationHistory | null>()(allocation),
  /** With credentials that are valid for the usual time, for clients on this computer. */
  "ice.servers": operation<readonly IceServer[]>()(z.strictObject({})),
  ...webrtcFaultActions,
  ...webrtcMediaActions,
  ...webrtcSignalActions,
  ...webrtcTryActions,
  ...sampleActions,
};
export type WebrtcActions = typeof webrtcActions;
