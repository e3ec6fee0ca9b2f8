/** Largest body that is kept whole. */
export const mostKeptBytes = 256 << 10;

/**
 * Bytes of bodies that are kept beyond the first ones of each, as a rate: full load keeps no more than these first ones and the rate. What was
 * not used is saved up for one second, or for one body.
 */
export class BodyBudget {
  readonly #bytesPerSecond: number;
  readonly #most: number;
  readonly #now: () => number;
  #left: number;
  #at: number;

  constructor(bytesPerSecond: number, now = () => performance.now()) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#most = Math.max(bytesPerSecond, mostKeptBytes);
    this.#now = now;
    this.#left = this.#most;
    this.#at = now();
  }

  /** All of them or none. */
  take(bytes: number): boolean {
    const at = this.#now();
    this.#left = Math.min(this.#most, this.#left + ((at - this.#at) * this.#bytesPerSecond) / 1_000);
    this.#at = at;
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** All bytes where the budget has room for what is beyond the limit, else the first ones. A view. */
export const keptBytesOf = (bytes: Buffer, limit: number, budget: BodyBudget | undefined): Buffer =>
  bytes.length > limit && bytes.length <= mostKeptBytes && budget?.take(bytes.length - limit) === true ? bytes : bytes.subarray(0, limit);

/** None for a rate of 0. */
export const budgetOf = (bytesPerSecond: number): BodyBudget | undefined =>
  bytesPerSecond > 0 ? new BodyBudget(bytesPerSecond) : undefined;
