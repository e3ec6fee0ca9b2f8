/** Bytes that are encoded in a step; a multiple of 3, so that only the last ones are padded. */
const encodedBytes = 48 << 10;

/** RFC 2397, in base64. */
export class DataUrl {
  readonly #start: string;
  readonly #bytes: Buffer;

  constructor(contentType: string, bytes: Buffer) {
    this.#start = `data:${contentType};base64,`;
    this.#bytes = bytes;
  }

  get text(): string {
    return this.#start + this.#bytes.toString("base64");
  }

  /** As a string of JSON, in steps: as one text it would be in memory twice. */
  *quoted(): Generator<void, readonly Buffer[]> {
    const pieces = [Buffer.from(JSON.stringify(this.#start).slice(0, -1))];
    for (let at = 0; at < this.#bytes.length; at += encodedBytes) {
      pieces.push(Buffer.from(this.#bytes.toString("base64", at, at + encodedBytes), "latin1"));
      yield;
    }
    pieces.push(Buffer.from('"'));
    return pieces;
  }
}
