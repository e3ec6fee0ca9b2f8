import { type DecodedValue, DecodeError, type DecodeReader, decodeWhole, deepestNesting } from "./decoded-value.ts";

/** The end of a value of indefinite length; never part of a result. */
const breakStop = Symbol("break");

/** One CBOR item (RFC 8949) that takes all of the bytes. Throws DecodeError. */
export const decodeCbor = (bytes: Uint8Array): DecodedValue => decodeWhole(bytes, item);

function item(reader: DecodeReader, depth: number): DecodedValue {
  const value = read(reader, depth);
  if (value === breakStop) throw new DecodeError(`has a break outside an open value, at byte ${reader.at - 1}`);
  return value;
}

function read(reader: DecodeReader, depth: number): DecodedValue | typeof breakStop {
  if (depth > deepestNesting) throw new DecodeError(`is nested deeper than ${deepestNesting}`);
  const head = Number(reader.uint(1));
  const major = head >> 5;
  const info = head & 0x1f;
  if (major === 7) return simple(reader, info);
  const argument = info === 31 ? undefined : readArgument(reader, info);
  switch (major) {
    case 0:
      return definite(argument);
    case 1:
      return negative(definite(argument));
    case 2:
      return argument === undefined ? joined(pieces(reader, 2)) : reader.slice(argument);
    case 3:
      return argument === undefined ? new TextDecoder().decode(joined(pieces(reader, 3))) : reader.text(argument);
    case 4:
      return readArray(reader, argument, depth);
    case 5:
      return readMap(reader, argument, depth);
    default:
      return tagged(definite(argument), item(reader, depth + 1));
  }
}

function readArgument(reader: DecodeReader, info: number): number | bigint {
  if (info < 24) return info;
  if (info > 27) throw new DecodeError(`has a reserved length, at byte ${reader.at - 1}`);
  return reader.uint(1 << (info - 24));
}

function definite(argument: number | bigint | undefined): number | bigint {
  if (argument === undefined) throw new DecodeError("gives a number no length");
  return argument;
}

const negative = (value: number | bigint): number | bigint => (typeof value === "number" ? -1 - value : -1n - value);

function readArray(reader: DecodeReader, length: number | bigint | undefined, depth: number): DecodedValue {
  if (length !== undefined) return Array.from({ length: reader.count(length) }, () => item(reader, depth + 1));
  const items: DecodedValue[] = [];
  for (let next = read(reader, depth + 1); next !== breakStop; next = read(reader, depth + 1)) items.push(next);
  return items;
}

function readMap(reader: DecodeReader, length: number | bigint | undefined, depth: number): DecodedValue {
  const entries: (readonly [DecodedValue, DecodedValue])[] = [];
  const count = length === undefined ? Number.POSITIVE_INFINITY : reader.count(length);
  while (entries.length < count) {
    const key = length === undefined ? read(reader, depth + 1) : item(reader, depth + 1);
    if (key === breakStop) break;
    entries.push([key, item(reader, depth + 1)]);
  }
  return { kind: "map", entries };
}

/** RFC 8949 §3.2.3: the pieces of an open string are strings of the same kind with a length. */
function pieces(reader: DecodeReader, major: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (;;) {
    const head = Number(reader.uint(1));
    if (head === 0xff) return found;
    if (head >> 5 !== major || (head & 0x1f) === 31) throw new DecodeError(`mixes types within a string, at byte ${reader.at - 1}`);
    found.push(reader.slice(readArgument(reader, head & 0x1f)));
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function simple(reader: DecodeReader, info: number): DecodedValue | typeof breakStop {
  switch (info) {
    case 20:
      return false;
    case 21:
      return true;
    case 22:
      return null;
    case 23:
      return { kind: "word", text: "undefined" };
    case 24:
      return { kind: "word", text: `simple(${reader.uint(1)})` };
    case 25:
      return half(Number(reader.uint(2)));
    case 26:
      return reader.float(4);
    case 27:
      return reader.float(8);
    case 31:
      return breakStop;
    default:
      if (info > 27) throw new DecodeError(`has a reserved value, at byte ${reader.at - 1}`);
      return { kind: "word", text: `simple(${info})` };
  }
}

/** RFC 8949, appendix D. */
function half(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  const size =
    exponent === 0
      ? mantissa * 2 ** -24
      : exponent === 31
        ? mantissa === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : (mantissa + 1_024) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -size : size;
}

/** A longer big number stays bytes: writing its digits takes time that grows with the square of its length. */
const bigNumberBytes = 256;

/** Big numbers are shown as numbers, other tags by their number. */
function tagged(tag: number | bigint, value: DecodedValue): DecodedValue {
  if ((tag === 2 || tag === 3) && value instanceof Uint8Array && value.length <= bigNumberBytes) {
    const size = value.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    return tag === 2 ? size : -1n - size;
  }
  return { kind: "tag", name: `tag ${tag}`, value };
}
