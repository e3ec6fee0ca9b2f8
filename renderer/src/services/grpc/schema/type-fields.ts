import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

/** A field as a .proto file has it. */
export interface TypeField {
  readonly number: number;
  readonly name: string;
  /** "repeated string", "map<string, example.Item>" */
  readonly type: string;
  /** Of which one may be set. */
  readonly oneof?: string;
}

const scalarName = (type: ScalarType): string => ScalarType[type].toLowerCase();

/** "repeated string", "map<string, example.Item>" */
export function typeText(field: DescField): string {
  switch (field.fieldKind) {
    case "scalar":
      return scalarName(field.scalar);
    case "enum":
      return field.enum.typeName;
    case "message":
      return field.message.typeName;
    case "list":
      return `repeated ${field.listKind === "scalar" ? scalarName(field.scalar) : (field.listKind === "enum" ? field.enum : field.message).typeName}`;
    case "map": {
      const value =
        field.mapKind === "scalar" ? scalarName(field.scalar) : (field.mapKind === "enum" ? field.enum : field.message).typeName;
      return `map<${scalarName(field.mapKey)}, ${value}>`;
    }
    default:
      return field satisfies never;
  }
}

/** "optional " or "required ", if the file says so. */
export const labelOf = ({ proto, fieldKind, oneof }: DescField): string => {
  if (fieldKind === "list" || fieldKind === "map" || oneof) return "";
  if (proto.proto3Optional) return "optional ";
  return proto.label === 2 ? "required " : "";
};

export const fieldsOf = (message: DescMessage): readonly TypeField[] =>
  message.fields.map((field) => ({
    number: field.number,
    name: field.name,
    type: labelOf(field) + typeText(field),
    ...(field.oneof && { oneof: field.oneof.name }),
  }));

const typeOf = (field: DescField): DescMessage | DescEnum | undefined => field.message ?? field.enum;

/** The type and those of its fields, each once, nearest first; at most `most`. */
export function typesWithin(message: DescMessage, most: number): readonly (DescMessage | DescEnum)[] {
  const found = new Set<DescMessage | DescEnum>([message]);
  for (const type of found) {
    if (type.kind === "enum") continue;
    for (const field of type.fields) {
      const next = typeOf(field);
      if (next && found.size < most) found.add(next);
    }
  }
  return [...found];
}
