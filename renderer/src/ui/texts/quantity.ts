/** Words that depend on a number or a state, in one place. */
const plural = new Intl.PluralRules("en");

export interface Noun {
  readonly one: string;
  readonly many: string;
}

/** A noun; without its own plural it takes an s. */
export const nounOf = (one: string, many = `${one}s`): Noun => ({ one, many });

/** The form of a word that goes with a number: `pluralOf(2, "ends", "end")` is "end". */
export const pluralOf = (count: number, one: string, many: string): string => (plural.select(count) === "one" ? one : many);

// British style: no comma before "and".
const list = new Intl.ListFormat("en-GB");

/** "a", "a and b", "a, b and c". */
export const listText = (parts: readonly string[]): string => list.format(parts);

/** "Requests": at the start of a label. */
export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const units = ["B", "kB", "MB", "GB", "TB"];

/** "12,480". */
export const formatCount = (value: number): string => whole.format(value);

/** With a number of decimals: "20.78", "1,013.2". */
export const formatDecimals = (value: number, least: number, most: number): string =>
  value.toLocaleString("en-US", { minimumFractionDigits: least, maximumFractionDigits: most });

/** A number with its noun: "1 client", "14 clients". */
export const formatCountOf = (value: number, one: string, many = `${one}s`): string =>
  `${formatCount(value)} ${pluralOf(value, one, many)}`;

/** A rate without its unit: "0", "0.4", "7.2", "42", "4,812". */
export function formatRate(perSecond: number): string {
  const rounded = Math.round(perSecond * 10) / 10;
  return rounded >= 10 || Number.isInteger(rounded) ? formatCount(rounded) : rounded.toFixed(1);
}

/** The form of a word that goes with a rate as it is shown: `pluralOfRate(1.02, "item", "items")` is "item". */
export const pluralOfRate = (perSecond: number, one: string, many: string): string => pluralOf(Math.round(perSecond * 10) / 10, one, many);

/** Decimal units: "612 B", "1.8 kB", "214 MB". */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : formatCount(value)} ${units[unit]}`;
}

/** "2.12 Mbit/s" */
export const formatBitRate = (bitsPerSecond: number): string => `${formatDecimals(bitsPerSecond / 1_000_000, 2, 2)} Mbit/s`;

/** Of a part of 1: "2.1 %" */
export const formatPercent = (fraction: number): string => `${formatDecimals(fraction * 100, 1, 1)} %`;

export const formatByteRate = (bytesPerSecond: number): string => `${formatBytes(bytesPerSecond)}/s`;

/** In a narrow column: "842", "6,204", "102 k", "9.1 M". */
export function shortCount(count: number): string {
  if (count < 100_000) return formatCount(count);
  if (count < 999_500) return `${Math.round(count / 1_000)} k`;
  const millions = count / 1e6;
  return millions < 99.95 ? `${millions.toFixed(1)} M` : `${formatCount(millions)} M`;
}

/** A limit is a power of two: "8 KiB". */
export function formatLimit(bytes: number): string {
  if (bytes > 0 && bytes % 1_048_576 === 0) return `${bytes / 1_048_576} MiB`;
  if (bytes > 0 && bytes % 1_024 === 0) return `${bytes / 1_024} KiB`;
  return formatBytes(bytes);
}

/** What was kept of a content, both in one kind of unit: "256 KiB of 293 KiB", "1.2 kB of 3.4 kB". */
export function formatPart(kept: number, whole: number): string {
  const isLimit = kept > 0 && kept % 1_024 === 0;
  return isLimit ? `${formatLimit(kept)} of ${formatBinary(whole)}` : `${formatBytes(kept)} of ${formatBytes(whole)}`;
}

/** Of 1,024 bytes or more: "1.5 KiB", "293 KiB", "4.8 MiB". */
function formatBinary(bytes: number): string {
  const unit = bytes < 1_023.5 * 1_024 ? "KiB" : "MiB";
  const value = bytes / (unit === "KiB" ? 1_024 : 1_048_576);
  return `${value < 9.95 ? formatDecimals(value, 0, 1) : formatCount(value)} ${unit}`;
}
