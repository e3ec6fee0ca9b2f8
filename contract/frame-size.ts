/** Bytes counted for a number, an object or a field name. */
const valueBytes = 8;

/** Whether a cloned value is larger than the limit, measured as about the bytes of its JSON. It stops at the limit, also for circular values. */
export function isLargerThan(value: unknown, maxBytes: number): boolean {
  const left: unknown[] = [value];
  let bytes = 0;
  while (left.length > 0) {
    const next = left.pop();
    bytes += typeof next === "string" ? next.length : valueBytes;
    if (ArrayBuffer.isView(next) || next instanceof ArrayBuffer) bytes += next.byteLength;
    else if (next instanceof Map || next instanceof Set) left.push([...next]);
    else if (Array.isArray(next)) {
      if (next.length > maxBytes) return true;
      for (const item of next) left.push(item);
    } else if (typeof next === "object" && next !== null) {
      for (const name in next) {
        bytes += name.length;
        left.push(next[name as keyof typeof next]);
        if (bytes > maxBytes) return true;
      }
    }
    if (bytes > maxBytes) return true;
  }
  return false;
}
