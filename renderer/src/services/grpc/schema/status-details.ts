import { fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Any, anyUnpack } from "@bufbuild/protobuf/wkt";
import type { HeaderList } from "../../../../../contract/traffic/http.ts";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import type { GrpcSchema } from "./use-grpc-schema.ts";

/** One of the messages of `grpc-status-details-bin`. */
export interface StatusDetail {
  /** "google.rpc.RetryInfo" */
  readonly typeName: string;
  /** Undefined if the type is unknown or does not fit the bytes. */
  readonly json: JsonValue | undefined;
  readonly bytes: Uint8Array;
}

/** The details of a status in the trailers; empty if there are none, or if they cannot be read. */
export function statusDetails(schema: GrpcSchema | undefined, trailers: HeaderList | undefined): readonly StatusDetail[] {
  const value = trailers?.find(([name]) => name === "grpc-status-details-bin")?.[1];
  const type = schema?.getMessage("google.rpc.Status");
  if (value === undefined || !schema || !type) return [];
  try {
    const { details = [] } = fromBinary(type, fromBase64(value)) as { readonly details?: readonly Any[] };
    return details.map((any) => ({
      typeName: any.typeUrl.slice(any.typeUrl.lastIndexOf("/") + 1),
      json: jsonOf(schema, any),
      bytes: any.value,
    }));
  } catch {
    return [];
  }
}

function jsonOf(schema: GrpcSchema, any: Any): JsonValue | undefined {
  try {
    const message = anyUnpack(any, schema);
    const type = message && schema.getMessage(message.$typeName);
    return message && type && toJson(type, message, { registry: schema });
  } catch {
    return undefined;
  }
}
