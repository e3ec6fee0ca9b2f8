import {
  type DescField,
  type DescMessage,
  type DescOneof,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Registry,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import type { Json } from "../../../contract/services/grpc-replies.ts";
import { errorText } from "../../core/service/service-error.ts";
import { fieldsOfJson, hasOwnJson } from "../engine/json-fields.ts";
import { frameOf } from "../engine/message-type.ts";
import { StatusError } from "../engine/status.ts";
import { fieldNamed, noSuchField } from "./field-path.ts";
import { parseTemplate, type Template, type TemplateScope, textOf } from "./template.ts";

/** Called for what does not fit the type; `path` is within the JSON. */
export type OnMisfit = (path: readonly PropertyKey[], message: string) => void;

export interface MessageTemplateOptions {
  readonly type: DescMessage;
  readonly json: Json;
  /** Of the method: placeholders may take its fields. */
  readonly request: DescMessage;
  readonly registry: Registry;
  readonly onMisfit: OnMisfit;
}

/** Makes the frame of a message with the values of a scope. Throws if a value does not fit the type. */
export type MessageTemplate = (scope: TemplateScope) => Buffer;

/** A part of a message; undefined leaves its field out. */
type Part = Template | { readonly constant: Json };

/** Checks each field of the JSON against its type, so that mistakes are reported before a call arrives. */
export function messageTemplate({ type, json, request, registry, onMisfit }: MessageTemplateOptions): MessageTemplate {
  let isBroken = false;
  const checker = new Checker(request, registry, (path, message) => {
    isBroken = true;
    onMisfit(path, message);
  });
  const part = checker.message(type, json, []);
  const frame = (value: Json | undefined) => frameOf(toBinary(type, fromJson(type, (value ?? {}) as JsonValue, { registry })));
  if (typeof part === "function") {
    return (scope) => {
      const value = part(scope);
      // A list of the request may become one of messages with more fields.
      if (fieldsOfJson(value as JsonValue, type, scope.mostFields, registry) > scope.mostFields) {
        throw new StatusError(
          "RESOURCE_EXHAUSTED",
          `the answer has more than ${scope.mostFields} fields, with those that have their default`,
        );
      }
      return frame(value);
    };
  }
  // Without placeholders the message is always the same, so it is made once.
  let bytes: Buffer | undefined;
  if (!isBroken) {
    try {
      bytes = frame(part.constant);
    } catch (error) {
      onMisfit([], errorText(error));
    }
  }
  return () => bytes ?? frame(part.constant);
}

const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

class Checker {
  readonly #request: DescMessage;
  readonly #registry: Registry;
  readonly #onMisfit: OnMisfit;

  constructor(request: DescMessage, registry: Registry, onMisfit: OnMisfit) {
    this.#request = request;
    this.#registry = registry;
    this.#onMisfit = onMisfit;
  }

  message(type: DescMessage, json: Json, path: readonly PropertyKey[]): Part {
    if (typeof json === "string" && json.includes("{{")) return this.#free(json, path);
    if (hasOwnJson(type)) {
      const part = this.#free(json, path);
      if (typeof part !== "function") {
        try {
          fromJson(type, json as JsonValue, { registry: this.#registry });
        } catch (error) {
          this.#onMisfit(path, `${type.typeName} is expected: ${errorText(error)}`);
        }
      }
      return part;
    }
    if (!isObject(json)) return this.#misfit(path, `an object is expected: ${type.typeName}`);
    const oneofs = new Map<DescOneof, string>();
    const parts = Object.entries(json).flatMap(([name, value]): [string, Part][] => {
      // An extension.
      if (name.startsWith("[")) return [[name, this.#free(value, [...path, name])]];
      const field = fieldNamed(type, name);
      if (!field) {
        this.#onMisfit([...path, name], noSuchField(type, name));
        return [];
      }
      if (field.oneof && value !== null) {
        const other = oneofs.get(field.oneof);
        if (other !== undefined)
          this.#onMisfit([...path, name], `only one field of the oneof ${field.oneof.name} is allowed, and ${other} is set already`);
        oneofs.set(field.oneof, name);
      }
      return [[name, this.#field(field, value, [...path, name])]];
    });
    return joined(parts);
  }

  #field(field: DescField, json: Json, path: readonly PropertyKey[]): Part {
    if (json === null && field.message?.typeName !== "google.protobuf.Value") return { constant: null };
    if (typeof json === "string" && json.includes("{{") && (field.fieldKind === "list" || field.fieldKind === "map"))
      return this.#free(json, path);
    switch (field.fieldKind) {
      case "list": {
        if (!Array.isArray(json)) return this.#misfit(path, "a list is expected");
        return listed(json.map((entry, index) => this.#single(field, entry, [...path, index])));
      }
      case "map": {
        if (!isObject(json)) return this.#misfit(path, "an object is expected");
        return joined(Object.entries(json).map(([name, value]) => [name, this.#single(field, value, [...path, name])]));
      }
      default:
        return this.#single(field, json, path);
    }
  }

  /** A value of the field, or an entry of it where it is a list or map. */
  #single(field: DescField, json: Json, path: readonly PropertyKey[]): Part {
    if (field.message) return this.message(field.message, json, path);
    if (typeof json === "string" && json.includes("{{")) {
      const part = this.#free(json, path);
      return typeof part === "function" ? (scope) => asField(part(scope), field) : part;
    }
    if (!this.#fits(field, json)) return this.#misfit(path, `${neededBy(field)} is expected`);
    return { constant: json };
  }

  #fits(field: DescField, json: Json): boolean {
    const { parent } = field;
    const value = (field.fieldKind === "list" ? [json] : json) as JsonValue;
    if (field.fieldKind === "map") {
      // A key that fits all types of keys but bool.
      const key = field.mapKey === ScalarType.BOOL ? "true" : "1";
      return this.#reads(parent, { [field.jsonName]: { [key]: value } });
    }
    return this.#reads(parent, { [field.jsonName]: value });
  }

  #reads(type: DescMessage, json: JsonObject): boolean {
    try {
      fromJson(type, json, { registry: this.#registry });
      return true;
    } catch {
      return false;
    }
  }

  /** JSON whose types are not checked here, with placeholders anywhere. */
  #free(json: Json, path: readonly PropertyKey[]): Part {
    if (typeof json === "string") {
      try {
        return parseTemplate(json, this.#request) ?? { constant: json };
      } catch (error) {
        return this.#misfit(path, errorText(error));
      }
    }
    if (Array.isArray(json)) return listed(json.map((entry: Json, index) => this.#free(entry, [...path, index])));
    if (isObject(json)) return joined(Object.entries(json).map(([name, value]) => [name, this.#free(value, [...path, name])]));
    return { constant: json };
  }

  #misfit(path: readonly PropertyKey[], message: string): Part {
    this.#onMisfit(path, message);
    return { constant: null };
  }
}

function joined(parts: readonly (readonly [string, Part])[]): Part {
  const build = (values: readonly (readonly [string, Json | undefined])[]): Json =>
    Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Json;
  if (parts.every(([, part]) => typeof part !== "function"))
    return { constant: build(parts.map(([name, part]) => [name, (part as { constant: Json }).constant])) };
  return (scope) => build(parts.map(([name, part]) => [name, partValue(part, scope)]));
}

function listed(parts: readonly Part[]): Part {
  if (parts.every((part) => typeof part !== "function")) return { constant: parts.map((part) => (part as { constant: Json }).constant) };
  return (scope) => parts.map((part) => partValue(part, scope)).filter((value) => value !== undefined);
}

const partValue = (part: Part, scope: TemplateScope): Json | undefined => (typeof part === "function" ? part(scope) : part.constant);

/** A string field takes any value, and a bool takes "true" and "false". */
function asField(value: Json | undefined, { scalar }: DescField): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (scalar === ScalarType.STRING && typeof value !== "string") return textOf(value);
  if (scalar === ScalarType.BOOL && (value === "true" || value === "false")) return value === "true";
  return value;
}

const scalarWords: Readonly<Partial<Record<ScalarType, string>>> = {
  [ScalarType.STRING]: "a string",
  [ScalarType.BOOL]: "true or false",
  [ScalarType.BYTES]: "a string in base64",
  [ScalarType.DOUBLE]: "a number",
  [ScalarType.FLOAT]: "a number",
};

function neededBy({ scalar, enum: enumeration }: DescField): string {
  if (enumeration)
    return `a value of ${enumeration.typeName} (${enumeration.values
      .map(({ name }) => name)
      .join(", ")
      .slice(0, 200)})`;
  if (scalar === undefined) return "another value";
  return scalarWords[scalar] ?? `a whole number (${ScalarType[scalar].toLowerCase()})`;
}
