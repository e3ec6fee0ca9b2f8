import type { IceRequestCount } from "../../../contract/services/webrtc-ice-check.ts";
import type { AllocationState, TurnObserver, TurnRequestEvent } from "../turn/turn-observer.ts";
import { unauthenticated } from "./allocation-refusals.ts";
import type { SeenRelay } from "./ice-side.ts";

const mostClients = 2_000;
const mostCounts = 50;
const mostRelays = 1_000;

interface ClientRequests {
  readonly counts: Map<string, IceRequestCount>;
}

interface ClosedRelay {
  readonly user: string;
  readonly address: string;
  readonly relay: SeenRelay;
}

export interface RequestHistoryOptions {
  /** Those that are open now. */
  readonly allocations: () => readonly AllocationState[];
  readonly now?: () => number;
}

/**
 * Requests of STUN and TURN by the address that they came from and by the user that they name, and the relays that were closed: what the
 * ICE check knows of a peer beside its signals. The newest are kept.
 */
export class RequestHistory implements TurnObserver {
  readonly #options: RequestHistoryOptions;
  readonly #clients = new Map<string, ClientRequests>();
  readonly #closed: ClosedRelay[] = [];

  constructor(options: RequestHistoryOptions) {
    this.#options = options;
  }

  onRequest({ client, method, code, username }: TurnRequestEvent): void {
    const at = this.#options.now?.() ?? Date.now();
    // The first request of a client has no credentials, and is told which ones are needed.
    const shown = code === 401 && username === undefined ? unauthenticated : code;
    const count = { method, transport: client.transport, code: shown };
    if (username !== undefined) this.#count(`user ${userOf(username)}`, count, at);
    this.#count(`address ${client.address}`, count, at);
  }

  onOpened(): void {}

  onClosed(allocation: AllocationState, reason: string): void {
    this.#closed.push({ user: allocation.user, address: allocation.client.address, relay: { ...relayOf(allocation), closed: reason } });
    if (this.#closed.length > mostRelays) this.#closed.splice(0, mostRelays / 2);
  }

  #count(client: string, { method, transport, code }: Omit<IceRequestCount, "count" | "lastAt">, at: number): void {
    const known = this.#clients.get(client) ?? { counts: new Map() };
    // The last ones to be set are the newest.
    this.#clients.delete(client);
    this.#clients.set(client, known);
    for (const oldest of this.#clients.keys()) {
      if (this.#clients.size <= mostClients) break;
      this.#clients.delete(oldest);
    }
    const key = `${method} ${transport} ${code}`;
    const before = known.counts.get(key)?.count ?? 0;
    if (before === 0 && known.counts.size >= mostCounts) return;
    known.counts.set(key, { method, transport, code, count: before + 1, lastAt: at });
  }

  /** Of a peer: those with credentials of its welcome, which name it; of STUN, which has none, all from its address since it connected. */
  requestsOf(peer: string, address: string, since: number): readonly IceRequestCount[] {
    const ofUser = [...(this.#clients.get(`user ${peer}`)?.counts.values() ?? [])];
    const ofAddress = [...(this.#clients.get(`address ${address}`)?.counts.values() ?? [])].filter(
      ({ method, code, lastAt }) => lastAt >= since && (ofUser.length === 0 || method === "binding" || code === unauthenticated),
    );
    return [...ofUser, ...ofAddress];
  }

  relaysOf(peer: string): readonly SeenRelay[] {
    const open = this.#options.allocations().filter(({ user }) => user === peer);
    return [...this.#closed.filter(({ user }) => user === peer).map(({ relay }) => relay), ...open.map(relayOf)];
  }
}

/** RFC: the name of time-limited credentials is the time of their end and the user. */
const userOf = (username: string): string => username.replace(/^\d{1,12}:/, "");

const addressText = ({ address, port }: { readonly address: string; readonly port: number }): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;

const relayOf = (state: AllocationState): SeenRelay => ({
  allocation: state.id,
  relayed: state.relayed.map(addressText).join(", "),
  transport: state.client.transport,
  permissions: state.permissions.map(({ address }) => address),
  channels: state.channels.map(addressText),
  toPeers: state.toPeers.datagrams,
  fromPeers: state.fromPeers.datagrams,
  isImpaired: state.impairment.isCut || state.impairment.loss > 0 || state.impairment.delayMs > 0,
});
