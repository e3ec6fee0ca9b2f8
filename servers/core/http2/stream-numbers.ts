/** Gaps in the numbers of a client that are remembered: usual clients leave none. */
const mostGaps = 64;

/** What is known of the numbers of streams that are not open. */
export class StreamNumbers {
  readonly #mostReset: number;
  readonly #reset = new Set<number>();
  readonly #gaps: (readonly [from: number, to: number])[] = [];
  /** The last one that the client has used. */
  last = 0;

  /** Of more than `mostReset` that were reset here the oldest are forgotten. */
  constructor(mostReset: number) {
    this.#mostReset = mostReset;
  }

  /** The client uses a number above the last one. */
  use(streamId: number): void {
    if (streamId > this.last + 2) this.#gaps.push([this.last, streamId]);
    if (this.#gaps.length > mostGaps) this.#gaps.shift();
    this.last = streamId;
  }

  /** It is below the last one, and was never used. */
  wasSkipped(streamId: number): boolean {
    return this.#gaps.some(([from, to]) => from < streamId && streamId < to);
  }

  /** Late frames may come. */
  wasReset(streamId: number): boolean {
    return this.#reset.has(streamId);
  }

  resets(streamId: number): void {
    this.#reset.add(streamId);
    if (this.#reset.size <= this.#mostReset) return;
    for (const oldest of this.#reset) {
      this.#reset.delete(oldest);
      return;
    }
  }
}
