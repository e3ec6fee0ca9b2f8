import { compacted } from "../routing/message.ts";
import type { FlushScheduler } from "./flush-scheduler.ts";
import type { SharedRun, SharedSlab } from "./shared-slab.ts";

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

/** Up to this size shared bytes are copied; larger ones get their own write. */
const copiedBytes = 16_384;

/** Bytes of a client that is delayed or frozen on purpose. */
interface HeldChunk {
  readonly bytes: Buffer;
  readonly dueAt: number;
  readonly onHandedOver: readonly (() => void)[] | undefined;
}

export interface OutputOwner {
  /** The client is no longer behind by more than its limit. */
  relieved(): void;
  /** Runs a step for the client: what it throws ends its connection and no other. */
  run(step: () => void): void;
  /** Ends its connection for what was thrown. */
  fault(error: unknown): void;
}

/** Bytes on their way to one client, gathered over a tick into one write. */
export class Output {
  /** Behind the client by more than its limit: QoS 0 is dropped, the rest waits in the queue. */
  congested = false;
  /** The bytes of the current slab; written up to `end`. */
  slab: Buffer | undefined = undefined;
  end = 0;
  /** Instead of a slab: bytes that others are sent too. */
  private shared: Buffer | undefined = undefined;
  private sharedStart = 0;
  private sharedEnd = 0;
  private dirty = false;
  /** Slabs that are full before the end of the tick, where nothing may leave before that. */
  private full: Buffer[] | undefined = undefined;
  private fullBytes = 0;
  private heldBytes = 0;
  /** In order; undefined where there are none. */
  private held: HeldChunk[] | undefined = undefined;
  private heldTimer: NodeJS.Timeout | undefined = undefined;
  private delayMs = 0;
  private frozen = false;
  /** For the bytes that are put and not yet held back. */
  private onHandedOver: (() => void)[] | undefined = undefined;
  /** Handed over so far; what is held back counts. */
  bytesOut = 0;
  private readonly transport: Transport;
  private readonly scheduler: FlushScheduler;
  private readonly limitBytes: number;
  private readonly owner: OutputOwner;

  constructor(transport: Transport, scheduler: FlushScheduler, limitBytes: number, owner: OutputOwner) {
    this.transport = transport;
    this.scheduler = scheduler;
    this.limitBytes = limitBytes;
    this.owner = owner;
  }

  get pendingBytes(): number {
    return this.transport.pendingBytes + this.heldBytes + this.fullBytes + this.end + this.sharedEnd - this.sharedStart;
  }

  /** Where messages for many are encoded, for `putShared`. */
  get sharedSlab(): SharedSlab {
    return this.scheduler.shared;
  }

  /** Makes room for `count` bytes at `end` of `slab`; the caller writes them and moves `end`. */
  reserve(count: number): Buffer {
    if (this.shared) this.takeOver(this.shared);
    const { slab } = this;
    if (slab && slab.length - this.end >= count) return slab;
    const { small, large } = this.scheduler;
    if (slab && slab.length === small.slabBytes && this.end + count <= large.slabBytes) {
      const larger = large.take();
      slab.copy(larger, 0, 0, this.end);
      small.give(slab);
      this.slab = larger;
      return larger;
    }
    this.passOn();
    this.slab = count <= small.slabBytes ? small.take() : count <= large.slabBytes ? large.take() : Buffer.allocUnsafeSlow(count);
    this.markDirty();
    return this.slab;
  }

  /** Bytes that stay as they are until the end of the tick. */
  putShared({ bytes, start, end }: SharedRun): void {
    if (this.shared === bytes && this.sharedEnd === start) {
      this.sharedEnd = end;
      return;
    }
    // Not behind the others in memory: copied, where that is less than one more write.
    const copied = this.shared === bytes || this.end > 0;
    if (copied && end - start <= copiedBytes) {
      const slab = this.reserve(end - start);
      this.end += bytes.copy(slab, this.end, start, end);
      return;
    }
    this.passOn();
    this.shared = bytes;
    this.sharedStart = start;
    this.sharedEnd = end;
    this.markDirty();
  }

  /** What is shared so far goes into a slab, for more to follow it. */
  private takeOver(shared: Buffer): void {
    const { sharedStart, sharedEnd } = this;
    if (sharedEnd - sharedStart > copiedBytes) {
      this.passOn();
      return;
    }
    this.shared = undefined;
    this.sharedStart = this.sharedEnd = 0;
    const slab = this.reserve(sharedEnd - sharedStart);
    this.end = shared.copy(slab, 0, sharedStart, sharedEnd);
  }

  private markDirty(): void {
    if (this.dirty) return;
    this.dirty = true;
    this.scheduler.add(this);
  }

  put(bytes: Buffer): void {
    const slab = this.reserve(bytes.length);
    slab.set(bytes, this.end);
    this.end += bytes.length;
  }

  /** Never throws. */
  flush(): void {
    this.dirty = false;
    try {
      this.flushAll();
    } catch (error) {
      // Some of it may be with the transport.
      this.scheduler.sharedInUse = true;
      this.owner.fault(error);
    }
  }

