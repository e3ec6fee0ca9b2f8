import { FairOrder } from "../../core/turns/fair-order.ts";
import type { GatedClient } from "../engine/cluster-link.ts";
import type { Transport } from "../engine/delivery/output.ts";
import { WaitingWrites } from "../engine/delivery/waiting-writes.ts";

/** In one turn of the event loop, of writing each: answers for clients that ask for little, and the rest. */
const sliceMs = 4;

/**
 * Delays writes to clients until the commits in progress are done: an acknowledgement is sent only when the acknowledged
 * data is in Redis. One message may be for thousands: what a commit has held up is written over several turns of the event loop, in which addresses and their
 * clients take turns, with all that a client waits for.
 */
export class CommitGate {
  private begun = 0;
  private done = 0;
  /** By the commit for which the first of their writes waits. */
  private readonly waiting = new Map<number, GatedTransport[]>();
  private readonly urgent = new FairOrder<GatedTransport>();
  private readonly usual = new FairOrder<GatedTransport>();
  private isWriting = false;
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Commits complete in the order in which they began. */
  begin(): number {
    return ++this.begun;
  }

  end(commit: number): void {
    if (commit <= this.done) return;
    this.reach(commit);
    if (!this.isWriting) this.writeSome();
  }

  private reach(commit: number): void {
    this.done = commit;
    for (const [awaited, transports] of this.waiting) {
      if (awaited > commit) continue;
      this.waiting.delete(awaited);
      for (const transport of transports) (transport.isUrgent ? this.urgent : this.usual).add(transport);
    }
  }

  /** Discards the writes that wait for refused commits. */
  discard(): void {
    this.reach(this.begun);
    for (const line of [this.urgent, this.usual]) for (let next = line.take(); next; next = line.take()) next.discard();
  }

  /** Redis is lost: releases all waiting writes. */
  open(): void {
    this.end(this.begun);
  }

  /** The same at once: the broker stops. */
  close(): void {
    this.reach(this.begun);
    while (this.write(this.urgent) || this.write(this.usual));
  }

  /** 0 if there is nothing to wait for. */
  get underWay(): number {
    return this.begun > this.done ? this.begun : 0;
  }

  wrap(transport: Transport, client: GatedClient): Transport {
    return new GatedTransport(this, transport, client);
  }

  /** It has writes that wait for the commit. */
  add(transport: GatedTransport, commit: number): void {
    const others = this.waiting.get(commit);
    if (others) others.push(transport);
    else this.waiting.set(commit, [transport]);
  }

  private readonly writeSome = (): void => {
    const areWritten = [this.urgent, this.usual].map((line) => {
      const until = this.now() + sliceMs;
      while (this.write(line)) if (this.now() >= until) return false;
      return true;
    });
    this.isWriting = areWritten.includes(false);
    if (this.isWriting) setImmediate(this.writeSome);
  };

  /** False if none may be written. */
  private write(line: FairOrder<GatedTransport>): boolean {
    const next = line.take();
    next?.writeUpTo(this.done);
    return next !== undefined;
  }
}

/** Writes that wait for the same commit. */
interface HeldWrites {
  readonly commit: number;
  readonly writes: WaitingWrites;
}

class GatedTransport implements Transport {
  private held: HeldWrites[] = [];
  /** The gate calls it when its time has come; once for all that it holds. */
  private isAwaited = false;
  private hasUsual = false;
  private ending = false;
  private readonly gate: CommitGate;
  private readonly inner: Transport;
  private readonly client: GatedClient;

  constructor(gate: CommitGate, inner: Transport, client: GatedClient) {
    this.gate = gate;
    this.inner = inner;
    this.client = client;
  }

  get key(): string {
    return this.client.key;
  }

  get pendingBytes(): number {
    return this.held.reduce((sum, { writes }) => sum + writes.bytes, this.inner.pendingBytes);
  }

  get arrivingBytes(): number {
    return this.inner.arrivingBytes ?? 0;
  }

  /** It has answers only, for a client that asks for little. */
  get isUrgent(): boolean {
    return !this.hasUsual;
  }

  write(bytes: Buffer, isUrgent = false): boolean {
    const commit = this.gate.underWay;
    let last = this.held.at(-1);
    if (commit === 0 && !last) return this.inner.write(bytes, isUrgent);
    if (!last) this.hasUsual = false;
    if (!isUrgent) this.hasUsual = true;
    // Behind all that it has written before.
    if (!last || last.commit < commit) {
      last = { commit, writes: new WaitingWrites() };
      this.held.push(last);
      this.awaitFirst();
    }
    return last.writes.add(bytes);
  }

  private awaitFirst(): void {
    const [first] = this.held;
    if (this.isAwaited || !first) return;
    this.isAwaited = true;
    this.gate.add(this, first.commit);
  }

  /** Never throws: a failing transport is destroyed and its connection closed. */
  writeUpTo(done: number): void {
    this.isAwaited = false;
    // Else it was destroyed.
    if (this.held.length > 0) this.client.run(() => this.writeHeld(done));
    this.awaitFirst();
  }

  private writeHeld(done: number): void {
    try {
      for (let first = this.held[0]; first && first.commit <= done; first = this.held[0]) {
        this.held.shift();
        for (const bytes of first.writes.take()) this.inner.write(bytes);
      }
      if (this.held.length === 0) this.settle();
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  private settle(): void {
    if (this.ending) this.inner.end();
    else this.client.drained();
  }

  /** Drops all that waits. A packet in several chunks is written at once, so the stream stays valid. */
  discard(): void {
    this.isAwaited = false;
    if (this.held.length === 0) return;
    this.held = [];
    this.client.run(() => this.settle());
  }

  end(): void {
    this.ending = true;
    if (this.held.length === 0) this.inner.end();
  }

  destroy(): void {
    this.held = [];
    this.inner.destroy();
  }

  pause(): void {
    this.inner.pause();
  }

  resume(): void {
    this.inner.resume();
  }
}
