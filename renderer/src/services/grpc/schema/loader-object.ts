import { type DescField, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { toBase64 } from "../../../viewer/decode/bytes.ts";
import { serializedMessage } from "./message-json.ts";
import type { GrpcSchema } from "./use-grpc-schema.ts";

/**
 * A message as @grpc/proto-loader takes it: with the names of the file, and well-known types as the messages that they are, not as their
 * JSON. Undefined where the type is not known or the bytes are not of it.
 */
export function loaderObject(schema: GrpcSchema, typeName: string, bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  const type = schema.getMessage(typeName);
  try {
    return type && objectOf(type, reflect(type, fromBinary(type, bytes)));
  } catch {
    return undefined;
  }
}

/** The same of ProtoJSON. */
export function loaderObjectOf(schema: GrpcSchema | undefined, typeName: string, json: string) {
  const bytes = serializedMessage(schema, typeName, json);
  return schema && bytes && loaderObject(schema, typeName, bytes);
}

const objectOf = ({ fields }: DescMessage, message: ReflectMessage): Readonly<Record<string, unknown>> =>
  Object.fromEntries(fields.filter((field) => message.isSet(field)).map((field) => [field.name, fieldValue(field, message)]));

function fieldValue(field: DescField, message: ReflectMessage): unknown {
  switch (field.fieldKind) {
    case "list":
      return Array.from(message.get(field), (item) => plainValue(field, item));
    case "map":
      // From descriptors it takes a map as the list of entries that it is on the wire.
      return Array.from(message.get(field), ([key, value]) => ({
        key: typeof key === "bigint" ? String(key) : key,
        value: plainValue(field, value),
      }));
    default:
      return plainValue(field, message.get(field));
  }
}

/** Numbers that JSON does not have are texts. */
function plainValue(field: DescField, value: unknown): unknown {
  if (field.message) return objectOf(field.message, value as ReflectMessage);
  if (field.enum) return field.enum.values.find(({ number }) => number === value)?.name ?? value;
  if (value instanceof Uint8Array) return toBase64(value);
  return typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value)) ? String(value) : value;
}
