import { type DescEnum, type DescField, type DescMessage, fromJson, type JsonValue, ScalarType, toBinary } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { StatusError } from "../engine/status.ts";

/** Limits of nested and of very large types, and those of fields that have to be there: a few types that require one another may have billions. */
const deepest = { optional: 8, required: 64 };
const mostFields = { optional: 2_000, required: 4_000 };

interface Sampler {
  /** Of the message in its stream, from 1. */
  readonly number: number;
  /** Types around this one. */
  readonly within: readonly DescMessage[];
  /** Fields made so far in the whole message. */
  readonly made: { fields: number };
}

/**
 * A serialized message with a plausible value in each field. Values depend on `number`, its place in a stream from 1. Throws RESOURCE_EXHAUSTED for a type
 * that requires too many fields.
 */
export function sampleMessage(type: DescMessage, number: number): Uint8Array {
  const json = jsonOf(type, { number, within: [], made: { fields: 0 } }, type.name);
  if (json === undefined) throw tooMuchRequired();
  return toBinary(type, fromJson(type, json));
}

/** As ProtoJSON. Undefined for a type that requires itself. */
function jsonOf(type: DescMessage, sampler: Sampler, name: string): JsonValue | undefined {
  const known = wellKnown[type.typeName];
  if (known) return known(sampler.number, name);
  const inner: Sampler = { ...sampler, within: [...sampler.within, type] };
  if (wrappers.has(type.typeName)) return fieldValue(type.fields[0] as DescField, inner, name) ?? null;
  const values: Record<string, JsonValue> = {};
  for (const member of type.members) {
    // Of a oneof the first field that has a value.
    for (const field of member.kind === "oneof" ? member.fields : [member]) {
      const value = fieldValue(field, inner, field.name);
      if (value === undefined && isRequired(field)) return undefined;
      if (value === undefined) continue;
      values[field.jsonName] = value;
      break;
    }
  }
  return values;
}

const isRequired = ({ presence }: DescField): boolean => presence === FeatureSet_FieldPresence.LEGACY_REQUIRED;

function fieldValue(field: DescField, sampler: Sampler, name: string): JsonValue | undefined {
  if (sampler.made.fields++ >= mostFields.optional && !isRequired(field)) return undefined;
  if (sampler.made.fields > mostFields.required || sampler.within.length > deepest.required) throw tooMuchRequired();
  const one = (number: number): JsonValue | undefined => {
    if (field.enum) return enumValue(field.enum);
    if (!field.message) return scalarValue(field.scalar as ScalarType, number, name);
    return isSampled(field.message, sampler, isRequired(field)) ? jsonOf(field.message, { ...sampler, number }, name) : undefined;
  };
  switch (field.fieldKind) {
    case "list": {
      const items = [one(sampler.number), one(sampler.number + 1)].filter((item) => item !== undefined);
      return items.length === 0 ? undefined : items;
    }
    case "map": {
      const value = one(sampler.number);
      return value === undefined ? undefined : { [String(scalarValue(field.mapKey, sampler.number, "key"))]: value };
    }
    default:
      return one(sampler.number);
  }
}

const tooMuchRequired = (): StatusError =>
  new StatusError("RESOURCE_EXHAUSTED", "the type of the answer requires too many fields for a sample; a reply rule can answer");

/** The first value that is not 0. The enum for JSON's null has one value. */
const enumValue = ({ typeName, values }: DescEnum): JsonValue =>
  typeName === "google.protobuf.NullValue" ? null : ((values.find(({ number }) => number !== 0) ?? values[0])?.number ?? 0);

function isSampled(type: DescMessage, { within }: Sampler, mustBe: boolean): boolean {
  return !within.includes(type) && (mustBe || (within.length < deepest.optional && !unsampled.has(type.typeName)));
}

function scalarValue(type: ScalarType, number: number, name: string): JsonValue {
  switch (type) {
    case ScalarType.STRING:
      return textValue(name, number);
    case ScalarType.BYTES:
      return Buffer.from(textValue(name, number)).toString("base64");
    case ScalarType.BOOL:
      return true;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return number + 0.5;
    default:
      return number;
  }
}

const forms: readonly (readonly [name: RegExp, value: (number: number) => string])[] = [
  [/(?:^|_)e?mail(?:_address)?$/, (number) => `someone-${number}@example.com`],
  [/(?:^|_)(?:url|uri|link|href)$/, (number) => `https://example.com/${number}`],
  [/(?:^|_)(?:uuid|guid)$/, (number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`],
  [/(?:^|_)(?:ip|ip_address)$/, (number) => `192.0.2.${number % 256}`],
  [/(?:^|_)(?:host|hostname|domain)$/, () => "example.com"],
  [/(?:^|_)(?:phone|phone_number|mobile)$/, (number) => `+1555010${String(number % 100).padStart(2, "0")}`],
  [/(?:^|_)(?:currency|currency_code)$/, () => "EUR"],
  [/(?:^|_)(?:country_code|region_code)$/, () => "CH"],
  [/(?:^|_)(?:language|language_code|locale)$/, () => "en"],
  [/(?:^|_)(?:time_zone|timezone)$/, () => "Europe/Zurich"],
  [/(?:^|_)date$/, () => new Date().toISOString().slice(0, 10)],
  [/(?:^|_)(?:time|timestamp|at)$/, () => new Date().toISOString()],
];

/** A value that suits the field's name, such as an e-mail address; otherwise the name itself. */
function textValue(name: string, number: number): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  const form = forms.find(([pattern]) => pattern.test(words));
  return form ? form[1](number) : number === 1 ? name : `${name}-${number}`;
}

/** A client can do nothing with a message whose type it does not know. */
const unsampled: ReadonlySet<string> = new Set(["google.protobuf.Any"]);

const wrappers: ReadonlySet<string> = new Set(
  ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"].map((name) => `google.protobuf.${name}Value`),
);

/** Types with a form of their own in ProtoJSON. */
const wellKnown: Readonly<Record<string, (number: number, name: string) => JsonValue>> = {
  "google.protobuf.Any": () => ({}),
  "google.protobuf.Timestamp": () => new Date().toISOString(),
  "google.protobuf.Duration": (number) => `${number}s`,
  "google.protobuf.Struct": (number, name) => ({ [name]: textValue(name, number) }),
  "google.protobuf.Value": (number, name) => textValue(name, number),
  "google.protobuf.ListValue": (number, name) => [textValue(name, number), textValue(name, number + 1)],
  "google.protobuf.FieldMask": () => "name",
};
