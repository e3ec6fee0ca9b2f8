import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { type App, endProcess, launchApp, launchDouble, runtime, spawnApp } from "./launch-app.ts";

export interface DesktopApps {
  readonly dataDir: string;
  launch(...args: string[]): Promise<App>;
  /** Another program than the product's, in the double. */
  launchOther(main: string): Promise<App>;
  /** As if it were packaged, in the double. */
  launchPackaged(): Promise<App>;
  spawnPackaged(...args: string[]): ChildProcess;
  /** Starts the program without waiting for its window. */
  spawn(...args: string[]): ChildProcess;
  /** Ends what a test left running, and removes the data folder. */
  dispose(): Promise<void>;
}

let announced = false;
const packaged = { BACKLOT_DOUBLE_PACKAGED: "1" };

/** The desktop programs of one test, which share a data folder of their own. */
export async function createDesktopApps(): Promise<DesktopApps> {
  if (!announced) console.log(`Desktop shell driven in ${runtime}`);
  announced = true;
  const dataDir = await mkdtemp(path.join(os.tmpdir(), "backlot-desktop-"));
  const apps: App[] = [];
  const children: ChildProcess[] = [];
  return {
    dataDir,
    async launch(...args) {
      const app = await launchApp(dataDir, args);
      apps.push(app);
      return app;
    },
    async launchOther(main) {
      const app = await launchDouble(dataDir, [], main);
      apps.push(app);
      return app;
    },
    async launchPackaged() {
      const app = await launchDouble(dataDir, [], undefined, packaged);
      apps.push(app);
      return app;
    },
    spawnPackaged(...args) {
      const child = spawnApp(dataDir, args, undefined, packaged);
      children.push(child);
      return child;
    },
    spawn(...args) {
      const child = spawnApp(dataDir, args);
      children.push(child);
      return child;
    },
    async dispose() {
      for (const child of children) await endProcess(child);
      for (const app of apps) await app.dispose();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

interface Bridge {
  open(listener: (frame: { type: string; id: number; value: unknown; failure: { code: string } }) => void): void;
  post(frame: unknown): void;
}

/** Makes a call over the bridge in the dashboard's place; the dashboard is back after a reload. */
export function callFromPage<Value>(page: Page, name: string, params: object = {}): Promise<Value> {
  return page.evaluate(
    ([call, values]) =>
      new Promise<unknown>((resolve, reject) => {
        const { backlot } = window as unknown as { backlot: Bridge };
        // Answers to the dashboard's own calls may still be on their way.
        const id = 1_000_000;
        backlot.open((frame) => {
          if (frame.id !== id) return;
          if (frame.type === "result") resolve(frame.value);
          if (frame.type === "failure") reject(new Error(frame.failure.code));
        });
        backlot.post({ type: "call", id, name: call, params: values });
      }),
    [name, params] as const,
  ) as Promise<Value>;
}
