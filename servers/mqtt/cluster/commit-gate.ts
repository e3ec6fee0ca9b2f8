import type { GatedClient } from "../engine/cluster-link.ts";
import type { Transport } from "../engine/delivery/output.ts";

/**
 * Delays writes to clients until the commits in progress are done: an acknowledgement is sent only when the acknowledged
 * data is in Redis.
 */
export class CommitGate {
  private begun = 0;
  private done = 0;
  private readonly waiting = new Set<GatedTransport>();

  /** Commits complete in the order in which they began. */
  begin(): number {
    return ++this.begun;
  }

  end(commit: number): void {
    if (commit <= this.done) return;
    this.done = commit;
    for (const transport of this.waiting) transport.release(commit);
  }

  /** Discards the writes that wait for refused commits. */
  discard(): void {
    this.done = this.begun;
    for (const transport of this.waiting) transport.discard();
  }

  /** Redis is lost: releases all waiting writes. */
  open(): void {
    this.end(this.begun);
  }

  /** 0 if there is nothing to wait for. */
  get underWay(): number {
    return this.begun > this.done ? this.begun : 0;
  }

  wrap(transport: Transport, client: GatedClient): Transport {
    return new GatedTransport(this, transport, this.waiting, client);
  }
}

class GatedTransport implements Transport {
  private held: { readonly bytes: Buffer; readonly commit: number }[] = [];
  private heldBytes = 0;
  private ending = false;
  private readonly gate: CommitGate;
  private readonly inner: Transport;
  private readonly waiting: Set<GatedTransport>;
  private readonly client: GatedClient;

  constructor(gate: CommitGate, inner: Transport, waiting: Set<GatedTransport>, client: GatedClient) {
    this.gate = gate;
    this.inner = inner;
    this.waiting = waiting;
    this.client = client;
  }

  get pendingBytes(): number {
    return this.inner.pendingBytes + this.heldBytes;
  }

  write(bytes: Buffer): boolean {
    const commit = this.gate.underWay;
    if (commit === 0 && this.held.length === 0) return this.inner.write(bytes);
    this.held.push({ bytes, commit });
    this.heldBytes += bytes.length;
    this.waiting.add(this);
    // The transport owns the memory until then.
    return false;
  }

  /** Never throws: a failing transport is destroyed and its connection closed. */
  release(commit: number): void {
    this.client.run(() => {
      try {
        this.letOut(commit);
      } catch (error) {
        this.destroy();
        throw error;
      }
    });
  }

  private letOut(commit: number): void {
    let count = 0;
    for (const { bytes, commit: needed } of this.held) {
      if (needed > commit) break;
      count++;
      this.heldBytes -= bytes.length;
      this.inner.write(bytes);
    }
    this.held = this.held.slice(count);
    if (this.held.length === 0) this.settle();
  }

  private settle(): void {
    this.waiting.delete(this);
    if (this.ending) this.inner.end();
    else this.client.drained();
  }

  /** Drops all that waits. A packet in several chunks is written at once, so the stream stays valid. */
  discard(): void {
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
    this.waiting.delete(this);
    this.inner.destroy();
  }

  pause(): void {
    this.inner.pause();
  }

  resume(): void {
    this.inner.resume();
  }
}
