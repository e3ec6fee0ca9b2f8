import type { BudgetShare } from "../../../core/limits/shared-budget.ts";
import { compacted } from "../../codec/byte-reader.ts";
import type { FlushScheduler } from "./flush-scheduler.ts";
import { type HandedOver, HeldBack } from "./held-back.ts";
import type { SharedRun, SharedSlab } from "./shared-slab.ts";

/** A socket or WebSocket. */
export interface Transport {
  /** Returns true if the bytes were written synchronously, so that the memory may be reused. `isUrgent`: they go before those of others, where they wait. */
  write(bytes: Buffer, isUrgent?: boolean): boolean;
  /** Bytes that the operating system has not accepted yet. */
  readonly pendingBytes: number;
  /** Received and not passed on, such as parts of a WebSocket's message. */
  readonly arrivingBytes?: number;
  /** Closes after the pending bytes were written. */
  end(): void;
  destroy(): void;
  pause(): void;
  resume(): void;
}

/** Up to this size shared bytes are copied; larger ones get their own write. */
const copiedBytes = 16_384;

/** To write more than this takes long enough that others go first. */
const largeBytes = 16_384;

/** More than that is not set aside for one client, also if it is in memory once for all of them. */
const mostBytesAside = 16 << 20;

export interface OutputOwner {
  /** The client's unread bytes are below the limit again. */
  congestionEnded(): void;
  /** Runs a step for the client: an error in it ends only this client's connection. */
  run(step: () => void): void;
  /** Ends the client's connection because of the error. */
  fault(error: unknown): void;
}

/** Output buffer of one client: combines the bytes of a tick into one write. */
export class Output {
  /** The client's unread bytes exceed the limit: QoS 0 is dropped, other messages wait in the queue. */
  congested = false;
  /** The current slab; filled up to `end`. */
  slab: Buffer | undefined = undefined;
  end = 0;
  /** Used instead of a slab: bytes shared with other clients. */
  private shared: Buffer | undefined = undefined;
  private sharedStart = 0;
  private sharedEnd = 0;
  private dirty = false;
  /** Has an answer for its client, who asks for little. */
  private hasCalmAnswer = false;
  /** Full slabs, and what is too large for one, if nothing may be written yet. */
  private full: Buffer[] | undefined = undefined;
  private fullBytes = 0;
  /** Of `pendingBytes`, in the load of all clients. */
  private countedBytes = 0;
  private isClosed = false;
  private readonly share: BudgetShare | undefined;
  /** Of a client that has been delayed or frozen. */
  private held: HeldBack | undefined = undefined;
  /** Callbacks for the buffered bytes. */
  private onHandedOver: HandedOver[] | undefined = undefined;
  /** Bytes written so far, including those held back. */
  bytesOut = 0;
  private readonly transport: Transport;
  private readonly scheduler: FlushScheduler;
  private readonly limitBytes: number;
  private readonly owner: OutputOwner;

  /** `share`: of what all clients leave unread. */
  constructor(transport: Transport, scheduler: FlushScheduler, limitBytes: number, owner: OutputOwner, share?: BudgetShare) {
    this.transport = transport;
    this.share = share;
    this.scheduler = scheduler;
    this.limitBytes = limitBytes;
    this.owner = owner;
  }

  get pendingBytes(): number {
    return this.transport.pendingBytes + (this.held?.bytes ?? 0) + this.bufferedBytes;
  }

  /** Memory in which messages for several clients are encoded, for `putShared`. */
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

