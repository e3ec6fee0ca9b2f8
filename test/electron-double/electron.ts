/**
 * A double of the "electron" module for machines that have no Electron binary: the built main and preload scripts run
 * unmodified, and windows are pages of Chromium. It covers what Backlot uses, and throws on everything else.
 */
import { runInThisContext } from "node:vm";
import { DoubleApp } from "./app.ts";
import { createBrowserWindow } from "./browser-window.ts";
import { clipboard, dialog, nativeTheme, powerMonitor, screen, shell } from "./desktop.ts";
import { Menu } from "./menu.ts";
import { createPermissions } from "./permissions.ts";
import { createSchemes } from "./scheme.ts";
import { CoveredEmitter, strict } from "./strict.ts";
import { Tray } from "./tray.ts";
import { createUtilityProcess } from "./utility-process.ts";

const app = new DoubleApp();
const ipcMain = new CoveredEmitter("ipcMain", ["backlot:up"]);
const schemes = createSchemes();
const permissions = createPermissions();
const BrowserWindow = createBrowserWindow(app, {
  context: () => app.context(),
  schemes,
  permissions,
  onMessage: (channel, event, values) => {
    if (!ipcMain.emit(channel, event, ...values)) throw new Error(`Nobody listens to the channel ${channel}`);
  },
});
app.windows = BrowserWindow.getAllWindows;

const electron: object = strict("electron", {
  app: strict("app", app),
  BrowserWindow,
  clipboard,
  dialog,
  ipcMain: strict("ipcMain", ipcMain),
  Menu,
  nativeTheme,
  powerMonitor,
  protocol: schemes.protocol,
  screen,
  session: permissions.session,
  shell,
  Tray,
  utilityProcess: createUtilityProcess(() => app.isReady()),
});

interface Evaluate {
  readonly type: "evaluate";
  readonly id: number;
  readonly source: string;
  readonly argument: unknown;
}

/** A test's way into this process, as ElectronApplication.evaluate is for a real one. */
async function evaluate({ id, source, argument }: Evaluate): Promise<void> {
  try {
    const value = await runInThisContext(`(${source})`)(electron, argument);
    process.send?.({ type: "value", id, value });
  } catch (error) {
    process.send?.({ type: "value", id, error: error instanceof Error ? error.message : String(error) });
  }
}
process.on("message", (message: Evaluate) => {
  if (message.type === "evaluate") void evaluate(message);
});

export { electron as "module.exports" };
