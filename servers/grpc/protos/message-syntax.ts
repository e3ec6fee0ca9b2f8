import { create } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProto_ExtensionRangeSchema,
  DescriptorProto_ReservedRangeSchema,
  DescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  MessageOptionsSchema,
  OneofDescriptorProtoSchema,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { readEnum, readReserved } from "./enum-syntax.ts";
import { readOptionList } from "./option-syntax.ts";
import type { ProtoContext } from "./proto-context.ts";

const scalars: Readonly<Record<string, Type>> = {
  double: Type.DOUBLE,
  float: Type.FLOAT,
  int64: Type.INT64,
  uint64: Type.UINT64,
  int32: Type.INT32,
  fixed64: Type.FIXED64,
  fixed32: Type.FIXED32,
  bool: Type.BOOL,
  string: Type.STRING,
  bytes: Type.BYTES,
  uint32: Type.UINT32,
  sfixed32: Type.SFIXED32,
  sfixed64: Type.SFIXED64,
  sint32: Type.SINT32,
  sint64: Type.SINT64,
};
const labels: Readonly<Record<string, Label>> = { optional: Label.OPTIONAL, required: Label.REQUIRED, repeated: Label.REPEATED };
const fieldNumbers = [1, 0x1fff_ffff] as const;
/** Deeper nesting is refused: reading it would take the stack. */
const mostNesting = 64;

/** Reads messages and extensions, with the word that begins them behind it. */
export class MessageSyntax {
  readonly #context: ProtoContext;
  #depth = 0;

  constructor(context: ProtoContext) {
    this.#context = context;
  }

  message(): DescriptorProto {
    const place = this.#context.reader.peek();
    const message = this.#context.placed(create(DescriptorProtoSchema, { name: this.#context.reader.name() }), place);
    this.#messageBody(message);
    return message;
  }

