import type { DescExtension, DescField, DescMessage, JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { deepest } from "../../../contract/services/grpc-message-walk.ts";

/** Whether the JSON of a message has another form than its fields. */
export const hasOwnJson = ({ typeName }: DescMessage): boolean =>
  /^google\.protobuf\.(?:Any|Timestamp|Duration|FieldMask|Struct|Value|ListValue|\w+Value)$/.test(typeName);

/**
 * How many fields the messages have that a message's JSON becomes, with those that have their default: `{}` may have hundreds. Counted until there are
 * more than `most`. Values in structs and the like are counted as values of JSON: see `requireValues`.
 */
export function fieldsOfJson(json: JsonValue, type: DescMessage, most: number, registry: Registry): number {
  const counter = new FieldCounter(most, registry);
  counter.message(json, type, 0);
  return most - counter.left;
}

class FieldCounter {
  left: number;
  readonly #registry: Registry;
  readonly #names = new Map<DescMessage, ReadonlyMap<string, DescField>>();

  constructor(most: number, registry: Registry) {
    this.left = most;
    this.#registry = registry;
  }

  message(json: JsonValue | undefined, type: DescMessage, depth: number): void {
    if (typeof json !== "object" || json === null || Array.isArray(json) || depth > deepest || this.left < 0) return;
    if (type.typeName === "google.protobuf.Any") this.#any(json, depth);
    if (hasOwnJson(type)) return;
    this.left -= type.fields.length;
    for (const name of Object.keys(json)) {
      const field = this.#namesOf(type).get(name) ?? this.#extension(name);
      if (field?.message) this.#field(json[name], field, field.message, depth);
    }
  }

  #field(value: JsonValue | undefined, { fieldKind }: DescField | DescExtension, type: DescMessage, depth: number): void {
    switch (fieldKind) {
      case "list":
        if (Array.isArray(value)) for (const item of value) this.message(item, type, depth + 1);
        break;
      case "map":
        if (typeof value === "object" && value !== null) for (const item of Object.values(value)) this.message(item, type, depth + 1);
        break;
      default:
        this.message(value, type, depth + 1);
    }
  }

  /** A type with a JSON of its own has that in `value`. */
  #any(json: JsonObject, depth: number): void {
    const url = String(json["@type"]);
    const type = this.#registry.getMessage(url.slice(url.lastIndexOf("/") + 1));
    if (type) this.message(hasOwnJson(type) ? json.value : json, type, depth + 1);
  }

  #extension(name: string): DescExtension | undefined {
    return name.startsWith("[") ? this.#registry.getExtension(name.slice(1, -1)) : undefined;
  }

  #namesOf(type: DescMessage): ReadonlyMap<string, DescField> {
    let names = this.#names.get(type);
    if (!names) {
      names = new Map(
        type.fields.flatMap((field) => [
          [field.name, field],
          [field.jsonName, field],
        ]),
      );
      this.#names.set(type, names);
    }
    return names;
  }
}
