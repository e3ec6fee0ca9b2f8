import { type DescField, type DescMessage, type DescOneof, fromBinary, type Registry, ScalarType, toJson } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { Json } from "../../../contract/services/grpc-replies.ts";
import { hasOwnJson } from "../engine/json-fields.ts";
import { knownFields } from "../engine/message-type.ts";
import type { WrittenValues } from "../engine/message-values.ts";
import { type FieldPath, fieldNamed, valueAt } from "./field-path.ts";

/** A message for rules: what a path names becomes JSON. */
export interface FieldSource {
  /** Undefined if there is no value. The empty path is the whole message. */
  at(path: FieldPath): Json | undefined;
}

export interface ViewOptions {
  readonly registry: Registry;
  /** What is read counts. */
  readonly values: WrittenValues;
}

type Bytes = Uint8Array;

/**
 * A message as its bytes. Only what is read becomes JSON: a message of two bytes may have hundreds of fields with their default, and one of a
 * kilobyte hundreds of such messages. Throws for bytes that are not a message, as far as they are read.
 */
export class MessageView implements FieldSource {
  readonly #type: DescMessage;
  readonly #bytes: Bytes;
  readonly #options: ViewOptions;
  /** By their number. */
  #records: ReadonlyMap<number, readonly WireRecord[]> | undefined;
  #inner: Map<WireRecord, MessageView> | undefined;
  /** The entries of maps with messages. */
  #entries: Map<DescField, ReadonlyMap<string, WireRecord>> | undefined;
  #whole: Json | undefined;

  constructor(type: DescMessage, bytes: Bytes, options: ViewOptions) {
    this.#type = type;
    this.#bytes = bytes;
    this.#options = options;
  }

  at(path: FieldPath): Json | undefined {
    const [name, ...rest] = path;
    if (name === undefined || hasOwnJson(this.#type)) return valueAt(this.#json(), path);
    const field = fieldNamed(this.#type, name);
    if (!field) return undefined;
    const [place, ...within] = rest;
    switch (field.fieldKind) {
      case "scalar":
      case "enum":
        return valueAt(this.#scalar(field), rest);
      case "message": {
        // Several records of one field are merged, which is to read them one behind the other.
        const records = this.#recordsOf(field);
        return records[0] && this.#message(field, records[0], () => joined(records.map(contentOf))).at(rest);
      }
      case "list": {
        if (field.listKind !== "message") return valueAt(this.#scalars(field), rest);
        const records = this.#recordsOf(field);
        const entry = (record: WireRecord) => this.#message(field, record, () => contentOf(record));
        if (place === undefined) return records.map((record) => entry(record).at([]) as Json);
        if (place === "length") return within.length === 0 ? records.length : undefined;
        const record = records[Number(place)];
        return record && entry(record).at(within);
      }
      case "map": {
        if (field.mapKind !== "message") return valueAt(this.#scalarMap(field), rest);
        const entries = this.#entriesOf(field);
        const value = (record: WireRecord) => this.#message(field, record, () => entryValue(record));
        if (place === undefined) return Object.fromEntries(Array.from(entries, ([key, record]) => [key, value(record).at([]) as Json]));
        const record = entries.get(place);
        return record && value(record).at(within);
      }
      default:
        return field satisfies never;
    }
  }

  #json(): Json {
    if (this.#whole === undefined) {
      const { registry, values } = this.#options;
      values.takeAll(this.#bytes, this.#type, registry);
      this.#whole = toJson(this.#type, fromBinary(this.#type, this.#bytes, knownFields), { registry, alwaysEmitImplicit: true }) as Json;
    }
    return this.#whole;
  }

  #recordsOf({ number }: DescField): readonly WireRecord[] {
    this.#options.values.take(1);
    this.#records ??= readRecords(this.#type, this.#bytes);
    return this.#records.get(number) ?? [];
  }

  #message({ message: type }: DescField & { readonly message: DescMessage }, record: WireRecord, bytes: () => Bytes): MessageView {
    this.#inner ??= new Map();
    let message = this.#inner.get(record);
    if (!message) {
      message = new MessageView(type, bytes(), this.#options);
      this.#inner.set(record, message);
    }
    return message;
  }

  /** Of entries with the same key the last one counts. */
  #entriesOf(field: DescField & { readonly fieldKind: "map" }): ReadonlyMap<string, WireRecord> {
    const known = this.#entries?.get(field);
    if (known) return known;
    const records = this.#recordsOf(field);
    this.#options.values.take(records.length);
    const entries = new Map(records.map((record) => [keyOf(record, field.mapKey), record]));
    this.#entries ??= new Map();
    this.#entries.set(field, entries);
    return entries;
  }

  /** The last record counts. */
  #scalar(field: DescField & { readonly fieldKind: "scalar" | "enum" }): Json | undefined {
    const records = this.#recordsOf(field);
    for (let index = records.length - 1; index >= 0; index--) {
      const value = scalarJson(field, new BinaryReader((records[index] as WireRecord).bytes));
      if (value !== undefined) return value;
      this.#options.values.take(1);
    }
    return field.presence === FeatureSet_FieldPresence.IMPLICIT ? defaultJson(field) : undefined;
  }

  #scalars(field: DescField & { readonly fieldKind: "list" }): Json {
    const list: Json[] = [];
    const isPackable = field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES;
    for (const { wireType, bytes } of this.#recordsOf(field)) {
      const reader = new BinaryReader(bytes);
      if (isPackable && wireType === WireType.LengthDelimited) reader.uint32();
      do {
        const value = reader.pos < reader.len ? scalarJson(field, reader) : undefined;
        if (value !== undefined) list.push(value);
      } while (reader.pos < reader.len);
    }
    this.#options.values.take(list.length);
    return list;
  }

  #scalarMap(field: DescField & { readonly fieldKind: "map" }): Json {
    const records = this.#recordsOf(field);
    this.#options.values.take(records.length);
    return Object.fromEntries(
      records.map((record) => {
        const value = entryRecords(record, 2).at(-1);
        return [keyOf(record, field.mapKey), (value && scalarJson(field, new BinaryReader(value.bytes))) ?? defaultJson(field)];
      }),
    );
  }
}

interface WireRecord {
  readonly number: number;
  readonly wireType: WireType;
  /** Behind the tag, with its length where it has one. */
  readonly bytes: Bytes;
}

function* recordsIn(bytes: Bytes): Generator<WireRecord> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const from = reader.pos;
    reader.skip(wireType, number);
    yield { number, wireType, bytes: bytes.subarray(from, reader.pos) };
  }
}

