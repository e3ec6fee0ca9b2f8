/** Values of MessagePack and CBOR, as the page shows them. */
export type DecodedValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly DecodedValue[]
  | DecodedMap
  | DecodedTag
  | DecodedWord;

/** In the order of the bytes; keys may be anything and may repeat. */
export interface DecodedMap {
  readonly kind: "map";
  readonly entries: readonly (readonly [key: DecodedValue, value: DecodedValue])[];
}
/** A CBOR tag or a MessagePack extension. */
export interface DecodedTag {
  readonly kind: "tag";
  readonly name: string;
  readonly value: DecodedValue;
}
/** A value that JSON does not have: undefined, simple(16). */
export interface DecodedWord {
  readonly kind: "word";
  readonly text: string;
}

export class DecodeError extends Error {}

/** Deeper than this is an attack, not a message. */
export const deepestNesting = 128;

/** Reads big-endian numbers and checks the length before each. */
export class DecodeReader {
  at = 0;
  readonly bytes: Uint8Array;
  private readonly view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Returns the position of the next `count` bytes, and skips them. */
  private step(count: number): number {
    if (count > this.bytes.length - this.at) throw new DecodeError(`ends within a value, at byte ${this.bytes.length}`);
    const start = this.at;
    this.at += count;
    return start;
  }

  uint(size: number): number | bigint {
    const start = this.step(size);
    switch (size) {
      case 1:
        return this.view.getUint8(start);
      case 2:
        return this.view.getUint16(start);
      case 4:
        return this.view.getUint32(start);
      default:
        return plain(this.view.getBigUint64(start));
    }
  }

  int(size: number): number | bigint {
    const start = this.step(size);
    switch (size) {
      case 1:
        return this.view.getInt8(start);
      case 2:
        return this.view.getInt16(start);
      case 4:
        return this.view.getInt32(start);
      default:
        return plain(this.view.getBigInt64(start));
    }
  }

  float(size: 4 | 8): number {
    const start = this.step(size);
    return size === 4 ? shortest(this.view.getFloat32(start)) : this.view.getFloat64(start);
  }

  slice(length: number | bigint): Uint8Array {
    const start = this.step(Number(length));
    return this.bytes.subarray(start, this.at);
  }

  text(length: number | bigint): string {
    return new TextDecoder().decode(this.slice(length));
  }

  /** Every item takes a byte at least: an impossible count is refused before memory is allocated for it. */
  count(items: number | bigint): number {
    if (Number(items) > this.bytes.length - this.at) throw new DecodeError(`claims ${items} items, more than it has bytes`);
    return Number(items);
  }
}

const plain = (value: bigint): number | bigint =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

/** 20.7 and not 20.700000762939453: as few digits as name this single and no other; nine always do. */
export function shortest(single: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) return short;
  }
  return Number.isFinite(single) ? Number(single.toPrecision(9)) : single;
}

/** A decoded value as JSON: a value that JSON does not have becomes a string that names it. */
export function valueText(value: DecodedValue): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : JSON.stringify(String(value));
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return JSON.stringify(bytesText(value));
  if (isList(value)) return `[${value.map(valueText).join(",")}]`;
  switch (value.kind) {
    case "map":
      return `{${value.entries.map(([key, entry]) => `${keyText(key)}:${valueText(entry)}`).join(",")}}`;
    case "tag":
      return `{${JSON.stringify(value.name)}:${valueText(value.value)}}`;
    case "word":
      return JSON.stringify(value.text);
    default:
      return value satisfies never;
  }
}

/** "h'c01f8e24'", as CBOR's diagnostic notation writes bytes. */
const bytesText = (bytes: Uint8Array): string => `h'${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}'`;

/** A key that is not a string is truncated: each level of keys within keys would double the quotes of the one below. */
const keyCharacters = 200;

function keyText(key: DecodedValue): string {
  if (typeof key === "string") return JSON.stringify(key);
  const text = valueText(key);
  return JSON.stringify(text.length > keyCharacters ? `${text.slice(0, keyCharacters)}…` : text);
}

const isList = (value: DecodedValue): value is readonly DecodedValue[] => Array.isArray(value);

/** One value that takes all of the bytes. Throws DecodeError. */
export function decodeWhole(bytes: Uint8Array, read: (reader: DecodeReader, depth: number) => DecodedValue): DecodedValue {
  const reader = new DecodeReader(bytes);
  const value = read(reader, 0);
  if (reader.at < bytes.length) throw new DecodeError(`continues after its value, at byte ${reader.at}`);
  return value;
}
