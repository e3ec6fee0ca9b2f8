/** Numbers in texts of services: log lines, failures and notes. */

/** "12,480". */
export const countText = (value: number | bigint): string => value.toLocaleString("en");

/** A number with its noun: "1 client", "14 clients". */
export const countOf = (value: number | bigint, one: string, many = `${one}s`): string =>
  `${countText(value)} ${Number(value) === 1 ? one : many}`;
