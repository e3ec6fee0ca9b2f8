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

/** A line of the log as it is copied and saved. */
export const logText = ({ at, level, source, text }: LogLine): string =>
  `${new Date(at).toISOString()} ${level.padEnd(7)} ${source.padEnd(7)} ${text}\n`;
