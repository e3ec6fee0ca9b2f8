import type { LogLine } from "./traffic.ts";

/** A line of the log as it is copied and saved. */
export const logText = ({ at, level, source, text }: LogLine): string =>
  `${new Date(at).toISOString()} ${level.padEnd(7)} ${source.padEnd(7)} ${text}\n`;
