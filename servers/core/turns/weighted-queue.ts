interface Queue<Member> {
  readonly size: number;
  take(): Member | undefined;
  /** What was taken last took so many milliseconds. */
  spend?(ms: number): void;
}

interface Part<Member> {
  readonly queue: Queue<Member>;
  readonly weight: number;
  /** Milliseconds for its weight. */
  hadMs: number;
}

/**
 * Queues that have the time by their weights while something waits in them (start-time fair queueing): the next one is that which has had least, among equals
 * the first. What one leaves the others have, and it has no claim to it later. In such a queue others may be parts.
 */
export class WeightedQueue<Member> implements Queue<Member> {
  readonly #parts: readonly Part<Member>[];
  /** As much as the part that was taken from had before, and nobody who waits has less. */
  #hadMs = 0;
  #taken: Part<Member> | undefined;

  constructor(...parts: readonly (readonly [queue: Queue<Member>, weight: number])[]) {
    this.#parts = parts.map(([queue, weight]) => ({ queue, weight, hadMs: 0 }));
  }

  get size(): number {
    let size = 0;
    for (const { queue } of this.#parts) size += queue.size;
    return size;
  }

  take(): Member | undefined {
    let next: Part<Member> | undefined;
    for (const part of this.#parts) {
      if (part.queue.size === 0) continue;
      part.hadMs = Math.max(part.hadMs, this.#hadMs);
      if (!next || part.hadMs < next.hadMs) next = part;
    }
    this.#taken = next;
    if (!next) return undefined;
    this.#hadMs = next.hadMs;
    return next.queue.take();
  }

  spend(ms: number): void {
    const taken = this.#taken;
    if (!taken) return;
    this.#taken = undefined;
    taken.hadMs += ms / taken.weight;
    taken.queue.spend?.(ms);
    // Nobody waits who would have to make up for it.
    if (this.size === 0) for (const { hadMs } of this.#parts) this.#hadMs = Math.max(this.#hadMs, hadMs);
  }
}
