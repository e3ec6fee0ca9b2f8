import type { RequestParser } from "./parsed-socket.ts";

/** What Node's parser of a connection has not parsed of a piece, and Node drops: behind a request that offers another protocol and is answered as if it had not. */
export class DroppedBytes {
  readonly #parser: RequestParser;
  readonly #execute: RequestParser["execute"];
  readonly #counting: RequestParser["execute"];
  /** Of the piece that was parsed last. */
  #count = 0;

  constructor(parser: RequestParser) {
    const { execute } = Object.getPrototypeOf(parser) as RequestParser;
    this.#parser = parser;
    this.#execute = execute;
    this.#counting = (bytes) => {
      const parsed = execute.call(parser, bytes);
      this.#count = typeof parsed === "number" ? bytes.length - parsed : 0;
      return parsed;
    };
    parser.execute = this.#counting;
  }

  /** Of the piece, which the parser has got last. */
  take(piece: Buffer): Buffer | undefined {
    const count = this.#count;
    this.#count = 0;
    return count > 0 ? piece.subarray(piece.length - count) : undefined;
  }

  /** To be called when the connection has the parser no more: Node gives it to others. */
  end(): void {
    // Deleted, it would leave V8 an object without a shape, slow for all connections that get the parser later.
    if (this.#parser.execute === this.#counting) this.#parser.execute = this.#execute;
  }
}
