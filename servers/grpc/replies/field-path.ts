import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Json } from "../../../contract/services/grpc-replies.ts";
import { hasOwnJson } from "../engine/json-fields.ts";

/** Names of fields, keys of maps and places in lists. */
export type FieldPath = readonly string[];

const part = /(?:^|\.)([^.[\]]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** Parses a path such as "address.city", "items[0].id" or "labels["a.b"]"; undefined if it is not valid. */
export function parsePath(text: string): FieldPath | undefined {
  const parts: string[] = [];
  part.lastIndex = 0;
  while (part.lastIndex < text.length) {
    const [, name, place, key] = part.exec(text) ?? [];
    const next = name ?? place ?? (key === undefined ? undefined : key.replace(/\\(.)/g, "$1"));
    if (next === undefined) return undefined;
    parts.push(next);
  }
  return parts.length === 0 ? undefined : parts;
}

/** The value at the path; undefined if there is none. */
export function valueAt(value: unknown, path: FieldPath): Json | undefined {
  let found = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null) return undefined;
    if (Array.isArray(found) && name === "length") found = found.length;
    else if (Object.hasOwn(found, name)) found = (found as Record<string, unknown>)[name];
    else return undefined;
  }
  return found as Json | undefined;
}

/** By its name in JSON or in the .proto file. */
export const fieldNamed = (message: DescMessage, name: string): DescField | undefined =>
  message.fields.find((field) => field.jsonName === name || field.name === name);

const hasScalarJson = ({ typeName }: DescMessage): boolean =>
  /^google\.protobuf\.(?:Timestamp|Duration|FieldMask|\w+Value)$/.test(typeName) && typeName !== "google.protobuf.ListValue";

const namesOf = (message: DescMessage): string =>
  message.fields.length === 0
    ? "it has no fields"
    : `there are ${message.fields
        .map(({ name }) => name)
        .join(", ")
        .slice(0, 300)}`;

export const noSuchField = (message: DescMessage, name: string): string =>
  `there is no field ${JSON.stringify(name.slice(0, 100))} in ${message.typeName}; ${namesOf(message)}`;

/** The path with the names of the message's JSON. Throws an error that names the part that the type does not have. */
export function pathInType(message: DescMessage, path: FieldPath): FieldPath {
  const found: string[] = [];
  let within: DescMessage | undefined = message;
  for (let index = 0; index < path.length && within && !hasOwnJson(within); index++) {
    const name = path[index] as string;
    const field = fieldNamed(within, name);
    if (!field) throw new Error(noSuchField(within, name));
    found.push(field.jsonName);
    // The next part is a place in the list or a key of the map.
    if ((field.fieldKind === "list" || field.fieldKind === "map") && index + 1 < path.length) {
      const next = path[++index] as string;
      if (field.fieldKind === "list" && !/^(?:\d+|length)$/.test(next))
        throw new Error(`${field.name} is a list: ${name}[0] is its first entry`);
      found.push(next);
    }
    within = field.message;
    if (!within && index + 1 < path.length) throw new Error(`${field.name} has no fields`);
    if (within && hasScalarJson(within) && index + 1 < path.length)
      throw new Error(`${field.name} is a ${within.typeName}: in JSON it is one value without fields`);
  }
  return [...found, ...path.slice(found.length)];
}
