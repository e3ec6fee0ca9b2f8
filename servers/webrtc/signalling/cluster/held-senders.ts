import type { Peer } from "../peer.ts";

/** In one turn of the event loop. */
const releasedAtOnce = 16;

/** Clients that have sent something while too much waited for Redis: they are read no further until less does. */
export class HeldSenders {
  readonly #isBehind: () => boolean;
  readonly #held = new Set<Peer>();
  #releasing: NodeJS.Immediate | undefined;

  constructor(isBehind: () => boolean) {
    this.#isBehind = isBehind;
  }

  sent(peer: Peer): void {
    if (!this.#isBehind() || this.#held.has(peer)) return;
    this.#held.add(peer);
    peer.facts.link.hold();
  }

  releaseLater(): void {
    if (this.#held.size > 0) this.#releasing ??= setImmediate(this.#release);
  }

  /** In the order in which they were held: each has a message that waits. */
  readonly #release = (): void => {
    this.#releasing = undefined;
    let released = 0;
    for (const peer of this.#held) {
      if (this.#isBehind()) return;
      if (released++ === releasedAtOnce) {
        this.#releasing = setImmediate(this.#release);
        return;
      }
      this.#held.delete(peer);
      peer.facts.link.release();
    }
  };

  close(): void {
    clearImmediate(this.#releasing);
    this.#held.clear();
  }
}
