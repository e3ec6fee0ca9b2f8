/** Comparisons in the text of a filter: `>100ms`, `<=10kB`. */

/** A unit and what one of it is; the empty one is that of a bare number. */
type Units = Readonly<Record<string, number>>;

const second = 1_000;
const minute = 60 * second;
/** Of milliseconds. */
export const timeUnits: Units = { "": 1, ms: 1, s: second, m: minute, min: minute, h: 60 * minute };
/** Of bytes; decimal as in lists, and binary as in limits. */
export const sizeUnits: Units = {
  ...{ "": 1, b: 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9 },
  ...{ kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 },
};
export const noUnits: Units = { "": 1 };

/** What numbers meet the comparison `value`, which is in lower case; undefined for what is none. */
export function parseComparison(value: string, units: Units): ((figure: number) => boolean) | undefined {
  const [, sign = "", number, unit = ""] = /^([<>]=?) ?(\d{1,15}(?:\.\d{0,6})?) ?([a-z]{0,3})$/.exec(value) ?? [];
  if (number === undefined || !Object.hasOwn(units, unit)) return undefined;
  const limit = Number(number) * (units[unit] ?? 1);
  if (sign === ">") return (figure) => figure > limit;
  if (sign === "<") return (figure) => figure < limit;
  return sign === ">=" ? (figure) => figure >= limit : (figure) => figure <= limit;
}
