import type { ExportPart } from "../../../contract/export.ts";
import type { Handlers } from "../../../contract/operation.ts";
import type { MqttActions } from "../../../contract/services/mqtt.ts";
import { exportCursorText, parseExportCursor } from "../../core/service/parse-params.ts";
import { resultOf } from "../../core/turns/work-connection.ts";
import { recordedLine } from "../demo/recorded-line.ts";
import type { MessageRecord } from "./message-record.ts";
import type { MessageRecorder } from "./message-recorder.ts";

/** Largest response: a larger one would delay others. */
const partLength = 512 << 10;

interface ExportQuery {
  readonly filter: string;
  readonly text: string;
  readonly withoutSample: boolean;
  readonly after?: string | undefined;
}

/** One part of the matching messages, oldest first. */
function exportHistory(recorder: MessageRecorder, { filter, text: wanted, withoutSample, after }: ExportQuery): ExportPart {
  const { from, to } = after === undefined ? { from: 0, to: recorder.newestId } : parseExportCursor(after);
  let text = "";
  let items = 0;
  let total = 0;
  let next: string | undefined;
  for (const record of matching(recorder, { filter, text: wanted, withoutSample, from, to })) {
    total++;
    if (next !== undefined) continue;
    text += `${recordedLine(record)}\n`;
    items++;
    if (text.length < partLength) continue;
    next = exportCursorText({ from: record.id, to });
    // The total is counted for the first part only.
    if (after !== undefined) break;
  }
  return { text, items, ...(after === undefined && { total }), ...(next !== undefined && { next }) };
}

function* matching(
  recorder: MessageRecorder,
  { filter, text, withoutSample, from, to }: Omit<ExportQuery, "after"> & { readonly from: number; readonly to: number },
): Generator<MessageRecord> {
  const wanted = Buffer.from(text, "utf8").toString("latin1");
  for (const record of recorder.between(filter, from, to)) {
    if (withoutSample && record.isSample) continue;
    if (wanted === "" || record.payloadHas(wanted)) yield record;
  }
}

type HistoryActions = Pick<
  MqttActions,
  "topic.children" | "topic.search" | "topic.history" | "message.read" | "history.clear" | "history.restore" | "history.export"
>;

/** For a running broker, which has clients to serve `inTurns`, and for browsing a stopped one. */
export const historyHandlers = (
  recorder: MessageRecorder,
  isRetained: (topic: string) => boolean,
  inTurns: <Result>(work: Iterator<unknown, Result>) => Result | Promise<Result> = resultOf,
): Handlers<HistoryActions> => ({
  "topic.children": ({ topic, ...page }) => recorder.tree.children(topic, page, isRetained),
  "topic.search": ({ filter, retained, ...page }) => inTurns(recorder.tree.search(filter, { ...page, retained }, isRetained)),
  "topic.history": ({ filter, ...options }) => {
    const { records, searchedInPart } = recorder.history(filter, { before: undefined, ...options });
    return { messages: records.map((record) => record.summary()), ...(searchedInPart > 0 && { searchedInPart }) };
  },
  "message.read": ({ id }) => recorder.find(id)?.details() ?? null,
  "history.clear": () => ({ cleared: recorder.clear() }),
  "history.restore": () => ({ restored: recorder.restore() }),
  "history.export": (query) => exportHistory(recorder, query),
});
