import type { LogPage } from "../../contract/control.ts";
import { type LogLevel, type LogLine, type LogSource, logLevels } from "../../contract/traffic.ts";
import type { LogEntry } from "../core/log.ts";
import { createBoundedRing } from "./bounded-ring.ts";

export interface LogQuery {
  readonly source?: LogSource | undefined;
  readonly level: LogLevel;
  readonly text: string;
  readonly notable: boolean;
  readonly limit: number;
}

export interface LogStore {
  add(source: LogSource, entry: LogEntry): LogLine;
  read(query: LogQuery): LogPage;
}

const ringLimits = { items: 50_000, bytes: 32 << 20 };
/** Kept apart, so that a flood of requests does not push the rare line out. */
const notableLimits = { items: 500, bytes: 1 << 20 };
const maxLineLength = 8_192;

const isNotable = (line: LogLine) => line.notable === true || line.level === "warning" || line.level === "error";

export function createLogStore(): LogStore {
  const all = createBoundedRing<LogLine>(ringLimits);
  const notable = createBoundedRing<LogLine>(notableLimits);
  let seq = 0;
  return {
    add(source, entry) {
      const text =
        entry.text.length > maxLineLength ? `${entry.text.slice(0, maxLineLength)}… (${entry.text.length} characters)` : entry.text;
      const line: LogLine = { seq: ++seq, at: entry.at, source, level: entry.level, text, ...(entry.notable && { notable: true }) };
      all.add(line.seq, line, text.length + 150);
      if (isNotable(line)) notable.add(line.seq, line, text.length + 150);
      return line;
    },
    read(query) {
      const ring = query.notable ? notable : all;
      const least = logLevels.indexOf(query.level);
      const needle = query.text.trim().toLowerCase();
      const lines: LogLine[] = [];
      for (const line of ring.newestFirst()) {
        if (query.source !== undefined && line.source !== query.source) continue;
        if (logLevels.indexOf(line.level) < least) continue;
        if (needle !== "" && !line.text.toLowerCase().includes(needle)) continue;
        lines.push(line);
        if (lines.length === query.limit) break;
      }
      return { lines: lines.reverse(), kept: ring.size };
    },
  };
}
