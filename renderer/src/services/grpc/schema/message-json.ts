import { fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { GrpcSchema } from "./use-grpc-schema.ts";

/** A serialized message as ProtoJSON, with the fields that have their default. Undefined where the type is not known or the bytes are not of it. */
export function messageJson(schema: GrpcSchema | undefined, typeName: string, bytes: Uint8Array): JsonValue | undefined {
  const type = schema?.getMessage(typeName);
  if (!schema || !type) return undefined;
  try {
    return toJson(type, fromBinary(type, bytes), { registry: schema, alwaysEmitImplicit: true });
  } catch {
    return undefined;
  }
}
