import { clockSeconds } from "../../ui/time.ts";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const dayMs = 86_400_000;

/** "20 Nov" */
export const dayAndMonth = (date: Date): string => `${date.getDate()} ${months[date.getMonth()]}`;
export const utcDayAndMonth = (date: Date): string => `${date.getUTCDate()} ${months[date.getUTCMonth()]}`;

/** Local: "14:32:09" within a day, "20 Nov 14:32:09" before, "20 Nov 2025 14:32:09" when longer ago; as it stands where it is no time. */
export function eventTimeText(created: string, now: number): string {
  const at = Date.parse(created);
  if (Number.isNaN(at)) return created;
  const clock = clockSeconds(at);
  if (Math.abs(now - at) < dayMs && new Date(at).getDate() === new Date(now).getDate()) return clock;
  const date = new Date(at);
  const year = Math.abs(now - at) > 300 * dayMs ? ` ${date.getFullYear()}` : "";
  return `${dayAndMonth(date)}${year} ${clock}`;
}
