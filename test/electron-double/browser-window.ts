import type { BrowserWindowConstructorOptions, WebPreferences } from "electron";
import type { DoubleApp } from "./app.ts";
import { display } from "./desktop.ts";
import { CancellableEvent, CoveredEmitter, coverOptions, strict } from "./strict.ts";
import { createWebContents, type PageParts, type WebContents } from "./web-contents.ts";

const options = [
  "width",
  "height",
  "x",
  "y",
  "minWidth",
  "minHeight",
  "show",
  "title",
  "backgroundColor",
  "autoHideMenuBar",
  "icon",
  "webPreferences",
];

/** The only values under which the double's page is what Electron's would be. */
const preferences: Readonly<Record<string, boolean>> = {
  contextIsolation: true,
  sandbox: true,
  nodeIntegration: false,
  nodeIntegrationInSubFrames: false,
  nodeIntegrationInWorker: false,
  webSecurity: true,
  webviewTag: false,
  navigateOnDragDrop: false,
  devTools: process.env.BACKLOT_DOUBLE_PACKAGED !== "1",
  spellcheck: false,
};

function checkPreferences(given: WebPreferences): WebPreferences {
  const { preload, ...rest } = given;
  if (typeof preload !== "string") throw new Error("The electron double covers windows with a preload script only");
  for (const [key, value] of Object.entries(rest)) {
    if (preferences[key] !== value) throw new Error(`The electron double does not cover webPreferences.${key}: ${value}`);
  }
  return given;
}

interface Bounds {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface BrowserWindows {
  new (options: BrowserWindowConstructorOptions): { close(): void };
  getAllWindows(): readonly { close(): void }[];
}

export function createBrowserWindow(app: DoubleApp, parts: PageParts): BrowserWindows {
  const windows: BrowserWindow[] = [];

  class BrowserWindow extends CoveredEmitter {
    static getAllWindows = () => [...windows];
    readonly webContents: WebContents;
    private bounds: Bounds;
    private visible: boolean;
    private maximized = false;
    private minimized = false;
    private readonly self: BrowserWindow;

    constructor(given: BrowserWindowConstructorOptions) {
      super("BrowserWindow", [
        "resize",
        "move",
        "maximize",
        "unmaximize",
        "show",
        "hide",
        "close",
        "closed",
        "ready-to-show",
        "session-end",
      ]);
      if (!app.isReady()) throw new Error("Cannot create BrowserWindow before app is ready");
      coverOptions("BrowserWindow", given, options);
      const { width = 800, height = 600 } = given;
      const { workArea } = display;
      this.bounds = { x: given.x ?? (workArea.width - width) / 2, y: given.y ?? (workArea.height - height) / 2, width, height };
      this.visible = given.show ?? true;
      this.webContents = createWebContents(parts, checkPreferences(given.webPreferences ?? {}));
      this.self = strict("BrowserWindow", this);
      windows.push(this.self);
      app.emit("web-contents-created", {}, this.webContents);
      app.emit("browser-window-created", {}, this.self);
      // biome-ignore lint/correctness/noConstructorReturn: an instance is as strict as the module
      return this.self;
    }

    async loadURL(url: string): Promise<void> {
      let shown = false;
      await this.webContents.load(url, {
        ready: () => {
          this.webContents.resize(this.getBounds());
          if (!shown) this.emit("ready-to-show");
          shown = true;
        },
        closed: () => {
          windows.splice(windows.indexOf(this.self), 1);
          this.emit("closed");
          app.windowClosed(windows.length);
        },
      });
    }
    getBounds(): Bounds {
      return this.maximized ? { ...display.workArea } : { ...this.bounds };
    }
    getNormalBounds(): Bounds {
      return { ...this.bounds };
    }
    setBounds(bounds: Partial<Bounds>): void {
      this.bounds = { ...this.bounds, ...bounds };
      this.webContents.resize(this.bounds);
      this.emit("move");
      this.emit("resize");
    }
    maximize(): void {
      this.maximized = true;
      this.show();
      this.webContents.resize(this.getBounds());
      this.emit("maximize");
    }
    unmaximize(): void {
      this.maximized = false;
      this.webContents.resize(this.getBounds());
      this.emit("unmaximize");
    }
    isMaximized(): boolean {
      return this.maximized;
    }
    minimize(): void {
      this.minimized = true;
    }
    restore(): void {
      this.minimized = false;
    }
    isMinimized(): boolean {
      return this.minimized;
    }
    show(): void {
      this.visible = true;
      this.emit("show");
    }
    hide(): void {
      this.visible = false;
      this.emit("hide");
    }
    isDestroyed(): boolean {
      return !windows.includes(this.self);
    }
    isVisible(): boolean {
      return this.visible;
    }
    focus(): void {}
    close(): void {
      const event = new CancellableEvent();
      this.emit("close", event);
      if (!event.defaultPrevented) this.webContents.close();
    }
  }

  return strict("BrowserWindow", BrowserWindow);
}
