import type { Handlers } from "../../../contract/operation.ts";
import type { IceCheck } from "../../../contract/services/webrtc-ice-check.ts";
import type { webrtcSignalActions } from "../../../contract/services/webrtc-signals.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { Hub } from "../signalling/hub.ts";
import type { Peer } from "../signalling/peer.ts";
import type { PeerEvidence, SeenRelay } from "./ice-side.ts";
import { type IceAddresses, judgeConnection } from "./judge-connection.ts";
import { hostOf } from "./networks.ts";
import type { RequestHistory } from "./request-history.ts";
import type { SignalHistory } from "./signal-history.ts";

export interface IceChecksOptions {
  readonly hub: Pick<Hub, "find">;
  readonly signals: SignalHistory;
  readonly requests: RequestHistory;
  readonly addresses: IceAddresses;
  readonly turns: WorkTurns;
}

/** Where a peer was: of one that has left, what its signals need to be understood. */
export interface KnownPeer {
  readonly name: string;
  /** Of its connection, without the port. */
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

const mostKnown = 5_000;

/** Explains connections from the signals of the peers, and their requests of STUN and TURN. */
export class IceChecks {
  readonly #options: IceChecksOptions;
  readonly #work: WorkConnection;
  readonly #left = new Map<string, KnownPeer>();

  constructor(options: IceChecksOptions) {
    this.#options = options;
    this.#work = options.turns.background("");
  }

  noteLeft(peer: Peer): void {
    this.noteKnown(peer.id, knownOf(peer));
  }

  /** One that has left. */
  noteKnown(id: string, peer: KnownPeer): void {
    this.#left.delete(id);
    this.#left.set(id, peer);
    for (const oldest of this.#left.keys()) {
      if (this.#left.size <= mostKnown) break;
      this.#left.delete(oldest);
    }
  }

  /** The names of those that were the last to leave. */
  lastLeft(most: number): readonly { readonly id: string; readonly name: string }[] {
    return [...this.#left]
      .slice(-most)
      .filter(([, { name }]) => name !== "")
      .map(([id, { name }]) => ({ id, name }));
  }

  async check(one: string, other: string): Promise<IceCheck | undefined> {
    const relays = this.#options.requests.relays();
    const [first, second] = [this.#evidence(one, other, relays), this.#evidence(other, one, relays)];
    if (!first || !second) return undefined;
    return await this.#work.run(judgeConnection([first, second], this.#options.addresses, Date.now()));
  }

  #evidence(id: string, other: string, relays: readonly SeenRelay[]): PeerEvidence | undefined {
    const { hub, signals, requests } = this.#options;
    const here = hub.find(id);
    const known = here ? knownOf(here) : this.#left.get(id);
    if (!known) return undefined;
    const { name, address, since } = known;
    return {
      peer: id,
      name: name || id,
      address,
      isHere: here !== undefined,
      signals: signals.between(id, other),
      requests: requests.requestsOf(id, address, since),
      failedHandshake: requests.failedHandshakeOf(address, since),
      relays,
    };
  }

  readonly actions: Handlers<typeof webrtcSignalActions> = {
    "signals.list": ({ room, peers, withoutSample, limit }) =>
      this.#options.signals.list({ limit, withoutSample, ...(room !== undefined && { room }), ...(peers !== undefined && { peers }) }),
    "signals.related": ({ row }) => this.#options.signals.related(row),
    "ice.check": async ({ peers: [one, other] }) => (await this.check(one, other)) ?? null,
  };
}

const knownOf = ({ name, since, facts }: Peer): KnownPeer => ({ name, since, address: hostOf(facts.connection.remote) });
