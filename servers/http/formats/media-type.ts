import type { IncomingMessage } from "node:http";
import accepts from "accepts";
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

/** Reading a field takes longer than its length alone. */
const longestAccept = 1_024;

/** The one that Accept likes best; undefined if it takes none. RFC 9110 §12.5.1: a field may be disregarded, as one is that is too long. */
export function preferredType(request: IncomingMessage, types: readonly string[]): string | undefined {
  if ((request.headers.accept ?? "").length > longestAccept) return types[0];
  const preferred = accepts(request).type([...types]);
  return typeof preferred === "string" ? preferred : undefined;
}
