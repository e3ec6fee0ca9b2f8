import { isUtf8 } from "node:buffer";
import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { requireValues } from "./message-values.ts";
import { unreadable } from "./status.ts";

/** Bytes before each message on the wire: a flag for compression, and the length. */
export const prefixBytes = 5;

/** Reads and writes messages of one type. A frame is a prefix and the serialized message, uncompressed. */
export interface MessageType<Value> {
  readonly typeName: string;
  /** Throws for bytes that are not a message of this type. */
  decode(bytes: Uint8Array): Value;
  frame(value: Value): Buffer;
}

export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/** Of a request whose type has no lists: the same field may come again and again, and is decoded each time. */
export const fewValues = 1_000;

/** For `fromBinary`: unknown fields are of no use to what is done with requests, and would be an object each. */
export const knownFields = { readUnknownFields: false } as const;

/** For Backlot's own types. `Value` has the fields as protobuf-es has them. Requests without lists need few values. */
export const describedMessage = <Value extends object>(
  descriptor: DescMessage,
  mostValues = Number.POSITIVE_INFINITY,
): MessageType<Value> => ({
  typeName: descriptor.typeName,
  decode(bytes) {
    requireValues(bytes, descriptor, mostValues);
    try {
      return fromBinary(descriptor, bytes, knownFields) as unknown as Value;
    } catch {
      throw unreadable();
    }
  },
  frame: (value) => frameOf(toBinary(descriptor, create(descriptor, value as never))),
});

interface ScalarTypes {
  readonly string: string;
  readonly int32: number;
  /** Within the range in which numbers are exact. */
  readonly int64: number;
  readonly double: number;
  readonly bytes: Uint8Array;
}
export type FlatFields = Readonly<Record<string, readonly [number: number, type: keyof ScalarTypes]>>;
export type FlatValue<Fields extends FlatFields> = { readonly [Name in keyof Fields]: ScalarTypes[Fields[Name][1]] };

const zeros = { string: "", int32: 0, int64: 0, double: 0, bytes: new Uint8Array() } as const;
const wireTypes = { string: 2, int32: 0, int64: 0, double: 1, bytes: 2 } as const;

/**
 * A message of a few scalar fields with numbers below 16. It costs a fraction of what `describedMessage` does, which decides how many
 * calls a second the reference services make. Fields have implicit presence, as in proto3.
 */
export function flatMessage<const Fields extends FlatFields>(typeName: string, fields: Fields): MessageType<FlatValue<Fields>> {
  const names = Object.keys(fields);
  const numbers = names.map((name) => fields[name]?.[0] ?? 0);
  const types = names.map((name) => fields[name]?.[1] ?? "string");
  const byNumber: (number | undefined)[] = [];
  numbers.forEach((number, index) => {
    byNumber[number] = index;
  });
  const empty = Object.fromEntries(names.map((name, index) => [name, zeros[types[index] as keyof ScalarTypes]]));

  return {
    typeName,
    decode(bytes) {
      const value: Record<string, unknown> = { ...empty };
      const reader = new FlatReader(bytes);
      while (!reader.atEnd) {
        const tag = reader.varint();
        const index = byNumber[tag >>> 3];
        const type = index === undefined ? undefined : (types[index] as keyof ScalarTypes);
        if (index === undefined || type === undefined || wireTypes[type] !== (tag & 7)) reader.skip(tag);
        else value[names[index] as string] = reader.scalar(type);
      }
      return value as FlatValue<Fields>;
    },
    frame(value) {
      let size = 0;
      for (let index = 0; index < names.length; index++) size += sizeOf(types[index] as keyof ScalarTypes, value[names[index] as string]);
      const frame = Buffer.allocUnsafe(prefixBytes + size);
      frame[0] = 0;
      frame.writeUInt32BE(size, 1);
      let at = prefixBytes;
      for (let index = 0; index < names.length; index++) {
        at = writeScalar(frame, at, numbers[index] as number, types[index] as keyof ScalarTypes, value[names[index] as string]);
      }
      return frame;
    },
  };
}

