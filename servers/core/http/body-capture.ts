import type { HttpBody } from "../../../contract/traffic/http.ts";
import { previewBytes } from "../../../contract/traffic/row.ts";
import { previewText } from "../traffic/preview-text.ts";

/** The first bytes of a body and the count of all, kept by reference so that a busy server pays little. */
export class BodyCapture {
  bytes = 0;
  /** Bytes of memory that the kept parts hold. */
  held = 0;
  #parts: (string | Uint8Array)[] | undefined;

  add(chunk: string | Uint8Array, encoding: BufferEncoding | undefined, limit: number): void {
    const length = typeof chunk === "string" ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
    const room = limit - this.bytes;
    this.bytes += length;
    if (room <= 0 || length === 0) return;
    this.#parts ??= [];
    const part = this.#kept(chunk, encoding, length, room);
    this.#parts.push(part);
    this.held += Math.min(length, room);
  }

  #kept(chunk: string | Uint8Array, encoding: BufferEncoding | undefined, length: number, room: number): string | Uint8Array {
    if (typeof chunk === "string") {
      const isUtf8 = encoding === undefined || encoding === "utf8" || encoding === "utf-8";
      return isUtf8 && length <= room ? chunk : Buffer.from(chunk, encoding).subarray(0, room);
    }
    const slice = length > room ? chunk.subarray(0, room) : chunk;
    // A slice keeps the whole buffer that it was cut from: copy it when that is much more.
    return slice.buffer.byteLength > 2 * slice.byteLength + 8_192 ? Buffer.from(slice) : slice;
  }

  kept(limit: number): Buffer {
    if (!this.#parts) return Buffer.alloc(0);
    const [first] = this.#parts;
    if (this.#parts.length === 1 && first !== undefined) return asBuffer(first).subarray(0, limit);
    return Buffer.concat(this.#parts.map(asBuffer)).subarray(0, limit);
  }

  /** As text on one line. */
  preview(): string {
    const only = this.#parts?.length === 1 ? this.#parts[0] : undefined;
    // As many characters as bytes: ASCII, which needs no decoding.
    return previewText(typeof only === "string" && only.length === this.bytes ? only : this.kept(previewBytes));
  }

  tell(limit: number): HttpBody {
    return { bytes: this.bytes, base64: this.#parts ? this.kept(limit).toString("base64") : "" };
  }
}

const asBuffer = (part: string | Uint8Array): Buffer =>
  typeof part === "string" ? Buffer.from(part) : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
