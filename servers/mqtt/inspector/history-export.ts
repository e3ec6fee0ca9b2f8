import type { ExportPart } from "../../../contract/export.ts";
import { exportCursorText, parseExportCursor } from "../../core/service/parse-params.ts";
import { recordedLine } from "../demo/recorded-line.ts";
import type { MessageRecord } from "./message-record.ts";
import type { MessageRecorder } from "./message-recorder.ts";

/** Of one answer: larger ones hold up the others. */
const partLength = 512 << 10;

export interface ExportQuery {
  readonly filter: string;
  readonly text: string;
  readonly after?: string | undefined;
}

/** One part of the kept messages that match, oldest first. */
export function exportHistory(recorder: MessageRecorder, { filter, text: wanted, after }: ExportQuery): ExportPart {
  const { from, to } = after === undefined ? { from: 0, to: recorder.newestId } : parseExportCursor(after);
  let text = "";
  let items = 0;
  let total = 0;
  let next: string | undefined;
  for (const record of matching(recorder, { filter, text: wanted, from, to })) {
    total++;
    if (next !== undefined) continue;
    text += `${recordedLine(record)}\n`;
    items++;
    if (text.length < partLength) continue;
    next = exportCursorText({ from: record.id, to });
    // Counted to the end for the first part only.
    if (after !== undefined) break;
  }
  return { text, items, ...(after === undefined && { total }), ...(next !== undefined && { next }) };
}

function* matching(
  recorder: MessageRecorder,
  { filter, text, from, to }: { readonly filter: string; readonly text: string; readonly from: number; readonly to: number },
): Generator<MessageRecord> {
  const wanted = Buffer.from(text, "utf8").toString("latin1");
  for (const record of recorder.between(filter, from, to)) if (wanted === "" || record.payloadHas(wanted)) yield record;
}
