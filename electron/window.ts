import { BrowserWindow, dialog, nativeTheme, screen, type WebContents } from "electron";
import { dashboardUrl } from "./dashboard-address.ts";
import { dashboardWebPreferences } from "./security.ts";
import { fitToDisplays, minimumSize, readWindowState, type WindowState, writeWindowState } from "./window-state.ts";

/** The page's background in each colour scheme, so that the window does not flash while it opens. */
const backgroundColor = { light: "#FBFAF8", dark: "#1B1A19" };

/** The page opens the last visited one if its address names none. */
const overviewUrl = `${dashboardUrl}#/overview`;

const saveDelayMs = 500;
const reloads = { most: 3, withinMs: 60_000 };

export interface MainWindowOptions {
  readonly preload: string;
  readonly developerTools: boolean;
  /** For systems whose window manager shows it; others take the program's own. */
  readonly icon: string | undefined;
  readonly stateFile: string;
  readonly warn: (text: string) => void;
}

export interface MainWindow {
  /** Brings it to the front; opens it first if it is closed. Rejects when the dashboard does not load. */
  show(): Promise<void>;
  hide(): void;
  contents(): WebContents | undefined;
  /** Asks where to write a file of that name; undefined if the user cancelled, or no window is open. */
  chooseFile(name: string): Promise<string | undefined>;
  /** Saves its size and position; resolves when they are on disk. */
  save(): Promise<void>;
}

export function createMainWindow(options: MainWindowOptions): MainWindow {
  let window: BrowserWindow | undefined;
  let opening: Promise<void> | undefined;
  let lastState = "";
  let saving = Promise.resolve();

  function save(): Promise<void> {
    if (window) {
      const state: WindowState = { bounds: window.getNormalBounds(), maximised: window.isMaximized() };
      const text = JSON.stringify(state);
      if (text !== lastState) {
        lastState = text;
        saving = saving
          .then(() => writeWindowState(options.stateFile, state))
          .catch((error: Error) => options.warn(`Cannot save the window's position: ${error.message}`));
      }
    }
    return saving;
  }

  async function open(): Promise<void> {
    const state = await readWindowState(options.stateFile);
    const areas = screen.getAllDisplays().map((display) => display.workArea);
    const created = new BrowserWindow({
      ...fitToDisplays(state?.bounds, areas),
      minWidth: minimumSize.width,
      minHeight: minimumSize.height,
      show: false,
      title: "Backlot",
      backgroundColor: nativeTheme.shouldUseDarkColors ? backgroundColor.dark : backgroundColor.light,
      autoHideMenuBar: true,
      ...(options.icon && { icon: options.icon }),
      webPreferences: dashboardWebPreferences(options.preload, options.developerTools),
    });
    window = created;

    let timer: NodeJS.Timeout | undefined;
    const saveSoon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => void save(), saveDelayMs);
    };
    created.on("resize", saveSoon);
    created.on("move", saveSoon);
    created.on("maximize", saveSoon);
    created.on("unmaximize", saveSoon);
    created.on("close", () => void save());
    created.once("closed", () => {
      clearTimeout(timer);
      window = undefined;
    });
    created.once("ready-to-show", () => {
      // maximize shows a hidden window, so it is called when the page is ready to show.
      if (state?.maximised) created.maximize();
      created.show();
    });
    reloadAfterCrash(created, options.warn);
    await created.loadURL(dashboardUrl).catch((error: unknown) => {
      // Closed while it was loading: no caller waits for it.
      if (!created.isDestroyed()) throw error;
    });
  }

  return {
    async show() {
      if (!window) opening ??= open().finally(() => (opening = undefined));
      if (opening) return await opening;
      if (window?.isMinimized()) window.restore();
      window?.show();
      window?.focus();
    },
    hide: () => window?.hide(),
    contents: () => window?.webContents,
    async chooseFile(name) {
      if (!window) return undefined;
      const { canceled, filePath } = await dialog.showSaveDialog(window, { defaultPath: name });
      return canceled || filePath === "" ? undefined : filePath;
    },
    save,
  };
}

/** If the page runs out of memory, only the view is lost: the services are in other processes. If it ends again, perhaps because of what that page shows, the Overview is loaded. */
function reloadAfterCrash(window: BrowserWindow, warn: (text: string) => void): void {
  const contents = window.webContents;
  let crashes: number[] = [];
  contents.on("render-process-gone", (_event, { reason }) => {
    if (reason === "clean-exit") return;
    const now = Date.now();
    crashes = [...crashes.filter((at) => now - at < reloads.withinMs), now];
    const again = crashes.length <= reloads.most;
    warn(`The dashboard's page ended (${reason})${again ? " and is loaded again" : "; close the window and open it to try again"}`);
    if (!again) return;
    if (crashes.length === 1) contents.reload();
    else void window.loadURL(overviewUrl).catch(() => {});
  });
}
