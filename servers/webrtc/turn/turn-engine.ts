import { createFailureLimits } from "../../core/credentials/failure-limits.ts";
import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import { FaultLog } from "../../core/net/fault-log.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { stunAttributes, stunMethods } from "../stun/stun-attributes.ts";
import { attributeOf, parseStun, type StunMessage } from "../stun/stun-message.ts";
import { decodeXorAddress } from "../stun/transport-address.ts";
import type { Allocation, AllocationLimits, DataCount, TurnClient } from "./allocation.ts";
import { AllocationTable, type CloseReason } from "./allocation-table.ts";
import { type AuthenticationOptions, createAuthentication } from "./authentication.ts";
import { ClientPorts } from "./client-ports.ts";
import type { Impairment } from "./impairment.ts";
import { createOwnAddresses } from "./own-addresses.ts";
import { createPeerPolicy } from "./peer-policy.ts";
import { RelayPorts, type RelayPortsOptions } from "./relay-ports.ts";
import { RequestHandler, type TurnLifetimes } from "./request-handler.ts";
import { isChannelData } from "./stream-framing.ts";
import { TransactionCache } from "./transaction-cache.ts";
import type {
  AllocationState,
  RequestMethod,
  SocketAddress,
  TurnObserver,
  TurnRequestEvent,
  TurnStatistics,
  TurnTrouble,
} from "./turn-observer.ts";
import { createUnprovenAnswers } from "./unproven-answers.ts";

export interface TurnEngineOptions extends Pick<AuthenticationOptions, "realm" | "users" | "secrets" | "passwordAlgorithms"> {
  /** The value of SOFTWARE. */
  readonly software: string;
  readonly relays: RelayPortsOptions;
  /** Listens on every address of the machine instead of loopback only. */
  readonly openToLan: boolean;
  /** See `createPeerPolicy`. */
  readonly allowedPeers: readonly string[];
  /** Besides: addresses that clients are told for their relays, so that these reach one another. */
  readonly isRelayAddress?: (address: string) => boolean;
  readonly lifetimes: TurnLifetimes & { readonly nonce: number; readonly reservation: number };
  readonly limits: AllocationLimits & {
    readonly allocations: number;
    readonly allocationsPerUser: number;
    /** Kept for repeated requests over UDP. */
    readonly transactions: number;
    /** Wrong credentials of one address within the window; then none of its requests is let in. */
    readonly failures: number;
    readonly failureWindowMs: number;
    /** Errors over UDP to one address within a second, to requests without right credentials. */
    readonly challengesPerSecond: number;
  };
  readonly observer?: Partial<TurnObserver>;
  readonly log: Log;
  /** Of all clients. */
  readonly turns: WorkTurns;
  /** Steady, in milliseconds. */
  readonly now?: () => number;
  /** As `Date.now`: for the age of nonces and the end of time-limited credentials. */
  readonly wallNow?: () => number;
}

/** STUN and TURN (RFC 8489, RFC 8656), apart from the listeners. */
export class TurnEngine {
  connections = 0;
  connectionsRefused = 0;
  /** Log lines of what clients did wrong: an endless number is a few lines and a count. */
  readonly reports: FaultLog;
  readonly #options: TurnEngineOptions;
  readonly #now: () => number;
  readonly #clientPorts: ClientPorts;
  readonly #relayPorts: RelayPorts;
  readonly #handler: RequestHandler;
  readonly #table: AllocationTable;
  readonly #transactions: TransactionCache;
  readonly #requests: Record<RequestMethod, number> = { binding: 0, allocate: 0, refresh: 0, "create permission": 0, "channel bind": 0 };
  readonly #errors: Record<number, number> = {};
  /** Of allocations that were closed. */
  readonly #past = { toPeers: { datagrams: 0, bytes: 0 }, fromPeers: { datagrams: 0, bytes: 0 } };
  #opened = 0;
  #repeated = 0;
  #malformed = 0;
  #withoutAllocation = 0;
  #fromRelays = 0;

