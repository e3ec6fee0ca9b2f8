import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { BrowserContext } from "playwright-core";
import { type Chromium, launchChromium } from "./chromium.ts";
import { type InstanceLock, lockInstance } from "./single-instance.ts";
import { CancellableEvent, CoveredEmitter } from "./strict.ts";

const events = [
  "activate",
  "before-quit",
  "browser-window-created",
  "quit",
  "second-instance",
  "web-contents-created",
  "will-quit",
  "window-all-closed",
];

/** Electron's app; Chromium is launched when it becomes ready. */
export class DoubleApp extends CoveredEmitter {
  readonly isPackaged = process.env.BACKLOT_DOUBLE_PACKAGED === "1";
  private readonly paths = new Map<string, string>();
  private launching: Promise<Chromium> | undefined;
  private chromium: Chromium | undefined;
  private lock: InstanceLock | undefined;
  private quitting = false;
  /** Set by the entry, which has the windows. */
  windows: () => readonly { close(): void }[] = () => [];

  constructor() {
    super("app", events);
  }

  enableSandbox(): void {}
  getAppPath(): string {
    return process.cwd();
  }
  getVersion(): string {
    return JSON.parse(readFileSync(path.join(this.getAppPath(), "package.json"), "utf8")).version;
  }
  setPath(name: string, folder: string): void {
    if (!statSync(folder).isDirectory()) throw new Error(`${folder} is no folder`);
    this.paths.set(name, folder);
  }
  getPath(name: string): string {
    const folder = this.paths.get(name);
    if (!folder) throw new Error(`The electron double covers paths that were set only, not ${name}`);
    return folder;
  }
  requestSingleInstanceLock(): boolean {
    this.lock ??= lockInstance(this.getPath("userData"), () => this.emit("second-instance", {}, [], ""));
    return this.lock !== undefined;
  }

  async whenReady(): Promise<void> {
    this.launching ??= launchChromium(path.join(this.getPath("userData"), "double"));
    this.chromium = await this.launching;
    process.send?.({ type: "endpoint", url: this.chromium.endpoint });
  }
  isReady(): boolean {
    return this.chromium !== undefined;
  }
  context(): BrowserContext {
    if (!this.chromium) throw new Error("The app is not ready");
    return this.chromium.context;
  }

  quit(): void {
    const event = new CancellableEvent();
    this.emit("before-quit", event);
    if (event.defaultPrevented) return;
    this.quitting = true;
    const open = this.windows();
    if (open.length === 0) this.end();
    for (const window of open) window.close();
  }
  exit(code = 0): void {
    this.lock?.release();
    void Promise.resolve(this.launching)
      .then((chromium) => chromium?.close())
      .finally(() => process.exit(code));
  }
  windowClosed(left: number): void {
    if (left > 0) return;
    if (this.quitting) this.end();
    else if (!this.emit("window-all-closed")) this.quit();
  }

  private end(): void {
    this.emit("will-quit", new CancellableEvent());
    this.emit("quit", {}, 0);
    this.exit(0);
  }
}
