import { type LogLevel, logLevels } from "../../../contract/log.ts";

export interface LogEntry {
  readonly at: number;
  readonly level: LogLevel;
  readonly text: string;
  readonly notable?: true;
}

/** Text only. Callers leave out tokens, passwords and keys. */
export interface Log {
  debug(text: string): void;
  info(text: string): void;
  warning(text: string): void;
  error(text: string): void;
  /** Logs at level info and shows the line in "Worth knowing" on the Overview. */
  notable(text: string): void;
  /** Whether a line of this level would be kept: check it before building an expensive line. */
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

/** Many lines packed into a few values: one object per line would cost both processes several times as much as the line. */
export interface PackedLogs {
  readonly at: Float64Array;
  /** Index among `logLevels`, and `notableBit`. */
  readonly levels: Uint8Array;
  /** Where each text ends. */
  readonly ends: Uint32Array;
  readonly texts: string;
}

const notableBit = 0x80;

export function packLogs(logs: readonly LogEntry[]): PackedLogs {
  const at = new Float64Array(logs.length);
  const levels = new Uint8Array(logs.length);
  const ends = new Uint32Array(logs.length);
  let texts = "";
  logs.forEach((entry, index) => {
    texts += entry.text;
    at[index] = entry.at;
    levels[index] = rank(entry.level) | (entry.notable ? notableBit : 0);
    ends[index] = texts.length;
  });
  return { at, levels, ends, texts };
}

export function unpackLogs({ at, levels, ends, texts }: PackedLogs): LogEntry[] {
  return Array.from(at, (time, index): LogEntry => {
    const packed = levels[index] ?? 0;
    return {
      at: time,
      level: logLevels[packed & ~notableBit] ?? "info",
      text: texts.slice(ends[index - 1] ?? 0, ends[index]),
      ...((packed & notableBit) !== 0 && { notable: true as const }),
    };
  });
}
