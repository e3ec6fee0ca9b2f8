import { create, type DescMessage, fromJson, type JsonObject, type JsonValue, type Message, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { errorText } from "../../core/service/service-error.ts";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";
import { StatusError } from "./status.ts";

/** Makes the serialized google.rpc.Status of `grpc-status-details-bin`. */
export type StatusDetails = (code: number, message: string) => Buffer;

/** Of the JSON of all details: clients take answers with 8 KiB of header fields, and thousands of messages may be in 64 KiB. */
const mostCharacters = 16 << 10;

/**
 * Reads details as JSON, one message each: `{"@type":"RetryInfo","retryDelay":"2s"}`. A type without a package is of google.rpc.
 * What it returns throws INVALID_ARGUMENT for a type that is not known, for JSON that is not of its type, and for too much of it.
 */
export function createDetailReader(current: () => DescriptorPool): (texts: readonly string[]) => StatusDetails {
  return (texts) => {
    const pool = current();
    try {
      const characters = texts.reduce((sum, { length }) => sum + length, 0);
      if (characters > mostCharacters) throw new Error(`they have ${characters} characters, which is more than ${mostCharacters}`);
      return statusDetails(
        pool,
        texts.map((text) => packDetail(parsed(text), pool)),
      );
    } catch (error) {
      throw new StatusError("INVALID_ARGUMENT", `x-backlot-details: ${errorText(error)}`);
    }
  };
}

export function statusDetails(pool: DescriptorPool, details: readonly Any[]): StatusDetails {
  const status = pool.message("google.rpc.Status");
  return (code, message) => Buffer.from(toBinary(status, create(status, { code, message, details } as never) as Message));
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new Error(`${JSON.stringify(text.slice(0, 100))} is not valid JSON`);
  }
}

/** The type of a detail. Throws an error that says what is wrong with it. */
export function detailType(json: JsonValue, { registry }: Pick<DescriptorPool, "registry">): DescMessage {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw new Error("a detail is an object with @type");
  const name = String((json as JsonObject)["@type"]).replace(/^.*\//, "");
  const schema = registry.getMessage(name.includes(".") ? name : `google.rpc.${name}`);
  if (!schema) throw new Error(`there is no type ${name.slice(0, 100)}`);
  return schema;
}

/** Throws an error that says what is wrong with it. */
export function packDetail(json: JsonValue, pool: Pick<DescriptorPool, "registry">): Any {
  const schema = detailType(json, pool);
  const { "@type": _, ...fields } = json as JsonObject;
  const value = toBinary(schema, fromJson(schema, fields, { registry: pool.registry }));
  return create(AnySchema, { typeUrl: `type.googleapis.com/${schema.typeName}`, value });
}
