import type { FrameBatch } from "./frame-batch.ts";
import { fieldOverhead, staticTable } from "./header-field.ts";
import { standardTableBytes } from "./hpack-decoder.ts";

/** The fields of an answer. */
export type AnswerFields = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** RFC 9113 §8.2.2: what belongs to a connection of HTTP/1.1. */
const ofConnection = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);
/** Their values are the same in nearly all answers. */
const repeated = new Set([
  "content-type",
  "grpc-accept-encoding",
  "grpc-encoding",
  "grpc-status",
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-expose-headers",
  "vary",
]);
const mostRepeatedBytes = 256;

const staticNames = new Map<string, number>();
const staticFields = new Map<string, number>();
for (const [index, { name, value }] of staticTable.entries()) {
  if (!staticNames.has(name)) staticNames.set(name, index + 1);
  staticFields.set(`${name}\0${value}`, index + 1);
}

/** RFC 7541: writes the header blocks of one connection, in their order. Fields that nearly all answers have are in the dynamic table, which is filled once. */
export class HpackEncoder {
  /** Numbers in the order of their insertion. */
  readonly #indexed = new Map<string, number>();
  #tableBytes = 0;
  #tableLimit = standardTableBytes;
  #mustShrink = false;
  /** Of fields that are the same object each time and are all in a table. */
  readonly #blocks = new Map<AnswerFields, Buffer>();

  /** RFC 7541 §4.2: SETTINGS_HEADER_TABLE_SIZE of the client. What it shrinks below is not used any more. */
  limitTable(bytes: number): void {
    if (bytes >= this.#tableLimit) return;
    this.#tableLimit = 0;
    this.#mustShrink = true;
    this.#indexed.clear();
    this.#blocks.clear();
  }

  /** `isShared`: the object never changes and is used again. */
  encode(fields: AnswerFields, isShared: boolean, batch: FrameBatch): void {
    if (this.#mustShrink) {
      this.#mustShrink = false;
      batch.push(emptyTable);
    }
    const known = this.#blocks.get(fields);
    if (known) {
      batch.push(known);
      return;
    }
    const start = batch.length;
    const size = this.#indexed.size;
    let isIndexed = true;
    for (const name in fields) {
      const value = fields[name];
      if (value === undefined || ofConnection.has(name)) continue;
      if (typeof value !== "object") isIndexed = this.#field(name, String(value), batch) && isIndexed;
      else for (const one of value) isIndexed = this.#field(name, one, batch) && isIndexed;
    }
    if (size !== this.#indexed.size) this.#blocks.clear();
    else if (isShared && isIndexed) this.#blocks.set(fields, Buffer.from(batch.bytes.subarray(start, batch.length)));
  }

  /** False for a literal. */
  #field(name: string, value: string, batch: FrameBatch): boolean {
    const key = `${name}\0${value}`;
    const found = staticFields.get(key) ?? this.#index(key);
    if (found !== undefined) {
      integer(batch, 0x80, 0x7f, found);
      return true;
    }
    const isKept = this.#keeps(name, value);
    const nameIndex = staticNames.get(name) ?? 0;
    integer(batch, isKept ? 0x40 : 0, isKept ? 0x3f : 0x0f, nameIndex);
    if (nameIndex === 0) text(batch, name);
    text(batch, value);
    if (isKept) this.#indexed.set(key, this.#indexed.size);
    return false;
  }

  #index(key: string): number | undefined {
    const number = this.#indexed.get(key);
    return number === undefined ? undefined : staticTable.length + this.#indexed.size - number;
  }

  /** Nothing is ever evicted: what finds no room is a literal. */
  #keeps(name: string, value: string): boolean {
    if (!repeated.has(name) || value.length > mostRepeatedBytes) return false;
    const bytes = name.length + Buffer.byteLength(value) + fieldOverhead;
    if (this.#tableBytes + bytes > this.#tableLimit) return false;
    this.#tableBytes += bytes;
    return true;
  }
}

const emptyTable = Buffer.from([0x20]);

/** RFC 7541 §5.1 */
function integer(batch: FrameBatch, pattern: number, mask: number, value: number): void {
  batch.reserve(6);
  const { bytes } = batch;
  if (value < mask) {
    bytes[batch.length++] = pattern | value;
    return;
  }
  bytes[batch.length++] = pattern | mask;
  let rest = value - mask;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[batch.length++] = 0x80 | (rest & 0x7f);
  bytes[batch.length++] = rest;
}

function text(batch: FrameBatch, value: string): void {
  const length = Buffer.byteLength(value);
  integer(batch, 0, 0x7f, length);
  batch.reserve(length);
  batch.bytes.write(value, batch.length, length);
  batch.length += length;
}