  #messageBody(message: DescriptorProto): void {
    const { reader } = this.#context;
    if (++this.#depth > mostNesting) reader.fail(`messages are nested more than ${mostNesting} deep`);
    reader.block(() => {
      // As in protoc: a type that is called like one of these words needs a point before it.
      if (reader.takeName("message")) message.nestedType.push(this.message());
      else if (reader.takeName("enum")) message.enumType.push(readEnum(this.#context));
      else if (reader.takeName("oneof")) this.#oneof(message);
      else if (reader.takeName("extend")) this.extend(message.extension, message.nestedType);
      else if (reader.takeName("option")) this.#context.option(message);
      else if (reader.takeName("extensions")) this.#extensionRanges(message);
      else if (reader.takeName("reserved")) {
        readReserved(this.#context, message.reservedName, fieldNumbers, (from, to) =>
          message.reservedRange.push(create(DescriptorProto_ReservedRangeSchema, { start: from, end: to + 1 })),
        );
      } else this.#field(message.field, message.nestedType, { message });
    });
    this.#depth--;
    this.#nameOptionalOneofs(message);
  }

  /** proto3 `optional`: a oneof of its own for each, after the written ones, as protoc makes them. */
  #nameOptionalOneofs(message: DescriptorProto): void {
    const taken = new Set([...message.field, ...message.oneofDecl, ...message.nestedType, ...message.enumType].map(({ name }) => name));
    for (const field of message.field) {
      if (!field.proto3Optional) continue;
      let name = field.name.startsWith("_") ? field.name : `_${field.name}`;
      while (taken.has(name)) name = `X${name}`;
      taken.add(name);
      field.oneofIndex = message.oneofDecl.length;
      message.oneofDecl.push(create(OneofDescriptorProtoSchema, { name }));
    }
  }

  #field(
    fields: FieldDescriptorProto[],
    nested: DescriptorProto[],
    within: { readonly message?: DescriptorProto; readonly extendee?: string; readonly oneof?: number },
  ): void {
    const { reader } = this.#context;
    const start = reader.peek();
    let label: Label | undefined;
    if (start.kind === "name" && labels[start.text] !== undefined) {
      label = labels[reader.name()];
      if (within.oneof !== undefined) reader.fail("a field of a oneof has no label", start);
      if (label === Label.REQUIRED && this.#context.isProto3) reader.fail("proto3 has no required fields", start);
      if (label !== Label.REPEATED && this.#context.file.syntax === "editions")
        reader.fail("an edition has features in place of this label", start);
    } else if (within.oneof === undefined && this.#context.isProto2 && !reader.isMap()) {
      reader.fail("proto2 wants optional, required or repeated here", start);
    }
    const field = create(FieldDescriptorProtoSchema, {
      label: label ?? Label.OPTIONAL,
      ...(within.extendee !== undefined && { extendee: within.extendee }),
      ...(within.oneof !== undefined && { oneofIndex: within.oneof }),
    });
    if (label === Label.OPTIONAL && this.#context.isProto3) field.proto3Optional = true;
    const typePlace = reader.peek();
    if (reader.isMap() && label === undefined && within.message && within.oneof === undefined) {
      this.#mapField(field, within.message);
    } else if (typePlace.text === "group") {
      this.#group(field, nested);
      fields.push(field);
      return;
    } else {
      const type = reader.typeName();
      if (scalars[type] !== undefined) field.type = scalars[type];
      else field.typeName = type;
    }
    this.#fieldNameAndNumber(field);
    this.#context.add(field, ...readOptionList(reader));
    reader.expect(";");
    fields.push(field);
  }

  #fieldNameAndNumber(field: FieldDescriptorProto): void {
    const { reader } = this.#context;
    const place = reader.peek();
    field.name = reader.name();
    field.jsonName = jsonNameOf(field.name);
    this.#context.placed(field, place);
    reader.expect("=");
    const numberPlace = reader.peek();
    field.number = reader.integer(...fieldNumbers);
    if (field.number >= 19_000 && field.number <= 19_999)
      reader.fail("the numbers 19000 to 19999 are reserved for protobuf itself", numberPlace);
  }

  #group(field: FieldDescriptorProto, nested: DescriptorProto[]): void {
    const { reader } = this.#context;
    const start = reader.peek();
    if (!this.#context.isProto2) reader.fail("only proto2 has groups", start);
    reader.name();
    this.#fieldNameAndNumber(field);
    if (!/^[A-Z]/.test(field.name)) reader.fail("the name of a group begins with a capital letter", start);
    const message = this.#context.placed(create(DescriptorProtoSchema, { name: field.name }), start);
    field.type = Type.GROUP;
    field.typeName = field.name;
    field.name = field.name.toLowerCase();
    field.jsonName = jsonNameOf(field.name);
    this.#context.add(field, ...readOptionList(reader));
    this.#messageBody(message);
    nested.push(message);
  }

  #mapField(field: FieldDescriptorProto, message: DescriptorProto): void {
    const { reader } = this.#context;
    const place = reader.peek();
    reader.name();
    reader.expect("<");
    const keyType = scalars[reader.name()];
    if (keyType === undefined || [Type.DOUBLE, Type.FLOAT, Type.BYTES].includes(keyType))
      reader.fail("a map's key is an integer, a bool or a string", place);
    reader.expect(",");
    const valueType = reader.typeName();
    reader.expect(">");
    const name = `${mapEntryName(reader.peek().text)}Entry`;
    const key = create(FieldDescriptorProtoSchema, { name: "key", jsonName: "key", number: 1, label: Label.OPTIONAL, type: keyType });
    const value = create(FieldDescriptorProtoSchema, { name: "value", jsonName: "value", number: 2, label: Label.OPTIONAL });
    if (scalars[valueType] !== undefined) value.type = scalars[valueType];
    else value.typeName = valueType;
    for (const part of [key, value]) this.#context.placed(part, place);
    const entry = create(DescriptorProtoSchema, { name, field: [key, value], options: create(MessageOptionsSchema, { mapEntry: true }) });
    message.nestedType.push(this.#context.placed(entry, place));
    field.label = Label.REPEATED;
    // Set here: the name is resolved in the scope of the message, where the entry is.
    field.typeName = name;
    field.type = Type.MESSAGE;
  }

  #oneof(message: DescriptorProto): void {
    const { reader } = this.#context;
    const place = reader.peek();
    const oneof = this.#context.placed(create(OneofDescriptorProtoSchema, { name: reader.name() }), place);
    const index = message.oneofDecl.push(oneof) - 1;
    const before = message.field.length;
    reader.block(() => {
      if (reader.takeName("option")) this.#context.option(oneof);
      else this.#field(message.field, message.nestedType, { message, oneof: index });
    });
    if (message.field.length === before) reader.fail("a oneof has at least one field", place);
  }

  extend(extensions: FieldDescriptorProto[], nested: DescriptorProto[]): void {
    const { reader } = this.#context;
    const extendee = reader.typeName();
    reader.block(() => this.#field(extensions, nested, { extendee }));
  }

  #extensionRanges(message: DescriptorProto): void {
    const { reader } = this.#context;
    const ranges = reader.ranges(...fieldNumbers);
    const options = readOptionList(reader);
    for (const [from, to] of ranges) {
      const range = create(DescriptorProto_ExtensionRangeSchema, { start: from, end: to + 1 });
      this.#context.add(range, ...options);
      message.extensionRange.push(range);
    }
    reader.expect(";");
  }
}

/** As protoc makes it: underscores go, and the letter after one becomes a capital. */
export function jsonNameOf(name: string): string {
  let json = "";
  let isAfterUnderscore = false;
  for (const letter of name) {
    if (letter !== "_") json += isAfterUnderscore ? letter.toUpperCase() : letter;
    isAfterUnderscore = letter === "_";
  }
  return json;
}

/** As protoc makes it: each place after underscores, and the first, begins with a capital. */
const mapEntryName = (name: string) => name.replace(/(?:^_*|_+)([a-z])?/g, (_, letter: string | undefined) => (letter ?? "").toUpperCase());
