import { type DescMessage, fromBinary, fromJson, type JsonValue, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import type { GrpcSchema } from "./use-grpc-schema.ts";

interface MessageJsonOptions {
  /** Without the fields that have their default. */
  readonly isTerse?: boolean;
}

/** A serialized message as ProtoJSON. Undefined where the type is not known or the bytes are not of it. */
export function messageJson(
  schema: GrpcSchema | undefined,
  typeName: string,
  bytes: Uint8Array,
  { isTerse = false }: MessageJsonOptions = {},
): JsonValue | undefined {
  const type = schema?.getMessage(typeName);
  if (!schema || !type) return undefined;
  try {
    return toJson(type, fromBinary(type, bytes), { registry: schema, alwaysEmitImplicit: !isTerse });
  } catch {
    return undefined;
  }
}

/** A message in ProtoJSON, read by its type; throws for a text that is none of it. */
export const parsedMessage = (schema: GrpcSchema, type: DescMessage, json: string): Message =>
  fromJson(type, JSON.parse(json) as JsonValue, { registry: schema });

/** The bytes of a message in ProtoJSON; undefined for a text that is none of its type. */
export function serializedMessage(schema: GrpcSchema | undefined, typeName: string, json: string): Uint8Array | undefined {
  const type = schema?.getMessage(typeName);
  try {
    return schema && type && toBinary(type, parsedMessage(schema, type, json));
  } catch {
    return undefined;
  }
}
