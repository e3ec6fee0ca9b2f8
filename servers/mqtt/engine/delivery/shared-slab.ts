const slabBytes = 65_536;

/** An encoded message in shared memory. */
export class SharedRun {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly generation: number;
  private made: Buffer | undefined = undefined;

  constructor(bytes: Buffer, start: number, end: number, generation: number) {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.generation = generation;
  }

  /** A view, created on first use. */
  get view(): Buffer {
    this.made ??= this.bytes.subarray(this.start, this.end);
    return this.made;
  }
}

/**
 * Memory for messages that are identical for several clients: each is encoded once, and all clients are sent the same bytes.
 * Contiguous messages are sent in one write.
 */
export class SharedSlab {
  /** Incremented when the memory is reused: earlier runs are then invalid. */
  generation = 1;
  private slab = Buffer.allocUnsafeSlow(slabBytes);
  private end = 0;

  /** Allocates memory for the caller to fill. */
  reserve(count: number): SharedRun {
    const { generation } = this;
    if (count > slabBytes) return new SharedRun(Buffer.allocUnsafeSlow(count), 0, count, generation);
    // The full slab is freed with the last of its runs.
    if (this.end + count > slabBytes) this.renew();
    const start = this.end;
    this.end += count;
    return new SharedRun(this.slab, start, this.end, generation);
  }

  /** Reuses the memory after all outputs have written it; with `inUse`, transports still read it, so it is replaced. */
  reset(inUse: boolean): void {
    if (this.end === 0) return;
    if (inUse) this.renew();
    this.end = 0;
    this.generation++;
  }

  private renew(): void {
    this.slab = Buffer.allocUnsafeSlow(slabBytes);
    this.end = 0;
  }
}

/** Minimum number of slabs kept for reuse. */
const leastPooled = 16;

/** A pool of buffers for all outputs, so that an idle connection holds none. */
export class SlabPool {
  readonly slabBytes: number;
  private readonly slabs: Buffer[] = [];
  private readonly most: number;
  /** Lowest number of free slabs since the last `trim`: these were not needed. */
  private unused = 0;

  constructor(slabBytes: number, most: number) {
    this.slabBytes = slabBytes;
    this.most = most;
  }

  take(): Buffer {
    const slab = this.slabs.pop() ?? Buffer.allocUnsafeSlow(this.slabBytes);
    this.unused = Math.min(this.unused, this.slabs.length);
    return slab;
  }

  give(slab: Buffer): void {
    if (this.slabs.length < this.most) this.slabs.push(slab);
  }

  /** Called periodically: frees slabs that only a burst needed. */
  trim(): void {
    this.slabs.length -= Math.min(this.unused, Math.max(0, this.slabs.length - leastPooled));
    this.unused = this.slabs.length;
  }
}
