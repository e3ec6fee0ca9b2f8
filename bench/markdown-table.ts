/** The first column is text, the others are figures. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((column, index) => Math.max(column.length, ...rows.map((row) => (row[index] ?? "").length), 3));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, index) => (index === 0 ? (cells[index] ?? "").padEnd(width) : (cells[index] ?? "").padStart(width))).join(" | ")} |`;
  const rule = `|${widths.map((width, index) => (index === 0 ? `${"-".repeat(width + 2)}` : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [line(columns), rule, ...rows.map(line)].join("\n");
}

/** Three figures that mean something: 12,345 · 123 · 12.3 · 1.23 */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return value.toFixed(size >= 10 ? 1 : 2);
}

export const count = (value: number): string => Math.round(value).toLocaleString("en");

export const verdict = (reached: boolean): string => (reached ? "reached" : "**missed**");
