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

/** Collects the parts of a packet whose length is not computed in advance. */
export class ByteWriter {
  private readonly parts: Buffer[] = [];
  length = 0;

  private add(part: Buffer): this {
    this.parts.push(part);
    this.length += part.length;
    return this;
  }

  byte(value: number): this {
    return this.add(Buffer.from([value]));
  }

  twoBytes(value: number): this {
    return this.add(Buffer.from([value >> 8, value & 0xff]));
  }

  fourBytes(value: number): this {
    const part = Buffer.allocUnsafe(4);
    part.writeUInt32BE(value);
    return this.add(part);
  }

  variable(value: number): this {
    const part = Buffer.allocUnsafe(variableLength(value));
    putVariable(part, 0, value);
    return this.add(part);
  }

  /** Prefixed with its length in two bytes. */
  binary(value: Buffer): this {
    if (value.length > 0xffff) throw new RangeError("An MQTT string or binary field holds at most 65,535 bytes.");
    return this.twoBytes(value.length).add(value);
  }

  string(value: string): this {
    return this.binary(Buffer.from(value, "utf8"));
  }

  raw(value: Buffer): this {
    return this.add(value);
  }

  bytes(): Buffer {
    return Buffer.concat(this.parts, this.length);
  }
}
