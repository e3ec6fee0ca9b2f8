import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDesktopApps, type DesktopApps } from "./desktop-apps.ts";
import type { App } from "./launch-app.ts";

let apps: DesktopApps;
let app: App;

beforeAll(async () => {
  apps = await createDesktopApps();
  app = await apps.launch();
});
afterAll(() => apps.dispose());

const save = "Save all kept lines that match the filter";

it("[BL-102] a file dialog opens in the window, and the export is written to the chosen file", async () => {
  const file = path.join(apps.dataDir, "saved.log");
  await app.inMain(({ dialog }, filePath) => {
    dialog.showSaveDialog = (async (window: object, options: { defaultPath: string }) => {
      Object.assign(globalThis, { asked: [window.constructor.name, options.defaultPath] });
      return { canceled: false, filePath };
    }) as never;
  }, file);
  await app.page.keyboard.press("Control+j");
  await app.page.getByRole("button", { name: "Start all", exact: true }).click();
  // Its lines are kept then; which of them are in sight depends on how fast the others start.
  await app.page.getByRole("link", { name: /^HTTP.*running/ }).waitFor();
  await app.page.getByRole("button", { name: save }).click();
  await app.page.getByText(/^Exported [\d,]+ lines?$/).waitFor();
  expect(readFileSync(file, "utf8")).toMatch(/^(?:\d{4}-\d\d-\d\dT[\d:.]+Z [a-z]+ +[a-z]+ +.*\n)+$/);
  expect(await app.inMain(() => Reflect.get(globalThis, "asked"))).toEqual([
    "BrowserWindow",
    expect.stringMatching(/^backlot-all-\d{4}-.*\.log$/),
  ]);
});

it("[BL-102] nothing is written if the user cancels", async () => {
  const file = path.join(apps.dataDir, "other.log");
  await app.inMain(({ dialog }, filePath) => {
    dialog.showSaveDialog = (async () => {
      Object.assign(globalThis, { asked: "again" });
      return { canceled: true, filePath };
    }) as never;
  }, file);
  await app.page.getByRole("button", { name: save }).click();
  await expect.poll(() => app.inMain(() => Reflect.get(globalThis, "asked"))).toBe("again");
  expect(existsSync(file)).toBe(false);
});
