import type { ExportPart } from "../../../contract/export.ts";
import { type EventFilter, type EventFormat, type EventRow, eventColumns } from "../../../contract/services/events.ts";
import { exportCursorText, parseExportCursor } from "../../core/service/export-cursor.ts";
import { countMatching } from "../count-matching.ts";
import type { EventStore } from "../store/event-store.ts";
import { csvLine } from "./csv.ts";

const rowsAtOnce = 1_000;

/** One part of what matches, the oldest first, so that an import keeps the order. Events that arrive after the first part are not in it. */
export async function exportPart(
  store: EventStore,
  { format, filter, after }: { readonly format: EventFormat; readonly filter: EventFilter; readonly after?: string | undefined },
): Promise<ExportPart> {
  const isFirst = after === undefined;
  const { from, to } = isFirst ? { from: undefined, to: await store.newestId() } : parseExportCursor(after);
  const { matching, exact } = isFirst ? await countMatching(store, filter) : { matching: 0, exact: false };
  const scanned = await store.scan(filter, { direction: "ascending", from, to, limit: rowsAtOnce });
  const names = isFirst && format === "csv" ? csvLine(eventColumns) : "";
  return {
    text: names + scanned.found.map((row) => lineOf(row, format)).join(""),
    items: scanned.found.length,
    ...(exact && { total: matching }),
    ...(!scanned.ended && { next: exportCursorText({ from: scanned.reached, to }) }),
  };
}

const lineOf = (row: EventRow, format: EventFormat) =>
  format === "csv" ? csvLine(eventColumns.map((column) => row[column] ?? "")) : `${JSON.stringify(row)}\n`;
