import type { IceRequestCount } from "../../../contract/services/webrtc-ice-check.ts";
import type { TurnRequest } from "../../../contract/traffic/webrtc.ts";
import { socketText } from "../observe/allocation-entry.ts";
import {
  type AllocationState,
  type AnsweredRequest,
  type FailedHandshake,
  isFaultReason,
  type TurnObserver,
} from "../turn/turn-observer.ts";
import { unauthenticated } from "./allocation-refusals.ts";
import type { SeenHandshake, SeenRelay } from "./ice-side.ts";
import { hostOf } from "./networks.ts";

const mostClients = 2_000;
const mostSockets = 4_000;
/** Of one socket, without credentials. */
const mostAnonymous = 20;
const mostCounts = 50;
const mostRelays = 1_000;

export interface SeenRequest extends Pick<TurnRequest, "transport" | "remote" | "method" | "code" | "why"> {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly username: string | undefined;
}

type Counted = Omit<IceRequestCount, "count" | "lastAt">;

interface ClientRequests {
  readonly counts: Map<string, IceRequestCount>;
}

/** Of one client: a browser asks STUN, and TURN at first without credentials, from the socket that names a user then. */
interface SocketRequests {
  user: string | undefined;
  readonly anonymous: Counted[];
}

/** When a relay was last used, in milliseconds since the epoch; 0 before the first time. */
interface RelayUse {
  toPeers: number;
  fromPeers: number;
  lastToPeersAt: number;
  lastFromPeersAt: number;
  lastRequestAt: number;
}

export interface RequestHistoryOptions {
  /** Those that are open now. */
  readonly allocations: () => readonly AllocationState[];
  /** Whether a user is a connected peer: its requests are no one else's, and all peers of one computer share an address. */
  readonly isPeer: (user: string) => boolean;
  readonly now?: () => number;
}

/**
 * Requests of STUN and TURN by the address that they came from and by the user that they name, and the relays that were closed: what the
 * ICE check knows of a peer beside its signals. The newest are kept.
 */
export class RequestHistory implements TurnObserver {
  readonly #options: RequestHistoryOptions;
  readonly #clients = new Map<string, ClientRequests>();
  readonly #sockets = new Map<string, SocketRequests>();
  readonly #uses = new Map<number, RelayUse>();
  readonly #closed: SeenRelay[] = [];
  /** The last one of each address. */
  readonly #handshakes = new Map<string, SeenHandshake>();

  constructor(options: RequestHistoryOptions) {
    this.#options = options;
  }

  get #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  onRequest({ client, method, code, why, username, allocation }: AnsweredRequest): void {
    const at = this.#now;
    const use = allocation !== undefined && code === 0 ? this.#uses.get(allocation) : undefined;
    if (use) use.lastRequestAt = at;
    const refused = why === undefined ? {} : { why };
    this.add({ at, transport: client.transport, remote: socketText(client), method, code, username, ...refused }, this.#options.isPeer);
  }

  /** Also one of an earlier run. */
  add({ at, transport, remote, method, code, why, username }: SeenRequest, isPeer: (user: string) => boolean): void {
    // The first request of a client has no credentials, and is told which ones are needed.
    const shown = code === 401 && username === undefined ? unauthenticated : code;
    const count: Counted = { method, transport, code: shown, ...(isFaultReason(why) && { isFault: true }) };
    const ofAddress = `address ${hostOf(remote)}`;
    const socket = this.#socketOf(`${transport} ${remote}`);
    const named = username === undefined ? undefined : userOf(username);
    if (named !== undefined && isPeer(named)) {
      for (const earlier of socket.anonymous.splice(0)) {
        this.#uncount(ofAddress, earlier);
        this.#count(`user ${named}`, earlier, at);
      }
      socket.user = named;
    }
    const user = named ?? socket.user;
    if (user !== undefined) this.#count(`user ${user}`, count, at);
    if (user !== undefined && isPeer(user)) return;
    this.#count(ofAddress, count, at);
    if (named === undefined && socket.anonymous.length < mostAnonymous) socket.anonymous.push(count);
  }

