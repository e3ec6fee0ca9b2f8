/** RFC 9110 §12.5.1: the offered media type that the client likes best, the earlier of equals; undefined where it takes none. */
export function preferredType(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (accept === undefined || accept.trim() === "") return offered[0];
  const ranges = accept.split(",").map((part) => {
    const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((piece) => piece.startsWith("q="))?.slice(2);
    return { range, weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  let best: { type: string; weight: number } | undefined;
  for (const type of offered) {
    // The most specific range that names the type decides.
    const range =
      ranges.find((one) => one.range === type) ??
      ranges.find((one) => one.range === `${type.split("/")[0]}/*`) ??
      ranges.find((one) => one.range === "*/*");
    if (range && range.weight > (best?.weight ?? 0)) best = { type, weight: range.weight };
  }
  return best?.type;
}
