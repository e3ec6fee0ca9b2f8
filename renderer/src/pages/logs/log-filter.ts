import { type LogLevel, type LogLine, type LogSource, logLevels } from "../../../../contract/log.ts";

export interface LogFilter {
  readonly source?: LogSource;
  /** This level and above. */
  readonly level: LogLevel;
  readonly text: string;
}

export function matchesFilter(line: LogLine, { source, level, text }: LogFilter): boolean {
  return (
    (source === undefined || line.source === source) &&
    logLevels.indexOf(line.level) >= logLevels.indexOf(level) &&
    (text === "" || line.text.toLowerCase().includes(text.toLowerCase()))
  );
}
