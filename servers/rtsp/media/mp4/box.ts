import { damaged } from "./media-file-error.ts";

/** A parent with more is made to use up memory. */
const mostChildren = 10_000;

/** A box of ISO/IEC 14496-12 within a buffer that holds its whole parent; `start` is behind its header. */
export interface Box {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Reads the fields of boxes in one buffer. Every read is checked against the end of the box. */
export class BoxReader {
  readonly bytes: Buffer;
  readonly end: number;
  position: number;

  constructor(bytes: Buffer, { start, end }: { start: number; end: number }) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  get remaining(): number {
    return this.end - this.position;
  }

  byte(): number {
    return this.bytes[this.take(1)] as number;
  }

  twoBytes(): number {
    return this.bytes.readUInt16BE(this.take(2));
  }

  fourBytes(): number {
    return this.bytes.readUInt32BE(this.take(4));
  }

  signedFourBytes(): number {
    return this.bytes.readInt32BE(this.take(4));
  }

  /** As a double: exact up to 2^53, and larger than any file or time that is accepted above it. */
  eightBytes(): number {
    return Number(this.bytes.readBigUInt64BE(this.take(8)));
  }

  signedEightBytes(): number {
    return Number(this.bytes.readBigInt64BE(this.take(8)));
  }

  view(count: number): Buffer {
    const at = this.take(count);
    return this.bytes.subarray(at, at + count);
  }

  skip(count: number): void {
    this.take(count);
  }

  /** FullBox: its version; the flags are left in `flags`. */
  version(): number {
    const value = this.fourBytes();
    this.flags = value & 0xff_ffff;
    return value >>> 24;
  }
  flags = 0;

  /** How many entries a table has; fewer than its box has room for is allowed, more is not. */
  entries(entryBytes: number): number {
    const count = this.fourBytes();
    if (count * entryBytes > this.remaining) throw damaged(`a table declares ${count} entries and has room for fewer`);
    return count;
  }

  /** The boxes from here to the end. */
  children(): Box[] {
    const boxes: Box[] = [];
    // Some writers end a list of boxes with four zero bytes.
    while (this.remaining >= 8) {
      const at = this.position;
      let size = this.fourBytes();
      const type = this.view(4).toString("latin1");
      if (size === 1) size = this.eightBytes();
      else if (size === 0) size = this.end - at;
      if (size < this.position - at || size > this.end - at)
        throw damaged(`the box ${printable(type)} has ${size} bytes, and its parent has not`);
      if (boxes.length === mostChildren) throw damaged(`a box has more than ${mostChildren} others in it`);
      boxes.push({ type, start: this.position, end: at + size });
      this.position = at + size;
    }
    return boxes;
  }

  of(box: Box): BoxReader {
    return new BoxReader(this.bytes, box);
  }

  /** The first box of this type below the current position. */
  find(type: string): BoxReader | undefined {
    const box = new BoxReader(this.bytes, { start: this.position, end: this.end }).children().find((child) => child.type === type);
    return box && this.of(box);
  }

  need(type: string): BoxReader {
    const found = this.find(type);
    if (!found) throw damaged(`it has no ${type} box where one is required`);
    return found;
  }

  private take(count: number): number {
    const at = this.position;
    if (count > this.end - at) throw damaged("a box ends within its fields");
    this.position = at + count;
    return at;
  }
}

/** A type as it may be shown: what is not printable ASCII becomes a dot. */
export const printable = (type: string): string => JSON.stringify(type.replaceAll(/[^\x20-\x7e]/g, "."));
