export interface Rate {
  readonly atOnce: number;
  readonly perSecond: number;
}

/** So many at once, and so many more each second. */
export class Allowance {
  readonly #rate: Rate;
  #left: number;
  #readAtMs = performance.now();

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.atOnce;
  }

  /** Until one may be taken; 0: now. */
  get waitMs(): number {
    const { atOnce, perSecond } = this.#rate;
    const nowMs = performance.now();
    this.#left = Math.min(atOnce, this.#left + ((nowMs - this.#readAtMs) / 1_000) * perSecond);
    this.#readAtMs = nowMs;
    return this.#left >= 1 ? 0 : Math.ceil(((1 - this.#left) / perSecond) * 1_000);
  }

  /** Whether there was one to take. */
  take(): boolean {
    if (this.waitMs > 0) return false;
    this.#left--;
    return true;
  }
}
