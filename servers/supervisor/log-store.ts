import type { LogPage } from "../../contract/control.ts";
import type { ExportPart } from "../../contract/export.ts";
import { type LogLevel, type LogLine, type LogSource, logLevels, logText } from "../../contract/log.ts";
import type { LogEntry } from "../core/service/log.ts";
import { exportCursorText, parseExportCursor } from "../core/service/parse-params.ts";
import { createBoundedRing } from "./bounded-ring.ts";

export interface LogQuery {
  readonly source?: LogSource | undefined;
  readonly level: LogLevel;
  readonly text: string;
  readonly notable: boolean;
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface LogStore {
  add(source: LogSource, entry: LogEntry): LogLine;
  read(query: LogQuery): LogPage;
  /** Matching lines as text, oldest first, some thousand at a time. */
  exportPart(query: Pick<LogQuery, "source" | "level" | "text">, after: string | undefined): ExportPart;
}

const ringLimits = { items: 50_000, bytes: 32 << 20 };
/** Notable lines, kept separately so that a flood of other lines does not evict them. */
const notableLimits = { items: 500, bytes: 1 << 20 };
/** Memory of a line in addition to its text. */
const lineBytes = 150;
const maxLineLength = 8_192;

const exportedLines = 2_000;

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
      const bytes = lineBytes + textBytes(text);
      all.add(line.seq, line, bytes);
      if (isNotable(line)) notable.add(line.seq, line, bytes);
      return line;
    },
    read(query) {
      const ring = query.notable ? notable : all;
      const matches = createMatcher(query);
      const { before = Number.POSITIVE_INFINITY } = query;
      const lines: LogLine[] = [];
      for (const line of ring.newestFirst()) {
        if (line.seq >= before || !matches(line)) continue;
        lines.push(line);
        if (lines.length === query.limit) break;
      }
      return { lines: lines.reverse(), kept: ring.size };
    },
    exportPart(query, after) {
      const matches = createMatcher(query);
      const { from, to } = after === undefined ? { from: 0, to: seq } : parseExportCursor(after);
      let text = "";
      let items = 0;
      for (const line of all.oldestFirst()) {
        if (line.seq <= from || line.seq > to || !matches(line)) continue;
        text += logText(line);
        items += 1;
        if (items === exportedLines) return { text, items, next: exportCursorText({ from: line.seq, to }) };
      }
      return { text, items };
    },
  };
}

function createMatcher({ source, level, text }: Pick<LogQuery, "source" | "level" | "text">): (line: LogLine) => boolean {
  const least = logLevels.indexOf(level);
  const needle = text.trim().toLowerCase();
  return (line) =>
    (source === undefined || line.source === source) &&
    logLevels.indexOf(line.level) >= least &&
    (needle === "" || line.text.toLowerCase().includes(needle));
}

/** Memory of a text: V8 uses one byte per character if all are Latin-1, otherwise two. */
const textBytes = (text: string): number => (beyondLatin1.test(text) ? 2 * text.length : text.length);

const beyondLatin1 = /[^\0-\xff]/;
