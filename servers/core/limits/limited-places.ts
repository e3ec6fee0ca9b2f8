import { AddressPlaces } from "./address-places.ts";

export interface PlaceLimits {
  /** Of all clients. */
  readonly most: number;
  /** Of one IPv4 address, or one /64 of IPv6. */
  readonly mostOfAddress: number;
}

/** The limit that is reached. */
type Lack = "of this address" | "of all";

/**
 * A number of places of which one address may have a part. A program has two addresses, and more with more networks: where all places are taken, the address that
 * has most gives way to another one that has fewer.
 */
export class LimitedPlaces<Item> {
  readonly #limits: PlaceLimits;
  readonly #giveWay: (item: Item) => void;
  readonly #places = new AddressPlaces<Item>();

  /** `giveWay` ends what has a place. */
  constructor(limits: PlaceLimits, giveWay: (item: Item) => void) {
    this.#limits = limits;
    this.#giveWay = giveWay;
  }

  get size(): number {
    return this.#places.size;
  }

  /** Which limit leaves no place for one more of this address; undefined where there is one now, as another one has given way where all were taken. */
  lacksPlaceFor(address: string): Lack | undefined {
    const room = this.#roomFor(address);
    if (typeof room === "string") return room;
    if (room.givesWay === undefined) return undefined;
    this.#places.remove(room.givesWay);
    this.#giveWay(room.givesWay);
    return undefined;
  }

  /** Whether there is a place for one more of this address, or another one would give way. */
  hasPlaceFor(address: string): boolean {
    return typeof this.#roomFor(address) !== "string";
  }

  #roomFor(address: string): Lack | { readonly givesWay: Item | undefined } {
    if (this.#places.of(address) >= this.#limits.mostOfAddress) return "of this address";
    if (this.size < this.#limits.most) return { givesWay: undefined };
    const givesWay = this.#places.givingWay(address);
    return givesWay === undefined ? "of all" : { givesWay };
  }

  add(address: string, item: Item): void {
    this.#places.add(address, item);
  }

  /** Nothing happens for what has none. */
  remove(item: Item): void {
    this.#places.remove(item);
  }
}
