import type { Peer } from "./peer.ts";

export interface UnsentLimits {
  /** What waits for one client; one that lets more wait is disconnected. */
  readonly unsentBytes: number;
  /** Memory of what waits for all clients; beyond it those for whom most waits are disconnected. */
  readonly allUnsentBytes: number;
}

const recountMs = 100;

/** Watches what clients leave unread, and finds those that read too slowly. */
export class UnsentBytes {
  readonly #limits: UnsentLimits;
  readonly #peers: () => IterableIterator<Peer>;
  readonly #disconnect: (peer: Peer) => void;
  /** They are disconnected after the message that they were sent. */
  readonly #slow = new Set<Peer>();
  /** What was sent to them at once, until they have taken it. */
  readonly #excused = new Map<Peer, number>();
  #excusing: Peer | undefined;
  #isClosing = false;
  /** An upper bound, counted anew where it is too much: what waits for clients shrinks without a word. */
  #all = 0;
  #recountedAt = 0;

  constructor(limits: UnsentLimits, peers: () => IterableIterator<Peer>, disconnect: (peer: Peer) => void) {
    this.#limits = limits;
    this.#peers = peers;
    this.#disconnect = disconnect;
  }

  isSlow(peer: Peer): boolean {
    return this.#slow.has(peer);
  }

  forget(peer: Peer): void {
    this.#slow.delete(peer);
    this.#excused.delete(peer);
  }

  /** What is sent to a peer. */
  watch(peer: Peer, send: () => void): void {
    if (!peer.isConnected || this.isSlow(peer)) return;
    const { link } = peer.facts;
    const before = link.unsentMemory;
    send();
    if (peer.isElsewhere) return;
    this.#all += Math.max(0, link.unsentMemory - before);
    this.look(peer);
    if (this.#all > this.#limits.allUnsentBytes) this.#recount();
  }

  /** Something was sent to it, perhaps by its connection itself. */
  look(peer: Peer): void {
    if (peer === this.#excusing) return;
    const { unsentBytes } = peer.facts.link;
    if (unsentBytes <= this.#limits.unsentBytes) this.#excused.delete(peer);
    else if (unsentBytes > this.#limits.unsentBytes + (this.#excused.get(peer) ?? 0)) this.#disconnectLater(peer);
  }

  /** What a peer gets at once may be more than its limit: it has to have time to read that. It is excused once, until it has read it. */
  excuse(peer: Peer, send: () => void): void {
    const { link } = peer.facts;
    const before = link.unsentBytes;
    if (before > this.#limits.unsentBytes || this.#excusing) {
      send();
      return;
    }
    this.#excusing = peer;
    try {
      send();
    } finally {
      this.#excusing = undefined;
    }
    if (peer.isConnected && link.unsentBytes > this.#limits.unsentBytes) this.#excused.set(peer, link.unsentBytes - before);
  }

  #recount(): void {
    const now = performance.now();
    if (now - this.#recountedAt < recountMs && this.#all < 2 * this.#limits.allUnsentBytes) return;
    this.#recountedAt = now;
    const { allUnsentBytes } = this.#limits;
    const behind = [...this.#peers()].map((peer) => ({ peer, bytes: peer.facts.link.unsentMemory }));
    this.#all = behind.reduce((sum, { bytes }) => sum + bytes, 0);
    behind.sort((one, other) => other.bytes - one.bytes);
    for (const { peer, bytes } of behind) {
      if (this.#all <= allUnsentBytes) break;
      this.#all -= bytes;
      this.#disconnectLater(peer);
    }
  }

  /** Not at once: the peer may be one of many that a message is being sent to, and others are told that it leaves. */
  #disconnectLater(peer: Peer): void {
    this.#slow.add(peer);
    if (this.#isClosing) return;
    this.#isClosing = true;
    setImmediate(() => {
      for (const one of this.#slow) this.#disconnect(one);
      this.#slow.clear();
      this.#isClosing = false;
    });
  }
}
