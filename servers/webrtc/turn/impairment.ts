/** What is done to the data of one relay, in both directions, so that an application can be tested with it. */
export interface Impairment {
  /** Nothing passes. The allocation and its answers stay. */
  readonly isCut: boolean;
  /** Part of the datagrams that are lost, from 0 to 1. */
  readonly loss: number;
  readonly delayMs: number;
}

export const noImpairment: Impairment = { isCut: false, loss: 0, delayMs: 0 };

export interface ImpairedPathOptions {
  readonly impairment: Impairment;
  /** What is delayed at the same time; more is lost. */
  readonly mostDelayedBytes: number;
  /** From 0 to 1, as `Math.random`. */
  readonly random?: () => number;
}

/** What waiting costs beside the data. */
const timerBytes = 500;

/** Holds back, or loses, the datagrams of one relay. */
export class ImpairedPath {
  readonly impairment: Impairment;
  readonly #mostDelayedBytes: number;
  readonly #random: () => number;
  readonly #timers = new Set<NodeJS.Timeout>();
  #delayedBytes = 0;

  constructor({ impairment, mostDelayedBytes, random = Math.random }: ImpairedPathOptions) {
    this.impairment = impairment;
    this.#mostDelayedBytes = mostDelayedBytes;
    this.#random = random;
  }

  /** False where the datagram of this size is lost. */
  pass(bytes: number, forward: () => void): boolean {
    const { isCut, loss, delayMs } = this.impairment;
    if (isCut || (loss > 0 && this.#random() < loss)) return false;
    if (delayMs === 0) {
      forward();
      return true;
    }
    const kept = bytes + timerBytes;
    if (this.#delayedBytes + kept > this.#mostDelayedBytes) return false;
    this.#delayedBytes += kept;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#delayedBytes -= kept;
      forward();
    }, delayMs);
    this.#timers.add(timer);
    return true;
  }

  /** What is delayed is lost. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
