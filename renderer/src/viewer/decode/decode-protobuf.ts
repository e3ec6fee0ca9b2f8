import { decodeText } from "./bytes.ts";
import { DecodeError, deepestNesting } from "./decoded-value.ts";

/** A field as it is on the wire: without a schema only its number and wire type are known. */
export interface ProtobufField {
  readonly number: number;
  readonly value: ProtobufValue;
}

export type ProtobufValue =
  | { readonly wire: "VARINT"; readonly value: bigint }
  | { readonly wire: "I64" | "I32"; readonly bytes: Uint8Array }
  | { readonly wire: "LEN"; readonly content: string | Uint8Array | readonly ProtobufField[] }
  | { readonly wire: "GROUP"; readonly fields: readonly ProtobufField[] };

const largestNumber = 0x1fff_ffff;

/** A message of Protocol Buffers that takes all of the bytes, in the order of the bytes. Throws DecodeError. */
export function decodeProtobuf(bytes: Uint8Array): readonly ProtobufField[] {
  return readFields(new WireReader(bytes), undefined, 0);
}

/** Up to the end of the bytes, or of the group with this number. */
function readFields(reader: WireReader, group: number | undefined, depth: number): readonly ProtobufField[] {
  if (depth > deepestNesting) throw new DecodeError(`is nested deeper than ${deepestNesting}`);
  const fields: ProtobufField[] = [];
  while (reader.at < reader.bytes.length) {
    const start = reader.at;
    const tag = reader.varint();
    const number = Number(tag >> 3n);
    if (number === 0 || number > largestNumber) throw new DecodeError(`has no field number, at byte ${start}`);
    const wireType = Number(tag & 7n);
    if (wireType === 4) {
      if (number !== group) throw new DecodeError(`ends a group that was not started, at byte ${start}`);
      return fields;
    }
    fields.push({ number, value: readValue(reader, number, wireType, start, depth) });
  }
  if (group !== undefined) throw new DecodeError(`ends within a group, at byte ${reader.at}`);
  return fields;
}

function readValue(reader: WireReader, number: number, wireType: number, start: number, depth: number): ProtobufValue {
  switch (wireType) {
    case 0:
      return { wire: "VARINT", value: reader.varint() };
    case 1:
      return { wire: "I64", bytes: reader.slice(8) };
    case 2:
      return { wire: "LEN", content: guessed(reader.slice(Number(reader.varint())), depth) };
    case 3:
      return { wire: "GROUP", fields: readFields(reader, number, depth + 1) };
    case 5:
      return { wire: "I32", bytes: reader.slice(4) };
    default:
      throw new DecodeError(`has the unknown wire type ${wireType}, at byte ${start}`);
  }
}

/**
 * Text, a message or bytes: the wire does not say which. Text that begins with a control character is a message where it can be read as
 * one: that is the tag of one of its first fields.
 */
function guessed(bytes: Uint8Array, depth: number): string | Uint8Array | readonly ProtobufField[] {
  const text = decodeText(bytes, false);
  if (text !== undefined && (bytes[0] ?? 0x20) >= 0x20) return text;
  try {
    return readFields(new WireReader(bytes), undefined, depth + 1);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return text ?? bytes;
  }
}

class WireReader {
  at = 0;
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.slice(1)[0] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new DecodeError(`has a number of more than ten bytes, at byte ${this.at}`);
  }

  slice(length: number): Uint8Array {
    if (length > this.bytes.length - this.at) throw new DecodeError(`ends within a value, at byte ${this.bytes.length}`);
    const start = this.at;
    this.at += length;
    return this.bytes.subarray(start, this.at);
  }
}
