import { type DescField, type DescMessage, type Registry, ScalarType } from "@bufbuild/protobuf";
import { deepest, longestVarint } from "../../../contract/services/grpc-message-walk.ts";
import { valuesOfJson } from "../../core/limits/json-grammar.ts";
import { fieldsOfMessage } from "./message-check.ts";
import { StatusError } from "./status.ts";

/** What a value takes at least when it is decoded: a limit of bytes is also one of so many values. */
export const bytesOfValue = 32;

/** "json", or the type of a message of protobuf. */
type MessageForm = "json" | DescMessage;

/**
 * Throws RESOURCE_EXHAUSTED for a message with more values than that: fields, entries, names of JSON. Decoded, each of them takes many times
 * its bytes, of which it may have two. Packed numbers count less, by what they take. What is not valid is left to the decoder.
 */
export function requireValues(bytes: Uint8Array, form: MessageForm, most: number): void {
  // What is counted has a byte at least.
  if (bytes.length <= most) return;
  const isMore = form === "json" ? valuesOfJson(bytes, most) > most : new ValueCounter(bytes, most).leftAfter(form) < 0;
  if (isMore) throw new StatusError("RESOURCE_EXHAUSTED", `the message has more values than the limit of ${most}`);
}

/** A field that is written takes longer than one that is read. */
const readForWritten = 4;

/**
 * What rules make JSON of in the messages of a call: a quarter as many fields as a message may have values, with those that have their default. A
 * message of two bytes may have hundreds of these, and they are values where it is written.
 */
export class WrittenValues {
  readonly #most: number;
  #left: number;

  constructor(mostValues: number) {
    this.#most = Math.floor(mostValues / readForWritten);
    this.#left = this.#most;
  }

  /** Throws RESOURCE_EXHAUSTED when there were too many. */
  take(values: number): void {
    this.#left -= values;
    if (this.#left >= 0) return;
    throw new StatusError(
      "RESOURCE_EXHAUSTED",
      `reply rules read more than ${this.#most} fields of the request, with those that have their default`,
    );
  }

  /** For a message that is written as a whole. Throws `UnreadableRequest` for bytes that are none. */
  takeAll(bytes: Uint8Array, type: DescMessage, registry: Registry): void {
    this.take(fieldsOfMessage(bytes, type, this.#left, registry));
  }
}

/** So many packed numbers count as one value: an array of them takes little. */
const packedVarints = 8;
const packedFixed = 16;

/** What the decoder makes of a field with a length. */
interface FieldValues {
  /** The fields of the message that it has. */
  readonly inner: (() => Fields) | undefined;
  /** Numbers of this type, where it is not a message, a string or bytes. */
  readonly packed: ScalarType | undefined;
}
type Fields = ReadonlyMap<number, FieldValues>;

const noFields: Fields = new Map();
const isText = (scalar: ScalarType): boolean => scalar === ScalarType.STRING || scalar === ScalarType.BYTES;

class ValueCounter {
  readonly #bytes: Uint8Array;
  #at = 0;
  #left: number;
  readonly #fields = new Map<DescMessage, Fields>();

  constructor(bytes: Uint8Array, most: number) {
    this.#bytes = bytes;
    this.#left = most;
  }

  /** What is left of `most`; below 0 where it is not enough. */
  leftAfter(type: DescMessage): number {
    this.#message(this.#fieldsOf(type), this.#bytes.length, 0);
    return this.#left;
  }

  #fieldsOf(type: DescMessage): Fields {
    const known = this.#fields.get(type);
    if (known) return known;
    const fields = new Map(type.fields.map((field) => [field.number, this.#valuesOf(field)]));
    this.#fields.set(type, fields);
    return fields;
  }

  #valuesOf(field: DescField): FieldValues {
    const { message } = field;
    const inner = message && (() => this.#fieldsOf(message));
    switch (field.fieldKind) {
      case "map": {
        // An entry has its value in field 2.
        const entry: Fields = new Map(inner && [[2, { inner, packed: undefined }]]);
        return { inner: () => entry, packed: undefined };
      }
      case "list":
        return { inner, packed: message || isText(field.scalar ?? ScalarType.INT32) ? undefined : (field.scalar ?? ScalarType.INT32) };
      default:
        return { inner, packed: undefined };
    }
  }

  /** Up to `end`, or the end of the group. */
  #message(fields: Fields, end: number, depth: number): void {
    if (depth > deepest) this.#stop();
    while (this.#at < end && this.#left >= 0) {
      this.#left--;
      const tag = this.#varint();
      const field = fields.get(Math.floor(tag / 8));
      switch (tag & 7) {
        case 0:
          this.#varint();
          break;
        case 1:
          this.#at += 8;
          break;
        case 2:
          this.#lengthDelimited(field, depth);
          break;
        case 3:
          this.#message(field?.inner?.() ?? noFields, end, depth + 1);
          break;
        case 4:
          return;
        case 5:
          this.#at += 4;
          break;
        default:
          this.#stop();
      }
    }
  }

  #lengthDelimited(field: FieldValues | undefined, depth: number): void {
    const length = this.#varint();
    const end = Math.min(this.#at + length, this.#bytes.length);
    if (field?.inner) this.#message(field.inner(), end, depth + 1);
    else if (field?.packed !== undefined) this.#left -= this.#packedValues(field.packed, end);
    this.#at = end;
  }

  #packedValues(scalar: ScalarType, end: number): number {
    switch (scalar) {
      case ScalarType.DOUBLE:
      case ScalarType.FIXED64:
      case ScalarType.SFIXED64:
        return (end - this.#at) / 8 / packedFixed;
      case ScalarType.FLOAT:
      case ScalarType.FIXED32:
      case ScalarType.SFIXED32:
        return (end - this.#at) / 4 / packedFixed;
      default: {
        let varints = 0;
        for (let at = this.#at; at < end; at++) if ((this.#bytes[at] as number) < 0x80) varints++;
        return varints / packedVarints;
      }
    }
  }

  /** Not exact beyond 2^53. */
  #varint(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < longestVarint; count++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) return value;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    this.#stop();
    return value;
  }

  /** The decoder refuses what is here. */
  #stop(): void {
    this.#at = this.#bytes.length;
  }
}
