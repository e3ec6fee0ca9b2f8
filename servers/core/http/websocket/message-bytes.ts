const smallestBlock = 256;
const largestBlock = 64 << 10;
/** The object of a Buffer with memory of its own. */
const blockBytes = 200;

/** What has arrived of a message: copied to blocks of its own, since a view of few bytes would keep all that was read with them. */
export class MessageBytes {
  #blocks: Buffer[] = [];
  /** In the last block. */
  #end = 0;
  length = 0;
  /** Memory of it. */
  heldBytes = 0;

  /** At most `following` bytes of it follow. Returns the copy, to be changed in place, in one part or two. */
  add(piece: Uint8Array, following: number): Buffer[] {
    const parts: Buffer[] = [];
    const last = this.#blocks.at(-1);
    const first = last ? Math.min(piece.length, last.length - this.#end) : 0;
    if (last && first > 0) parts.push(this.#copy(last, piece.subarray(0, first)));
    const rest = piece.subarray(first);
    if (rest.length > 0) {
      const room = Math.min(Math.max(this.length, smallestBlock), largestBlock, rest.length + following);
      const block = Buffer.allocUnsafeSlow(Math.max(rest.length, room));
      this.#blocks.push(block);
      this.heldBytes += block.length + blockBytes;
      this.#end = 0;
      parts.push(this.#copy(block, rest));
    }
    return parts;
  }

  #copy(block: Buffer, piece: Uint8Array): Buffer {
    block.set(piece, this.#end);
    const copy = block.subarray(this.#end, this.#end + piece.length);
    this.#end += piece.length;
    this.length += piece.length;
    return copy;
  }

  /** All of it; nothing is left. */
  take(): Buffer {
    const [first] = this.#blocks;
    const all = this.#blocks.length === 1 && first ? first.subarray(0, this.length) : Buffer.concat(this.#blocks, this.length);
    this.clear();
    return all;
  }

  clear(): void {
    this.#blocks = [];
    this.#end = 0;
    this.length = 0;
    this.heldBytes = 0;
  }
}