  private flushAll(): void {
    const { full } = this;
    if (full) {
      this.full = undefined;
      this.fullBytes = 0;
      // Some of it may be shared.
      for (const bytes of full) if (!this.write(bytes)) this.scheduler.sharedInUse = true;
    }
    this.flushCurrent();
    if (this.onHandedOver) this.handedOver();
    if (this.congested) this.settle();
  }

  /** Discards everything that was not sent yet. */
  discard(): void {
    this.full = this.slab = this.shared = this.onHandedOver = undefined;
    this.fullBytes = this.end = this.sharedStart = this.sharedEnd = 0;
  }

  private isBehind(): boolean {
    return this.pendingBytes > Math.min(this.limitBytes, this.scheduler.mostUnreadBytes);
  }

  /** To be called when less is pending than before: who waited may go on. */
  settle(): void {
    const wasCongested = this.congested;
    this.congested = this.isBehind();
    if (wasCongested && !this.congested) this.owner.relieved();
  }

  /** Frozen or delayed on purpose: what is put now leaves later. */
  get heldBack(): boolean {
    return this.frozen || this.delayMs > 0 || this.held !== undefined;
  }

  /** `done` is called when what was put so far is with the transport. */
  whenHandedOver(done: () => void): void {
    this.onHandedOver ??= [];
    this.onHandedOver.push(done);
  }

  private handedOver(): void {
    const callbacks = this.onHandedOver;
    this.onHandedOver = undefined;
    for (const done of callbacks ?? []) done();
  }

  /** Everything from now on leaves `delayMs` later; 0 ends that, and what waits leaves now. */
  delay(delayMs: number): void {
    this.delayMs = delayMs;
    if (delayMs === 0) this.letGo(Number.POSITIVE_INFINITY);
  }

  freeze(): void {
    this.frozen = true;
  }

  thaw(): void {
    this.frozen = false;
    this.letGo(this.delayMs === 0 ? Number.POSITIVE_INFINITY : performance.now());
  }

  /** It ends: what waits on purpose leaves before. */
  unhinder(): void {
    this.frozen = false;
    this.delay(0);
  }

  /** Full before the end of the tick: written at once, or where nothing may leave before that, set aside. */
  private passOn(): void {
    if (!this.scheduler.beforeWrite) {
      this.flushCurrent();
      return;
    }
    const bytes = this.shared ? this.shared.subarray(this.sharedStart, this.sharedEnd) : this.slab?.subarray(0, this.end);
    if (!bytes || bytes.length === 0) return;
    this.full ??= [];
    this.full.push(bytes);
    this.fullBytes += bytes.length;
    this.slab = this.shared = undefined;
    this.end = this.sharedStart = this.sharedEnd = 0;
    if (this.isBehind()) this.congested = true;
  }

  private flushCurrent(): void {
    const { slab, end, shared } = this;
    if (shared) {
      const bytes = shared.subarray(this.sharedStart, this.sharedEnd);
      this.shared = undefined;
      this.sharedStart = this.sharedEnd = 0;
      if (!this.write(bytes)) this.scheduler.sharedInUse = true;
    } else if (slab && end > 0) {
      this.slab = undefined;
      this.end = 0;
      if (this.write(slab.subarray(0, end))) this.release(slab);
    } else return;
    if (this.isBehind()) this.congested = true;
  }

  /** True when the memory may be used again: the bytes are out already, or copied. */
  private write(bytes: Buffer): boolean {
    this.scheduler.bytesOut += bytes.length;
    this.bytesOut += bytes.length;
    if (this.heldBack) {
      this.hold(Buffer.from(bytes));
      return true;
    }
    // Behind others it waits long, and must not hold a slab for a few bytes.
    const waiting = this.transport.pendingBytes > 0 ? compacted(bytes) : bytes;
    return this.transport.write(waiting) || waiting !== bytes;
  }

  private release(slab: Buffer): void {
    const { small, large } = this.scheduler;
    if (slab.length === small.slabBytes) small.give(slab);
    else if (slab.length === large.slabBytes) large.give(slab);
  }

  private hold(bytes: Buffer): void {
    this.heldBytes += bytes.length;
    this.held ??= [];
    // Behind those before it, also where the delay is shorter now.
    const dueAt = Math.max(performance.now() + this.delayMs, this.held.at(-1)?.dueAt ?? 0);
    this.held.push({ bytes, dueAt, onHandedOver: this.onHandedOver });
    this.onHandedOver = undefined;
    this.letGoLater(dueAt);
  }

  private letGoLater(dueAt: number): void {
    if (this.frozen || this.heldTimer) return;
    this.heldTimer = setTimeout(() => {
      this.heldTimer = undefined;
      this.owner.run(() => this.letGo(performance.now()));
    }, dueAt - performance.now()).unref();
  }

  private letGo(upTo: number): void {
    const { held } = this;
    if (!held || this.frozen) return;
    const later = held.findIndex(({ dueAt }) => dueAt > upTo);
    const due = later < 0 ? held : held.slice(0, later);
    this.held = later < 0 ? undefined : held.slice(later);
    clearTimeout(this.heldTimer);
    this.heldTimer = undefined;
    const [next] = this.held ?? [];
    if (next) this.letGoLater(next.dueAt);
    for (const { bytes, onHandedOver } of due) {
      this.heldBytes -= bytes.length;
      this.transport.write(bytes);
      for (const done of onHandedOver ?? []) done();
    }
    if (due.length > 0) this.settle();
  }
}
