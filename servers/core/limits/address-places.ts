import { rateLimitKey } from "./rate-limit-client.ts";

interface Place<Item> {
  readonly item: Item;
  readonly holder: Holder<Item>;
  isInUse: boolean;
  before: Place<Item> | undefined;
  after: Place<Item> | undefined;
}

interface Holder<Item> {
  readonly key: string;
  count: number;
  /** The newest of those that are in use, and of the others. */
  newestInUse: Place<Item> | undefined;
  newestIdle: Place<Item> | undefined;
}

/**
 * Who has which of a number of places that all clients share, by address. One address may have all of them while nobody else asks; when none is free,
 * the address that has most gives way to another one that has fewer. To ask for a place takes the same time however many are taken.
 */
export class AddressPlaces<Item> {
  readonly #places = new Map<Item, Place<Item>>();
  readonly #holders = new Map<string, Holder<Item>>();
  /** The addresses that have so many. */
  readonly #ofCount = new Map<number, Set<Holder<Item>>>();
  #most = 0;

  get size(): number {
    return this.#places.size;
  }

  /** Those of an address. */
  of(address: string): number {
    return this.#holders.get(rateLimitKey(address))?.count ?? 0;
  }

  has(item: Item): boolean {
    return this.#places.has(item);
  }

  add(address: string, item: Item): void {
    if (this.#places.has(item)) return;
    const key = rateLimitKey(address);
    const holder = this.#holders.get(key) ?? { key, count: 0, newestInUse: undefined, newestIdle: undefined };
    this.#holders.set(key, holder);
    const place: Place<Item> = { item, holder, isInUse: false, before: undefined, after: undefined };
    this.#places.set(item, place);
    link(place);
    this.#count(holder, 1);
  }

  /** From now on it gives way after those of its address that are not in use. */
  use(item: Item): void {
    const place = this.#places.get(item);
    if (!place || place.isInUse) return;
    unlink(place);
    place.isInUse = true;
    link(place);
  }

  remove(item: Item): void {
    const place = this.#places.get(item);
    if (!place) return;
    this.#places.delete(item);
    unlink(place);
    this.#count(place.holder, -1);
  }

  /**
   * What gives way to one more of the client where no place is free: of the address that has most, one that is not in use, else the newest. Undefined where
   * that address would not have more than this one then. `except` is that one more, where it is counted already.
   */
  givingWay(address: string, except?: Item): Item | undefined {
    const own = this.of(address) - (except !== undefined && this.has(except) ? 1 : 0);
    if (this.#most <= own + 1) return undefined;
    const [holder] = this.#ofCount.get(this.#most) ?? [];
    return (holder?.newestIdle ?? holder?.newestInUse)?.item;
  }

  #count(holder: Holder<Item>, by: 1 | -1): void {
    const former = this.#ofCount.get(holder.count);
    if (former?.delete(holder) && former.size === 0) this.#ofCount.delete(holder.count);
    holder.count += by;
    if (holder.count === 0) this.#holders.delete(holder.key);
    else {
      const known = this.#ofCount.get(holder.count);
      if (known) known.add(holder);
      else this.#ofCount.set(holder.count, new Set([holder]));
    }
    if (holder.count > this.#most) this.#most = holder.count;
    else if (!this.#ofCount.has(this.#most)) this.#most--;
  }
}

const newestOf = ({ isInUse }: Place<unknown>) => (isInUse ? "newestInUse" : "newestIdle");

function link<Item>(place: Place<Item>): void {
  const { holder } = place;
  const newest = newestOf(place);
  place.before = holder[newest];
  if (place.before) place.before.after = place;
  holder[newest] = place;
}

function unlink<Item>(place: Place<Item>): void {
  const { holder, before, after } = place;
  if (before) before.after = after;
  if (after) after.before = before;
  else holder[newestOf(place)] = before;
  place.before = undefined;
  place.after = undefined;
}
