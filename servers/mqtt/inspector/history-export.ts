import { recordedLine } from "../demo/recorded-line.ts";
import type { MessageRecorder } from "./message-recorder.ts";

/** Of one answer: larger ones hold up the others. */
const pageBytes = 1 << 20;

export interface ExportQuery {
  readonly filter: string;
  readonly text: string;
  readonly after: number;
  readonly limit: number;
}

/** A page of the kept messages, oldest first; `after` of it asks for the next. */
export function exportHistory(recorder: MessageRecorder, { filter, text, after, limit }: ExportQuery) {
  const wanted = Buffer.from(text, "utf8").toString("latin1");
  const lines: string[] = [];
  let bytes = 0;
  for (const record of recorder.since(filter, after)) {
    if (wanted !== "" && !record.payloadHas(wanted)) continue;
    const line = recordedLine(record);
    lines.push(line);
    bytes += line.length;
    if (lines.length >= limit || bytes >= pageBytes) return { lines, after: record.id, share: recorder.shareBehind(record.id) };
  }
  return { lines, share: 1 };
}