  /** `unsent` is what waits for all clients. */
  constructor(options: TurnEngineOptions, unsent: SharedBudget) {
    const { limits, lifetimes, log, now = () => performance.now() } = options;
    this.#options = options;
    this.reports = FaultLog.ofInformation(log);
    this.#now = now;
    const isOwnAddress = createOwnAddresses(now);
    this.#clientPorts = new ClientPorts(isOwnAddress);
    const relayPorts = new RelayPorts(options.relays, {
      isOwnAddress,
      isUsedUp: () => options.turns.isUsedUp(),
      isClientPort: (port) => this.#clientPorts.has(port),
    });
    this.#relayPorts = relayPorts;
    this.#table = new AllocationTable({
      ...{ relayPorts, limits, unsent, now, reservationMs: lifetimes.reservation, turns: options.turns },
      onOpened: (allocation) => this.#reportOpened(allocation),
      onClosed: (allocation, reason) => this.#reportClosed(allocation, reason),
      onFault: ({ id }, error) => log.error(`A datagram of allocation ${id}: ${errorText(error)}`),
    });
    this.#transactions = new TransactionCache(limits.transactions, now);
    this.#handler = new RequestHandler({
      ...{ software: options.software, table: this.#table, transactions: this.#transactions, lifetimes, now },
      authentication: createAuthentication({
        ...options,
        nonceLifetimeMs: lifetimes.nonce,
        failures: createFailureLimits({ failures: limits.failures, windowMs: limits.failureWindowMs, now }),
        now: options.wallNow ?? Date.now,
      }),
      isPeerAllowed: createPeerPolicy(options.allowedPeers, options.openToLan, options.isRelayAddress),
      supports: (family) => relayPorts.supports(family),
      // Linux sets the bit on what fits the path. Elsewhere there is no option for it in Node.
      supportsDontFragment: process.platform === "linux",
      mayAnswer: createUnprovenAnswers(limits.challengesPerSecond, now),
      onRequest: (event) => this.#reportRequest(event),
      onRepeated: () => this.#repeated++,
      onFault: ({ address, port }, error) => log.error(`A request of ${address}:${port}: ${errorText(error)}`),
    });
  }

  /**
   * Whether a datagram comes from a relay, and is counted only. A relay is no client: with allocations of relays one datagram would be forwarded
   * as often as there are allocations, or for ever.
   */
  isFromRelay({ address, port }: SocketAddress): boolean {
    const isRelay = this.#relayPorts.isRelay(address, port);
    if (isRelay) this.#fromRelays++;
    return isRelay;
  }

  /** One datagram, or one message of a stream: the bytes from `start` to `end`. An error in it ends nothing else. */
  receive(client: TurnClient, bytes: Buffer, start: number, end: number): void {
    try {
      if (isChannelData(bytes[start] ?? 0)) {
        if (client.allocation) client.allocation.receiveChannelData(bytes, start, end);
        else this.#withoutAllocation++;
        return;
      }
      const message = parseStun(bytes.subarray(start, end));
      if (message === undefined) this.#malformed++;
      else if (message.messageClass === "indication") this.#receiveIndication(client, message);
      else if (!this.#handler.handle(message, client)) this.#malformed++;
    } catch (error) {
      this.#options.log.error(`A message of ${client.address}:${client.port}: ${errorText(error)}`);
    }
  }

  /** RFC 8656 §11.2. Indications of Binding only keep a NAT's port open. */
  #receiveIndication({ allocation }: TurnClient, message: StunMessage): void {
    if (message.method !== stunMethods.send) return;
    if (!allocation) {
      this.#withoutAllocation++;
      return;
    }
    const peer = attributeOf(message, stunAttributes.xorPeerAddress);
    const data = attributeOf(message, stunAttributes.data);
    const to = peer && decodeXorAddress(peer, message.transaction);
    if (!to || !data || to.port === 0 || this.#handler.knowsTooLittleOf(message)) {
      this.#malformed++;
      return;
    }
    const dontFragment = attributeOf(message, stunAttributes.dontFragment) !== undefined;
    allocation.receiveSend(to.address, to.family, to.port, data, dontFragment);
  }

  /** Ends what has expired, in turns. To be called every second or so. Resolves when it has ended. */
  async tick(): Promise<void> {
    this.#transactions.expire();
    await this.#table.expire();
  }

  /** The client's connection is closed. */
  forget({ allocation }: TurnClient): void {
    if (allocation) this.#table.close(allocation, "connection closed");
  }

  /** Resolves when all ports are free. */
  async stop(): Promise<void> {
    this.reports.flush();
    await this.#table.closeAll("service stops");
  }

  allocations(): readonly AllocationState[] {
    return [...this.#table.all()].map((allocation) => this.#stateOf(allocation));
  }

  /** False where there is no such allocation, as below. */
  close(id: number): boolean {
    const allocation = this.#table.find(id);
    if (allocation) this.#table.close(allocation, "closed on request");
    return allocation !== undefined;
  }

  impair(id: number, impairment: Impairment): boolean {
    const allocation = this.#table.find(id);
    allocation?.impair(impairment);
    return allocation !== undefined;
  }

  get trouble(): TurnTrouble {
    return this.#handler.trouble;
  }

  set trouble(trouble: TurnTrouble) {
    this.#handler.trouble = trouble;
  }

  statistics(): TurnStatistics {
    const sum = (which: "toPeers" | "fromPeers"): DataCount => {
      const total = { ...this.#past[which] };
      for (const allocation of this.#table.all()) add(total, allocation[which]);
      return total;
    };
    return {
      ...{ allocations: this.#table.size, reserved: this.#table.reserved, opened: this.#opened },
      ...{ connections: this.connections, connectionsRefused: this.connectionsRefused },
      ...{ requests: { ...this.#requests }, errors: { ...this.#errors }, repeated: this.#repeated },
      ...{ malformed: this.#malformed, withoutAllocation: this.#withoutAllocation, fromRelays: this.#fromRelays },
      ...{ toPeers: sum("toPeers"), fromPeers: sum("fromPeers") },
    };
  }

  #reportRequest(event: TurnRequestEvent): void {
    this.#requests[event.method]++;
    // The first request of a client is without credentials: it only asks for the nonce.
    const isChallenge = event.code === 401 && event.username === undefined;
    const isRefused = event.code !== 0 && !isChallenge;
    if (isRefused) this.#errors[event.code] = (this.#errors[event.code] ?? 0) + 1;
    if (isRefused && this.#options.log.enabled("info")) {
      const { transport, address, port } = event.client;
      this.reports.write(`${event.method} of ${address}:${port} over ${transport}: ${event.code}, ${event.why}`);
    }
    this.#options.observer?.onRequest?.(event);
  }

  #reportOpened(allocation: Allocation): void {
    const { log, observer } = this.#options;
    this.#opened++;
    this.#clientPorts.opened(allocation.id, allocation.client);
    if (log.enabled("debug")) log.debug(`Allocation ${allocation.id} of ${allocation.user} at ${allocation.client.transport} is open`);
    observer?.onOpened?.(this.#stateOf(allocation));
  }

  #reportClosed(allocation: Allocation, reason: CloseReason): void {
    const { log, observer } = this.#options;
    this.#clientPorts.closed(allocation.id, allocation.client);
    add(this.#past.toPeers, allocation.toPeers);
    add(this.#past.fromPeers, allocation.fromPeers);
    if (log.enabled("debug")) log.debug(`Allocation ${allocation.id} of ${allocation.user} is closed: ${reason}`);
    const { permissions, channels, ...state } = this.#stateOf(allocation);
    // They are gone when it is closed.
    observer?.onClosed?.({ ...state, permissions, channels }, reason);
  }

  #stateOf(allocation: Allocation): AllocationState {
    const now = this.#now();
    const leftMs = (until: number) => Math.max(0, until - now);
    const { id, username, user, software, toPeers, fromPeers, lost, impairment, revision } = allocation;
    const { transport, address, port } = allocation.client;
    return {
      ...{ id, username, user, software, impairment, revision, client: { transport, address, port } },
      ...{ toPeers: { ...toPeers }, fromPeers: { ...fromPeers }, lost: { ...lost } },
      relayed: allocation.relays.map((relay) => ({ address: relay.address, port: relay.port })),
      ageMs: now - allocation.openedAt,
      leftMs: leftMs(allocation.expiresAt),
      get permissions() {
        return allocation.permissions.map(({ address, expiresAt }) => ({ address, leftMs: leftMs(expiresAt) }));
      },
      get channels() {
        return allocation.channels.map((one) => ({
          number: one.number,
          address: one.address,
          port: one.port,
          leftMs: leftMs(one.expiresAt),
        }));
      },
    };
  }
}

function add(total: DataCount, { datagrams, bytes }: DataCount): void {
  total.datagrams += datagrams;
  total.bytes += bytes;
}
