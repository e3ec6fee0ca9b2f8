const two = (value: number) => String(value).padStart(2, "0");

/** Local date and time to the second: "2026-11-21 14:32:09". */
export function wallTime(at: number): string {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The same to the millisecond: "2026-11-21 14:32:09.649". */
export const wallTimeMs = (at: number): string => `${wallTime(at)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`;

/** "2016-12-30 12:24:28", as the API sends it: in UTC, by the user's own clock. Undefined if it is empty. */
export function apiTime(text: string): number | undefined {
  const at = Date.parse(`${text.replace(" ", "T")}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** Remaining validity of a token: "59 m 12 s", "29 d 23 h". */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor((seconds % 86_400) / 3_600), "h"],
    [Math.floor((seconds % 3_600) / 60), "m"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .map(([value, unit], index) => `${index === 0 ? value : two(value)} ${unit}`)
    .join(" ");
}
