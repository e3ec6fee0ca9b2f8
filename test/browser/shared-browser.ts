import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { onTestFinished } from "vitest";
import { chromiumOptions } from "../support/chromium-options.ts";
import type { OnEnd } from "../support/temporary-dir.ts";

let launched: Promise<Browser> | undefined;

/**
 * One Chromium serves the tests of all files that a worker runs, and ends with it. A context of it is closed after the test, or
 * when `onEnd` says so.
 */
export async function newContext(onEnd: OnEnd = onTestFinished): Promise<BrowserContext> {
  if (!(await launched)?.isConnected()) launched = chromium.launch(chromiumOptions);
  const browser = (await launched) as Browser;
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  context.setDefaultTimeout(60_000);
  onEnd(() => context.close());
  return context;
}
