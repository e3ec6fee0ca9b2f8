import { SharedSlab, SlabPool } from "./shared-slab.ts";

/** Buffered output that is written at the end of a tick. */
export interface Flushable {
  flush(): void;
}

/** Longest delay of writes while clients keep sending. */
const gatheredMs = 1;

/**
 * Writes all outputs at the end of a tick, after `beforeWrite` has committed: acknowledged messages are on disk before the
 * acknowledgement is sent. With a store, never writes while a message is handled, so its changes are committed together; without
 * one, a full slab is written at once. While clients keep sending, the output of several ticks is combined into fewer, larger writes.
 */
export class FlushScheduler {
  readonly small = new SlabPool(4_096, 1_024);
  readonly large = new SlabPool(65_536, 512);
  readonly shared = new SharedSlab();
  /** The transports may still read the shared memory. */
  sharedInUse = false;
  /** False if nothing may be written yet; `flush` is then called again later. */
  beforeWrite: (() => boolean) | undefined = undefined;
  /** Lower limit for each client while all clients together leave too much unread. */
  mostUnreadBytes = Number.POSITIVE_INFINITY;
  bytesOut = 0;
  /** Number of reads from clients. */
  arrivals = 0;
  private arrivalsSeen = 0;
  private dirty: Flushable[] = [];
  private scheduled = false;
  private scheduledAt = 0;
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  add(output: Flushable): void {
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
