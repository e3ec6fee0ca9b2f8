/** Reads JSON that clients send. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Undefined for what is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
export const isOptionalText = (value: unknown): value is string | null | undefined =>
  value === undefined || value === null || typeof value === "string";

/** Of a number, an object, a list or a text, with its place in what it is in, and of a name. */
const valueBytes = 50;

/** What a value takes in memory, at most. One that is not deep: `isDeeper` has said so. */
export function memoryOf(value: unknown): number {
  if (typeof value === "string") return valueBytes + 2 * value.length;
  if (typeof value !== "object" || value === null) return valueBytes;
  let bytes = valueBytes;
  if (Array.isArray(value)) for (const inner of value) bytes += memoryOf(inner);
  else for (const [name, inner] of Object.entries(value)) bytes += memoryOf(name) + memoryOf(inner);
  return bytes;
}

/** Goes no deeper than the limit. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isDeeper(inner, levels - 1)) return true;
  return false;
}
