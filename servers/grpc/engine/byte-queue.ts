/**
 * Bytes as they arrive, and the front of them when there are enough. What is taken of one chunk is a part of that chunk; only what
 * lies across two is copied, in all at most twice.
 */
export class ByteQueue {
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** Behind `#end` there is room of our own. */
  #isOwn = false;

  get length(): number {
    return this.#end - this.#start;
  }

  push(chunk: Buffer): void {
    const { length } = this;
    if (length === 0) {
      this.#bytes = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      this.#isOwn = false;
      return;
    }
    if (!this.#isOwn || this.#end + chunk.length > this.#bytes.length) {
      // What was taken before stays as it is: the room is new.
      const room = Buffer.allocUnsafe(Math.max(2 * length, length + chunk.length, 1_024));
      this.#bytes.copy(room, 0, this.#start, this.#end);
      this.#bytes = room;
      this.#start = 0;
      this.#end = length;
      this.#isOwn = true;
    }
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }

  /** The byte at `offset` from the front. */
  at(offset: number): number {
    return this.#bytes[this.#start + offset] as number;
  }

  uint32At(offset: number): number {
    return this.#bytes.readUInt32BE(this.#start + offset);
  }

  take(length: number): Buffer {
    const from = this.#start;
    this.#start += length;
    return this.#bytes.subarray(from, this.#start);
  }

  skip(length: number): void {
    this.#start += length;
  }
}
