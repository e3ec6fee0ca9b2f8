import { type LogLevel, logLevels } from "../../../contract/log.ts";

export interface LogEntry {
  readonly at: number;
  readonly level: LogLevel;
  readonly text: string;
  readonly notable?: true;
}

/** Text only: whoever logs has left tokens, passwords and keys out. */
export interface Log {
  debug(text: string): void;
  info(text: string): void;
  warning(text: string): void;
  error(text: string): void;
  /** At level info, and worth a place in "Worth knowing" on the Overview. */
  notable(text: string): void;
  /** Whether a line of this level would be kept: for lines that cost something to write. */
  enabled(level: LogLevel): boolean;
}

const rank = (level: LogLevel) => logLevels.indexOf(level);

export function createLog(options: { level: () => LogLevel; write: (entry: LogEntry) => void; now?: () => number }): Log {
  const now = options.now ?? Date.now;
  const enabled = (level: LogLevel) => rank(level) >= rank(options.level());
  const writer = (level: LogLevel) => (text: string) => {
    if (enabled(level)) options.write({ at: now(), level, text });
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warning: writer("warning"),
    error: writer("error"),
    notable: (text) => {
      if (enabled("info")) options.write({ at: now(), level: "info", text, notable: true });
    },
    enabled,
  };
}
