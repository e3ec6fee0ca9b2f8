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
