import { type DecodedValue, DecodeError, DecodeReader, decodeWhole, deepestNesting } from "./decoded-value.ts";

/** One MessagePack value that takes all of the bytes. Throws DecodeError. */
export const decodeMessagePack = (bytes: Uint8Array): DecodedValue => decodeWhole(bytes, read);

function read(reader: DecodeReader, depth: number): DecodedValue {
  if (depth > deepestNesting) throw new DecodeError(`is nested deeper than ${deepestNesting}`);
  const head = Number(reader.uint(1));
  if (head <= 0x7f) return head;
  if (head <= 0x8f) return readMap(reader, head & 0x0f, depth);
  if (head <= 0x9f) return readArray(reader, head & 0x0f, depth);
  if (head <= 0xbf) return reader.text(head & 0x1f);
  if (head >= 0xe0) return head - 0x100;
  switch (head) {
    case 0xc0:
      return null;
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return reader.slice(reader.uint(1 << (head - 0xc4)));
    case 0xc7:
    case 0xc8:
    case 0xc9:
      return readExtension(reader, Number(reader.uint(1 << (head - 0xc7))));
    case 0xca:
      return reader.float(4);
    case 0xcb:
      return reader.float(8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return reader.uint(1 << (head - 0xcc));
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return reader.int(1 << (head - 0xd0));
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      return readExtension(reader, 1 << (head - 0xd4));
    case 0xd9:
    case 0xda:
    case 0xdb:
      return reader.text(reader.uint(1 << (head - 0xd9)));
    case 0xdc:
    case 0xdd:
      return readArray(reader, reader.uint(head === 0xdc ? 2 : 4), depth);
    case 0xde:
    case 0xdf:
      return readMap(reader, reader.uint(head === 0xde ? 2 : 4), depth);
    default:
      throw new DecodeError("has the byte c1, which MessagePack never uses");
  }
}

function readArray(reader: DecodeReader, length: number | bigint, depth: number): DecodedValue {
  return Array.from({ length: reader.count(length) }, () => read(reader, depth + 1));
}

function readMap(reader: DecodeReader, length: number | bigint, depth: number): DecodedValue {
  const entries = Array.from({ length: reader.count(length) }, () => {
    const key = read(reader, depth + 1);
    return [key, read(reader, depth + 1)] as const;
  });
  return { kind: "map", entries };
}

function readExtension(reader: DecodeReader, length: number): DecodedValue {
  const type = Number(reader.int(1));
  const bytes = reader.slice(length);
  return { kind: "tag", name: type === -1 ? "timestamp" : `extension ${type}`, value: type === -1 ? timestamp(bytes) : bytes };
}

/** The three widths of the timestamp extension: 32, 64 and 96 bits. */
function timestamp(bytes: Uint8Array): DecodedValue {
  const reader = new DecodeReader(bytes);
  let seconds: number;
  let nanoseconds = 0;
  if (bytes.length === 4) seconds = Number(reader.uint(4));
  else if (bytes.length === 8) {
    const both = BigInt(reader.uint(8));
    nanoseconds = Number(both >> 34n);
    seconds = Number(both & 0x3_ffff_ffffn);
  } else if (bytes.length === 12) {
    nanoseconds = Number(reader.uint(4));
    seconds = Number(reader.int(8));
  } else return bytes;
  const at = new Date(seconds * 1_000 + nanoseconds / 1e6);
  return Number.isNaN(at.getTime()) ? bytes : at.toISOString();
}
