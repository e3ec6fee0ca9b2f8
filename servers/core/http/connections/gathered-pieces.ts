import { GatheredBytes } from "../../net/gathered-bytes.ts";

/** A piece of this size has memory of its own, or is kept by reference. */
const largeBytes = 1 << 10;

/** The pieces of a body in their order. A client may send thousands of one byte each: small ones after the first are gathered. */
export class GatheredPieces<Piece extends string | Uint8Array = Buffer> {
  readonly #pieces: (Piece | Buffer)[] = [];
  /** Behind them. Most bodies are one piece. */
  #small: GatheredBytes | undefined;

  add(piece: Piece): void {
    if (typeof piece !== "string" && piece.length < largeBytes && this.#pieces.length > 0) {
      this.#small ??= new GatheredBytes();
      this.#small.add(piece);
    } else {
      this.#endSmall();
      this.#pieces.push(piece);
    }
  }

  #endSmall(): void {
    if (this.#small && this.#small.length > 0) this.#pieces.push(...this.#small.takePieces());
  }

  /** Those that there are. A piece that comes later is a piece of its own. */
  all(): readonly (Piece | Buffer)[] {
    this.#endSmall();
    return this.#pieces;
  }

  get count(): number {
    return this.#pieces.length + (this.#small && this.#small.length > 0 ? 1 : 0);
  }

  get first(): Piece | Buffer | undefined {
    return this.#pieces[0];
  }
}
