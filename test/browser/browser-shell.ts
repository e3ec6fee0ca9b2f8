import { chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { startBacklot } from "../support/start-backlot.ts";

export interface BrowserShell {
  readonly page: Page;
  /** Of the service's endpoint. */
  readonly origin: string;
  /** Of the same, with its port. */
  readonly host: string;
}

export interface BrowserShellOptions {
  /** Behind the port's, which is a free one. */
  readonly flags?: readonly string[];
  readonly dataDir?: string;
}

/** Backlot without a window of its own, with one service on a free port, and its dashboard in Chromium. */
export async function openBrowserShell(service: string, { flags = [], dataDir }: BrowserShellOptions = {}): Promise<BrowserShell> {
  const args = ["--headless", "--json", "--dashboard-port", "0", "--only", service, `--${service}-port`, "0", ...flags];
  const run = startBacklot(args, dataDir === undefined ? {} : { dataDir });
  const { dashboard } = await run.ready();
  const running = await run.state(service, "running");
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Chromium does not run as root with its sandbox on.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
  await page.goto(dashboard);
  await page.evaluate((id) => {
    location.hash = `#/${id}/live`;
  }, service);
  const { origin, host } = new URL(running.endpoints?.[0]?.url ?? "");
  return { page, origin, host };
}
