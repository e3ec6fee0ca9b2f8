import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { temporaryDir } from "../support/temporary-dir.ts";

/** Drags files, and folders by the paths of files in them, from a file manager onto the tab, which says that they can be dropped. */
export async function dropFiles(page: Page, files: Readonly<Record<string, string | Buffer>>, said: string): Promise<void> {
  const folder = temporaryDir();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
  const tops = readdirSync(folder).map((name) => path.join(folder, name));
  const session = await page.context().newCDPSession(page);
  const drag = (type: "dragEnter" | "dragOver" | "drop") =>
    session.send("Input.dispatchDragEvent", { type, x: 700, y: 400, data: { items: [], files: tops, dragOperationsMask: 1 } });
  await drag("dragEnter");
  await drag("dragOver");
  const invitation = page.getByText(said);
  await invitation.waitFor();
  await drag("drop");
  await invitation.waitFor({ state: "detached" });
}
