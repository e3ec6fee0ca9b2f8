import {
  create,
  type DescExtension,
  type DescField,
  type DescMessage,
  type Message,
  mergeFromBinary,
  ScalarType,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  ExtensionRangeOptionsSchema,
  type FieldDescriptorProto,
  FieldOptionsSchema,
  FileOptionsSchema,
  MessageOptionsSchema,
  MethodOptionsSchema,
  OneofOptionsSchema,
  ServiceOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { defaultValueText } from "./default-value.ts";
import type { OptionField, OptionNamePart, OptionValue, ParsedOption } from "./option-syntax.ts";
import type { ParsedProto } from "./proto-context.ts";
import { ProtoError, type Token } from "./proto-tokens.ts";

const schemas: Readonly<Record<string, DescMessage>> = {
  "google.protobuf.FileDescriptorProto": FileOptionsSchema,
  "google.protobuf.DescriptorProto": MessageOptionsSchema,
  "google.protobuf.DescriptorProto.ExtensionRange": ExtensionRangeOptionsSchema,
  "google.protobuf.FieldDescriptorProto": FieldOptionsSchema,
  "google.protobuf.OneofDescriptorProto": OneofOptionsSchema,
  "google.protobuf.EnumDescriptorProto": EnumOptionsSchema,
  "google.protobuf.EnumValueDescriptorProto": EnumValueOptionsSchema,
  "google.protobuf.ServiceDescriptorProto": ServiceOptionsSchema,
  "google.protobuf.MethodDescriptorProto": MethodOptionsSchema,
};

/** Where names of extensions and of messages in an Any are looked up. */
export interface OptionScope {
  /** By its name as it is written. */
  readonly extension: (written: string) => DescExtension | undefined;
  readonly message: (typeName: string) => DescMessage | undefined;
}

/**
 * Sets the options of each part of a file. An extension is kept as its bytes, as it is in a descriptor that protoc wrote.
 * Throws a ProtoError. `scopeOf` is called if the file uses extensions or an Any.
 */
export function interpretOptions(parsed: ParsedProto, scopeOf: () => OptionScope): void {
  let scope: OptionScope | undefined;
  const writer = new OptionWriter(parsed.file.name, () => {
    scope ??= scopeOf();
    return scope;
  });
  for (const [part, options] of parsed.options) {
    const message = part as Message & { options?: Message };
    for (const option of options) {
      if (message.$typeName === "google.protobuf.FieldDescriptorProto" && setOfField(parsed, part as FieldDescriptorProto, option))
        continue;
      const schema = schemas[message.$typeName] as DescMessage;
      message.options ??= create(schema) as Message;
      mergeFromBinary(schema, message.options, writer.option(schema, option));
    }
  }
}

/** `default` and `json_name` look like options, and are fields of the descriptor. */
function setOfField(parsed: ParsedProto, field: FieldDescriptorProto, { path, value, place }: ParsedOption): boolean {
  const [first] = path;
  if (path.length !== 1 || first?.isExtension) return false;
  if (first?.name === "json_name") {
    if (value.kind !== "bytes") throw new ProtoError(parsed.file.name, "json_name is a text", place);
    field.jsonName = Buffer.from(value.bytes, "latin1").toString("utf8");
    return true;
  }
  if (first?.name !== "default") return false;
  if (parsed.file.syntax === "proto3") throw new ProtoError(parsed.file.name, "proto3 has no default values of one's own", place);
  const text = defaultValueText(field.type, value);
  if (text === undefined) throw new ProtoError(parsed.file.name, "this is not a value of the field's type", value.place);
  field.defaultValue = text;
  return true;
}

class OptionWriter {
  readonly #file: string;
  readonly #scope: () => OptionScope;

  constructor(file: string, scope: () => OptionScope) {
    this.#file = file;
    this.#scope = scope;
  }

  /** A message of type `schema` that has this option alone. */
  option(schema: DescMessage, { path, value, place }: ParsedOption): Uint8Array {
    const [first, ...rest] = path;
    const field = this.#fieldOf(schema, first as OptionNamePart, place);
    const writer = new BinaryWriter();
    if (rest.length === 0) this.#field(writer, field, [value]);
    else {
      const { message } = field;
      if (!message || field.fieldKind !== "message") return this.#fail(`${field.name} has no fields`, place);
      const nested = this.option(message, { path: rest, value, place });
      this.#writeMessage(writer, field, nested);
    }
    return writer.finish();
  }

  #fail(problem: string, place: Token): never {
    throw new ProtoError(this.#file, problem, place);
  }

  #fieldOf(schema: DescMessage, { name, isExtension }: OptionNamePart, place: Token): DescField | DescExtension {
    if (isExtension) {
      const extension = this.#scope().extension(name);
      if (extension?.extendee.typeName !== schema.typeName) return this.#fail(`there is no option (${name}) of ${schema.typeName}`, place);
      return extension;
    }
    // In text format a group is named by its type.
    const field = schema.fields.find((one) => one.name === name || (one.message?.name === name && one.name === name.toLowerCase()));
    return field ?? this.#fail(`${schema.typeName} has no field ${name}`, place);
  }

  #field(writer: BinaryWriter, field: DescField | DescExtension, values: readonly OptionValue[]): void {
    if (values.length > 1 && field.fieldKind !== "list" && field.fieldKind !== "map")
      this.#fail(`${field.name} has one value`, (values[1] as OptionValue).place);
    for (const value of values) {
      const kind = field.fieldKind === "list" ? field.listKind : field.fieldKind;
      switch (kind) {
        case "message":
          this.#writeMessage(writer, field, this.#message(field.message as DescMessage, value));
          break;
        case "map":
          this.#fail("an option cannot be a map here: write its entries in a message", value.place);
          break;
        case "enum": {
          const known = value.kind === "name" ? field.enum?.values.find(({ name }) => name === value.name) : undefined;
          if (!known) this.#fail(`this is not a value of ${field.enum?.typeName}`, value.place);
          writer.tag(field.number, WireType.Varint).int32(known.number);
          break;
        }
        case "scalar":
          this.#scalar(writer, field.number, field.scalar as ScalarType, value);
          break;
        default:
          kind satisfies never;
      }
    }
  }

  #writeMessage(writer: BinaryWriter, field: DescField | DescExtension, bytes: Uint8Array): void {
    const isGroup = "delimitedEncoding" in field && field.delimitedEncoding;
    if (isGroup) writer.tag(field.number, WireType.StartGroup).raw(bytes).tag(field.number, WireType.EndGroup);
    else writer.tag(field.number, WireType.LengthDelimited).bytes(bytes);
  }

  #message(schema: DescMessage, value: OptionValue): Uint8Array {
    if (value.kind !== "message") return this.#fail(`a message in braces is missing: ${schema.typeName}`, value.place);
    const writer = new BinaryWriter();
    for (const entry of value.fields) if (entry.anyType !== undefined) this.#any(writer, entry);
    // As protoc writes it: in the order of the fields' numbers.
    const entries = value.fields.filter(({ anyType }) => anyType === undefined);
    const known = entries.map((entry) => ({ entry, field: this.#fieldOf(schema, entry.name, entry.place) }));
    for (const { entry, field } of known.sort((left, right) => left.field.number - right.field.number)) this.#entry(writer, field, entry);
    return writer.finish();
  }

  #entry(writer: BinaryWriter, field: DescField | DescExtension, { values }: OptionField): void {
    if (field.fieldKind !== "map") {
      this.#field(writer, field, values);
      return;
    }
    for (const value of values) {
      if (value.kind !== "message") this.#fail("an entry of a map is { key: …, value: … }", value.place);
      const entry = new BinaryWriter();
      for (const { name, values: ofEntry, place } of value.fields) {
        const [first] = ofEntry;
        if (first === undefined) continue;
        if (name.name === "key") this.#scalar(entry, 1, field.mapKey, first);
        else if (name.name !== "value") this.#fail("an entry of a map has a key and a value", place);
        else if (field.mapKind === "message") entry.tag(2, WireType.LengthDelimited).bytes(this.#message(field.message, first));
        else if (field.mapKind === "scalar") this.#scalar(entry, 2, field.scalar, first);
        else {
          const known = first.kind === "name" ? field.enum.values.find((one) => one.name === first.name) : undefined;
          entry.tag(2, WireType.Varint).int32(known?.number ?? this.#fail(`this is not a value of ${field.enum.typeName}`, first.place));
        }
      }
      writer.tag(field.number, WireType.LengthDelimited).bytes(entry.finish());
    }
  }

  /** `[type.googleapis.com/package.Type] { … }`: the fields of a google.protobuf.Any. */
  #any(writer: BinaryWriter, { name, anyType = "", values, place }: OptionField): void {
    const schema = this.#scope().message(anyType);
    const [value] = values;
    if (!schema || !value) this.#fail(`there is no message ${anyType}`, place);
    writer.tag(1, WireType.LengthDelimited).string(`${name.name}/${anyType}`);
    writer.tag(2, WireType.LengthDelimited).bytes(this.#message(schema, value));
  }

  #scalar(writer: BinaryWriter, number: number, scalar: ScalarType, value: OptionValue): void {
    const wrong = (): never => this.#fail(`this is not a ${ScalarType[scalar].toLowerCase()}`, value.place);
    const integer = (least: bigint, greatest: bigint): bigint =>
      value.kind === "integer" && value.value >= least && value.value <= greatest ? value.value : wrong();
    const real = (): number => {
      if (value.kind === "float") return value.value;
      if (value.kind === "integer") return Number(value.value);
      if (value.kind === "name" && /^inf(?:inity)?$/i.test(value.name)) return Number.POSITIVE_INFINITY;
      return value.kind === "name" && /^nan$/i.test(value.name) ? Number.NaN : wrong();
    };
    const signed32 = () => Number(integer(-(1n << 31n), (1n << 31n) - 1n));
    const signed64 = () => integer(-(1n << 63n), (1n << 63n) - 1n);
    const unsigned32 = () => Number(integer(0n, (1n << 32n) - 1n));
    const unsigned64 = () => integer(0n, (1n << 64n) - 1n);
    const bytes = () => (value.kind === "bytes" ? Buffer.from(value.bytes, "latin1") : wrong());
    switch (scalar) {
      case ScalarType.STRING:
      case ScalarType.BYTES:
        writer.tag(number, WireType.LengthDelimited).bytes(bytes());
        break;
      case ScalarType.BOOL:
        if (value.kind !== "name" || !/^(?:true|false)$/.test(value.name)) wrong();
        else writer.tag(number, WireType.Varint).bool(value.name === "true");
        break;
      case ScalarType.DOUBLE:
        writer.tag(number, WireType.Bit64).double(real());
        break;
      case ScalarType.FLOAT:
        writer.tag(number, WireType.Bit32).float(real());
        break;
      case ScalarType.INT32:
        writer.tag(number, WireType.Varint).int32(signed32());
        break;
      case ScalarType.SINT32:
        writer.tag(number, WireType.Varint).sint32(signed32());
        break;
      case ScalarType.SFIXED32:
        writer.tag(number, WireType.Bit32).sfixed32(signed32());
        break;
      case ScalarType.UINT32:
        writer.tag(number, WireType.Varint).uint32(unsigned32());
        break;
      case ScalarType.FIXED32:
        writer.tag(number, WireType.Bit32).fixed32(unsigned32());
        break;
      case ScalarType.INT64:
        writer.tag(number, WireType.Varint).int64(signed64());
        break;
      case ScalarType.SINT64:
        writer.tag(number, WireType.Varint).sint64(signed64());
        break;
      case ScalarType.SFIXED64:
        writer.tag(number, WireType.Bit64).sfixed64(signed64());
        break;
      case ScalarType.UINT64:
        writer.tag(number, WireType.Varint).uint64(unsigned64());
        break;
      case ScalarType.FIXED64:
        writer.tag(number, WireType.Bit64).fixed64(unsigned64());
        break;
      default:
        scalar satisfies never;
    }
  }
}
