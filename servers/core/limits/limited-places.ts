import { AddressPlaces } from "./address-places.ts";

export interface PlaceLimits {
  /** Of all clients. */
  readonly most: number;
  /** Of one IPv4 address, or one /64 of IPv6. */
  readonly mostOfAddress: number;
}

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

  /** Which limit leaves no place for one more of this address; undefined where there is one now. */
  lacksPlaceFor(address: string): "of this address" | "of all" | undefined {
    if (this.#places.of(address) >= this.#limits.mostOfAddress) return "of this address";
    if (this.size < this.#limits.most) return undefined;
    const item = this.#places.givingWay(address);
    if (item === undefined) return "of all";
    this.#places.remove(item);
    this.#giveWay(item);
    return undefined;
  }

  /** The same without anybody giving way. */
  hasPlaceFor(address: string): boolean {
    if (this.#places.of(address) >= this.#limits.mostOfAddress) return false;
    return this.size < this.#limits.most || this.#places.givingWay(address) !== undefined;
  }

  add(address: string, item: Item): void {
    this.#places.add(address, item);
  }

  /** Nothing happens for what has none. */
  remove(item: Item): void {
    this.#places.remove(item);
  }
}
