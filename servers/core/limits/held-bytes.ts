/** A holder that has less is not counted: small messages cost no more than the look at their length. */
const countedFrom = 64 << 10;

/** A connection with messages of its client in memory: begun ones, and those that are not answered yet. */
export interface ByteHolder {
  /** All together have more than the limit, and this one has most: it has to release what it holds. */
  giveWay(): void;
}

/** The memory that messages of clients take in all connections of a process. Beyond the limit those that hold most give way. */
export class HeldBytes {
  readonly mostBytes: number;
  readonly #ofHolders = new Map<ByteHolder, number>();
  #total = 0;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  /** What the holder has from here on, 0 at its end. */
  count(holder: ByteHolder, bytes: number): void {
    const before = this.#ofHolders.get(holder);
    const counted = bytes < countedFrom ? 0 : bytes;
    if (before === undefined && counted === 0) return;
    this.#total += counted - (before ?? 0);
    if (counted === 0) this.#ofHolders.delete(holder);
    else this.#ofHolders.set(holder, counted);
    if (counted > (before ?? 0)) while (this.#total > this.mostBytes) this.#endLargest();
  }

  #endLargest(): void {
    const [largest, bytes] = [...this.#ofHolders].reduce((one, other) => (other[1] > one[1] ? other : one));
    this.#ofHolders.delete(largest);
    this.#total -= bytes;
    largest.giveWay();
  }
}
