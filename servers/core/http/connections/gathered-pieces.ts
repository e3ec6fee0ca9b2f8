/** A piece of this size has memory of its own, or is kept by reference. */
const largeBytes = 1 << 10;
const longestBlock = 16 << 10;

/**
 * The pieces of a body in their order. A client may send thousands of one byte each, and such a piece in memory of its own takes hundreds: small
 * ones after the first are copied into blocks.
 */
export class GatheredPieces<Piece extends string | Uint8Array = Buffer> {
  readonly #pieces: (Piece | Buffer)[] = [];
  #block: Buffer | undefined;
  /** In the block, of the last piece. */
  #start = 0;
  #end = 0;
  /** The last piece is the block's and may grow. */
  #isGrowing = false;

  add(piece: Piece): void {
    if (typeof piece === "string" || piece.length >= largeBytes || this.#pieces.length === 0) {
      this.#isGrowing = false;
      this.#pieces.push(piece);
    } else this.#gather(piece);
  }

  #gather(piece: Uint8Array): void {
    let block = this.#block;
    if (!block || block.length - this.#end < piece.length) {
      block = Buffer.allocUnsafeSlow(Math.min(longestBlock, 2 * (block?.length ?? largeBytes)));
      this.#block = block;
      this.#end = 0;
      this.#isGrowing = false;
    }
    if (this.#isGrowing) this.#pieces.pop();
    else this.#start = this.#end;
    block.set(piece, this.#end);
    this.#end += piece.length;
    this.#pieces.push(block.subarray(this.#start, this.#end));
    this.#isGrowing = true;
  }

  /** Those that there are. A piece that comes later is a piece of its own. */
  all(): readonly (Piece | Buffer)[] {
    this.#isGrowing = false;
    return this.#pieces;
  }

  get count(): number {
    return this.#pieces.length;
  }

  get first(): Piece | Buffer | undefined {
    return this.#pieces[0];
  }
}
