import type { ExportPart } from "../../../contract/export.ts";
import type { Handlers, ParsedParamsOf } from "../../../contract/operation.ts";
import type { MqttActions, MqttHistoryPage } from "../../../contract/services/mqtt.ts";
import type { MqttMessageSummary } from "../../../contract/traffic/mqtt.ts";
import { exportCursorText, parseExportCursor } from "../../core/service/parse-params.ts";
import { resultOf } from "../../core/turns/work-connection.ts";
import { recordedLine } from "../demo/recorded-line.ts";
import type { InTurns } from "./history-parts.ts";
import type { MessageQuery } from "./kept-messages.ts";
import { LookSteps } from "./look-steps.ts";
import type { MessageRecorder } from "./message-recorder.ts";

/** Of a response: a longer one would delay others. */
const partLength = 512 << 10;

interface ExportQuery extends MessageQuery {
  readonly after?: string | undefined;
}

/** One part of the matching messages, oldest first. In steps. */
function* exportHistory(recorder: MessageRecorder, { after, ...query }: ExportQuery): Generator<undefined, ExportPart> {
  const { from, to } = after === undefined ? { from: 0, to: recorder.newestId } : parseExportCursor(after);
  let text = "";
  let items = 0;
  let total = 0;
  let next: string | undefined;
  const steps = new LookSteps();
  for (const record of recorder.history.between(query, { from, to })) {
    if (!record) {
      yield;
      continue;
    }
    total++;
    if (next !== undefined) continue;
    const line = `${recordedLine(record)}\n`;
    text += line;
    items++;
    if (steps.isOver(line.length)) yield;
    if (text.length < partLength) continue;
    next = exportCursorText({ from: record.id, to });
    // The total is counted for the first part only.
    if (after !== undefined) break;
  }
  return { text, items, ...(after === undefined && { total }), ...(next !== undefined && { next }) };
}

type HistoryQuery = ParsedParamsOf<MqttActions["topic.history"]>;

function* historyPage(recorder: MessageRecorder, { before, limit, ...query }: HistoryQuery): Generator<undefined, MqttHistoryPage> {
  const { records, hasOlder, searchedInPart } = yield* recorder.history.history(query, { before, limit, length: partLength });
  const messages: MqttMessageSummary[] = [];
  const steps = new LookSteps();
  for (const record of records) {
    messages.push(record.summary());
    if (steps.isOver(record.topic.length + record.publisherId.length)) yield;
  }
  return { messages, hasOlder, ...(searchedInPart > 0 && { searchedInPart }) };
}

type HistoryActions = Pick<
  MqttActions,
  "topic.children" | "topic.search" | "topic.history" | "message.read" | "history.clear" | "history.restore" | "history.export"
>;

/** For a running broker, which has clients to serve `inTurns`, and for browsing a stopped one. */
export const historyHandlers = (
  recorder: MessageRecorder,
  isRetained: (topic: string) => boolean,
  inTurns: InTurns = resultOf,
): Handlers<HistoryActions> => ({
  async "topic.children"({ topic, ...page }) {
    await recorder.whole();
    return recorder.tree.children(topic, page, isRetained);
  },
  async "topic.search"({ filter, retained, ...page }) {
    await recorder.whole();
    return inTurns(recorder.tree.search(filter, { ...page, retained }, isRetained));
  },
  async "topic.history"(query) {
    await recorder.whole();
    return inTurns(historyPage(recorder, query));
  },
  "message.read": ({ id }) => recorder.find(id)?.details() ?? null,
  async "history.clear"() {
    await recorder.whole();
    return { cleared: recorder.clear() };
  },
  async "history.restore"() {
    await recorder.whole();
    return { restored: await recorder.restore(inTurns) };
  },
  async "history.export"(query) {
    await recorder.whole();
    return inTurns(exportHistory(recorder, query));
  },
});
