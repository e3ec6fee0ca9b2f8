/** Bytes on their way to one client, gathered over a tick into one write. */

/** Where the bytes go: a socket, a WebSocket. */
export interface Transport {
  /** Hands bytes to the system; true when they are out already and the memory may be used again. */
  write(bytes: Buffer): boolean;
  /** Bytes handed over that the system has not taken. */
  readonly pendingBytes: number;
  /** No more will be written: close once all is out. */
  end(): void;
  destroy(): void;
  pause(): void;
  resume(): void;
}

const smallSlabBytes = 4_096;
const largeSlabBytes = 65_536;
const pooledSlabs = 64;

/** Memory that many outputs use in turn, so that an idle connection holds none. */
class SlabPool {
  private readonly slabs: Buffer[] = [];
  private readonly size: number;

  constructor(size: number) {
    this.size = size;
  }

  take(): Buffer {
    return this.slabs.pop() ?? Buffer.allocUnsafeSlow(this.size);
  }

  give(slab: Buffer): void {
    if (this.slabs.length < pooledSlabs) this.slabs.push(slab);
  }
}

/**
 * Writes every output once a tick, after `beforeWrite`: what an acknowledgement promises is on disk when it leaves. Never within
 * the handling of a message: on disk it is whole or not at all.
 */
export class FlushScheduler {
  readonly small = new SlabPool(smallSlabBytes);
  readonly large = new SlabPool(largeSlabBytes);
  beforeWrite: (() => void) | undefined = undefined;
  bytesOut = 0;
  private dirty: Output[] = [];
  private scheduled = false;

  add(output: Output): void {
    this.dirty.push(output);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(this.flush);
  }

  readonly flush = (): void => {
    this.scheduled = false;
    const { dirty } = this;
    this.dirty = [];
    if (dirty.length > 0) this.beforeWrite?.();
    for (const output of dirty) output.flush();
  };
}

export class Output {
  /** Behind the client by more than its limit: QoS 0 is dropped, the rest waits in the queue. */
  congested = false;
  /** The bytes of the current slab; written up to `end`. */
  slab: Buffer | undefined = undefined;
  end = 0;
  private dirty = false;
  /** Slabs that are full before the end of the tick, where nothing may leave before that. */
  private full: Buffer[] | undefined = undefined;
  private fullBytes = 0;
  private heldBytes = 0;
  /** Chunks that leave later: the client is delayed or frozen on purpose. */
  private held: Buffer[] | undefined = undefined;
  private delayMs = 0;
  private frozen = false;
  /** Handed over so far; what is held back counts. */
  bytesOut = 0;
  private readonly transport: Transport;
  private readonly scheduler: FlushScheduler;
  private readonly limitBytes: number;

  constructor(transport: Transport, scheduler: FlushScheduler, limitBytes: number) {
    this.transport = transport;
    this.scheduler = scheduler;
    this.limitBytes = limitBytes;
  }

  get pendingBytes(): number {
    return this.transport.pendingBytes + this.heldBytes + this.fullBytes + this.end;
  }

  /** Makes room for `count` bytes at `end` of `slab`; the caller writes them and moves `end`. */
  reserve(count: number): Buffer {
    let { slab } = this;
    if (slab && slab.length - this.end >= count) return slab;
    if (slab && slab.length === smallSlabBytes && this.end + count <= largeSlabBytes) {
      const large = this.scheduler.large.take();
      slab.copy(large, 0, 0, this.end);
      this.scheduler.small.give(slab);
      this.slab = large;
      return large;
    }
    if (slab && this.end > 0) {
      if (this.scheduler.beforeWrite) this.fill(slab);
      else this.flushSlab();
    }
    slab =
      count <= smallSlabBytes
        ? this.scheduler.small.take()
        : count <= largeSlabBytes
          ? this.scheduler.large.take()
          : Buffer.allocUnsafeSlow(count);
    this.slab = slab;
    this.end = 0;
    if (!this.dirty) {
      this.dirty = true;
      this.scheduler.add(this);
    }
    return slab;
  }

  put(bytes: Buffer): void {
    const slab = this.reserve(bytes.length);
    slab.set(bytes, this.end);
    this.end += bytes.length;
  }

  flush(): void {
    this.dirty = false;
    const { full } = this;
    if (full) {
      this.full = undefined;
      this.fullBytes = 0;
      for (const bytes of full) this.write(bytes);
    }
    this.flushSlab();
  }

  /** The system has taken what was pending. */
  drained(): void {
    this.congested = this.pendingBytes > this.limitBytes;
  }

  /** Everything from now on leaves `delayMs` later; 0 ends that. */
  delay(delayMs: number): void {
    this.delayMs = delayMs;
  }

  freeze(): void {
    this.frozen = true;
  }

  thaw(): void {
    this.frozen = false;
    const held = this.held ?? [];
    this.held = undefined;
    for (const bytes of held) {
      this.heldBytes -= bytes.length;
      this.transport.write(bytes);
    }
    this.drained();
  }

  private fill(slab: Buffer): void {
    this.full ??= [];
    this.full.push(slab.subarray(0, this.end));
    this.fullBytes += this.end;
    this.slab = undefined;
    this.end = 0;
    this.congested = this.pendingBytes > this.limitBytes;
  }

  private flushSlab(): void {
    const { slab, end } = this;
    if (!slab || end === 0) return;
    this.slab = undefined;
    this.end = 0;
    if (this.write(slab.subarray(0, end))) this.release(slab);
    this.congested = this.pendingBytes > this.limitBytes;
  }

  /** True when the bytes are out already. */
  private write(bytes: Buffer): boolean {
    this.scheduler.bytesOut += bytes.length;
    this.bytesOut += bytes.length;
    if (!this.frozen && this.delayMs === 0) return this.transport.write(bytes);
    this.hold(Buffer.from(bytes));
    return true;
  }

  private release(slab: Buffer): void {
    if (slab.length === smallSlabBytes) this.scheduler.small.give(slab);
    else if (slab.length === largeSlabBytes) this.scheduler.large.give(slab);
  }

  private hold(bytes: Buffer): void {
    this.heldBytes += bytes.length;
    if (this.frozen) {
      this.held ??= [];
      this.held.push(bytes);
      return;
    }
    // Timers of one length fire in order, so the packets keep theirs.
    setTimeout(() => {
      if (this.frozen) {
        this.held ??= [];
        this.held.push(bytes);
        return;
      }
      this.heldBytes -= bytes.length;
      this.transport.write(bytes);
      this.drained();
    }, this.delayMs).unref();
  }
}
