/** What an item counts beside its bytes. */
export const delayedItemBytes = 256;

/** Who holds something back. */
interface Holder {
  /** Loses all of it. */
  giveUp(): void;
}

/** What faults hold back of one stream, for all of its readers: what several of them hold takes memory once. */
export class DelayedMedia {
  readonly #count: (bytes: number) => void;
  readonly #holders = new Set<Holder>();
  /** How many hold each item. */
  readonly #items = new Map<object, number>();
  #bytes = 0;

  /** `count` is told what all of it takes. It may call `giveUp`. */
  constructor(count: (bytes: number) => void) {
    this.#count = count;
  }

  /** `item` has so many bytes. To be called when the holder has it. */
  hold(holder: Holder, item: object, bytes: number): void {
    const held = this.#items.get(item) ?? 0;
    this.#items.set(item, held + 1);
    this.#holders.add(holder);
    this.#bytes += delayedItemBytes + (held === 0 ? bytes : 0);
    this.#count(this.#bytes);
  }

  /** As many times as it was held. */
  release(item: object, bytes: number): void {
    const held = this.#items.get(item);
    if (held === undefined) return;
    if (held > 1) this.#items.set(item, held - 1);
    else this.#items.delete(item);
    this.#bytes -= delayedItemBytes + (held === 1 ? bytes : 0);
    this.#count(this.#bytes);
  }

  /** The holder has nothing any more. */
  left(holder: Holder): void {
    this.#holders.delete(holder);
  }

  /** All of it is lost. */
  giveUp(): void {
    for (const holder of [...this.#holders]) holder.giveUp();
  }
}
