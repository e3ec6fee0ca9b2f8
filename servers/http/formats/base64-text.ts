/** Bytes that are encoded in a step; a multiple of 3, so that only the last ones are padded. */
const encodedBytes = 48 << 10;

/** Bytes that are shown as base64. */
export class Base64Text {
  readonly #start: string;
  readonly #bytes: Buffer;

  /** `start` stands in front of it. */
  constructor(bytes: Buffer, start = "") {
    this.#start = start;
    this.#bytes = bytes;
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

/** RFC 2397 */
export const dataUrl = (contentType: string, bytes: Buffer): Base64Text => new Base64Text(bytes, `data:${contentType};base64,`);
