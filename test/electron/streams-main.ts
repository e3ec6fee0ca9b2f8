/** A desktop program over the stream fixtures, with the product's own IPC port, spawner and preload script: for binary frames. */
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type * as Electron from "electron";
import { appScheme, serveDashboardFiles } from "../../electron/app-protocol.ts";
import { dashboardUrl } from "../../electron/dashboard-address.ts";
import { serveIpc } from "../../electron/ipc-port.ts";
import { dashboardWebPreferences } from "../../electron/security.ts";
import { createUtilitySpawner } from "../../electron/utility-spawner.ts";
import { createSupervisor } from "../../servers/supervisor/supervisor.ts";
import { streamFixtures } from "../supervisor/fixture-streams.ts";

const { app, BrowserWindow, ipcMain, protocol, utilityProcess } = createRequire(import.meta.url)("electron") as typeof Electron;
const dataDir = process.argv[process.argv.indexOf("--data-dir") + 1] ?? "";
const dist = path.resolve(import.meta.dirname, "../../dist");

protocol.registerSchemesAsPrivileged([appScheme]);
const userData = path.join(dataDir, "desktop");
mkdirSync(userData, { recursive: true });
app.setPath("userData", userData);
await app.whenReady();
const supervisor = await createSupervisor({
  services: streamFixtures,
  planned: [],
  spawner: createUtilitySpawner(utilityProcess.fork, path.resolve(import.meta.dirname, "../supervisor/fixture-process.ts")),
  dataDir,
  shell: "electron",
  version: "0.0.0",
  environment: {},
  flags: {},
});
serveDashboardFiles(protocol, path.join(dist, "renderer"));
const window = new BrowserWindow({ webPreferences: dashboardWebPreferences(path.join(dist, "electron/preload.cjs"), true) });
serveIpc({ ipcMain, contents: () => window.webContents, attach: supervisor.attach, onCommands: () => {}, warn: supervisor.log.warning });
app.on("window-all-closed", () => void supervisor.close().then(() => app.quit()));
await window.loadURL(dashboardUrl);
await supervisor.start("rtsp");
process.send?.({ type: "up" });
