import type { FlushScheduler } from "../engine/delivery/flush-scheduler.ts";
import type { Broadcasts } from "../engine/routing/broadcasts.ts";
import type { Message } from "../engine/routing/message.ts";
import { type Ranked, RankedHeap } from "../engine/session/ranked-heap.ts";

/** Memory of a reply that waits, in addition to its message. */
const ownBytes = 900;

interface Due extends Ranked {
  readonly message: Message;
  readonly bytes: number;
  /** True if it is much to write. */
  readonly publish: () => boolean;
}

export interface DueRepliesOptions {
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
  /** Replies to thousands are delivered before the next ones are published. */
  readonly broadcasts: Pick<Broadcasts, "isIdle" | "whenIdle">;
  /** Of all replies that wait; above it each publisher's address has its share. */
  readonly mostBytes: number;
}

/** Replies to be published later, in the turns of all clients: thousands may be due at once. */
export class DueReplies {
  private readonly waiting = new RankedHeap<Due>();
  /** By address of the publishers. */
  private readonly bytesOf = new Map<string, number>();
  private bytes = 0;
  private timer: NodeJS.Timeout | undefined = undefined;
  private isClosed = false;
  private readonly options: DueRepliesOptions;

  constructor(options: DueRepliesOptions) {
    this.options = options;
  }

  /** False if there is no room. `publish` returns true if what it has published is much to write. */
  add(message: Message, delayMs: number, publish: () => boolean): boolean {
    const { mostBytes } = this.options;
    const { publisherAddress } = message;
    const bytes = message.bytes + ownBytes;
    const own = bytes + (this.bytesOf.get(publisherAddress) ?? 0);
    const addresses = this.bytesOf.size + Number(!this.bytesOf.has(publisherAddress));
    if (this.bytes + bytes > mostBytes && own > mostBytes / addresses) return false;
    this.bytes += bytes;
    this.bytesOf.set(publisherAddress, own);
    message.compact();
    const due: Due = { rank: 0, order: 0, place: -1, message, bytes, publish };
    this.waiting.put(due, performance.now() + delayMs);
    if (this.waiting.first === due) this.setTimer();
    return true;
  }

  private setTimer(): void {
    clearTimeout(this.timer);
    const { first } = this.waiting;
    if (first && !this.isClosed) this.timer = setTimeout(this.publishDue, Math.max(0, Math.ceil(first.rank - performance.now())));
  }

  private readonly publishDue = (): void => {
    clearTimeout(this.timer);
    const { scheduler, broadcasts } = this.options;
    const now = performance.now();
    for (let due = this.waiting.first; due && due.rank <= now && !this.isClosed; due = this.waiting.first) {
      let isOver = scheduler.isTurnOver();
      if (!isOver) {
        this.remove(due);
        isOver = due.publish() || !broadcasts.isIdle;
      }
      if (!isOver) continue;
      broadcasts.whenIdle(() => scheduler.whenWritten(this.publishDue, "much"));
      return;
    }
    this.setTimer();
  };

  private remove(due: Due): void {
    this.waiting.remove(due);
    this.bytes -= due.bytes;
    const { publisherAddress } = due.message;
    const left = (this.bytesOf.get(publisherAddress) ?? 0) - due.bytes;
    if (left > 0) this.bytesOf.set(publisherAddress, left);
    else this.bytesOf.delete(publisherAddress);
  }

  /** What waits is not published. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }
}
