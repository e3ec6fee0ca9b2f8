import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";

let launched: Promise<Browser> | undefined;
afterAll(async () => (await launched)?.close());

/** One Chromium serves the tests of a file. Each test has its own context, which is closed after it. */
export async function newContext(): Promise<BrowserContext> {
  if (!(await launched)?.isConnected()) {
    launched = chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      // Chromium does not run as root with its sandbox on.
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    });
  }
  const browser = (await launched) as Browser;
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  onTestFinished(() => context.close());
  return context;
}
