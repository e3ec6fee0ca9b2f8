import type { ConnectionHead } from "../../../contract/traffic/connection.ts";

/** A record that is shorter than its length field says. It is damaged, and nothing of it is shown. */
export class RecordError extends Error {}

const longLength = 255;

/** Milliseconds as they are shown, without noise behind the third digit. */
export const toMicroseconds = (milliseconds: number): number => Math.round(milliseconds * 1_000) / 1_000;

/** Reads what `RecordWriter` wrote. Throws a RecordError instead of reading past the end. */
export class RecordReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array, from = 0, end = bytes.length) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = from;
    this.#end = Math.min(end, bytes.length);
  }

  get atEnd(): boolean {
    return this.#at >= this.#end;
  }

  u8(): number {
    return this.#bytes[this.#take(1)] as number;
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  f64(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  /** With microseconds; undefined for NaN, which is written for an absent time. */
  milliseconds(): number | undefined {
    const value = this.f64();
    return Number.isNaN(value) ? undefined : toMicroseconds(value);
  }

  text(): string {
    const length = this.#length();
    const at = this.#take(length);
    return this.#bytes.toString("utf8", at, at + length);
  }

  /** A view, valid as long as the bytes it was read from. */
  bytes(): Buffer {
    return this.view(this.#length());
  }

  pairs(): [name: string, value: string][] {
    const pairs: [string, string][] = [];
    for (let left = this.u32(); left > 0; left--) pairs.push([this.text(), this.text()]);
    return pairs;
  }

  connection(remote: string): ConnectionHead {
    const id = this.f64();
    const local = this.text();
    const openedAt = this.f64();
    const tls = this.text();
    return { id, remote, local, openedAt, ...(tls !== "" && { tls }) };
  }

  view(length: number): Buffer {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  rest(): Buffer {
    return this.view(this.#end - this.#at);
  }

  #length(): number {
    const short = this.u8();
    return short === longLength ? this.u32() : short;
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#end) throw new RecordError(`a record ends ${at + length - this.#end} bytes too early`);
    this.#at = at + length;
    return at;
  }
}
