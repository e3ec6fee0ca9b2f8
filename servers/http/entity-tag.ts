/** RFC 9110 §8.8.3.2; strong comparison takes no weak tag. `field` is a list of tags or "*". */
export function etagMatches(field: string, etag: string, comparison: "strong" | "weak"): boolean {
  if (field.trim() === "*") return true;
  const opaque = etag.replace(/^W\//, "");
  for (const [, weak, tag] of field.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\xff]*"|[^",\s]+)/g)) {
    // Some clients leave the quotes out.
    const sameTag = tag === opaque || `"${tag}"` === opaque;
    if (sameTag && (comparison === "weak" || (weak === undefined && !etag.startsWith("W/")))) return true;
  }
  return false;
}
