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

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const dayMs = 86_400_000;

/** "20 Nov" */
export const dayAndMonth = (date: Date): string => `${date.getDate()} ${months[date.getMonth()]}`;
export const utcDayAndMonth = (date: Date): string => `${date.getUTCDate()} ${months[date.getUTCMonth()]}`;

/** Local: "14:32:09" on the same day, "20 Nov 14:32:09" before, "20 Nov 2025 14:32:09" if longer ago. */
export function dateTime(at: number, now: number): string {
  const date = new Date(at);
  const clock = clockSeconds(at);
  if (Math.abs(now - at) < dayMs && date.getDate() === new Date(now).getDate()) return clock;
  const year = Math.abs(now - at) > 300 * dayMs ? ` ${date.getFullYear()}` : "";
  return `${dayAndMonth(date)}${year} ${clock}`;
}

/** For titles and exports: "2026-11-21T14:32:09.649Z". */
export const isoTime = (at: number): string => new Date(at).toISOString();

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Duration of something that is still going on: "41 s", "48 m", "2 h 14 m", "3 d 4 h". */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < minute) return `${Math.floor(whole / second)} s`;
  if (whole < hour) return `${Math.floor(whole / minute)} m`;
  if (whole < day) return `${Math.floor(whole / hour)} h ${two(Math.floor((whole % hour) / minute))} m`;
  return `${Math.floor(whole / day)} d ${Math.floor((whole % day) / hour)} h`;
}

/** As `formatDuration`, with the seconds of a minute: "2 m 04 s". */
export function formatDurationExact(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < minute || whole >= hour) return formatDuration(ms);
  return `${Math.floor(whole / minute)} m ${two(Math.floor((whole % minute) / second))} s`;
}

export const formatAgo = (ms: number): string => (ms < 5 * second ? "just now" : `${formatDuration(ms)} ago`);

/** How long an exchange took: "0.7 ms", "42 ms", "1.20 s", "2 m 04 s". */
export function formatTook(ms: number): string {
  // "0.0 ms" would look as if it was not measured.
  if (ms < 0.05) return "<0.1 ms";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < minute) return `${(ms / second).toFixed(2)} s`;
  return formatDurationExact(ms);
}
