interface Held {
  readonly dueMs: number;
  readonly bytes: number;
  readonly send: () => void;
}

/** What an item counts beside its bytes. */
const itemOverheadBytes = 256;

/** Holds back what is sent later, up to a number of bytes. Times are those of `performance.now()`. */
export class DelayLine {
  readonly #mostBytes: number;
  /** Ordered by their time. */
  readonly #held: Held[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** Sends it at that time; false where too much is held back already. */
  hold(dueMs: number, ofContent: number, send: () => void): boolean {
    const bytes = itemOverheadBytes + ofContent;
    if (this.#bytes + bytes > this.#mostBytes) return false;
    let at = this.#held.length;
    while (at > 0 && (this.#held[at - 1] as Held).dueMs > dueMs) at--;
    this.#held.splice(at, 0, { dueMs, bytes, send });
    this.#bytes += bytes;
    if (at === 0) this.#schedule();
    return true;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const [first] = this.#held;
    this.#timer = first && setTimeout(() => this.#release(performance.now()), Math.max(1, first.dueMs - performance.now()));
  }

  #release(nowMs: number): void {
    let count = 0;
    while (count < this.#held.length && (this.#held[count] as Held).dueMs <= nowMs) count++;
    for (const { bytes, send } of this.#held.splice(0, count)) {
      this.#bytes -= bytes;
      send();
    }
    this.#schedule();
  }

  /** Sends all of it now. */
  releaseAll(): void {
    this.#release(Number.POSITIVE_INFINITY);
  }

  /** What is held back is never sent. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#held.length = 0;
    this.#bytes = 0;
  }
}
