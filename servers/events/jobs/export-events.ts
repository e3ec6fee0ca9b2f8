import type { ExportPart } from "../../../contract/export.ts";
import type { ParsedParamsOf } from "../../../contract/operation.ts";
import { type EventRow, type EventsActions, eventColumns } from "../../../contract/services/events.ts";
import { exportCursorText, parseExportCursor } from "../../core/service/parse-params.ts";
import { countMatching } from "../count-matching.ts";
import type { EventStore } from "../store/event-store.ts";
import { csvLine, withApostrophe } from "./csv.ts";

/** Of events of some 14 KB, the largest, a part is laid out in less than 50 ms. */
const rowsAtOnce = 200;

/** One part of what matches, the oldest first, so that an import keeps the order. Events that arrive after the first part are not in it. */
export async function exportPart(
  store: EventStore,
  { format, filter, raw, after }: ParsedParamsOf<EventsActions["export"]>,
): Promise<ExportPart> {
  const isFirst = after === undefined;
  const { from, to } = isFirst ? { from: undefined, to: await store.newestId() } : parseExportCursor(after);
  const { matching, exact } = isFirst ? await countMatching(store, filter) : { matching: 0, exact: false };
  const scanned = await store.scan(filter, { direction: "ascending", from, to, limit: rowsAtOnce });
  const lineOf = (row: EventRow) =>
    format === "csv" ? csvLine(eventColumns.map((column) => withApostrophe(row[column] ?? "", raw))) : `${JSON.stringify(row)}\n`;
  const names = isFirst && format === "csv" ? csvLine(eventColumns) : "";
  return {
    text: names + scanned.found.map(lineOf).join(""),
    items: scanned.found.length,
    ...(exact && { total: matching }),
    ...(!scanned.ended && { next: exportCursorText({ from: scanned.reached, to }) }),
  };
}
