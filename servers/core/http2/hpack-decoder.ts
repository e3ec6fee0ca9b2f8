import { isUtf8 } from "node:buffer";
import { ownCopy } from "../streams/own-copy.ts";
import { resultOf } from "../turns/work-connection.ts";
import { errorCodes, Http2Error } from "./frames.ts";
import { fieldOverhead, type HeaderField, makeField, staticTable } from "./header-field.ts";
import { decodeHuffman, longestCode } from "./huffman.ts";

/** RFC 9113 §6.5.2: SETTINGS_HEADER_TABLE_SIZE where nothing else was said. */
export const standardTableBytes = 4_096;
/** Of the bytes of an integer: more than any length or index can be. */
const mostShift = 21;

const broken = (why: string): Http2Error => new Http2Error(errorCodes.compression, why);

const fieldsOfStep = 512;
const nothing: Buffer = Buffer.alloc(0);

/** Thrown within a field whose rest is in the next fragment. */
const incomplete = new Error("a header block ends too early");

export interface DecodedFields {
  /** In order; none where all of them have more bytes than the limit. */
  readonly fields: readonly HeaderField[];
  /** Of all. */
  readonly bytes: number;
}

/** RFC 7541: reads the header blocks of one connection, one after the other, each in the fragments in which it comes. */
export class HpackDecoder {
  readonly #mostTableBytes: number;
  /** The newest is the last one; those before `#oldest` were evicted. */
  #table: (HeaderField | undefined)[] = [];
  #oldest = 0;
  #tableBytes = 0;
  #tableLimit: number;
  /** Of the block so far. */
  #fields: HeaderField[] = [];
  #bytes = 0;
  #mostBytes = 0;
  #isBegun = false;
  /** Of a field that is not complete, its pieces. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** So many bytes it has at least. */
  #wanted = 0;
  /** What is being read, and where: the rest of the block, as far as it has come. */
  #block: Buffer = nothing;
  #at = 0;
  #start = 0;
  /** Of the string that was read last. */
  #stringBytes = 0;

  constructor(mostTableBytes = standardTableBytes) {
    this.#mostTableBytes = mostTableBytes;
    this.#tableLimit = mostTableBytes;
  }

  /** The dynamic table: newest first. */
  get table(): readonly HeaderField[] {
    return this.#table.slice(this.#oldest).reverse() as HeaderField[];
  }

  get tableBytes(): number {
    return this.#tableBytes;
  }

  /** Of a block that is not complete. */
  get heldBytes(): number {
    return this.#restBytes + Math.min(this.#bytes, this.#mostBytes);
  }

  /** A block of one fragment. Throws an `Http2Error`. */
  decode(block: Buffer, mostBytes: number): DecodedFields {
    this.begin(mostBytes);
    return resultOf(this.add(block, true));
  }

  /** A block whose fields are kept while they have at most `mostBytes`. */
  begin(mostBytes: number): void {
    this.#mostBytes = mostBytes;
    this.#fields = [];
    this.#bytes = 0;
    this.#isBegun = false;
    this.#dropRest();
  }

  /**
   * Reads the next fragment of the block in steps, as it may have thousands of fields, and returns what was read so far. What is above the limit is read on, as
   * RFC 9113 §10.5.1 wants, up to twice the limit. Throws an `Http2Error`.
   */
  *add(fragment: Buffer, isLast: boolean): Generator<void, DecodedFields> {
    const restBytes = this.#restBytes + fragment.length;
    if (!isLast && restBytes < this.#wanted) {
      this.#keepRest(fragment);
      return this.#decoded;
    }
    const block = this.#rest.length === 0 ? fragment : Buffer.concat([...this.#rest, fragment]);
    this.#dropRest();
    this.#block = block;
    this.#at = 0;
    let left = fieldsOfStep;
    while (this.#at < block.length) {
      if (--left === 0) {
        left = fieldsOfStep;
        yield;
      }
      this.#start = this.#at;
      try {
        this.#next();
      } catch (error) {
        if (error !== incomplete) throw error;
        if (isLast) throw broken(incomplete.message);
        this.#keepRest(block.subarray(this.#start));
        break;
      }
    }
    this.#block = nothing;
    const decoded = this.#decoded;
    if (isLast) this.begin(this.#mostBytes);
    return decoded;
  }

  get #decoded(): DecodedFields {
    return { fields: this.#fields, bytes: this.#bytes };
  }

  /** In memory of its own: it would keep all that was read with it. */
  #keepRest(bytes: Buffer): void {
    this.#rest.push(ownCopy(bytes));
    this.#restBytes += bytes.length;
  }

