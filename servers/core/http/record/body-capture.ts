import { previewBytes } from "../../../../contract/traffic/row.ts";
import { ownCopy } from "../../streams/own-copy.ts";
import type { RecordWriter } from "../../traffic/record-writer.ts";
import { type BodyBudget, mostKeptBytes } from "../connections/body-budget.ts";
import { GatheredPieces } from "../connections/gathered-pieces.ts";

/** The first bytes of a body and the count of all, kept by reference so that a busy server pays little. */
export class BodyCapture {
  bytes = 0;
  /** Not all bytes are kept. */
  isCut = false;
  /** Bytes of memory that the kept parts hold. */
  held = 0;
  /** The rest was not kept because the budget was used up. */
  isOverBudget = false;
  #parts: GatheredPieces<string | Uint8Array> | undefined;
  /** Parts that were written. */
  #written = 0;

  /** Keeps the bytes up to the limit, and those beyond it as far as the budget allows. */
  add(chunk: string | Uint8Array, encoding: BufferEncoding | undefined, limit: number, budget?: BodyBudget): void {
    const length = typeof chunk === "string" ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
    const before = this.bytes;
    this.bytes += length;
    if (length === 0 || this.isCut) return;
    const room = length <= limit - before ? length : this.#roomBeyond(before, length, limit, budget);
    if (room <= 0) return;
    this.#parts ??= new GatheredPieces();
    this.#parts.add(this.#kept(chunk, encoding, length, room));
    this.held += Math.min(length, room);
  }

  #roomBeyond(before: number, length: number, limit: number, budget: BodyBudget | undefined): number {
    const beyond = Math.min(before + length, mostKeptBytes) - Math.max(before, limit);
    const isGranted = beyond > 0 && budget?.take(beyond) === true;
    this.isOverBudget = beyond > 0 && budget !== undefined && !isGranted;
    const room = Math.min(length, (isGranted ? mostKeptBytes : limit) - before);
    this.isCut = room < length;
    return room;
  }

  #kept(chunk: string | Uint8Array, encoding: BufferEncoding | undefined, length: number, room: number): string | Uint8Array {
    if (typeof chunk === "string") {
      const isUtf8 = encoding === undefined || encoding === "utf8" || encoding === "utf-8";
      return isUtf8 && length <= room ? chunk : Buffer.from(chunk, encoding).subarray(0, room);
    }
    return copyOfSlice(length > room ? chunk.subarray(0, room) : chunk);
  }

  kept(): Buffer {
    const first = this.#parts?.first;
    if (first === undefined) return Buffer.alloc(0);
    if (this.#parts?.count === 1) return asBuffer(first);
    return this.#firstBytes(Number.POSITIVE_INFINITY);
  }

  /** A stream may have sent its body in many small parts. */
  #firstBytes(limit: number): Buffer {
    const first: Buffer[] = [];
    let length = 0;
    for (const part of this.#parts?.all() ?? []) {
      if (length >= limit) break;
      const bytes = asBuffer(part);
      first.push(bytes);
      length += bytes.length;
    }
    return Buffer.concat(first, Math.min(length, limit));
  }

  /** Writes the parts kept since the last call, each preceded by the tag. */
  write(record: RecordWriter, tag: number): void {
    if (!this.#parts || this.#written === this.#parts.count) return;
    const parts = this.#parts.all();
    for (; this.#written < parts.length; this.#written++) {
      const part = parts[this.#written] as string | Uint8Array;
      record.u8(tag);
      if (typeof part === "string") record.text(part);
      else record.bytes(part);
    }
  }

  /** Releases what was written, but for the first bytes: an open exchange may last for hours. */
  release(): void {
    if (this.held <= previewBytes || this.#written < (this.#parts?.count ?? 0)) return;
    const start = this.start();
    this.#parts = new GatheredPieces();
    this.#parts.add(typeof start === "string" ? start : ownCopy(start));
    this.#written = 1;
    this.held = start.length;
  }

  /** The first bytes, for the row. */
  start(): string | Uint8Array {
    const first = this.#parts?.first;
    if (first === undefined) return "";
    const isOnly = this.#parts?.count === 1;
    // As many characters as bytes: ASCII, which needs no encoding.
    if (typeof first === "string" && first.length === this.bytes) return first.slice(0, previewBytes);
    if (typeof first === "string") return Buffer.from(isOnly ? first.slice(0, previewBytes) : first).subarray(0, previewBytes);
    return isOnly || first.length >= previewBytes ? first.subarray(0, previewBytes) : this.#firstBytes(previewBytes);
  }
}

/** A slice keeps its whole underlying buffer alive: it is copied if that is much larger than a block of Node's pool, which is in use anyway. */
export const copyOfSlice = <Bytes extends Uint8Array>(slice: Bytes): Bytes | Buffer =>
  slice.buffer.byteLength > 2 * slice.byteLength + Buffer.poolSize ? Buffer.from(slice) : slice;

const asBuffer = (part: string | Uint8Array): Buffer =>
  typeof part === "string" ? Buffer.from(part) : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
