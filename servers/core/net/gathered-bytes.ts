const smallestBlock = 256;
const largestBlock = 64 << 10;
/** The object of a Buffer with memory of its own. */
const blockBytes = 200;

/**
 * Bytes that come in pieces of any length. They are copied to blocks of its own: a view of few bytes would keep all that was read with them, and a piece in memory of
 * its own takes hundreds. A block is at most as large as what came before it, so that no piece costs much more memory than its length.
 */
export class GatheredBytes {
  #blocks: Buffer[] = [];
  /** In the last block. */
  #end = 0;
  length = 0;
  /** Memory of it. */
  heldBytes = 0;

  /** At most `following` bytes follow. Returns the copy, which may be changed in place, in one part or two. */
  add(piece: Uint8Array, following = Number.POSITIVE_INFINITY): Buffer[] {
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

  /** All of it, in one piece of memory that is no longer; nothing is left. */
  take(): Buffer {
    const [first] = this.#blocks;
    const all = first?.length === this.length ? first : Buffer.allocUnsafeSlow(this.length);
    if (all !== first) {
      let at = 0;
      for (const block of this.#blocks) at += block.copy(all, at, 0, this.length - at);
    }
    this.clear();
    return all;
  }

  /** All of it as it was gathered, in pieces; nothing is left. */
  takePieces(): Buffer[] {
    const pieces = this.#blocks;
    const last = pieces.pop();
    if (last) pieces.push(last.subarray(0, this.#end));
    this.clear();
    return pieces;
  }

  clear(): void {
    this.#blocks = [];
    this.#end = 0;
    this.length = 0;
    this.heldBytes = 0;
  }
}
