const nothing: Buffer = Buffer.alloc(0);
const leastRoom = 1_024;

/**
 * A queue of received chunks. Bytes within one chunk are returned without a copy; bytes that span chunks are copied at most twice. A client may send chunks of
 * one byte, each of which would take hundreds in memory of its own: they are copied into one buffer.
 */
export class ByteQueue {
  #bytes = nothing;
  #start = 0;
  #end = 0;
  /** The buffer was allocated here, and has room after `#end`. */
  #isOwn = false;

  get length(): number {
    return this.#end - this.#start;
  }

  /** Memory of the queue: that of the buffer, also where a part of it was taken. */
  get heldBytes(): number {
    return this.#bytes.length;
  }

  /** `expected`: the length that the queue is to have when it is complete, if that is known. */
  push(chunk: Buffer, expected = Number.POSITIVE_INFINITY): void {
    const { length } = this;
    if (length === 0) {
      this.#bytes = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      this.#isOwn = false;
      return;
    }
    if (!this.#isOwn || this.#end + chunk.length > this.#bytes.length) {
      // A new buffer: what was taken from the old one stays valid.
      const room = Buffer.allocUnsafeSlow(Math.max(Math.min(Math.max(2 * length, leastRoom), expected), length + chunk.length));
      this.#bytes.copy(room, 0, this.#start, this.#end);
      this.#bytes = room;
      this.#start = 0;
      this.#end = length;
      this.#isOwn = true;
    }
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }

  /** Lets go of the large piece that the rest is a part of: a few bytes may wait for long. */
  keepRestOnly(): void {
    const { length } = this;
    if (this.#isOwn || length === 0 || 2 * length >= this.#bytes.buffer.byteLength) return;
    const rest = Buffer.allocUnsafeSlow(length);
    this.#bytes.copy(rest, 0, this.#start, this.#end);
    this.#bytes = rest;
    this.#start = 0;
    this.#end = length;
  }

  /** The byte at `offset` from the front. */
  at(offset: number): number {
    return this.#bytes[this.#start + offset] as number;
  }

  uint32At(offset: number): number {
    return this.#bytes.readUInt32BE(this.#start + offset);
  }

  /** A view. */
  all(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  take(length: number): Buffer {
    const from = this.#start;
    this.#start += length;
    const taken = this.#bytes.subarray(from, this.#start);
    if (this.#start === this.#end) this.clear();
    return taken;
  }

  clear(): void {
    this.#bytes = nothing;
    this.#start = this.#end = 0;
    this.#isOwn = false;
  }

  skip(length: number): void {
    this.#start += length;
  }
}
