/** Both ends are included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** More of them serve no download, only an attack (RFC 9110 §14.2, §17.15). */
const mostRanges = 16;

/** RFC 9110 §14.1.2. Undefined where the field is absent, of another unit, malformed or abusive: then it is as if it were not there. */
export function parseByteRanges(field: string | undefined, length: number): readonly ByteRange[] | "unsatisfiable" | undefined {
  const set = /^bytes=(.*)$/i.exec(field?.trim() ?? "")?.[1];
  if (set === undefined) return undefined;
  const specs = set
    .split(",")
    .map((spec) => spec.trim())
    .filter((spec) => spec !== "");
  if (specs.length === 0 || specs.length > mostRanges) return undefined;
  const ranges: ByteRange[] = [];
  for (const spec of specs) {
    const match = /^(\d*)-(\d*)$/.exec(spec);
    if (!match || spec === "-") return undefined;
    const [first, last] = [match[1] ?? "", match[2] ?? ""];
    if (first !== "" && last !== "" && Number(first) > Number(last)) return undefined;
    const start = first === "" ? Math.max(0, length - Number(last)) : Number(first);
    const end = first === "" || last === "" ? length - 1 : Math.min(Number(last), length - 1);
    if (start <= end && start < length) ranges.push({ start, end });
  }
  return ranges.length === 0 ? "unsatisfiable" : ranges;
}
