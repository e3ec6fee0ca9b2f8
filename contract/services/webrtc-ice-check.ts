/** Why a connection between two peers failed, or would: what the service saw of both sides, in words. */
import type { CandidateType } from "./webrtc-description.ts";

/** What a finding is about, for tests and for those who read it by program. */
export type IceFindingCode =
  | "no-offer"
  | "offer-lost"
  | "no-answer"
  | "left"
  | "glare"
  | "unusable-description"
  | "all-rejected"
  | "early-candidates"
  | "candidates-lost"
  | "no-candidates"
  | "never-arrived"
  | "tls-failed"
  | "hosts-apart"
  | "mdns-only"
  | "wrong-credentials"
  | "over-quota"
  | "allocation-refused"
  | "no-relay"
  | "peer-not-allowed"
  | "no-permission"
  | "relay-closed"
  | "relay-impaired"
  | "relay-one-way"
  | "relay-quiet"
  | "consent-expired"
  | "relayed"
  | "direct-possible"
  | "gathering";

export interface IceFinding {
  readonly code: IceFindingCode;
  /** `wait`: it may still come. `note`: it explains something, and prevents nothing. */
  readonly tone: "ok" | "wait" | "note" | "warn" | "bad";
  /** The peer that it is about; absent where it is about both. */
  readonly peer?: string;
  /** What was seen. */
  readonly text: string;
  /** What to do; empty where there is nothing. */
  readonly advice: string;
}

/** Requests of one method over one transport with the same answer. */
export interface IceRequestCount {
  /** "binding", "allocate" */
  readonly method: string;
  readonly transport: string;
  /** 0 for success, else the error code. */
  readonly code: number;
  /** A fault on demand refused it. */
  readonly isFault?: true;
  readonly count: number;
  /** Milliseconds since the epoch, of the last one. */
  readonly lastAt: number;
}

export interface IceRelayFacts {
  readonly allocation: number;
  /** "127.0.0.1:50112" */
  readonly relayed: string;
  /** From the client to the service: "udp", "tcp", "tls". */
  readonly transport: string;
  /** Why it was closed; absent while it is open. */
  readonly closed?: string;
  /** The first ones. */
  readonly permissions: readonly string[];
  /** Of all. */
  readonly permissionCount: number;
  /** Datagrams. */
  readonly toPeers: number;
  readonly fromPeers: number;
}

export interface IceSideFacts {
  readonly peer: string;
  readonly name: string;
  /** Of its signalling connection. */
  readonly address: string;
  /** Its candidates for the other side, by type; those with a name of mDNS are counted apart. */
  readonly candidates: Readonly<Record<CandidateType | "mdns", number>>;
  /** It has said that there are no more. */
  readonly isGathered: boolean;
  readonly requests: readonly IceRequestCount[];
  /** As many as an answer has room for, those that are open first. */
  readonly relays: readonly IceRelayFacts[];
  /** Further ones; absent if there are none. */
  readonly relaysLeftOut?: number;
}

/** `direct`: possible past the service, which does not see it. */
export type IceVerdict = "connected" | "direct" | "waiting" | "failed";

export interface IceCheck {
  readonly verdict: IceVerdict;
  /** The first says the most. */
  readonly findings: readonly IceFinding[];
  readonly sides: readonly [IceSideFacts, IceSideFacts];
}
