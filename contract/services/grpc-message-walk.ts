/** Walks over the bytes of a message, by its type, without making anything of them: the service and the page count and check with it. */
import { type DescField, type DescMessage, type Registry, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Levels of messages, as protobuf-es has it; it reads no deeper. */
export const deepest = 100;
/** In bytes. */
export const longestVarint = 10;

interface Counting {
  readonly most: number;
  readonly registry: Registry;
}

/**
 * Whether bytes are a message of the type. Nothing is made of them: decoded, each message of two bytes has all fields of its type. A field that was sent as
 * another wire type than its own counts as unknown. `isText`: whether bytes are UTF-8. (Protocol Buffers, Encoding)
 */
export function isMessageOf(bytes: Uint8Array, type: DescMessage, isText: (bytes: Uint8Array) => boolean): boolean {
  try {
    new MessageWalk(bytes, { isText }).message(type, bytes.length);
    return true;
  } catch {
    return false;
  }
}

/**
 * How many fields the messages in the bytes of a message have once it is decoded, with those that have their default and those within a google.protobuf.Any,
 * which becomes JSON as its type; counted until there are more than `most`. Undefined for bytes that are not a message, and for a field that was sent as
 * another wire type than its own: the decoder does not look at that, and would find other messages in what follows.
 */
export function madeFields(bytes: Uint8Array, type: DescMessage, counting: Counting): number | undefined {
  const walk = new MessageWalk(bytes, { counting });
  try {
    walk.message(type, bytes.length);
  } catch {
    if (walk.fields <= counting.most) return undefined;
  }
  return walk.fields;
}

interface WalkOptions {
  readonly counting?: Counting;
  readonly isText?: (bytes: Uint8Array) => boolean;
}

class MessageWalk {
  readonly #bytes: Uint8Array;
  readonly #reader: BinaryReader;
  readonly #counting: Counting | undefined;
  readonly #byNumber = new Map<DescMessage, ReadonlyMap<number, DescField>>();
  readonly #isText: (bytes: Uint8Array) => boolean;
  fields = 0;

  constructor(bytes: Uint8Array, { counting, isText = () => true }: WalkOptions) {
    this.#bytes = bytes;
    this.#reader = new BinaryReader(bytes);
    this.#counting = counting;
    this.#isText = isText;
  }

  /** `group` is its number where it is one: its end is looked for. */
  message(type: DescMessage, end: number, depth = 1, group?: number): void {
    this.#made(type);
    const known = this.#fieldsOf(type);
    const isAny = this.#counting && type.typeName === "google.protobuf.Any";
    let url = "";
    let value: Range | undefined;
    this.#fieldsUntil(end, depth, group, (number, wireType) => {
      if (isAny && number === 1 && wireType === WireType.LengthDelimited) url = this.#reader.string();
      else if (isAny && number === 2 && wireType === WireType.LengthDelimited) value = this.#skipRange(end);
      else this.#field(known.get(number), wireType, number, end, depth);
    });
    if (value) this.#any(url, value, depth);
  }

  #made({ fields }: DescMessage): void {
    this.fields += fields.length;
    if (this.#counting && this.fields > this.#counting.most) throw new Error("more than the most");
  }

  #any(url: string, [from, to]: Range, depth: number): void {
    const type = this.#counting?.registry.getMessage(url.slice(url.lastIndexOf("/") + 1));
    if (!type) return;
    const behind = this.#reader.pos;
    this.#reader.pos = from;
    this.message(type, to, depth + 1);
    this.#reader.pos = behind;
  }

  /** An entry of a map has its key in field 1 and its value in field 2. */
  #entry(field: DescField & { readonly fieldKind: "map" }, end: number, depth: number): void {
    this.fields++;
    // It is made if it was not sent.
    if (field.message) this.#made(field.message);
    const value = field.mapKind === "scalar" ? field.scalar : ScalarType.INT32;
    this.#fieldsUntil(end, depth, undefined, (number, wireType) => {
      if (number > 2) this.#unknown(number, wireType, depth);
      else if (number === 1) this.#scalar(field, field.mapKey, wireType, number, end, depth);
      else if (!field.message) this.#scalar(field, value, wireType, number, end, depth);
      else if (wireType === WireType.LengthDelimited) this.message(field.message, this.#end(end), depth + 1);
      else this.#misfit(number, wireType, depth);
    });
  }

  #fieldsUntil(end: number, depth: number, group: number | undefined, read: (number: number, wireType: WireType) => void): void {
    if (depth > deepest) throw new Error("too deep");
    while (this.#reader.pos < end) {
      const [number, wireType] = this.#reader.tag();
      if (wireType === WireType.EndGroup && number === group) return;
      read(number, wireType);
    }
    if (group !== undefined || this.#reader.pos !== end) throw new Error("its end is elsewhere");
  }

  #field(field: DescField | undefined, wireType: WireType, number: number, end: number, depth: number): void {
    if (!field) {
      this.#unknown(number, wireType, depth);
      return;
    }
    switch (field.fieldKind) {
      case "map":
        // It is no level of its own.
        if (wireType === WireType.LengthDelimited) this.#entry(field, this.#end(end), depth);
        else this.#misfit(number, wireType, depth);
        break;
      case "scalar":
        this.#scalar(field, field.scalar, wireType, number, end, depth);
        break;
      case "enum":
        this.#scalar(field, ScalarType.INT32, wireType, number, end, depth);
        break;
      default:
        this.#listOrMessage(field, wireType, number, end, depth);
    }
  }

  #listOrMessage(
    field: DescField & { readonly fieldKind: "list" | "message" },
    wireType: WireType,
    number: number,
    end: number,
    depth: number,
  ): void {
    if (field.fieldKind === "list" && field.listKind !== "message") {
      const scalar = field.listKind === "enum" ? ScalarType.INT32 : field.scalar;
      if (wireType === WireType.LengthDelimited && wireTypeOf(scalar) !== WireType.LengthDelimited) this.#packed(wireTypeOf(scalar), end);
      else this.#scalar(field, scalar, wireType, number, end, depth);
    } else if (field.delimitedEncoding && wireType === WireType.StartGroup) this.message(field.message, end, depth + 1, number);
    else if (!field.delimitedEncoding && wireType === WireType.LengthDelimited) this.message(field.message, this.#end(end), depth + 1);
    else this.#misfit(number, wireType, depth);
  }

  #scalar(
    { utf8Validation }: DescField & { readonly utf8Validation?: boolean },
    scalar: ScalarType,
    wireType: WireType,
    number: number,
    end: number,
    depth: number,
  ): void {
    if (wireType !== wireTypeOf(scalar)) this.#misfit(number, wireType, depth);
    // Texts of proto2 may be anything.
    else if (scalar === ScalarType.STRING && utf8Validation) this.#text(end);
    // At most ten bytes.
    else if (wireType === WireType.Varint) this.#reader.uint32();
    else this.#unknown(number, wireType, depth);
  }

  #misfit(number: number, wireType: WireType, depth: number): void {
    if (this.#counting) throw new Error("another wire type");
    this.#unknown(number, wireType, depth);
  }

  #unknown(number: number, wireType: WireType, depth: number): void {
    this.#reader.skip(wireType, number, deepest - depth);
  }

  /** Of what has a length: it lies within the message around it. */
  #end(outer: number): number {
    const length = this.#reader.uint32();
    const end = this.#reader.pos + length;
    if (end > outer) throw new Error("longer than its message");
    return end;
  }

  #skipRange(outer: number): Range {
    const end = this.#end(outer);
    const from = this.#reader.pos;
    this.#reader.pos = end;
    return [from, end];
  }

  #text(outer: number): void {
    if (!this.#isText(this.#bytes.subarray(...this.#skipRange(outer)))) throw new Error("not UTF-8");
  }

  #packed(wireType: WireType, outer: number): void {
    const [from, end] = this.#skipRange(outer);
    const isWhole = wireType === WireType.Varint ? this.#areVarints(from, end) : (end - from) % (wireType === WireType.Bit64 ? 8 : 4) === 0;
    if (!isWhole) throw new Error("not whole numbers");
  }

  #areVarints(from: number, end: number): boolean {
    let continued = 0;
    for (let at = from; at < end; at++) {
      continued = (this.#bytes[at] as number) >= 0x80 ? continued + 1 : 0;
      if (continued === longestVarint) return false;
    }
    return continued === 0;
  }

  #fieldsOf(type: DescMessage): ReadonlyMap<number, DescField> {
    let fields = this.#byNumber.get(type);
    if (!fields) {
      fields = new Map(type.fields.map((field) => [field.number, field]));
      this.#byNumber.set(type, fields);
    }
    return fields;
  }
}

/** Of bytes: first, and behind the last. */
type Range = readonly [from: number, to: number];

function wireTypeOf(scalar: ScalarType): WireType {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}
