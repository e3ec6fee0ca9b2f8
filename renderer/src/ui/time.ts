const two = (value: number) => String(value).padStart(2, "0");

/** Local time of day to the second: "14:32:09". */
export function clockSeconds(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Local time of day to the millisecond: "14:32:09.649". */
export const clockTime = (at: number): string => `${clockSeconds(at)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`;

/** Local time of day to the minute: "14:32". */
export const clockMinutes = (at: number): string => clockSeconds(at).slice(0, 5);

/** For titles and exports: "2026-11-21T14:32:09.649Z". */
export const isoTime = (at: number): string => new Date(at).toISOString();
