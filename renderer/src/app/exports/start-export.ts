import type { ControlCalls } from "../../../../contract/control.ts";
import type { ParamsOf } from "../../../../contract/operation.ts";
import type { ControlClient } from "../../control/control-client.ts";

/** "events-2026-11-20T23-28-12.csv" */
export const stampedName = (stem: string, extension: string, at = new Date()): string =>
  `${stem}-${at.toISOString().slice(0, 19).replaceAll(":", "-")}.${extension}`;

/** The data goes from where it is kept into the user's file, and never through this page. Settles when it is under way. */
export async function startExport(client: ControlClient, request: ParamsOf<ControlCalls["export.start"]>): Promise<void> {
  const { link } = await client.call("export.start", request);
  // On the desktop the program itself asks for a file.
  if (link === undefined) return;
  const anchor = document.createElement("a");
  anchor.href = link;
  anchor.download = request.name;
  anchor.click();
}
