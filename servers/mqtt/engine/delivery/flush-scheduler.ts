import type { Output } from "./output.ts";
import { SharedSlab, SlabPool } from "./shared-slab.ts";

/** While more comes in. */
const gatheredMs = 1;

/**
 * Writes every output at the end of a tick, after `beforeWrite`: what an acknowledgement promises is on disk when it leaves. Never
 * within the handling of a message: on disk it is whole or not at all. Without a store, a full slab leaves before that. While clients go on sending, several ticks leave together:
 * fewer and larger writes, and fewer and larger answers to them.
 */
export class FlushScheduler {
  readonly small = new SlabPool(4_096, 1_024);
  readonly large = new SlabPool(65_536, 512);
  readonly shared = new SharedSlab();
  /** The system has not taken all of the shared memory that outputs wrote. */
  sharedInUse = false;
  /** False: nothing may leave yet; `flush` is called again when it may. */
  beforeWrite: (() => boolean) | undefined = undefined;
  /** Of each client, where all together would leave too much unread. */
  mostUnreadBytes = Number.POSITIVE_INFINITY;
  bytesOut = 0;
  /** Counts what clients sent. */
  arrivals = 0;
  private arrivalsSeen = 0;
  private dirty: Output[] = [];
  private scheduled = false;
  private scheduledAt = 0;
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  add(output: Output): void {
    this.dirty.push(output);
    if (this.scheduled) return;
    this.scheduled = true;
    this.scheduledAt = this.now();
    setImmediate(this.endTick);
  }

  private readonly endTick = (): void => {
    if (!this.scheduled) return;
    const { arrivals } = this;
    const quiet = arrivals === this.arrivalsSeen;
    this.arrivalsSeen = arrivals;
    if (quiet || this.now() - this.scheduledAt >= gatheredMs) this.flush();
    else setImmediate(this.endTick);
  };

  readonly flush = (): void => {
    this.scheduled = false;
    const { dirty } = this;
    if (dirty.length > 0 && this.beforeWrite?.() === false) return;
    this.dirty = [];
    for (const output of dirty) output.flush();
    this.shared.reset(this.sharedInUse);
    this.sharedInUse = false;
  };

  trim(): void {
    this.small.trim();
    this.large.trim();
  }
}
