import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import type { RowMedia, TrafficRow } from "../../../contract/traffic/row.ts";
import { toneIndex } from "./row-record.ts";

/** The fields of a row that its entry sets; `preview` is the unchanged first bytes of the content. */
export interface RowFields
  extends Omit<TrafficRow, "service" | "preview" | "tookMs" | "parent" | "user" | "reason" | "peerName" | "media"> {
  readonly parent?: number | undefined;
  readonly tookMs?: number | undefined;
  readonly user?: string | undefined;
  readonly reason?: string | undefined;
  readonly peerName?: string | undefined;
  readonly media?: RowMedia | undefined;
  /** Bytes of content of all parts. */
  readonly partBytes?: number;
  /** Not all of its content is kept. */
  readonly isCut?: boolean;
  readonly preview: Uint8Array | string;
  /** Of rows with the same kind, verb, target, outcome, client and peer: the texts are written once, and then copied. */
  readonly shared?: SharedTexts | undefined;
}

export interface SharedTexts {
  bytes?: Buffer;
}

const startBytes = 64 << 10;
/** A buffer that grew beyond this for one batch is not reused. */
const keptBytes = 1 << 20;
/** Buffers kept for reuse: under load a few batches are in flight while one is written. */
const mostSpare = 4;
/** Texts and byte strings up to 254 bytes have a length of one byte; 255 says that four follow. */
const longLength = 255;
const mostBytesPerCharacter = 3;
const shortText = Math.floor((longLength - 1) / mostBytesPerCharacter);
/** Up to this length a loop is faster than the call into Node. */
const loopedText = 24;

/**
 * Writes records one after the other. Numbers are little-endian.
 * One record: u32 length of the rest, u32 length of the row, the row, u32 length of the new pieces of the detail, the pieces, and the new parts.
 */
export class RecordWriter {
  #bytes = Buffer.allocUnsafeSlow(startBytes);
  #view = new DataView(this.#bytes.buffer);
  readonly #spare: Buffer<ArrayBuffer>[] = [];
  #length = 0;
  #recordAt = 0;
  /** 0 once the detail has ended. */
  #detailAt = 0;

  get length(): number {
    return this.#length;
  }

