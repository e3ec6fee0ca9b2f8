import { formatCount } from "../../ui/quantity.ts";

/** In a narrow column: "842", "6,204", "102 k", "9.1 M". */
export function shortCount(count: number): string {
  if (count < 100_000) return formatCount(count);
  if (count < 999_500) return `${Math.round(count / 1_000)} k`;
  const millions = count / 1e6;
  return millions < 99.95 ? `${millions.toFixed(1)} M` : `${formatCount(millions)} M`;
}
