import { type DescMessage, fromBinary, fromJson, type JsonValue, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import type { GrpcSchema } from "./use-grpc-schema.ts";

interface MessageJsonOptions {
  /** Without the fields that have their default. */
  readonly isTerse?: boolean;
}

/** A serialized message as ProtoJSON. Undefined if the type is unknown or does not fit the bytes. */
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

/** Reads a message in ProtoJSON by its type; throws for a text that does not fit. */
const parsedMessage = (schema: GrpcSchema, type: DescMessage, json: string): Message =>
  fromJson(type, JSON.parse(json) as JsonValue, { registry: schema });

/** The bytes of a message in ProtoJSON; undefined for a text that does not fit its type. */
export function serializedMessage(schema: GrpcSchema | undefined, typeName: string, json: string): Uint8Array | undefined {
  const type = schema?.getMessage(typeName);
  try {
    return schema && type && toBinary(type, parsedMessage(schema, type, json));
  } catch {
    return undefined;
  }
}
