/** What JSON of a stranger may be: how deep, and how large in memory. */

/** Of a number, an object, a list or a text, with its place in what it is in, and of a name. */
const valueBytes = 50;

/** What a value takes in memory, at most. Not for deep ones: `isDeeper` tells them. */
export function memoryOf(value: unknown): number {
  if (typeof value === "string") return valueBytes + 2 * value.length;
  if (typeof value !== "object" || value === null) return valueBytes;
  let bytes = valueBytes;
  if (Array.isArray(value)) for (const inner of value) bytes += memoryOf(inner);
  else for (const [name, inner] of Object.entries(value)) bytes += memoryOf(name) + memoryOf(inner);
  return bytes;
}

/** Whether objects and lists are in one another more often than that. It looks no deeper itself. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isDeeper(inner, levels - 1)) return true;
  return false;
}
