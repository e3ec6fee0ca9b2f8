import type { WorkTurns } from "../../core/turns/work-turns.ts";

export const tooManyWait = "too many readers wait";

/** Those who wait for something of a path, of all paths. */
export class WaitingPlaces {
  taken = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get isFull(): boolean {
    return this.taken >= this.#most;
  }
}

export interface WaitingReadersOptions {
  readonly turns: WorkTurns;
  readonly places: WaitingPlaces;
  /** The same for all. */
  readonly waitMs: number;
  /** Of those that have waited so long, and of those for whom there is no place. */
  readonly refusal: (reason: "late" | "full") => Error;
  /** The last one was refused. */
  readonly onNobody?: () => void;
}

interface Waiting<Value> {
  readonly dueMs: number;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/** Readers who wait for the same thing. There may be thousands: they go on, or are refused, in turns. */
export class WaitingReaders<Value> {
  readonly #options: WaitingReadersOptions;
  /** The one that has waited longest first. */
  readonly #waiting = new Set<Waiting<Value>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WaitingReadersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.size;
  }

  wait(): Promise<Value> {
    const { places, waitMs, refusal } = this.#options;
    if (places.isFull) return Promise.reject(refusal("full"));
    places.taken++;
    return new Promise((resolve, reject) => {
      this.#waiting.add({ dueMs: performance.now() + waitMs, resolve, reject });
      this.#timer ??= setTimeout(() => this.#refuse(), waitMs);
    });
  }

  resolve(value: Value): void {
    this.#end(this.#takeAll(), (one) => one.resolve(value));
  }

  reject(error: Error): void {
    this.#end(this.#takeAll(), (one) => one.reject(error));
  }

  #takeAll(): readonly Waiting<Value>[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const all = [...this.#waiting];
    this.#waiting.clear();
    return all;
  }

  #end(ended: readonly Waiting<Value>[], act: (one: Waiting<Value>) => void): void {
    const { turns, places } = this.#options;
    const work = turns.connection("");
    // A task each: what one goes on with in promises is done before the next one.
    for (const one of ended)
      work
        .join(() => {
          places.taken--;
          act(one);
        })
        .later();
  }

  #refuse(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    const over: Waiting<Value>[] = [];
    for (const one of this.#waiting) {
      // A timer may be a fraction of a millisecond early.
      if (one.dueMs > nowMs + 1) {
        this.#timer = setTimeout(() => this.#refuse(), one.dueMs - nowMs);
        break;
      }
      this.#waiting.delete(one);
      over.push(one);
    }
    const error = this.#options.refusal("late");
    this.#end(over, (one) => one.reject(error));
    if (this.#waiting.size === 0) this.#options.onNobody?.();
  }
}
