/** Log lines of the services and of Backlot itself. */
import type { ServiceId } from "./service.ts";

export const logLevels = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Who wrote a log line: a service, or Backlot itself. */
export type LogSource = ServiceId | "backlot";

export interface LogLine {
  /** Counts up over all sources; never reused in a run. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly source: LogSource;
  readonly level: LogLevel;
  readonly text: string;
  /** Notable at any level. */
  readonly notable?: true;
}

/** What is kept longer than other lines, and shown in "Worth knowing". */
export const isNotable = ({ notable, level }: LogLine): boolean => notable === true || level === "warning" || level === "error";

/**
 * The newest of lines that come oldest first, at most so many: the source that has most of them loses its oldest, so that one that is noisy leaves the
 * others theirs.
 */
export function newestOfEach(lines: readonly LogLine[], most: number): readonly LogLine[] {
  let surplus = lines.length - most;
  if (surplus <= 0) return lines;
  const counts = new Map<LogSource, number>();
  for (const { source } of lines) counts.set(source, (counts.get(source) ?? 0) + 1);
  const dropped = new Map<LogSource, number>();
  for (; surplus > 0; surplus--) {
    const [source, count] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one));
    counts.set(source, count - 1);
    dropped.set(source, (dropped.get(source) ?? 0) + 1);
  }
  return lines.filter(({ source }) => {
    const left = dropped.get(source) ?? 0;
    if (left > 0) dropped.set(source, left - 1);
    return left === 0;
  });
}

/** Control characters, and those that change the direction of text or end a line. */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const everyUnsafe = new RegExp(unsafe, "gu");

function escapeOf(character: string): string {
  const code = character.charCodeAt(0);
  return code > 0xff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\x${code.toString(16).padStart(2, "0")}`;
}

/** What a client sent must not drive a terminal, or show as another line. Most lines have nothing of it: a search is cheaper than a replacement. */
const printable = (text: string): string => (unsafe.test(text) ? text.replace(everyUnsafe, escapeOf) : text);

/** A line of the log as it is printed, copied and saved. */
export const logText = ({ at, level, source, text }: LogLine): string =>
  `${new Date(at).toISOString()} ${level.padEnd(7)} ${source.padEnd(7)} ${printable(text)}\n`;
