import { randomUUID } from "node:crypto";
import type { CandidateInit, Signal } from "../../signalling/signalling-event.ts";
import { isObject } from "../json-value.ts";
import { candidateOf, describesMedia } from "../session-text.ts";

/** What clients send on to one another. */
const passedTypes = ["OFFER", "ANSWER", "CANDIDATE", "LEAVE", "EXPIRE"] as const;
type PassedType = (typeof passedTypes)[number];

/** As a client of PeerJS writes it; `src` is set by the service. */
export interface PeerJsMessage {
  readonly type: PassedType;
  readonly dst?: string;
  readonly payload?: unknown;
}

export type PeerJsRequest = PeerJsMessage | { readonly type: "HEARTBEAT" };

export function parsePeerJsMessage(value: unknown): PeerJsRequest | { readonly problem: string } {
  if (!isObject(value)) return { problem: "A message is an object" };
  const { type, dst } = value;
  if (type === "HEARTBEAT") return { type };
  if (!passedTypes.includes(type as PassedType))
    return { problem: "The type of a message is OFFER, ANSWER, CANDIDATE, LEAVE, EXPIRE or HEARTBEAT" };
  if (dst !== undefined && dst !== null && typeof dst !== "string") return { problem: "dst is the id of a peer" };
  return value as unknown as PeerJsMessage;
}

/** What other dialects understand of a message. */
export function signalOfPeerJs(message: PeerJsMessage): Signal {
  const { type, payload } = message;
  const content = isObject(payload) ? payload : {};
  const passed = { dialect: "peerjs", payload: message } as const;
  if (type === "OFFER" || type === "ANSWER") {
    const { sdp } = isObject(content.sdp) ? content.sdp : content;
    if (typeof sdp === "string") return { kind: type === "OFFER" ? "offer" : "answer", sdp, ...passed };
  }
  if (type === "CANDIDATE") {
    const candidate = candidateOf(content.candidate);
    if (candidate !== undefined) return { kind: "candidate", candidate, ...passed };
  }
  return { kind: "other", ...passed };
}

/** Clients make some of twenty characters. */
const longestConnectionId = 200;

interface Connection {
  readonly connectionId: string;
  readonly type: "media" | "data";
}

/**
 * The connections of one PeerJS client to clients of other dialects, by their ids. PeerJS names every connection, the others do not: an answer and
 * candidates belong to the newest one.
 */
export class PeerJsConnections {
  readonly #connections = new Map<string, Connection>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** The client has sent this to a peer. */
  note(to: string, { type, payload }: PeerJsMessage): void {
    if (type !== "OFFER" || !isObject(payload) || typeof payload.connectionId !== "string") return;
    if (payload.connectionId.length > longestConnectionId) return;
    this.#set(to, { connectionId: payload.connectionId, type: payload.type === "media" ? "media" : "data" });
  }

  forget(peer: string): void {
    this.#connections.delete(peer);
  }

  #set(peer: string, connection: Connection): void {
    this.#connections.delete(peer);
    this.#connections.set(peer, connection);
    const [oldest] = this.#connections.keys();
    if (this.#connections.size > this.#most && oldest !== undefined) this.#connections.delete(oldest);
  }

  /** A message of another dialect as the client expects it; undefined for what PeerJS has no message for. */
  translate(from: string, signal: Signal): PeerJsMessage | undefined {
    const { kind, sdp, candidate } = signal;
    if (kind === "offer" && sdp !== undefined) {
      const type = describesMedia(sdp) ? "media" : "data";
      const connection: Connection = { connectionId: `${type === "media" ? "mc" : "dc"}_${randomUUID()}`, type };
      this.#set(from, connection);
      // "raw" hands over what arrives on the channel as it is.
      const data = type === "data" ? { label: connection.connectionId, reliable: true, serialization: "raw" } : {};
      return { type: "OFFER", payload: { sdp: { type: "offer", sdp }, ...connection, ...data } };
    }
    const connection = this.#connections.get(from);
    if (!connection) return undefined;
    if (kind === "answer" && sdp !== undefined) return { type: "ANSWER", payload: { sdp: { type: "answer", sdp }, ...connection } };
    // The client takes no end of candidates.
    if (kind === "candidate" && candidate)
      return { type: "CANDIDATE", payload: { candidate: candidate satisfies CandidateInit, ...connection } };
    return undefined;
  }
}