  /** What was written; the next record begins a new buffer. The bytes are valid until `giveBack`. */
  take(): Buffer<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = this.#spare.pop() ?? Buffer.allocUnsafeSlow(startBytes);
    this.#view = new DataView(this.#bytes.buffer);
    this.#length = 0;
    return taken;
  }

  /** Gives back the buffer of what was taken, for reuse. */
  giveBack(taken: Buffer<ArrayBuffer>): void {
    if (taken.buffer.byteLength > keptBytes || this.#spare.length >= mostSpare) return;
    this.#spare.push(Buffer.from(taken.buffer));
  }

  begin(): void {
    this.#recordAt = this.#length;
    this.u32(0);
  }

  /** Discards the record that was begun. */
  undo(): void {
    this.#length = this.#recordAt;
    this.#detailAt = 0;
  }

  end(): void {
    this.#endDetail();
    this.#view.setUint32(this.#recordAt, this.#length - this.#recordAt - 4, true);
  }

  /** Writes the current row. The detail is written next. */
  row(fields: RowFields): void {
    const { parent, tookMs, user, reason, peerName, media, preview } = fields;
    const lengthAt = this.#length;
    this.#reserve(80);
    const view = this.#view;
    const at = lengthAt + 4;
    const given =
      (tookMs === undefined ? 0 : 1) | (parent === undefined ? 0 : 2) | (user === undefined ? 0 : 4) | (reason === undefined ? 0 : 8);
    view.setUint8(at, toneIndex(fields.tone));
    const further = (fields.parts === undefined ? 0 : 16) | (fields.isCut === true ? 32 : 0);
    view.setUint8(at + 1, given | further | (peerName === undefined ? 0 : 64) | (media === undefined ? 0 : 128));
    view.setFloat64(at + 2, fields.id, true);
    view.setFloat64(at + 10, fields.at, true);
    view.setFloat64(at + 18, tookMs ?? 0, true);
    view.setFloat64(at + 26, fields.bytesIn, true);
    view.setFloat64(at + 34, fields.bytesOut, true);
    view.setFloat64(at + 42, parent ?? 0, true);
    view.setUint32(at + 50, fields.parts ?? 0, true);
    view.setFloat64(at + 54, fields.partBytes ?? 0, true);
    this.#length = at + 62;
    this.#texts(fields);
    if (typeof preview === "string") this.text(preview);
    else this.bytes(preview);
    if (user !== undefined) this.text(user);
    if (reason !== undefined) this.text(reason);
    if (peerName !== undefined) this.text(peerName);
    if (media !== undefined) {
      this.text(media.over);
      this.f64(media.lossFraction ?? Number.NaN);
      this.f64(media.jitterMs ?? Number.NaN);
    }
    this.#view.setUint32(lengthAt, this.#length - lengthAt - 4, true);
    this.#detailAt = this.#length;
    this.u32(0);
  }

  #texts({ kind, verb, target, outcome, client, peer, shared }: RowFields): void {
    if (shared?.bytes) {
      this.copyBytes(shared.bytes, 0, shared.bytes.length);
      return;
    }
    const from = this.#length;
    this.text(kind);
    this.text(verb);
    this.text(target);
    this.text(outcome);
    this.text(client);
    this.text(peer);
    if (shared) shared.bytes = this.bytesFrom(from);
  }

  /** After the detail: one new part. `content` may be truncated; `bytes` is its full length. */
  part(index: number, at: number, bytes: number, flags: number, row: number, content: Uint8Array): void {
    this.#endDetail();
    this.#reserve(29 + content.length);
    const view = this.#view;
    const start = this.#length;
    view.setUint32(start, 25 + content.length, true);
    view.setUint32(start + 4, index, true);
    view.setFloat64(start + 8, at, true);
    view.setUint32(start + 16, bytes, true);
    view.setUint8(start + 20, flags);
    view.setFloat64(start + 21, row, true);
    this.#bytes.set(content, start + 29);
    this.#length = start + 29 + content.length;
  }

  /** A whole record from pieces that were read from others. */
  copy(row: Uint8Array, detail: Uint8Array): void {
    this.begin();
    for (const bytes of [row, detail]) {
      this.u32(bytes.length);
      this.#reserve(bytes.length);
      this.#bytes.set(bytes, this.#length);
      this.#length += bytes.length;
    }
    this.end();
  }

  #endDetail(): void {
    if (this.#detailAt === 0) return;
    this.#view.setUint32(this.#detailAt, this.#length - this.#detailAt - 4, true);
    this.#detailAt = 0;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** As UTF-8. */
  text(text: string): void {
    const { length } = text;
    this.#reserve(5 + length * mostBytesPerCharacter);
    const at = this.#length;
    if (length > shortText) {
      const written = this.#bytes.write(text, at + 5);
      this.#longLength(at, written);
      return;
    }
    const bytes = this.#bytes;
    let index = 0;
    if (length <= loopedText) {
      for (; index < length; index++) {
        const code = text.charCodeAt(index);
        if (code > 0x7f) break;
        bytes[at + 1 + index] = code;
      }
    }
    const written = index === length ? length : bytes.write(text, at + 1);
    bytes[at] = written;
    this.#length = at + 1 + written;
  }

  /** A string whose characters are bytes. */
  latin1(text: string): void {
    this.#reserve(5 + text.length);
    const at = this.#length;
    this.#bytes.write(text, at + 5, "latin1");
    this.#longLength(at, text.length);
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(5 + length);
    const at = this.#length;
    if (length < longLength) {
      this.#bytes[at] = length;
      this.#bytes.set(bytes, at + 1);
      this.#length = at + 1 + length;
    } else {
      this.#bytes.set(bytes, at + 5);
      this.#longLength(at, length);
    }
  }

  /** Names and values of header fields. */
  pairs(pairs: readonly (readonly [name: string, value: string])[]): void {
    this.u32(pairs.length);
    for (const [name, value] of pairs) {
      this.text(name);
      this.text(value);
    }
  }

  /** The client's address is in the row. */
  connection({ id, local, openedAt, tls }: Omit<ConnectionHead, "remote">): void {
    this.f64(id);
    this.text(local);
    this.f64(openedAt);
    this.text(tls ?? "");
  }

  /** A part of bytes that were written before, as they are. */
  copyBytes(bytes: Buffer, from: number, to: number): void {
    const length = to - from;
    this.#reserve(length);
    bytes.copy(this.#bytes, this.#length, from, to);
    this.#length += length;
  }

  /** A copy of what was written since the writer had this length. */
  bytesFrom(length: number): Buffer {
    return Buffer.from(this.#bytes.subarray(length, this.#length));
  }

  #longLength(at: number, length: number): void {
    this.#bytes[at] = longLength;
    this.#view.setUint32(at + 1, length, true);
    this.#length = at + 5 + length;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
