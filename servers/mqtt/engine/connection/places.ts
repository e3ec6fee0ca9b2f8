import { rateLimitKey } from "../../../core/limits/rate-limit-client.ts";
import type { EngineLimits } from "../engine-limits.ts";
import { type Ranked, RankedHeap } from "../session/ranked-heap.ts";

/** Ranks by how many it has: who has most is first. */
interface Count extends Ranked {
  readonly address: AddressPlaces;
}

/** The places of one address, as `rateLimitKey` has it. */
class AddressPlaces {
  readonly key: string;
  readonly all: Count = { address: this, rank: 0, order: 0, place: -1 };
  readonly clients: Count = { address: this, rank: 0, order: 0, place: -1 };
  /** Without an accepted CONNECT, the oldest first. */
  readonly opening = new Set<Place>();
  /** The one that was accepted last is first. */
  readonly connected = new RankedHeap<Place>();

  constructor(key: string) {
    this.key = key;
  }
}

/** The place of one open connection. */
export class Place implements Ranked {
  rank = 0;
  order = 0;
  place = -1;
  /** Ends the connection, which frees the place. */
  giveWay: () => void;
  readonly address: AddressPlaces;

  constructor(address: AddressPlaces, giveWay: () => void) {
    this.address = address;
    this.giveWay = giveWay;
  }
}

/**
 * The places of open connections, and of those whose CONNECT was accepted. When all are taken, the address that has most of them gives way to another one that
 * has fewer, first with connections before their CONNECT. Nobody gives way to more of the same address, but such connections to newer ones.
 */
export class Places {
  private readonly limits: Pick<EngineLimits, "sockets" | "clients">;
  private readonly addresses = new Map<string, AddressPlaces>();
  private readonly mostPlaces = new RankedHeap<Count>();
  private readonly mostClients = new RankedHeap<Count>();
  private open = 0;
  private accepted = 0;
  private acceptances = 0;

  constructor(limits: Pick<EngineLimits, "sockets" | "clients">) {
    this.limits = limits;
  }

  /** A place for a new connection; undefined if there is none. */
  take(client: string, giveWay: () => void): Place | undefined {
    const key = rateLimitKey(client);
    if (this.open >= this.limits.sockets && !this.makeRoom(this.addresses.get(key))) return undefined;
    let address = this.addresses.get(key);
    if (!address) {
      address = new AddressPlaces(key);
      this.addresses.set(key, address);
    }
    const place = new Place(address, giveWay);
    address.opening.add(place);
    this.open++;
    this.rank(address);
    return place;
  }

  /** Whether there is a place for one more of this client, or another one would give way. */
  hasPlaceFor(client: string): boolean {
    return this.open < this.limits.sockets || this.givingWay(this.addresses.get(rateLimitKey(client))) !== undefined;
  }

  private makeRoom(newcomer: AddressPlaces | undefined): boolean {
    this.end(this.givingWay(newcomer));
    return this.open < this.limits.sockets;
  }

  /** Of the address with most: the oldest that is no client yet, or its last client. */
  private givingWay(newcomer: AddressPlaces | undefined): Place | undefined {
    const largest = this.mostPlaces.first?.address;
    if (!largest) return undefined;
    const [oldest] = largest.opening;
    return oldest ?? lastOf(largest, placesOf(largest), newcomer ? placesOf(newcomer) : 0);
  }

  /** The CONNECT is about to be accepted. False if there are as many clients as there may be. */
  mayAccept({ address }: Place): boolean {
    if (this.accepted < this.limits.clients) return true;
    const largest = this.mostClients.first?.address;
    if (largest) this.end(lastOf(largest, largest.connected.size, address.connected.size));
    return this.accepted < this.limits.clients;
  }

  private end(place: Place | undefined): void {
    if (!place) return;
    place.giveWay();
    this.free(place);
  }

  /** The CONNECT was accepted. */
  accept(place: Place): void {
    const { address } = place;
    if (!address.opening.delete(place)) return;
    this.accepted++;
    address.connected.put(place, -++this.acceptances);
    this.rank(address);
  }

  /** The connection is closed. */
  free(place: Place): void {
    const { address } = place;
    const isConnected = place.place >= 0;
    if (isConnected) address.connected.remove(place);
    else if (!address.opening.delete(place)) return;
    this.open--;
    if (isConnected) this.accepted--;
    this.rank(address);
    if (placesOf(address) === 0) this.addresses.delete(address.key);
  }

  private rank(address: AddressPlaces): void {
    rankBy(this.mostPlaces, address.all, placesOf(address));
    rankBy(this.mostClients, address.clients, address.connected.size);
  }
}

const placesOf = ({ opening, connected }: AddressPlaces): number => opening.size + connected.size;

function rankBy(heap: RankedHeap<Count>, count: Count, most: number): void {
  if (most > 0) heap.put(count, -most);
  else heap.remove(count);
}

/** The client of the address with most that came last, if the newcomer's address has fewer also then. */
const lastOf = ({ connected }: AddressPlaces, most: number, fewer: number): Place | undefined =>
  most > fewer + 1 ? connected.first : undefined;
