import { randomBytes } from "node:crypto";
import { AddressPlaces } from "../../core/limits/address-places.ts";
import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { AddressFamily } from "../stun/transport-address.ts";
import { Allocation, type AllocationLimits, type TurnClient } from "./allocation.ts";
import type { Relay, RelayPorts } from "./relay-ports.ts";

export type CloseReason =
  | "refreshed with lifetime 0"
  | "expired"
  | "connection closed"
  | "closed on request"
  | "all places or ports are taken, and its address has most of them"
  | "service stops";

export interface AllocationTableOptions {
  readonly relayPorts: RelayPorts;
  readonly limits: AllocationLimits & { readonly allocations: number; readonly allocationsPerUser: number };
  /** What waits for all clients. */
  readonly unsent: SharedBudget;
  /** How long the second port of a pair is kept (RFC 8656 §7.2: at least 30 s). */
  readonly reservationMs: number;
  /** Of all clients. */
  readonly turns: WorkTurns;
  /** Steady, in milliseconds. */
  readonly now: () => number;
  readonly onOpened: (allocation: Allocation) => void;
  readonly onClosed: (allocation: Allocation, reason: CloseReason) => void;
  readonly onFault: (allocation: Allocation, error: unknown) => void;
}

export interface WantedAllocation {
  readonly client: TurnClient;
  readonly username: string;
  readonly user: string;
  readonly software: string | undefined;
  readonly lifetimeMs: number;
  readonly families: readonly AddressFamily[];
  readonly isEven: boolean;
  /** The port after it is reserved for another allocation. */
  readonly reservesNext: boolean;
  readonly token: Buffer | undefined;
}

export interface OpenedAllocation {
  readonly allocation: Allocation;
  readonly token: Buffer | undefined;
  /** Wanted beside another one, and without a free port. */
  readonly missing: readonly AddressFamily[];
}

/** Its ports are being bound. */
interface Opening {
  readonly user: string;
}

interface Reservation {
  readonly token: string;
  readonly relay: Relay;
  /** Who has asked for it. */
  readonly user: string;
  readonly expiresAt: number;
}

/** All allocations, and the ports that are reserved for some. */
export class AllocationTable {
  readonly #options: AllocationTableOptions;
  readonly #allocations = new Map<number, Allocation>();
  readonly #reservations = new Map<string, Reservation>();
  /** Allocations, and ports that are reserved. */
  readonly #ofUser = new Map<string, number>();
  /** Whose ports are being bound. */
  readonly #opening = new Set<Promise<unknown>>();
  /** Of all three. */
  readonly #places = new AddressPlaces<Allocation | Reservation | Opening>();
  #nextId = 1;
  #isClosed = false;
  #expiring: Promise<void> | undefined;

  constructor(options: AllocationTableOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#allocations.size;
  }

  get reserved(): number {
    return this.#reservations.size;
  }

  all(): IterableIterator<Allocation> {
    return this.#allocations.values();
  }

  find(id: number): Allocation | undefined {
    return this.#allocations.get(id);
  }

