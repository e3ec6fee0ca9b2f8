import type { WorkConnection, WorkShare } from "../../core/turns/work-connection.ts";
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
  /** Of its reader: thousands may have much that is due at once, as when a fault ends. */
  readonly work: WorkConnection;
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
  readonly #share: WorkShare;
  /** All of it is due. */
  #isEnding = false;

  constructor(options: DelayLineOptions) {
    this.#options = options;
    this.#share = options.work.join(() => this.#releaseDue());
  }

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** Sends it at that time, or never where too much is held back. At 0 it is sent at once, or behind what waits. */
  hold(dueMs: number, item: DelayedItem): void {
    if (dueMs === 0 && this.isEmpty) {
      item.send();
      return;
    }
    const { mostBytes, memory, onLost } = this.#options;
    const bytes = delayedItemBytes + item.bytes;
    if (this.#bytes + bytes > mostBytes) {
      onLost(item.packets);
      return;
    }
    let at = this.#held.length;
    while (dueMs > 0 && at > 0 && (this.#held[at - 1] as Held).dueMs > dueMs) at--;
    this.#held.splice(at, 0, { ...item, dueMs: dueMs || (this.#held[at - 1] as Held).dueMs });
    this.#bytes += bytes;
    memory.hold(this, item.of, item.memoryBytes);
    if (at === 0) this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const [first] = this.#held;
    this.#timer = first && setTimeout(() => this.#releaseDue(), Math.max(1, first.dueMs - performance.now()));
  }

  #releaseDue(): void {
    const nowMs = performance.now();
    for (let first = this.#held[0]; first && (this.#isEnding || first.dueMs <= nowMs); first = this.#held[0]) {
      if (this.#share.isOver) {
        clearTimeout(this.#timer);
        this.#share.later();
        return;
      }
      this.#take(1);
      first.send();
    }
    this.#isEnding = false;
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

  /** Sends all of it, in turns. */
  releaseAll(): void {
    if (this.isEmpty) return;
    this.#isEnding = true;
    this.#releaseDue();
  }

  /** Sends all of it before it returns. */
  releaseNow(): void {
    clearTimeout(this.#timer);
    for (const { send } of this.#take(this.#held.length)) send();
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