  /** It says of its client no more than the address. */
  onHandshakeFailed({ peer, why, isDistrust }: FailedHandshake): void {
    const address = hostOf(peer);
    this.#handshakes.delete(address);
    this.#handshakes.set(address, { at: this.#now, why, isDistrust });
    dropOldest(this.#handshakes, mostClients);
  }

  /** Of an address, the last one since then. */
  failedHandshakeOf(address: string, since: number): SeenHandshake | undefined {
    const last = this.#handshakes.get(address);
    return last && last.at >= since ? last : undefined;
  }

  #socketOf(key: string): SocketRequests {
    const socket = this.#sockets.get(key) ?? { user: undefined, anonymous: [] };
    this.#sockets.delete(key);
    this.#sockets.set(key, socket);
    dropOldest(this.#sockets, mostSockets);
    return socket;
  }

  onOpened(allocation: AllocationState): void {
    this.#useOf(allocation);
  }

  onClosed(allocation: AllocationState, reason: string): void {
    this.addClosed({ ...relayOf(allocation, this.#useOf(allocation)), closed: reason });
    this.#uses.delete(allocation.id);
  }

  /** Also one of an earlier run. */
  addClosed(relay: SeenRelay): void {
    this.#closed.push(relay);
    if (this.#closed.length > mostRelays) this.#closed.splice(0, mostRelays / 2);
  }

  /** Once a second, with all that are open: when data passed is known from its counts, and no datagram looks at a clock. */
  tick(allocations: readonly AllocationState[]): void {
    for (const allocation of allocations) this.#useOf(allocation);
  }

  #useOf({ id, toPeers, fromPeers }: AllocationState): RelayUse {
    const use = this.#uses.get(id) ?? { toPeers: 0, fromPeers: 0, lastToPeersAt: 0, lastFromPeersAt: 0, lastRequestAt: 0 };
    this.#uses.set(id, use);
    if (toPeers.datagrams !== use.toPeers) use.lastToPeersAt = this.#now;
    if (fromPeers.datagrams !== use.fromPeers) use.lastFromPeersAt = this.#now;
    use.toPeers = toPeers.datagrams;
    use.fromPeers = fromPeers.datagrams;
    return use;
  }

  #count(client: string, counted: Counted, at: number): void {
    const known = this.#clients.get(client) ?? { counts: new Map() };
    // The last ones to be set are the newest.
    this.#clients.delete(client);
    this.#clients.set(client, known);
    dropOldest(this.#clients, mostClients);
    const key = keyOf(counted);
    const before = known.counts.get(key)?.count ?? 0;
    if (before === 0 && known.counts.size >= mostCounts) return;
    known.counts.set(key, { ...counted, count: before + 1, lastAt: at });
  }

  #uncount(client: string, counted: Counted): void {
    const counts = this.#clients.get(client)?.counts;
    const key = keyOf(counted);
    const known = counts?.get(key);
    if (!known) return;
    if (known.count > 1) counts?.set(key, { ...known, count: known.count - 1 });
    else counts?.delete(key);
  }

  /**
   * Of a peer: those with credentials of its welcome, which name it. All from its address since it connected that name no peer: of STUN, which has no
   * credentials, and where none names this one, of TURN with credentials from elsewhere.
   */
  requestsOf(peer: string, address: string, since: number): readonly IceRequestCount[] {
    const ofUser = [...(this.#clients.get(`user ${peer}`)?.counts.values() ?? [])];
    const ofAddress = [...(this.#clients.get(`address ${address}`)?.counts.values() ?? [])].filter(
      ({ method, code, lastAt }) => lastAt >= since && (ofUser.length === 0 || method === "binding" || code === unauthenticated),
    );
    return [...ofUser, ...ofAddress];
  }

  /** Of all peers: those that were closed, and those that are open. */
  relays(): readonly SeenRelay[] {
    return [...this.#closed, ...this.#options.allocations().map((allocation) => relayOf(allocation, this.#useOf(allocation)))];
  }
}

const keyOf = ({ method, transport, code, isFault }: Counted): string => `${method} ${transport} ${code} ${isFault ?? ""}`;

/** The last ones to be set are the newest. */
function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}

/** RFC: the name of time-limited credentials is the time of their end and the user. */
const userOf = (username: string): string => username.replace(/^\d{1,12}:/, "");

/** Of all relays only those of two peers are looked into: permissions and channels are listed then. */
function relayOf(state: AllocationState, { lastToPeersAt, lastFromPeersAt, lastRequestAt }: RelayUse): SeenRelay {
  let permissions: readonly string[] | undefined;
  let channels: readonly string[] | undefined;
  const addresses = state.relayed.map(socketText);
  return {
    ...{ allocation: state.id, user: state.user, relayed: addresses.join(", "), addresses, transport: state.client.transport },
    get permissions() {
      permissions ??= state.permissions.map(({ address }) => address);
      return permissions;
    },
    get channels() {
      channels ??= state.channels.map(socketText);
      return channels;
    },
    ...{ toPeers: state.toPeers.datagrams, fromPeers: state.fromPeers.datagrams, impairment: state.impairment },
    ...{ lastToPeersAt, lastFromPeersAt, lastRequestAt },
  };
}