function varintSize(value: number): number {
  if (value < 0) return 10;
  let size = 1;
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) size++;
  return size;
}

function sizeOf(type: keyof ScalarTypes, value: unknown): number {
  if (type === "string" || type === "bytes") {
    const length = type === "string" ? Buffer.byteLength(value as string) : (value as Uint8Array).length;
    return length === 0 ? 0 : 1 + varintSize(length) + length;
  }
  if (value === 0) return 0;
  return type === "double" ? 9 : 1 + varintSize(value as number);
}

function writeVarint(into: Buffer, from: number, value: number): number {
  let at = from;
  if (value < 0) {
    let left = BigInt.asUintN(64, BigInt(value));
    for (; left >= 0x80n; left >>= 7n) into[at++] = Number(left & 0x7fn) | 0x80;
    into[at++] = Number(left);
    return at;
  }
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) into[at++] = (left % 0x80) | 0x80;
  into[at++] = left;
  return at;
}

function writeScalar(into: Buffer, from: number, number: number, type: keyof ScalarTypes, value: unknown): number {
  let at = from;
  switch (type) {
    case "string": {
      const length = Buffer.byteLength(value as string);
      if (length === 0) return at;
      into[at++] = (number << 3) | wireTypes.string;
      at = writeVarint(into, at, length);
      return at + into.write(value as string, at);
    }
    case "bytes": {
      const bytes = value as Uint8Array;
      if (bytes.length === 0) return at;
      into[at++] = (number << 3) | wireTypes.bytes;
      at = writeVarint(into, at, bytes.length);
      into.set(bytes, at);
      return at + bytes.length;
    }
    case "double":
      if (value === 0) return at;
      into[at++] = (number << 3) | wireTypes.double;
      return into.writeDoubleLE(value as number, at);
    default:
      if (value === 0) return at;
      into[at++] = (number << 3) | wireTypes.int32;
      return writeVarint(into, at, value as number);
  }
}

class FlatReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Signed, of 64 bits; beyond 2^53 it is not exact. */
  varint(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 10; count++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw unreadable();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return count < 9 ? value : Number(BigInt.asIntN(64, this.#exact(10)));
      factor *= 0x80;
    }
    throw unreadable();
  }

  #exact(length: number): bigint {
    let value = 0n;
    for (let index = 0; index < length; index++)
      value |= BigInt((this.#bytes[this.#at - length + index] as number) & 0x7f) << BigInt(7 * index);
    return value;
  }

  scalar(type: keyof ScalarTypes): unknown {
    switch (type) {
      case "string":
      case "bytes": {
        const length = this.varint();
        const from = this.#take(length);
        return type === "string" ? this.#text(from, from + length) : this.#bytes.subarray(from, from + length);
      }
      case "double":
        return this.#bytes.readDoubleLE(this.#take(8));
      case "int32":
        return this.varint() | 0;
      case "int64":
        return this.varint();
      default:
        return type satisfies never;
    }
  }

  #text(from: number, to: number): string {
    const text = this.#bytes.toString("utf8", from, to);
    // What is not UTF-8 was replaced by this character, which texts seldom have of their own.
    if (text.includes("\ufffd") && !isUtf8(this.#bytes.subarray(from, to))) throw unreadable();
    return text;
  }

  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.varint();
        break;
      case 1:
        this.#take(8);
        break;
      case 2:
        this.#take(this.varint());
        break;
      case 5:
        this.#take(4);
        break;
      default:
        // These messages have no groups; 4, 6 and 7 are not wire types of a field.
        throw unreadable();
    }
    if (tag >>> 3 === 0) throw unreadable();
  }

  #take(length: number): number {
    const at = this.#at;
    if (length < 0 || at + length > this.#bytes.length) throw unreadable();
    this.#at = at + length;
    return at;
  }
}
