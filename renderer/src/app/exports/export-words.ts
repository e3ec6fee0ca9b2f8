import type { ExportView } from "../../../../contract/export.ts";
import { formatBytes, formatCount, formatCountOf } from "../../ui/quantity.ts";

/** "Exporting events.csv", "Exported 12,480 events", "Export cancelled" */
export function exportTitle({ state, name, item, items }: ExportView): string {
  switch (state) {
    case "waiting":
    case "running":
      return `Exporting ${name}`;
    case "done":
      return `Exported ${formatCountOf(items, item)}`;
    case "cancelled":
      return "Export cancelled";
    case "failed":
      return "Export failed";
    default:
      return state satisfies never;
  }
}

/** "8,214 of 12,480 events · 2.1 MB" while it runs; after it where the file is, or why there is none. */
export function exportFigures({ state, name, item, items, total, bytes, file, failure }: ExportView): string {
  switch (state) {
    case "waiting":
    case "running": {
      const counted = total === undefined ? formatCountOf(items, item) : `${formatCount(items)} of ${formatCountOf(total, item)}`;
      return `${counted} · ${formatBytes(bytes)}`;
    }
    case "done":
      return `${formatBytes(bytes)} · ${file ?? name}`;
    case "cancelled":
      return file ?? name;
    case "failed":
      return failure ? `${failure.message}. ${failure.hint}` : "";
    default:
      return state satisfies never;
  }
}

/** 0 to 100; undefined where nobody knows the whole. */
export const exportPercent = ({ items, total }: ExportView): number | undefined =>
  total === undefined || total === 0 ? undefined : Math.min(100, (items / total) * 100);
