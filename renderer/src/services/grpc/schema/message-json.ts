import { type DescMessage, fromBinary, fromJson, type JsonValue, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { madeFields } from "../../../../../contract/services/grpc-message-walk.ts";
import { typesWithin } from "./type-fields.ts";
import type { GrpcSchema } from "./use-grpc-schema.ts";

/** Fields that are written though they have their default, at most: a message of two bytes may have hundreds. */
const mostImplicit = 20_000;

/** Of a message that is decoded, with those that have their default: more would hold up the page. */
const mostFields = 500_000;

/** Whether it is shown as bytes only, since its JSON would have too many fields. */
export function hasTooManyFields(schema: GrpcSchema | undefined, typeName: string, bytes: Uint8Array): boolean {
  const type = schema?.getMessage(typeName);
  return schema !== undefined && type !== undefined && (madeFields(bytes, type, { most: mostFields, registry: schema }) ?? 0) > mostFields;
}

/** Undefined if it does not fit the bytes, or has too many fields. */
function decoded(schema: GrpcSchema, type: DescMessage, bytes: Uint8Array): Message | undefined {
  const fields = madeFields(bytes, type, { most: mostFields, registry: schema });
  return fields === undefined || fields > mostFields ? undefined : fromBinary(type, bytes);
}

/** A message as ProtoJSON. */
export interface MessageJson {
  readonly json: JsonValue;
  /** Fields that have their default are left out: there are too many. */
  readonly isTerse: boolean;
}

/** The fields of a serialized message as ProtoJSON. Undefined if the type is unknown or does not fit the bytes, or it has too many fields. */
export function readMessage(schema: GrpcSchema | undefined, typeName: string, bytes: Uint8Array): JsonValue | undefined {
  const type = schema?.getMessage(typeName);
  if (!schema || !type) return undefined;
  try {
    const message = decoded(schema, type, bytes);
    return message && toJson(type, message, { registry: schema });
  } catch {
    return undefined;
  }
}

/** Of a message of which the start is kept: the fields that are whole. */
export const readMessageStart = (schema: GrpcSchema | undefined, typeName: string, bytes: Uint8Array): JsonValue | undefined =>
  readMessage(schema, typeName, bytes.subarray(0, wholeFieldsEnd(bytes)));

/** Behind the last of the outermost fields that is whole. */
function wholeFieldsEnd(bytes: Uint8Array): number {
  const reader = new BinaryReader(bytes);
  let end = 0;
  try {
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      reader.skip(wireType, number);
      if (reader.pos > reader.len) break;
      end = reader.pos;
    }
  } catch {
    // The rest is no field, or a part of one.
  }
  return end;
}

/** The same with fields that were not sent, as their default. */
export function readWithDefaults(schema: GrpcSchema | undefined, typeName: string, bytes: Uint8Array): MessageJson | undefined {
  const type = schema?.getMessage(typeName);
  if (!schema || !type) return undefined;
  try {
    const message = decoded(schema, type, bytes);
    if (!message) return undefined;
    const json = toJson(type, message, { registry: schema });
    if (countObjects(json, mostImplicit) * mostFieldsOf(schema, type) > mostImplicit) return { json, isTerse: true };
    return { json: toJson(type, message, { registry: schema, alwaysEmitImplicit: true }), isTerse: false };
  } catch {
    return undefined;
  }
}

/** Objects and lists of a value, itself included; at most one more than `most`. */
function countObjects(value: JsonValue, most: number): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 1;
  for (const inner of Object.values(value)) {
    count += countObjects(inner as JsonValue, most);
    if (count > most) break;
  }
  return count;
}

const anyType = "google.protobuf.Any";
const mostTypes = 1_000;
const fieldCounts = new WeakMap<DescMessage, number>();

/** Of the widest message that may be in one of this type; in an Any may be each. */
function mostFieldsOf(schema: GrpcSchema, type: DescMessage): number {
  const known = fieldCounts.get(type);
  if (known !== undefined) return known;
  const within = typesWithin(type, mostTypes);
  const isAnything = within.length === mostTypes || within.some(({ typeName }) => typeName === anyType);
  const most = [...(isAnything ? schema : within)].reduce(
    (sum, one) => (one.kind === "message" ? Math.max(sum, one.fields.length) : sum),
    0,
  );
  fieldCounts.set(type, most);
  return most;
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
