import type { ControlCalls } from "../../../../contract/control.ts";
import type { ExportView } from "../../../../contract/export.ts";
import type { ParamsOf } from "../../../../contract/operation.ts";
import type { ControlClient } from "../../control/control-client.ts";
import { formatBytes, formatCount, formatCountOf } from "../../ui/texts/quantity.ts";

/** "Exporting events.csv", "Exported 12,480 events", "Export cancelled" */
export function exportTitle({ state, name, item, items }: ExportView): string {
  switch (state) {
    case "waiting":
    case "running":
      return `Exporting ${name}`;
    case "done":
      return items === 0 ? `Nothing matched: the file has no ${item}` : `Exported ${formatCountOf(items, item)}`;
    case "cancelled":
      return "Export cancelled";
    case "failed":
      return "Export failed";
    default:
      return state satisfies never;
  }
}

/** "8,214 of 12,480 events · 2.1 MB" while it runs; then the path of the file, or why there is none. */
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

/** 0 to 100; undefined where the total is not known. */
export const exportPercent = ({ items, total }: ExportView): number | undefined =>
  total === undefined || total === 0 ? undefined : Math.min(100, (items / total) * 100);

/** "events-2026-11-20T23-28-12.csv" */
export const stampedName = (stem: string, extension: string, at = new Date()): string =>
  `${stem}-${at.toISOString().slice(0, 19).replaceAll(":", "-")}.${extension}`;

/** The data is written from where it is stored into the user's file, not through this page. Settles when the export has started. */
export async function startExport(client: ControlClient, request: ParamsOf<ControlCalls["export.start"]>): Promise<void> {
  const { link } = await client.call("export.start", request);
  // On the desktop the program itself asks for a file.
  if (link === undefined) return;
  const anchor = document.createElement("a");
  anchor.href = link;
  anchor.download = request.name;
  anchor.click();
}