  #dropRest(): void {
    this.#rest = [];
    this.#restBytes = 0;
    this.#wanted = 0;
  }

  #next(): void {
    const first = this.#block[this.#at] as number;
    if ((first & 0xe0) === 0x20) {
      // RFC 7541 §4.2
      if (this.#isBegun) throw broken("the size of the table is changed within a header block");
      this.#resize(this.#integer(0x1f));
      return;
    }
    const field = this.#field(first);
    this.#isBegun = true;
    this.#bytes += field.bytes;
    if (this.#bytes <= this.#mostBytes) this.#fields.push(field);
    else if (this.#fields.length > 0) this.#fields = [];
    this.#requireRoom(0);
  }

  /** For so many bytes more. */
  #requireRoom(bytes: number): void {
    const most = 2 * this.#mostBytes;
    if (this.#bytes + bytes > most)
      throw new Http2Error(errorCodes.enhanceYourCalm, `the fields of a header block have more than ${most} bytes`);
  }

  #field(first: number): HeaderField {
    if (first & 0x80) return this.#indexed(this.#integer(0x7f));
    const isKept = (first & 0x40) !== 0;
    const index = this.#integer(isKept ? 0x3f : 0x0f);
    let name: string;
    let nameBytes: number;
    if (index === 0) {
      name = this.#string(true);
      nameBytes = this.#stringBytes;
    } else {
      const named = this.#indexed(index);
      name = named.name;
      nameBytes = name.length;
    }
    const value = this.#string(false);
    const field = makeField(name, value, nameBytes + this.#stringBytes + fieldOverhead);
    if (isKept) this.#keep(field);
    return field;
  }

  #indexed(index: number): HeaderField {
    const field = index <= staticTable.length ? staticTable[index - 1] : this.#table[this.#table.length - (index - staticTable.length)];
    if (!field) throw broken(`there is no header field with the index ${index}`);
    return field;
  }

  /** RFC 7541 §5.1 */
  #integer(mask: number): number {
    let value = this.#byte() & mask;
    if (value < mask) return value;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#byte();
      if (shift > mostShift) throw broken("an integer is too large");
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  #byte(): number {
    const byte = this.#block[this.#at++];
    if (byte === undefined) throw incomplete;
    return byte;
  }

  /** RFC 7541 §5.2 */
  #string(isName: boolean): string {
    const isHuffman = ((this.#block[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#integer(0x7f);
    const start = this.#at;
    const end = start + length;
    this.#requireRoom(isHuffman ? (length * 8) / longestCode : length);
    if (end > this.#block.length) {
      this.#wanted = end - this.#start;
      throw incomplete;
    }
    this.#at = end;
    if (!isHuffman) {
      this.#stringBytes = length;
      return isName ? this.#block.toString("latin1", start, end) : valueText(this.#block, start, end);
    }
    const room = roomFor(Math.ceil((length * 8) / 5));
    const decoded = decodeHuffman(this.#block, start, end, room);
    if (decoded < 0) throw broken("a Huffman code is not valid");
    this.#stringBytes = decoded;
    return isName ? room.toString("latin1", 0, decoded) : valueText(room, 0, decoded);
  }

  #resize(limit: number): void {
    if (limit > this.#mostTableBytes) throw broken(`the table has ${limit} bytes, which is more than ${this.#mostTableBytes}`);
    this.#tableLimit = limit;
    this.#evict();
  }

  /** RFC 7541 §4.4 */
  #keep(field: HeaderField): void {
    this.#table.push(field);
    this.#tableBytes += field.bytes;
    this.#evict();
  }

  #evict(): void {
    while (this.#tableBytes > this.#tableLimit) {
      this.#tableBytes -= this.#table[this.#oldest]?.bytes ?? 0;
      this.#table[this.#oldest++] = undefined;
    }
    if (this.#oldest < 64 || 2 * this.#oldest < this.#table.length) return;
    this.#table = this.#table.slice(this.#oldest);
    this.#oldest = 0;
  }
}

/** Clients send UTF-8; some, such as Node's, send Latin-1. */
function valueText(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString("utf8", start, end);
  return text.includes("\ufffd") && !isUtf8(bytes.subarray(start, end)) ? bytes.toString("latin1", start, end) : text;
}

let room: Buffer = Buffer.allocUnsafeSlow(8 << 10);

/** For what is decoded and becomes a string at once. */
function roomFor(length: number): Buffer {
  if (room.length >= length) return room;
  // A long one is rare.
  const more = Buffer.allocUnsafeSlow(length);
  if (length <= 64 << 10) room = more;
  return more;
}
