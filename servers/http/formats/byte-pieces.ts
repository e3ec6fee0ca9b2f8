/** Above 128 KiB, glibc returns the memory of a buffer to the system at once. */
const longestPiece = 256 << 10;

/** Bytes that are written one after another, in pieces: a single buffer would be copied each time it grows. */
export class BytePieces {
  readonly #full: Buffer[] = [];
  #piece: Buffer;
  #length = 0;

  /** `expectedBytes` is a guess. */
  constructor(expectedBytes: number) {
    this.#piece = Buffer.allocUnsafe(Math.min(longestPiece, Math.max(1, expectedBytes)));
  }

  byte(code: number): void {
    if (this.#length === this.#piece.length) this.#startPiece();
    this.#piece[this.#length++] = code;
  }

  /** `start` and `end` are positions in `bytes`. */
  copy(bytes: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      if (this.#length === this.#piece.length) this.#startPiece();
      const copied = bytes.copy(this.#piece, this.#length, at, end);
      this.#length += copied;
      at += copied;
    }
  }

  repeat(code: number, count: number): void {
    for (let left = count; left > 0; ) {
      if (this.#length === this.#piece.length) this.#startPiece();
      const filled = Math.min(left, this.#piece.length - this.#length);
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
    this.#piece = Buffer.allocUnsafe(Math.min(longestPiece, 2 * this.#piece.length));
    this.#length = 0;
  }
}
