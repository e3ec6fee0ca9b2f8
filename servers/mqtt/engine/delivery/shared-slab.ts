const slabBytes = 65_536;

/** A part of memory that many clients are sent. */
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

  /** For those who copy it. */
  get view(): Buffer {
    this.made ??= this.bytes.subarray(this.start, this.end);
    return this.made;
  }
}

/**
 * Memory for messages that go to many clients alike: each is encoded once, and clients are sent the same bytes. What lies one
 * behind the other leaves in one write.
 */
export class SharedSlab {
  /** Incremented when the memory is reused: earlier runs are then invalid. */
  generation = 1;
  private slab = Buffer.allocUnsafeSlow(slabBytes);
  private end = 0;

  /** For the caller to fill. */
  reserve(count: number): SharedRun {
    const { generation } = this;
    if (count > slabBytes) return new SharedRun(Buffer.allocUnsafeSlow(count), 0, count, generation);
    // The full one goes with the last of its runs.
    if (this.end + count > slabBytes) this.renew();
    const start = this.end;
    this.end += count;
    return new SharedRun(this.slab, start, this.end, generation);
  }

  /** Once nobody is to be sent any of it; with `inUse` the system has not taken all of it. */
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

/** Kept also where none of them is used. */
const leastPooled = 16;

/** Memory that many outputs use in turn, so that an idle connection holds none. */
export class SlabPool {
  readonly slabBytes: number;
  private readonly slabs: Buffer[] = [];
  private readonly most: number;
  /** The fewest that lay here since the last `trim`: nobody needed those. */
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

  /** From time to time: gives back what a burst left. */
  trim(): void {
    this.slabs.length -= Math.min(this.unused, Math.max(0, this.slabs.length - leastPooled));
    this.unused = this.slabs.length;
  }
}
