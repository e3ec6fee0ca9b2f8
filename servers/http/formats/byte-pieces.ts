const pieceBytes = 32 << 10;

/** Bytes that are written one after another, in pieces of a fixed size: a single buffer would be copied each time it grows. */
export class BytePieces {
  readonly #full: Buffer[] = [];
  #piece: Buffer = Buffer.allocUnsafe(pieceBytes);
  #length = 0;

  byte(code: number): void {
    if (this.#length === pieceBytes) this.#startPiece();
    this.#piece[this.#length++] = code;
  }

  /** `start` and `end` are positions in `bytes`. */
  copy(bytes: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      if (this.#length === pieceBytes) this.#startPiece();
      const copied = bytes.copy(this.#piece, this.#length, at, end);
      this.#length += copied;
      at += copied;
    }
  }

  repeat(code: number, count: number): void {
    for (let left = count; left > 0; ) {
      if (this.#length === pieceBytes) this.#startPiece();
      const filled = Math.min(left, pieceBytes - this.#length);
      this.#piece.fill(code, this.#length, this.#length + filled);
      this.#length += filled;
      left -= filled;
    }
  }

  /** To be called once, at the end. */
  all(): readonly Buffer[] {
    return [...this.#full, this.#piece.subarray(0, this.#length)];
  }

  #startPiece(): void {
    this.#full.push(this.#piece);
    this.#piece = Buffer.allocUnsafe(pieceBytes);
    this.#length = 0;
  }
}
