/** More pictures are not reordered in any level of H.264 and H.265. */
const mostDepth = 16;

/**
 * Gives pictures that come in the order of decoding, with the times of their display alone, times of decoding: those rise and are never
 * after the display. `depth` is what the stream declares (`reorderDepth` of its SPS); if it does not, the depth is learned from the pictures.
 */
export class DecodeTimes {
  #depth: number;
  /** The latest display times, ascending; one more than `depth`. */
  #window: number[] = [];
  #last = Number.NEGATIVE_INFINITY;

  constructor(depth: number | undefined) {
    this.#depth = Math.min(mostDepth, depth ?? 0);
  }

  /** The time of decoding for the next picture. */
  next(pts: number): number {
    let at = this.#window.length;
    while (at > 0 && (this.#window[at - 1] as number) > pts) at--;
    // It is shown before more pictures than were expected.
    this.#depth = Math.min(mostDepth, Math.max(this.#depth, this.#window.length - at));
    this.#window.splice(at, 0, pts);
    if (this.#window.length > this.#depth + 1) this.#window.splice(0, this.#window.length - this.#depth - 1);
    const missing = this.#depth + 1 - this.#window.length;
    const [earliest = pts] = this.#window;
    // Before the window is full, the first pictures are decoded a picture's time earlier each.
    const due = missing === 0 ? earliest : earliest - missing * this.#spacing();
    this.#last = Math.min(pts, Math.max(due, this.#last + 1));
    return this.#last;
  }

  #spacing(): number {
    const [first = 0, second] = this.#window;
    return second === undefined ? 1 : Math.max(1, Math.floor(second - first));
  }
}
