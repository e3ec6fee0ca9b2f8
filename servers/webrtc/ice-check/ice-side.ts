import {
  candidatesOf,
  endsCandidates,
  type IceCandidate,
  readCandidate,
  readDescription,
  type SessionDescription,
  transportOf,
} from "../../../contract/services/webrtc-description.ts";
import type { IceRelayFacts, IceRequestCount, IceSideFacts } from "../../../contract/services/webrtc-ice-check.ts";
import { socketText } from "../observe/allocation-entry.ts";
import type { Impairment } from "../turn/impairment.ts";
import { isMdnsName } from "./networks.ts";

/** What one peer sent to the other, as it came. */
export interface SentSignal {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly type: "offer" | "answer" | "candidate" | "other";
  /** Of an offer or answer the SDP, of a candidate its line; empty ends them. */
  readonly text: string;
  /** Of a candidate: its section. */
  readonly mid?: string;
  /** Why it was not delivered; absent where it was. */
  readonly lost?: string;
}

/** A relay with what is needed to follow its data. */
export interface SeenRelay extends Omit<IceRelayFacts, "permissionCount"> {
  /** Of the credentials that it was made with: a peer, if they are of its welcome. */
  readonly user: string;
  /** "127.0.0.1:50112", one for each family. */
  readonly addresses: readonly string[];
  /** "127.0.0.1:50113", bound to channels. */
  readonly channels: readonly string[];
  /** What is done to its data on request. */
  readonly impairment: Impairment;
  /** Milliseconds since the epoch, of the last datagram that passed, or the last request for it; 0 before the first. */
  readonly lastToPeersAt: number;
  readonly lastFromPeersAt: number;
  readonly lastRequestAt: number;
}

/** A TLS handshake that failed. */
export interface SeenHandshake {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly why: string;
  /** The client ended it when it had seen the certificate. */
  readonly isDistrust: boolean;
}

/** What the service saw of one peer. */
export interface PeerEvidence {
  readonly peer: string;
  readonly name: string;
  /** Of its signalling connection, without the port. */
  readonly address: string;
  readonly isHere: boolean;
  readonly signals: readonly SentSignal[];
  readonly requests: readonly IceRequestCount[];
  /** The last one that came from its address. */
  readonly failedHandshake?: SeenHandshake | undefined;
  /** Of all peers. */
  readonly relays: readonly SeenRelay[];
}

export interface SeenDescription {
  readonly type: "offer" | "answer";
  readonly at: number;
  readonly lost: string | undefined;
  /** Of the last offer, and of the last answer; undefined where it could not be read. */
  readonly sdp: SessionDescription | undefined;
}

/** The same, read: the signals of its newest negotiation. */
export interface IceSide extends Omit<PeerEvidence, "signals" | "relays"> {
  /** Its own. */
  readonly relays: readonly SeenRelay[];
  readonly descriptions: readonly SeenDescription[];
  readonly candidates: readonly IceCandidate[];
  /** Candidates that were sent before any description, and those that did not reach the other side. */
  readonly earlyCandidates: number;
  readonly lostCandidates: number;
  /** Of the last one; empty where none was lost. */
  readonly whyLost: string;
  readonly isGathered: boolean;
  /** When the description came that began its newest use of ICE; 0 before the first. */
  readonly iceSince: number;
  /** When it sent its last signal; 0 before the first. */
  readonly lastAt: number;
}

