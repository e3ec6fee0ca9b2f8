export interface MediaType {
  /** "application/json", in lower case; empty where the field is absent or no media type. */
  readonly essence: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const parameter = /;\s*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

/** RFC 9110 §8.3.1 */
export function parseMediaType(field: string | undefined): MediaType {
  const essence = /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*(?:;|$)/.exec(field ?? "")?.[1]?.toLowerCase() ?? "";
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, plain] of (field ?? "").matchAll(parameter)) {
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "");
  }
  return { essence, parameters };
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
