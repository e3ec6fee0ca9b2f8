import type { GatedClient } from "../engine/cluster-link.ts";
import type { Transport } from "../engine/delivery/output.ts";

/** In one turn of the event loop, of writing each: answers for clients that ask for little, and the rest. */
const sliceMs = 4;

interface Waiting {
  readonly transport: GatedTransport;
  readonly commit: number;
}

/** Writes in their order, which is that of the commits they wait for. */
class WaitingWrites {
  private writes: Waiting[] = [];
  private first = 0;

  push(waiting: Waiting): void {
    this.writes.push(waiting);
  }

  /** Takes the first one, if the commit that it waits for is done. */
  shift(done: number): GatedTransport | undefined {
    const next = this.writes[this.first];
    if (!next || next.commit > done) return undefined;
    this.first++;
    if (this.first === this.writes.length || this.first > 1_024) {
      this.writes = this.writes.slice(this.first);
      this.first = 0;
    }
    return next.transport;
  }
}

/**
 * Delays writes to clients until the commits in progress are done: an acknowledgement is sent only when the acknowledged
 * data is in Redis. One message may be for thousands: what a commit has held up is written over several turns of the event loop.
 */
export class CommitGate {
  private begun = 0;
  private done = 0;
  private readonly urgent = new WaitingWrites();
  private readonly usual = new WaitingWrites();
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
    this.done = commit;
    if (!this.isWriting) this.writeSome();
  }

  /** Discards the writes that wait for refused commits. */
  discard(): void {
    this.done = this.begun;
    for (const line of [this.urgent, this.usual]) for (let next = line.shift(this.done); next; next = line.shift(this.done)) next.discard();
  }

  /** Redis is lost: releases all waiting writes. */
  open(): void {
    this.end(this.begun);
  }

  /** The same at once: the broker stops. */
  close(): void {
    this.done = this.begun;
    while (this.write(this.urgent) || this.write(this.usual));
  }

  /** 0 if there is nothing to wait for. */
  get underWay(): number {
    return this.begun > this.done ? this.begun : 0;
  }

  wrap(transport: Transport, client: GatedClient): Transport {
    return new GatedTransport(this, transport, client);
  }

  add(transport: GatedTransport, commit: number, isUrgent: boolean): void {
    (isUrgent ? this.urgent : this.usual).push({ transport, commit });
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
  private write(line: WaitingWrites): boolean {
    const next = line.shift(this.done);
    next?.writeNext();
    return next !== undefined;
  }
}

class GatedTransport implements Transport {
  private held: Buffer[] = [];
  private heldBytes = 0;
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

  get pendingBytes(): number {
    return this.inner.pendingBytes + this.heldBytes;
  }

  get arrivingBytes(): number {
    return this.inner.arrivingBytes ?? 0;
  }

  write(bytes: Buffer, isUrgent = false): boolean {
    const commit = this.gate.underWay;
    if (commit === 0 && this.held.length === 0) return this.inner.write(bytes, isUrgent);
    if (this.held.length === 0) this.hasUsual = false;
    if (!isUrgent) this.hasUsual = true;
    this.held.push(bytes);
    this.heldBytes += bytes.length;
    // Behind all that it has written before.
    this.gate.add(this, commit, !this.hasUsual);
    // The transport owns the memory until then.
    return false;
  }

  /** Never throws: a failing transport is destroyed and its connection closed. */
  writeNext(): void {
    const bytes = this.held.shift();
    // It was destroyed.
    if (!bytes) return;
    this.client.run(() => {
      try {
        this.heldBytes -= bytes.length;
        this.inner.write(bytes);
        if (this.held.length === 0) this.settle();
      } catch (error) {
        this.destroy();
        throw error;
      }
    });
  }

  private settle(): void {
    if (this.ending) this.inner.end();
    else this.client.drained();
  }

  /** Drops all that waits. A packet in several chunks is written at once, so the stream stays valid. */
  discard(): void {
    if (this.held.length === 0) return;
    this.held = [];
    this.heldBytes = 0;
    this.client.run(() => this.settle());
  }

  end(): void {
    this.ending = true;
    if (this.held.length === 0) this.inner.end();
  }

  destroy(): void {
    this.held = [];
    this.heldBytes = 0;
    this.inner.destroy();
  }

  pause(): void {
    this.inner.pause();
  }

  resume(): void {
    this.inner.resume();
  }
}
