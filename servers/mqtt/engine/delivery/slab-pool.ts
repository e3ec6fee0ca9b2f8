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
