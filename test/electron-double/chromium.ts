import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BrowserContext, chromium } from "playwright-core";
import { chromiumOptions } from "../support/chromium-options.ts";

const closeDeadlineMs = 3_000;

export interface Chromium {
  readonly context: BrowserContext;
  /** Where another process can drive the same pages. */
  readonly endpoint: string;
  close(): Promise<void>;
}

/** The browser whose pages are the windows; what it keeps is in `profile`. */
export async function launchChromium(profile: string): Promise<Chromium> {
  const portFile = path.join(profile, "DevToolsActivePort");
  // One of an earlier run would be read before the new one is written.
  await rm(portFile, { force: true });
  const context = await chromium.launchPersistentContext(profile, {
    ...chromiumOptions,
    headless: true,
    viewport: null,
    // The app under test answers signals itself.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: ["--remote-debugging-port=0", ...chromiumOptions.args],
  });
  const port = (await readFile(portFile, "utf8")).split("\n")[0];
  return {
    context,
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      // Whatever has not closed by then is killed as this process exits.
      await Promise.race([context.close().catch(() => {}), delay(closeDeadlineMs)]);
    },
  };
}
