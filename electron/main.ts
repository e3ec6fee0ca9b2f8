import path from "node:path";
import { app, clipboard, dialog, ipcMain, Menu, powerMonitor, protocol, session, shell, utilityProcess } from "electron";
import type { MenuCommand, RunCommandFrame } from "../contract/menu-commands.ts";
import { services } from "../servers/catalog.ts";
import { helpText } from "../servers/command-line.ts";
import { makeFolder } from "../servers/core/files/make-folder.ts";
import { toFailure } from "../servers/core/service/service-error.ts";
import { createRun } from "../servers/create-run.ts";
import { checkDashboard } from "../servers/dashboard-files.ts";
import { defaultDataDir } from "../servers/data-dir.ts";
import { appScheme, serveDashboardFiles } from "./app-protocol.ts";
import { addContextMenu } from "./context-menu.ts";
import { parseDesktopCommandLine } from "./desktop-command-line.ts";
import { quitGracefully } from "./graceful-quit.ts";
import { commandChannel } from "./ipc-channels.ts";
import { serveIpc } from "./ipc-port.ts";
import { applicationMenu } from "./menu.ts";
import { restrictDownloads, restrictNavigation, restrictPermissions } from "./security.ts";
import { createServiceActions } from "./service-actions.ts";
import { createTray } from "./tray.ts";
import { createUtilitySpawner } from "./utility-spawner.ts";
import { createMainWindow } from "./window.ts";

const closeDeadlineMs = 10_000;

protocol.registerSchemesAsPrivileged([appScheme]);
app.enableSandbox();
void start().catch(endWithError);

async function start(): Promise<void> {
  const commandLine = parseDesktopCommandLine(process.argv, app.isPackaged, services);
  if (commandLine.help || commandLine.version) {
    process.stdout.write(commandLine.help ? helpText(services) : `${app.getVersion()}\n`);
    app.exit(0);
    return;
  }
  const dataDir = commandLine.dataDir ? path.resolve(commandLine.dataDir) : defaultDataDir(process.env);
  // The lock belongs to this folder: one Backlot for each data folder.
  const userData = path.join(dataDir, "desktop");
  makeFolder(userData);
  app.setPath("userData", userData);
  if (!app.requestSingleInstanceLock()) {
    // The first instance comes to the front, which the launcher waits for.
    process.send?.({ type: "up" });
    app.quit();
    return;
  }
  await app.whenReady();

  const root = app.getAppPath();
  const inDist = (...names: string[]) => path.join(root, "dist", ...names);
  const inResources = (...names: string[]) => path.join(root, "resources", ...names);
  await checkDashboard(inDist("renderer"));

  const supervisor = await createRun({
    commandLine: { ...commandLine, dataDir },
    spawner: createUtilitySpawner(utilityProcess.fork, inDist("servers", "service-process.cjs")),
    shell: "electron",
    version: app.getVersion(),
    environment: process.env,
    chooseFile: (name) => window.chooseFile(name),
  });
  const window = createMainWindow({
    preload: inDist("electron", "preload.cjs"),
    developerTools: !app.isPackaged,
    icon: process.platform === "linux" ? inResources("icons", "256x256.png") : undefined,
    stateFile: path.join(dataDir, "window.json"),
    warn: supervisor.log.warning,
  });
  const isQuitting = quitGracefully({
    app,
    powerMonitor,
    close: async () => {
      await window.save();
      window.hide();
      await supervisor.close();
    },
    deadlineMs: closeDeadlineMs,
  });

  const report = (error: unknown) => {
    // A start that was interrupted by quitting is not reported.
    if (!isQuitting()) showError(error);
  };

  restrictPermissions(session.defaultSession);
  restrictDownloads(session.defaultSession);
  serveDashboardFiles(protocol, inDist("renderer"));
  app.on("web-contents-created", (_event, contents) => {
    restrictNavigation(contents, (url) => void shell.openExternal(url).catch(report));
    addContextMenu(contents, (items) => Menu.buildFromTemplate(items).popup());
  });
  const show = () => void window.show().catch(report);
  const actions = createServiceActions(supervisor, report);
  const run = (id: string) => window.contents()?.send(commandChannel, { type: "runCommand", id } satisfies RunCommandFrame);
  const setMenu = (commands: readonly MenuCommand[]) => {
    const options = { platform: process.platform, services: actions, show, commands, run, developerTools: !app.isPackaged };
    Menu.setApplicationMenu(Menu.buildFromTemplate(applicationMenu(options)));
  };
  setMenu([]);
  serveIpc({ ipcMain, contents: window.contents, attach: supervisor.attach, onCommands: setMenu, warn: supervisor.log.warning });
  const tray = createTray({
    icon: inResources("tray", trayIcon(process.platform)),
    supervisor,
    services: actions,
    show,
    quit: () => app.quit(),
    copy: (text) => clipboard.writeText(text),
  });
  // Referenced here too: an icon without a reference is garbage-collected and disappears.
  app.once("will-quit", () => tray.destroy());
  app.on("second-instance", show);
  app.on("activate", show);
  app.on("window-all-closed", () => {
    // A Mac program stays in the Dock without a window.
    if (process.platform !== "darwin" && !supervisor.settings.keepRunningInTray) app.quit();
  });

  await window.show();
  if (isQuitting()) return;
  const asked = commandLine.start.length > 0 ? commandLine.start : supervisor.settings.startAtLaunch;
  // The window shows why a service did not start.
  for (const id of asked) void supervisor.start(id).catch(() => {});
  process.send?.({ type: "up" });
}

function trayIcon(platform: NodeJS.Platform): string {
  switch (platform) {
    case "darwin":
      return "trayTemplate.png";
    case "win32":
      return "tray-windows.png";
    default:
      return "tray-linux.png";
  }
}

function showError(error: unknown): void {
  const { message, hint } = toFailure(error);
  void dialog.showMessageBox({ type: "error", title: "Backlot", message, detail: hint });
}

function endWithError(error: unknown): void {
  const { code, message, hint } = toFailure(error);
  process.stderr.write(`${code}: ${message}\n${hint}\n`);
  if (code === "INTERNAL" && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  // Before the app is ready, Linux has no dialog and writes to stderr again.
  if (app.isReady() || process.platform !== "linux") dialog.showErrorBox("Backlot cannot start", `${message}.\n\n${hint}`);
  app.exit(code === "USAGE" || code.startsWith("SERVICE_") ? 2 : 1);
}
