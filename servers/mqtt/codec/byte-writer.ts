/** Length of a variable byte integer in bytes, §1.5.5. */
export const variableLength = (value: number): number => (value < 128 ? 1 : value < 16_384 ? 2 : value < 2_097_152 ? 3 : 4);

/** Writes a variable byte integer; returns the position behind it. */
export function putVariable(bytes: Buffer, at: number, value: number): number {
  let rest = value;
  let position = at;
  do {
    const digit = rest & 0x7f;
    rest >>>= 7;
    bytes[position++] = rest > 0 ? digit | 0x80 : digit;
  } while (rest > 0);
  return position;
}

const startBytes = 64;

/** Writes a packet whose length is not computed in advance. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(startBytes);
  length = 0;

  byte(value: number): this {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
    return this;
  }

  twoBytes(value: number): this {
    this.#reserve(2);
    this.#bytes[this.length++] = value >> 8;
    this.#bytes[this.length++] = value;
    return this;
  }

  fourBytes(value: number): this {
    this.#reserve(4);
    this.length = this.#bytes.writeUInt32BE(value, this.length);
    return this;
  }

  variable(value: number): this {
    this.#reserve(4);
    this.length = putVariable(this.#bytes, this.length, value);
    return this;
  }

  /** Prefixed with its length in two bytes. */
  binary(value: Buffer): this {
    return this.#prefix(value.length).raw(value);
  }

  string(value: string): this {
    const bytes = Buffer.byteLength(value);
    this.#prefix(bytes).#reserve(bytes);
    this.length += this.#bytes.write(value, this.length);
    return this;
  }

  raw(value: Buffer): this {
    this.#reserve(value.length);
    this.#bytes.set(value, this.length);
    this.length += value.length;
    return this;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  #prefix(length: number): this {
    if (length > 0xffff) throw new RangeError("An MQTT string or binary field has at most 65,535 bytes.");
    return this.twoBytes(length);
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }
}
