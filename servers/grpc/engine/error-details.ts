import { create, type DescMessage, fromJson, type JsonObject, type JsonValue, type Message, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";
import { StatusError } from "./status.ts";

/** Makes the serialized google.rpc.Status of `grpc-status-details-bin`. */
export type StatusDetails = (code: number, message: string) => Buffer;

/**
 * Reads details as JSON, one message each: `{"@type":"RetryInfo","retryDelay":"2s"}`. A type without a package is of google.rpc.
 * What it returns throws INVALID_ARGUMENT for a type that is not known and for JSON that is not of its type.
 */
export function createDetailReader(pool: DescriptorPool): (texts: readonly string[]) => StatusDetails {
  const status = pool.message("google.rpc.Status");
  return (texts) => {
    const details = texts.map((text) => packed(text, pool));
    return (code, message) => Buffer.from(toBinary(status, create(status, { code, message, details } as never) as Message));
  };
}

function packed(text: string, { registry }: DescriptorPool): Any {
  const wrong = (why: string) => new StatusError("INVALID_ARGUMENT", `x-backlot-details: ${why}`);
  let json: JsonValue;
  try {
    json = JSON.parse(text) as JsonValue;
  } catch {
    throw wrong(`${JSON.stringify(text.slice(0, 100))} is no JSON`);
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw wrong("a detail is an object with @type");
  const { "@type": type, ...fields } = json as JsonObject;
  const name = String(type).replace(/^.*\//, "");
  const schema: DescMessage | undefined = registry.getMessage(name.includes(".") ? name : `google.rpc.${name}`);
  if (!schema) throw wrong(`there is no type ${name.slice(0, 100)}`);
  try {
    const value = toBinary(schema, fromJson(schema, fields, { registry }));
    return create(AnySchema, { typeUrl: `type.googleapis.com/${schema.typeName}`, value });
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}
