/** The row to which a key moves from row `from` (-1: none selected); undefined for other keys. */
export function movedRow(key: string, from: number, count: number, pageRows: number): number | undefined {
  const to = target(key, from, count, pageRows);
  if (to === undefined || count === 0) return undefined;
  return Math.min(Math.max(to, 0), count - 1);
}

function target(key: string, from: number, count: number, pageRows: number): number | undefined {
  switch (key) {
    case "ArrowDown":
      return from + 1;
    case "ArrowUp":
      return from < 0 ? 0 : from - 1;
    case "PageDown":
      return Math.max(from, 0) + pageRows;
    case "PageUp":
      return from - pageRows;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}
