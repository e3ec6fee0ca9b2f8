const leastBlockBytes = 2 << 10;
const mostBlockBytes = 256 << 10;

/**
 * Joins the fragments of a unit. They are copied into blocks of its own: views of them would keep all that was received with them. A block is at most as
 * large as what came before it, so that no fragment costs more memory than its length.
 */
export class FragmentBuffer {
  /** Of the fragments so far. */
  length = 0;
  #blocks: Buffer[] = [];
  /** Of the last block. */
  #used = 0;

  append(data: Buffer): void {
    let rest = data;
    while (rest.length > 0) {
      let block = this.#blocks.at(-1);
      if (!block || this.#used === block.length) {
        block = Buffer.allocUnsafe(Math.max(rest.length, leastBlockBytes, Math.min(mostBlockBytes, this.length)));
        this.#blocks.push(block);
        this.#used = 0;
      }
      const count = rest.copy(block, this.#used);
      this.#used += count;
      this.length += count;
      rest = rest.subarray(count);
    }
  }

  /** The whole unit, in memory of its own; the next one begins with nothing. */
  take(): Buffer {
    const whole = Buffer.allocUnsafeSlow(this.length);
    let at = 0;
    for (const block of this.#blocks) at += block.copy(whole, at, 0, this.length - at);
    this.clear();
    return whole;
  }

  clear(): void {
    this.#blocks = [];
    this.#used = 0;
    this.length = 0;
  }
}