  /** Adds bytes that do not change before the end of the tick. */
  putShared({ bytes, start, end }: SharedRun): void {
    if (this.shared === bytes && this.sharedEnd === start) {
      this.sharedEnd = end;
      return;
    }
    // Not contiguous with the bytes before: copied if that is cheaper than a separate write.
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

  /** Moves the shared bytes into a slab, so that other bytes can follow. */
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

  /** Adds a packet in two parts, of which the first one is for this client only, and the second one never changes: it is not copied. */
  putParts({ view }: SharedRun, second: Buffer): void {
    this.passOn();
    if (this.writesAtOnce) {
      if (!this.write(view)) this.scheduler.sharedInUse = true;
      this.write(second);
      if (this.isBehind()) this.congested = true;
      return;
    }
    this.addAside(view);
    this.addAside(second);
    if (this.fullBytes > mostBytesAside) this.congested = true;
    this.markDirty();
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

  /** All that was added is with the transport. */
  get isEmpty(): boolean {
    return this.bufferedBytes === 0;
  }

  /** What is added next is no message of others. */
  answers(isCalm: boolean): void {
    if (isCalm) this.hasCalmAnswer = true;
  }

  get isUrgent(): boolean {
    return this.hasCalmAnswer && !this.isLarge;
  }

  get isLarge(): boolean {
    return this.bufferedBytes > largeBytes;
  }

  private get bufferedBytes(): number {
    return this.fullBytes + this.end + this.sharedEnd - this.sharedStart;
  }

  /** Never throws. */
  flush(): void {
    this.dirty = false;
    try {
      this.flushAll();
    } catch (error) {
      // The transport may have some of the shared memory.
      this.scheduler.sharedInUse = true;
      this.owner.fault(error);
    }
  }

  private flushAll(): void {
    const { full } = this;
    if (full) {
      this.full = undefined;
      this.fullBytes = 0;
      // These bytes may be shared memory.
      for (const bytes of full) if (!this.write(bytes)) this.scheduler.sharedInUse = true;
    }
    this.flushCurrent();
    this.hasCalmAnswer = false;
    if (this.onHandedOver) this.handedOver(true);
    if (this.congested || this.countedBytes > 0) this.settle();
  }

  /** Discards everything that was not written yet. */
  discard(): void {
    this.full = this.slab = this.shared = undefined;
    this.fullBytes = this.end = this.sharedStart = this.sharedEnd = 0;
    if (this.onHandedOver) this.handedOver(false);
  }

  private isBehind(): boolean {
    const { pendingBytes, scheduler } = this;
    if (pendingBytes !== this.countedBytes && !this.isClosed) this.count(pendingBytes);
    return pendingBytes > this.limitBytes || scheduler.unread.isAboveShare(pendingBytes);
  }

  /** What its own client causes, such as acknowledgements, is too much, too: it is read no further. */
  get isFull(): boolean {
    const { pendingBytes, scheduler } = this;
    return this.congested && (pendingBytes > 2 * this.limitBytes || scheduler.unread.isAboveShare(pendingBytes));
  }

  private count(pendingBytes: number): void {
    const before = this.countedBytes;
    this.countedBytes = pendingBytes;
    this.scheduler.unread.changed(this.share, before, pendingBytes);
  }

  /** The connection is closed. */
  close(): void {
    this.isClosed = true;
    this.count(0);
    this.share?.close();
  }

  /** To be called after pending bytes were sent: resumes what waited for that. */
  settle(): void {
    if (this.isClosed) return;
    const wasCongested = this.congested;
    this.congested = this.isBehind();
    if (wasCongested && !this.congested) this.owner.congestionEnded();
  }

  /** The client is frozen or delayed: bytes are held back. */
  get heldBack(): boolean {
    return this.held?.isActive === true;
  }

  /** `done` is called when all bytes added so far were passed to the transport, or are lost with the client. */
  whenHandedOver(done: HandedOver): void {
    this.onHandedOver ??= [];
    this.onHandedOver.push(done);
  }

  private handedOver(isSent: boolean): void {
    const callbacks = this.onHandedOver;
    this.onHandedOver = undefined;
    for (const done of callbacks ?? []) done(isSent);
  }

  /** Begins with neither. */
  get faults(): HeldBack {
    this.held ??= new HeldBack({
      write: (bytes) => void this.transport.write(bytes),
      written: () => this.settle(),
      run: (step) => this.owner.run(step),
    });
    return this.held;
  }

  /** Before the connection ends: what was held back is written, or lost where the client is gone. */
  endFaults(isGone: boolean): void {
    if (isGone) this.held?.lose();
    else this.held?.end();
  }

  /** The buffer is full before the end of the tick: writes it, or sets it aside if nothing may be written yet. */
  private passOn(): void {
    if (this.writesAtOnce) this.flushCurrent();
    else this.setAside();
  }

  private get writesAtOnce(): boolean {
    return this.full === undefined && !this.scheduler.setsAside;
  }

  private setAside(): void {
    const { shared } = this;
    const bytes = shared ? shared.subarray(this.sharedStart, this.sharedEnd) : this.slab?.subarray(0, this.end);
    if (!bytes || bytes.length === 0) return;
    this.addAside(bytes);
    this.slab = this.shared = undefined;
    this.end = this.sharedStart = this.sharedEnd = 0;
    // What is shared takes no memory of its own, and the client has had no time to read it.
    if (shared ? this.fullBytes > mostBytesAside : this.isBehind()) this.congested = true;
  }

  private addAside(bytes: Buffer): void {
    this.full ??= [];
    this.full.push(bytes);
    this.fullBytes += bytes.length;
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

  /** True if the memory may be reused: the bytes were written, or copied. */
  private write(bytes: Buffer): boolean {
    this.scheduler.bytesOut += bytes.length;
    this.bytesOut += bytes.length;
    if (this.held?.isActive) {
      this.held.hold(Buffer.from(bytes), this.onHandedOver);
      this.onHandedOver = undefined;
      return true;
    }
    // It may wait for earlier bytes, and a few bytes must not keep a whole slab in use.
    const waiting = this.transport.pendingBytes > 0 ? compacted(bytes) : bytes;
    return this.transport.write(waiting, this.hasCalmAnswer && bytes.length <= largeBytes) || waiting !== bytes;
  }

  private release(slab: Buffer): void {
    const { small, large } = this.scheduler;
    if (slab.length === small.slabBytes) small.give(slab);
    else if (slab.length === large.slabBytes) large.give(slab);
  }
}
