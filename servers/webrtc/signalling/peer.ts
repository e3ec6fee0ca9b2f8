import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import type { WebrtcDialect } from "../../../contract/traffic/webrtc.ts";
import type { PeerEvent } from "./signalling-event.ts";

/** The way to a client, in its dialect. */
export interface PeerLink {
  /** Never throws, never waits. */
  deliver(event: PeerEvent): void;
  /** The client is read no further until `release` was called as often. What was read already waits. */
  hold(): void;
  release(): void;
  /** Ends the connection. It is called once, after the peer has left its rooms. */
  close(reason: string): void;
  /** What the client has not taken yet. */
  readonly unsentBytes: number;
  /** That takes so much memory: a message may have a few bytes. */
  readonly unsentMemory: number;
  /** So far, of messages. */
  readonly sentBytes: number;
}

export interface PeerFacts {
  readonly dialect: WebrtcDialect;
  readonly link: PeerLink;
  readonly connection: ConnectionHead;
  readonly userAgent: string;
  /** Of the page that opened the connection. */
  readonly origin?: string | undefined;
  readonly name?: string;
  /** Where it is connected, if that is another instance of the cluster. */
  readonly instance?: string;
}

/** A room, as its members know it. */
export interface JoinedRoom {
  readonly name: string;
  /** A member has another name. */
  renamed(peer: Peer): void;
}

/** A connected client. */
export class Peer {
  readonly id: string;
  readonly facts: PeerFacts;
  readonly since: number;
  #name: string;
  /** It is in these. */
  readonly rooms: JoinedRoom[] = [];
  /** Messages from and to it. */
  received = 0;
  receivedBytes = 0;
  sent = 0;
  isConnected = true;

  constructor(id: string, facts: PeerFacts, since = Date.now()) {
    this.id = id;
    this.since = since;
    this.facts = facts;
    this.#name = facts.name ?? "";
  }

  get name(): string {
    return this.#name;
  }

  set name(name: string) {
    if (name === this.#name) return;
    this.#name = name;
    for (const room of this.rooms) room.renamed(this);
  }

  get isElsewhere(): boolean {
    return this.facts.instance !== undefined;
  }

  get dialect(): WebrtcDialect {
    return this.facts.dialect;
  }
}

/** "127.0.0.1:53110", "[::1]:53110" */
const hostOf = (address: string): string => address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");

export const remoteHostOf = ({ facts }: Peer): string => hostOf(facts.connection.remote);
/** By which the client has reached this computer. */
export const localHostOf = ({ facts }: Peer): string => hostOf(facts.connection.local);
