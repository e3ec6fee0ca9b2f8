const firstBytes = 1_024;
/** As UTF-8, of a unit of a string. */
const mostBytesOfUnit = 3;

/** Appends fields to a growing buffer. */
export class FrameWriter {
  private bytes: Buffer;
  private length = 0;

  /** `expected`: about how many bytes it will be. */
  constructor(expected = firstBytes) {
    this.bytes = Buffer.allocUnsafe(expected);
  }

  private room(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.length, this.bytes.length * 2));
      this.bytes.copy(larger, 0, 0, at);
      this.bytes = larger;
    }
    return at;
  }

  byte(value: number): this {
    const at = this.room(1);
    this.bytes[at] = value;
    return this;
  }

  fourBytes(value: number): this {
    const at = this.room(4);
    this.bytes.writeUInt32BE(value, at);
    return this;
  }

  double(value: number): this {
    const at = this.room(8);
    this.bytes.writeDoubleBE(value, at);
    return this;
  }

  /** Prefixed with its length in two bytes. */
  string(value: string): this {
    const length = Buffer.byteLength(value, "utf8");
    if (length > 0xffff) throw new RangeError("A string has at most 65,535 bytes.");
    const at = this.room(2 + length);
    this.bytes.writeUInt16BE(length, at);
    this.bytes.write(value, at + 2, "utf8");
    return this;
  }

  /** The same in four bytes. */
  longString(value: string): this {
    const at = this.room(4 + mostBytesOfUnit * value.length);
    const length = writeShort(this.bytes, value, at + 4) ?? this.bytes.write(value, at + 4, "utf8");
    this.bytes.writeUInt32BE(length, at);
    this.length = at + 4 + length;
    return this;
  }

  /** Prefixed with its length in four bytes. */
  binary(value: Buffer): this {
    const at = this.room(4 + value.length);
    this.bytes.writeUInt32BE(value.length, at);
    value.copy(this.bytes, at + 4);
    return this;
  }

  /** The output of `write`, prefixed with its length in four bytes. */
  part(write: () => void): this {
    const { length } = this;
    return this.counted(() => {
      write();
      return this.length - length - 4;
    });
  }

  /** The output of `write`, prefixed with the number that it returns, in four bytes. */
  counted(write: () => number): this {
    const at = this.room(4);
    const count = write();
    this.bytes.writeUInt32BE(count, at);
    return this;
  }

  /** The written bytes; nothing may be written afterwards. */
  take(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}

const shortLength = 40;

/** A short string of ASCII, which Node takes three times as long to write. Undefined for another one. */
function writeShort(bytes: Buffer, value: string, at: number): number | undefined {
  const { length } = value;
  if (length > shortLength) return undefined;
  for (let index = 0; index < length; index++) {
    const unit = value.charCodeAt(index);
    if (unit > 0x7f) return undefined;
    bytes[at + index] = unit;
  }
  return length;
}
