import { type DescEnum, type DescField, type DescMessage, fromJson, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { fromBase64Url, fromHex, toBase64, toHex } from "../../../../viewer/decode/bytes.ts";

/** How one value is edited: as the ProtoJSON that it has. */
export type ValueShape =
  | { readonly kind: "string" }
  | { readonly kind: "bool" }
  | { readonly kind: "bytes" }
  | { readonly kind: "number"; readonly scalar: ScalarType }
  | { readonly kind: "enum"; readonly type: DescEnum }
  | { readonly kind: "message"; readonly type: DescMessage }
  /** A well-known type whose JSON is a string, such as a timestamp. */
  | { readonly kind: "text"; readonly type: DescMessage; readonly example: string }
  /** A well-known type whose JSON may be anything. */
  | { readonly kind: "json"; readonly type: DescMessage; readonly example: string };

const textTypes: Readonly<Record<string, string>> = {
  "google.protobuf.Timestamp": "2026-01-31T12:00:00Z",
  "google.protobuf.Duration": "1.5s",
  "google.protobuf.FieldMask": "name,lines",
};

const jsonTypes: Readonly<Record<string, string>> = {
  "google.protobuf.Any": '{"@type":"type.googleapis.com/…"}',
  "google.protobuf.Struct": '{"key":"value"}',
  "google.protobuf.ListValue": "[1,2]",
  "google.protobuf.Value": '"any JSON"',
};

/** Their JSON is that of their only field. */
const isWrapper = ({ typeName }: DescMessage): boolean => /^google\.protobuf\.(?:\w+)Value$/.test(typeName) && !(typeName in jsonTypes);

const scalarShape = (scalar: ScalarType): ValueShape => {
  switch (scalar) {
    case ScalarType.STRING:
      return { kind: "string" };
    case ScalarType.BOOL:
      return { kind: "bool" };
    case ScalarType.BYTES:
      return { kind: "bytes" };
    default:
      return { kind: "number", scalar };
  }
};

function messageShape(type: DescMessage): ValueShape {
  const wrapped = isWrapper(type) ? type.fields[0] : undefined;
  if (wrapped?.fieldKind === "scalar") return scalarShape(wrapped.scalar);
  const text = textTypes[type.typeName];
  if (text !== undefined) return { kind: "text", type, example: text };
  const json = jsonTypes[type.typeName];
  if (json !== undefined) return { kind: "json", type, example: json };
  return { kind: "message", type };
}

/** Of a single field, of an item of a list, or of the values of a map. */
export function shapeOf(field: DescField): ValueShape {
  if (field.message) return messageShape(field.message);
  if (field.enum) return { kind: "enum", type: field.enum };
  return scalarShape(field.scalar as ScalarType);
}

/** Whether it can be told apart from its default. */
export const hasPresence = (field: DescField): boolean =>
  field.oneof === undefined &&
  field.fieldKind !== "list" &&
  field.fieldKind !== "map" &&
  field.presence !== FeatureSet_FieldPresence.IMPLICIT;

export const isRequired = (field: DescField): boolean => field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED;

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Undefined if it is not set. ProtoJSON also accepts the name in the .proto file, and null for a field that is not set. */
export function fieldValue(message: JsonObject, field: DescField): JsonValue | undefined {
  const value = message[field.jsonName] ?? message[field.name];
  return value === null && shapeOf(field).kind !== "json" ? undefined : value;
}

/** The message with this value, fields in the order of the type; undefined removes it. */
export function withValue(type: DescMessage, message: JsonObject, field: DescField, value: JsonValue | undefined): JsonObject {
  const { [field.jsonName]: _one, [field.name]: _other, ...others } = message;
  const next: JsonObject = value === undefined ? others : { ...others, [field.jsonName]: value };
  const known = type.fields.flatMap(({ jsonName, name }) => [jsonName, name]).filter((key, at, all) => all.indexOf(key) === at);
  const ordered = known.filter((key) => key in next);
  const rest = Object.keys(next).filter((key) => !known.includes(key));
  return Object.fromEntries([...ordered, ...rest].map((key) => [key, next[key] as JsonValue]));
}

/** The first value of a field or item that is added. */
export function firstValue(shape: ValueShape): JsonValue {
  switch (shape.kind) {
    case "string":
    case "bytes":
      return "";
    case "bool":
      return false;
    case "number":
      return 0;
    case "enum":
      return shape.type.values[0]?.name ?? 0;
    case "message":
      return {};
    case "text":
      return { "google.protobuf.Timestamp": "1970-01-01T00:00:00Z", "google.protobuf.Duration": "0s" }[shape.type.typeName] ?? "";
    case "json":
      return shape.type.typeName === "google.protobuf.ListValue" ? [] : {};
    default:
      return shape satisfies never;
  }
}

const isLong = (scalar: ScalarType): boolean =>
  [ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64, ScalarType.FIXED64, ScalarType.SFIXED64].includes(scalar);
const isFloat = (scalar: ScalarType): boolean => scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT;
const isUnsigned = (scalar: ScalarType): boolean =>
  [ScalarType.UINT32, ScalarType.FIXED32, ScalarType.UINT64, ScalarType.FIXED64].includes(scalar);

/** A typed number as ProtoJSON. Input that is not a number of this type stays a string, so that nothing typed is lost. */
export function typedNumber(text: string, scalar: ScalarType): JsonValue {
  const number = Number(text);
  const isExact = text.trim() === text && Number.isFinite(number) && String(number) === text;
  return isExact && !isLong(scalar) ? number : text;
}

const integerRange = (scalar: ScalarType): readonly [bigint, bigint] => {
  const bits = isLong(scalar) ? 64n : 32n;
  return isUnsigned(scalar) ? [0n, (1n << bits) - 1n] : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
};

function numberProblem(value: JsonValue, scalar: ScalarType): string | undefined {
  const text = String(value).trim();
  if (isFloat(scalar)) {
    return /^(?:NaN|-?Infinity)$/.test(text) || (text !== "" && Number.isFinite(Number(text))) ? undefined : "Not a number";
  }
  if (!/^-?\d+$/.test(text)) return "Not a whole number";
  const [least, most] = integerRange(scalar);
  const number = BigInt(text);
  return number < least || number > most ? `Not between ${least} and ${most}` : undefined;
}

/** Input that is not hexadecimal is kept with this prefix, which is not base64: nothing typed is lost, and it is not sent. */
const hexMark = "hex:";

export const isMarkedHex = (base64: string): boolean => base64.startsWith(hexMark);

export function bytesFromHex(typed: string): string {
  const bytes = fromHex(typed);
  return bytes ? toBase64(bytes) : hexMark + typed;
}

/** Undefined for a text that is not base64. */
export function hexOfBytes(base64: string): string | undefined {
  if (isMarkedHex(base64)) return base64.slice(hexMark.length);
  try {
    return toHex(fromBase64Url(base64));
  } catch {
    return undefined;
  }
}

/** Why a value does not fit its shape. */
export function valueProblem(shape: ValueShape, value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  switch (shape.kind) {
    case "string":
      return typeof value === "string" ? undefined : "Not a text";
    case "bool":
      return typeof value === "boolean" ? undefined : "Not true or false";
    case "bytes":
      if (typeof value !== "string") return "Not a text";
      if (isMarkedHex(value)) return "Not hexadecimal: two digits for each byte";
      return hexOfBytes(value) === undefined ? "Not base64" : undefined;
    case "number":
      return typeof value === "number" || typeof value === "string" ? numberProblem(value, shape.scalar) : "Not a number";
    case "enum":
      return shape.type.values.some(({ name, number }) => name === value || number === value) ||
        (typeof value === "number" && shape.type.open)
        ? undefined
        : `Not a value of ${shape.type.name}`;
    case "message":
      return isObject(value) ? undefined : "Not an object";
    case "text":
      try {
        fromJson(shape.type, value);
        return undefined;
      } catch {
        return `Not a ${shape.type.name}`;
      }
    case "json":
      return undefined;
    default:
      return shape satisfies never;
  }
}