  /** The code of the refusal where there is one. The client must have none. */
  async open(wanted: WantedAllocation): Promise<OpenedAllocation | 486 | 508> {
    const { limits } = this.#options;
    const { user, client } = wanted;
    // A reserved port counts as the allocation that it is kept for.
    const places = wanted.reservesNext ? 2 : 1;
    const kept = wanted.token && this.#reservations.get(keyOf(wanted.token))?.user === user ? 1 : 0;
    if (this.#countOf(user) - kept + places > limits.allocationsPerUser) return 486;
    const isFull = !wanted.token && (this.#places.size >= limits.allocations || this.#lacksPort(wanted));
    const givingWay = isFull ? this.#givingWay(wanted) : undefined;
    if (isFull && !givingWay) return 508;
    this.#count(user, places);
    client.isAllocating = true;
    let opened: OpenedAllocation | undefined;
    const place: Opening = { user };
    this.#places.add(client.address, place);
    // What has its ports gives way before it.
    this.#places.use(place);
    const opening = this.#bindAndAdd(wanted, givingWay);
    this.#opening.add(opening);
    try {
      opened = await opening;
    } finally {
      this.#opening.delete(opening);
      this.#places.remove(place);
      client.isAllocating = false;
      if (!opened) this.#count(user, -places);
    }
    return opened ?? 508;
  }

  #lacksPort({ families }: WantedAllocation): boolean {
    return families.every((family) => this.#options.relayPorts.isFull(family));
  }

  /** Of the address that has most. Undefined where no other has more of them, or a port is wanted that is not free then either. */
  #givingWay(wanted: WantedAllocation): Allocation | Reservation | undefined {
    const found = this.#places.givingWay(wanted.client.address);
    if (!found || !("expiresAt" in found)) return undefined;
    if (!this.#lacksPort(wanted)) return found;
    const relays = "relay" in found ? [found.relay] : wanted.families.flatMap((family) => found.relayOf(family) ?? []);
    return !wanted.isEven && relays.some(({ family }) => wanted.families.includes(family)) ? found : undefined;
  }

  /** Resolves when the ports are free. */
  #end(place: Allocation | Reservation): Promise<void> {
    return "relay" in place ? this.#giveUp(place) : this.close(place, "all places or ports are taken, and its address has most of them");
  }

  async #bindAndAdd(wanted: WantedAllocation, givingWay: Allocation | Reservation | undefined): Promise<OpenedAllocation | undefined> {
    if (givingWay) await this.#end(givingWay);
    const { relays, next } = wanted.token ? this.#takeReservation(wanted.token) : await this.#bindRelays(wanted);
    const { client, username, user, software } = wanted;
    if (relays.length === 0 || client.isGone || this.#isClosed) {
      await Promise.all([...relays, ...(next ? [next] : [])].map((relay) => relay.close()));
      return undefined;
    }
    const openedAt = this.#options.now();
    const allocation: Allocation = new Allocation({
      ...{ id: this.#nextId++, client, username, user, software, relays, openedAt },
      expiresAt: openedAt + wanted.lifetimeMs,
      limits: this.#options.limits,
      unsent: this.#options.unsent,
      turns: this.#options.turns,
      onFault: (error) => this.#options.onFault(allocation, error),
    });
    client.allocation = allocation;
    this.#allocations.set(allocation.id, allocation);
    this.#places.add(client.address, allocation);
    this.#options.onOpened(allocation);
    const missing = wanted.token ? [] : wanted.families.filter((family) => !allocation.relayOf(family));
    return { allocation, token: next && this.#reserve(next, user, client), missing };
  }

  #takeReservation(token: Buffer): { readonly relays: readonly Relay[]; readonly next: undefined } {
    const key = keyOf(token);
    const reservation = this.#reservations.get(key);
    if (!reservation) return { relays: [], next: undefined };
    this.#forget(reservation);
    return { relays: [reservation.relay], next: undefined };
  }

  async #bindRelays({ client, families, isEven, reservesNext }: WantedAllocation) {
    const { relayPorts } = this.#options;
    const relays: Relay[] = [];
    let next: Relay | undefined;
    for (const family of families) {
      if (reservesNext) {
        const pair = await relayPorts.bindPair(family, client);
        if (pair) relays.push(pair[0]);
        next = pair?.[1];
      } else {
        const relay = await relayPorts.bindOne(family, isEven, client);
        if (relay) relays.push(relay);
      }
    }
    return { relays, next };
  }

  /** It counts for the user already. */
  #reserve(relay: Relay, user: string, { address }: TurnClient): Buffer {
    const bytes = randomBytes(8);
    const token = keyOf(bytes);
    const reservation: Reservation = { token, relay, user, expiresAt: this.#options.now() + this.#options.reservationMs };
    this.#reservations.set(token, reservation);
    this.#places.add(address, reservation);
    return bytes;
  }

  #forget(reservation: Reservation): void {
    this.#reservations.delete(reservation.token);
    this.#places.remove(reservation);
    this.#count(reservation.user, -1);
  }

  #giveUp(reservation: Reservation): Promise<void> {
    this.#forget(reservation);
    return reservation.relay.close();
  }

  /** Resolves when the ports are free. */
  async close(allocation: Allocation, reason: CloseReason): Promise<void> {
    if (!this.#allocations.delete(allocation.id)) return;
    this.#places.remove(allocation);
    this.#count(allocation.user, -1);
    allocation.client.allocation = undefined;
    allocation.loseDelayed();
    // Its permissions and channels are still known.
    this.#options.onClosed(allocation, reason);
    await allocation.close();
  }

  /** Ends what has expired, in turns: all may expire at once. To be called every second or so. Resolves when it has ended. */
  expire(): Promise<void> {
    this.#expiring ??= this.#expireAll().finally(() => {
      this.#expiring = undefined;
    });
    return this.#expiring;
  }

  async #expireAll(): Promise<void> {
    const { turns, now } = this.#options;
    await turns.each([...this.#allocations.values()], (allocation) => {
      if (!this.#allocations.has(allocation.id)) return;
      if (allocation.expiresAt <= now()) this.close(allocation, "expired");
      else allocation.expire(now());
    });
    await turns.each([...this.#reservations], ([key, reservation]) => {
      if (reservation.expiresAt <= now() && this.#reservations.get(key) === reservation) this.#giveUp(reservation);
    });
  }

  /** Also what is being bound meanwhile. */
  async closeAll(reason: CloseReason): Promise<void> {
    this.#isClosed = true;
    const reserved = [...this.#reservations.values()].map(({ relay }) => relay.close());
    this.#reservations.clear();
    await Promise.allSettled([
      ...reserved,
      ...this.#opening,
      ...[...this.#allocations.values()].map((allocation) => this.close(allocation, reason)),
    ]);
  }

  #countOf(user: string): number {
    return this.#ofUser.get(user) ?? 0;
  }

  #count(user: string, by: number): void {
    const left = this.#countOf(user) + by;
    if (left > 0) this.#ofUser.set(user, left);
    else this.#ofUser.delete(user);
  }
}

const keyOf = (token: Buffer): string => token.toString("hex");
