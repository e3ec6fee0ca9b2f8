import type { BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";

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
  /** The same of all relays, with what else waits for clients: beyond it those lose what is delayed that have most. */
  readonly unsent: SharedBudget;
  /** Of the client. */
  readonly address: string;
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
  readonly #share: BudgetShare;
  /** With what the timers take. */
  delayedBytes = 0;

  constructor({ impairment, mostDelayedBytes, unsent, address, random = Math.random }: ImpairedPathOptions) {
    this.#share = unsent.open(address, () => this.#lose());
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
    if (this.delayedBytes + kept > this.#mostDelayedBytes) return false;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#count(-kept);
      forward();
    }, delayMs);
    this.#timers.add(timer);
    this.#count(kept);
    // It may have been the one that had most.
    return this.#timers.has(timer);
  }

  #count(bytes: number): void {
    this.delayedBytes += bytes;
    this.#share.add(bytes);
  }

  #lose(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#count(-this.delayedBytes);
  }

  /** What is delayed is lost. */
  close(): void {
    this.#lose();
    this.#share.close();
  }
}
