/** Shorter buffers are few bytes of all. */
const leastBytes = 64 << 10;
/** A collection of the young generation takes some milliseconds, most of them for these bytes. */
const collectedAtOnce = 32 << 20;

/**
 * V8 collects buffers late: of those of a few megabytes that are dropped again and again hundreds of megabytes were there at a time. Nothing is done in a process
 * that was started without --expose-gc.
 */
export class LargeGarbage {
  readonly #collect: () => void;
  #bytes = 0;

  constructor(collect: () => void = () => void globalThis.gc?.({ type: "minor" })) {
    this.#collect = collect;
  }

  /** A buffer of so many bytes is of no use any more. */
  drop(bytes: number): void {
    if (bytes < leastBytes) return;
    this.#bytes += bytes;
    if (this.#bytes < collectedAtOnce) return;
    this.#bytes = 0;
    setImmediate(this.#collect);
  }
}
