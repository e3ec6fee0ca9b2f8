import { parse } from "content-type";

export interface MediaType {
  /** "application/json", in lower case; empty if the field is absent or not a media type. */
  readonly essence: string;
  readonly parameters: Readonly<Partial<Record<string, string>>>;
}

/** RFC 9110 §8.3.1 */
export function parseMediaType(field: string | undefined): MediaType {
  const { type, parameters } = parse(field ?? "");
  return { essence: type.includes("/") ? type : "", parameters };
}

export const isJsonType = (essence: string): boolean =>
  essence === "application/json" || essence === "text/json" || essence.endsWith("+json");

const textTypes = new Set(
  ["xml", "javascript", "graphql", "yaml", "x-yaml", "toml", "x-toml", "x-ndjson", "ndjson", "jsonl", "sql"].map(
    (subtype) => `application/${subtype}`,
  ),
);

export const isTextType = (essence: string): boolean =>
  essence.startsWith("text/") || /\+(?:xml|yaml)$/.test(essence) || textTypes.has(essence);