function readRecords(type: DescMessage, bytes: Bytes): ReadonlyMap<number, readonly WireRecord[]> {
  const oneofs = new Map<number, DescOneof>();
  for (const { number, oneof } of type.fields) if (oneof) oneofs.set(number, oneof);
  const chosen = new Map<DescOneof, number>();
  const records = new Map<number, WireRecord[]>();
  for (const record of recordsIn(bytes)) {
    const { number } = record;
    const oneof = oneofs.get(number);
    if (oneof) {
      const before = chosen.get(oneof);
      if (before !== undefined && before !== number) records.delete(before);
      chosen.set(oneof, number);
    }
    const known = records.get(number);
    if (known) known.push(record);
    else records.set(number, [record]);
  }
  return records;
}

/** Of a message, an entry of a map, or a group. */
function contentOf({ wireType, bytes }: WireRecord): Bytes {
  if (wireType === WireType.LengthDelimited) return new BinaryReader(bytes).bytes();
  if (wireType !== WireType.StartGroup) throw new Error("a message is expected");
  let end = 0;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    end = reader.pos;
    const [number, inner] = reader.tag();
    if (inner !== WireType.EndGroup) reader.skip(inner, number);
  }
  return bytes.subarray(0, end);
}

const joined = (parts: readonly Bytes[]): Bytes => (parts.length === 1 ? (parts[0] as Bytes) : Buffer.concat(parts));

/** An entry of a map has its key in field 1 and its value in field 2. */
const entryRecords = (record: WireRecord, wanted: 1 | 2): readonly WireRecord[] =>
  Array.from(recordsIn(contentOf(record))).filter(({ number }) => number === wanted);
const entryValue = (record: WireRecord): Bytes => joined(entryRecords(record, 2).map(contentOf));
function keyOf(record: WireRecord, type: ScalarType): string {
  const key = entryRecords(record, 1).at(-1);
  return String(key ? readScalar(new BinaryReader(key.bytes), type) : zeroOf(type));
}

/** Reader methods have the names of the types. */
const readScalar = (reader: BinaryReader, type: ScalarType) =>
  reader[ScalarType[type].toLowerCase() as Lowercase<keyof typeof ScalarType>]();

type ValueField = DescField & { readonly fieldKind: "scalar" | "enum" | "list" | "map" };

/** Undefined for a number that a closed enumeration does not have: it counts as not sent, but in lists and maps, as protobuf-es has it. */
function scalarJson({ enum: enumeration, scalar, fieldKind }: ValueField, reader: BinaryReader): Json | undefined {
  if (enumeration) {
    const number = reader.int32();
    const known = enumeration.value[number];
    if (known) return enumeration.typeName === "google.protobuf.NullValue" ? null : known.jsonName;
    return enumeration.open || fieldKind !== "enum" ? number : undefined;
  }
  const value = readScalar(reader, scalar ?? ScalarType.INT32);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") : value;
}

function defaultJson({ enum: enumeration, scalar }: ValueField): Json {
  if (!enumeration) return zeroOf(scalar ?? ScalarType.INT32);
  return enumeration.typeName === "google.protobuf.NullValue" ? null : (enumeration.values[0]?.jsonName ?? 0);
}

function zeroOf(type: ScalarType): string | number | boolean {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return "";
    case ScalarType.BOOL:
      return false;
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return "0";
    default:
      return 0;
  }
}
