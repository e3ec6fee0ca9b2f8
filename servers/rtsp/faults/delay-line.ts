import { type DelayedMedia, delayedItemBytes } from "../streams/delayed-media.ts";

/** What is sent later. */
export interface DelayedItem {
  /** Whose memory it is, and how much: others may hold the same. */
  readonly of: object;
  readonly memoryBytes: number;
  readonly bytes: number;
  readonly packets: number;
  readonly send: () => void;
}

interface Held extends DelayedItem {
  readonly dueMs: number;
}

export interface DelayLineOptions {
  /** Of this line, with what items count beside their bytes. */
  readonly mostBytes: number;
  /** Of the stream. */
  readonly memory: DelayedMedia;
  /** So many packets were held back and are never sent. */
  readonly onLost: (packets: number) => void;
}

/** Holds back what is sent later, up to a number of bytes. Times are those of `performance.now()`. */
export class DelayLine {
  readonly #options: DelayLineOptions;
  /** Ordered by their time. */
  readonly #held: Held[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DelayLineOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** Sends it at that time, or never where too much is held back. */
  hold(dueMs: number, item: DelayedItem): void {
    const { mostBytes, memory, onLost } = this.#options;
    const bytes = delayedItemBytes + item.bytes;
    if (this.#bytes + bytes > mostBytes) {
      onLost(item.packets);
      return;
    }
    let at = this.#held.length;
    while (at > 0 && (this.#held[at - 1] as Held).dueMs > dueMs) at--;
    this.#held.splice(at, 0, { ...item, dueMs });
    this.#bytes += bytes;
    memory.hold(this, item.of, item.memoryBytes);
    if (at === 0) this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const [first] = this.#held;
    this.#timer = first && setTimeout(() => this.#release(performance.now()), Math.max(1, first.dueMs - performance.now()));
  }

  #release(nowMs: number): void {
    let count = 0;
    while (count < this.#held.length && (this.#held[count] as Held).dueMs <= nowMs) count++;
    for (const { send } of this.#take(count)) send();
    this.#schedule();
  }

  /** The first ones. */
  #take(count: number): Held[] {
    const { memory } = this.#options;
    const taken = this.#held.splice(0, count);
    for (const item of taken) {
      this.#bytes -= delayedItemBytes + item.bytes;
      memory.release(item.of, item.memoryBytes);
    }
    if (count > 0 && this.isEmpty) memory.left(this);
    return taken;
  }

  /** Sends all of it now. */
  releaseAll(): void {
    this.#release(Number.POSITIVE_INFINITY);
  }

  giveUp(): void {
    const lost = this.#take(this.#held.length).reduce((sum, { packets }) => sum + packets, 0);
    clearTimeout(this.#timer);
    this.#options.onLost(lost);
  }

  /** What is held back is never sent. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#take(this.#held.length);
  }
}