/** Candidates belong to the credentials of a description: a restart of ICE (RFC 8839 §5.4) begins anew. A step for each signal: they may have megabytes. */
export function* readSide({ signals, relays: all, ...evidence }: PeerEvidence): Generator<void, IceSide> {
  const descriptions: SeenDescription[] = [];
  let candidates = new DistinctCandidates();
  let ufrag: string | undefined;
  let earlyCandidates = 0;
  let lostCandidates = 0;
  let whyLost = "";
  let isGathered = false;
  let iceSince = 0;
  for (const { at, type, text, mid, lost } of signals) {
    yield;
    if (type === "offer" || type === "answer") {
      const sdp = readDescription(text);
      // Those before are not looked at again, and what was read of them takes many times their bytes.
      const before = descriptions.findLastIndex((one) => one.type === type);
      if (before !== -1) descriptions[before] = { ...(descriptions[before] as SeenDescription), sdp: undefined };
      descriptions.push({ type, at, lost, sdp });
      if (!sdp) continue;
      const next = transportOf(sdp, sdp.media[0]).ufrag;
      if (ufrag !== undefined && next !== ufrag) {
        candidates = new DistinctCandidates();
        lostCandidates = 0;
        isGathered = false;
      }
      if (next !== ufrag) iceSince = at;
      ufrag = next;
      for (const candidate of candidatesOf(sdp)) candidates.add(candidate);
      isGathered ||= endsCandidates(sdp);
    } else if (type === "candidate") {
      const candidate = readCandidate(text, mid);
      if (!candidate) isGathered ||= text.trim() === "";
      else if (lost !== undefined) {
        lostCandidates++;
        whyLost = lost;
      } else {
        candidates.add(candidate);
        if (descriptions.length === 0) earlyCandidates++;
      }
    }
  }
  const relays = ownRelays(evidence.peer, all, candidates.list());
  const lastAt = signals.at(-1)?.at ?? 0;
  return {
    ...evidence,
    relays,
    descriptions,
    candidates: candidates.list(),
    earlyCandidates,
    lostCandidates,
    whyLost,
    isGathered,
    iceSince,
    lastAt,
  };
}

/** Those that its candidates name, whoever the credentials are of; where they name none, those that were made with its own. */
function ownRelays(peer: string, relays: readonly SeenRelay[], candidates: readonly IceCandidate[]): readonly SeenRelay[] {
  const offered = new Set(candidates.filter(({ type }) => type === "relay").map(socketText));
  const named = relays.filter(({ addresses }) => addresses.some((address) => offered.has(address)));
  // A port is used again after its relay was closed: the last one counts.
  return named.length > 0 ? [...new Map(named.map((one) => [one.relayed, one])).values()] : relays.filter(({ user }) => user === peer);
}

/** No browser gathers as many. */
const mostCandidates = 500;

/** A candidate may come by itself and in a later description. */
class DistinctCandidates {
  readonly #found = new Map<string, IceCandidate>();

  add(candidate: IceCandidate): void {
    if (this.#found.size >= mostCandidates) return;
    const { transport, address, port, component, type } = candidate;
    const key = `${transport} ${address} ${port} ${component} ${type}`;
    if (!this.#found.has(key)) this.#found.set(key, candidate);
  }

  list(): readonly IceCandidate[] {
    return [...this.#found.values()];
  }
}

export function factsOfSide({ peer, name, address, candidates, isGathered, requests, relays }: IceSide): IceSideFacts {
  const count = (type: IceCandidate["type"]) => candidates.filter((one) => one.type === type && !isMdnsName(one.address)).length;
  return {
    peer,
    name,
    address,
    isGathered,
    requests,
    candidates: {
      host: count("host"),
      srflx: count("srflx"),
      prflx: count("prflx"),
      relay: count("relay"),
      mdns: candidates.filter((one) => isMdnsName(one.address)).length,
    },
    ...factsOfRelays(relays),
  };
}

/** Of the JSON of a side's relays: it may have hundreds, with a hundred permissions each. */
const mostRelayBytes = 64 << 10;
const shownPermissions = 10;

/** In their order; of those for which there is no room the closed and the oldest are left out. */
function factsOfRelays(relays: readonly SeenRelay[]): Pick<IceSideFacts, "relays" | "relaysLeftOut"> {
  const facts = new Map<SeenRelay, IceRelayFacts>();
  const newestFirst = relays.toReversed();
  let bytes = 0;
  for (const relay of [
    ...newestFirst.filter(({ closed }) => closed === undefined),
    ...newestFirst.filter(({ closed }) => closed !== undefined),
  ]) {
    const one = factsOfRelay(relay);
    bytes += Buffer.byteLength(JSON.stringify(one));
    if (bytes > mostRelayBytes) break;
    facts.set(relay, one);
  }
  const relaysLeftOut = relays.length - facts.size;
  return { relays: relays.flatMap((relay) => facts.get(relay) ?? []), ...(relaysLeftOut > 0 && { relaysLeftOut }) };
}

function factsOfRelay({ allocation, relayed, transport, closed, permissions, toPeers, fromPeers }: SeenRelay): IceRelayFacts {
  return {
    ...{ allocation, relayed, transport, toPeers, fromPeers },
    permissions: permissions.slice(0, shownPermissions),
    permissionCount: permissions.length,
    ...(closed !== undefined && { closed }),
  };
}
