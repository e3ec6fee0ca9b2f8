import { create, type DescField, type DescMessage, type JsonValue, toJson } from "@bufbuild/protobuf";
import { scalarZeroValue } from "@bufbuild/protobuf/reflect";
import type { GrpcSchema } from "./use-grpc-schema.ts";

/** Nesting of messages. */
const deepest = 3;

/** A message to fill in: every field with its default, also in nested messages; of a oneof only the first field. */
export function messageTemplate(schema: GrpcSchema, type: DescMessage): JsonValue {
  const options = { registry: schema, alwaysEmitImplicit: true };
  try {
    return toJson(type, create(type, filled(type, 0) as never), options);
  } catch {
    // google.protobuf.Value has no JSON while it is empty.
    return toJson(type, create(type), options);
  }
}

function filled(type: DescMessage, depth: number): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const field of type.fields) {
    if (field.oneof && field !== field.oneof.fields[0]) continue;
    const value = exampleOf(field, depth);
    if (value === undefined) continue;
    if (field.oneof) values[field.oneof.localName] = { case: field.localName, value };
    else values[field.localName] = value;
  }
  return values;
}

function exampleOf(field: DescField, depth: number): unknown {
  switch (field.fieldKind) {
    case "message":
      return nested(field.message, depth);
    case "list": {
      const item = field.listKind === "message" ? nested(field.message, depth) : undefined;
      return item === undefined ? undefined : [item];
    }
    case "enum":
      return field.oneof && field.enum.values[0]?.number;
    case "scalar":
      return field.oneof && scalarZeroValue(field.scalar, false);
    default:
      return undefined;
  }
}

const nested = (type: DescMessage, depth: number): unknown =>
  depth + 1 >= deepest || type.typeName.startsWith("google.protobuf.") ? undefined : create(type, filled(type, depth + 1) as never);
