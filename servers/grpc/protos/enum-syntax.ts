import { create } from "@bufbuild/protobuf";
import {
  type EnumDescriptorProto,
  EnumDescriptorProto_EnumReservedRangeSchema,
  EnumDescriptorProtoSchema,
  EnumValueDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { readOptionList } from "./option-syntax.ts";
import type { ProtoContext } from "./proto-context.ts";

const enumNumbers = [-0x8000_0000, 0x7fff_ffff] as const;

export function readEnum(context: ProtoContext): EnumDescriptorProto {
  const { reader } = context;
  const place = reader.peek();
  const type = context.placed(create(EnumDescriptorProtoSchema, { name: reader.name() }), place);
  reader.block(() => {
    const start = reader.peek();
    if (reader.takeName("option")) context.option(type);
    else if (reader.takeName("reserved")) {
      readReserved(context, type.reservedName, enumNumbers, (from, to) =>
        type.reservedRange.push(create(EnumDescriptorProto_EnumReservedRangeSchema, { start: from, end: to })),
      );
    } else {
      const value = context.placed(create(EnumValueDescriptorProtoSchema, { name: reader.name() }), start);
      reader.expect("=");
      value.number = reader.integer(...enumNumbers);
      context.add(value, ...readOptionList(reader));
      reader.expect(";");
      type.value.push(value);
    }
  });
  if (type.value.length === 0) reader.fail("an enum has at least one value", place);
  if (context.isProto3 && type.value[0]?.number !== 0) reader.fail("the first value of an enum is 0 in proto3", place);
  return type;
}

/** Numbers or names that no field or value may have. */
export function readReserved(
  context: ProtoContext,
  names: string[],
  [least, greatest]: readonly [number, number],
  add: (from: number, to: number) => void,
): void {
  const { reader } = context;
  const { kind } = reader.peek();
  if (kind === "string" || kind === "name") {
    do names.push(kind === "string" ? reader.string() : reader.name());
    while (reader.take(","));
  } else for (const [from, to] of reader.ranges(least, greatest)) add(from, to);
  reader.expect(";");
}
