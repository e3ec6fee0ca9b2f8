import { type Browser, type BrowserServer, chromium, type LaunchOptions, type Page } from "playwright-core";
import type { AttachedDashboard } from "./attached-dashboard.ts";
import { findProgram } from "./harness.ts";
import { installPageProbe, type Probe, timeToStopped } from "./page-probe.ts";
import { processTree } from "./process-tree.ts";

declare const window: { readonly backlotProbe: Probe };

/** A headless Chromium with one page of the dashboard, whose heading is `title`; nothing is counted in it. */
export async function openDashboardPage(dashboardUrl: string, route: string, title: string): Promise<Browser> {
  const browser = await chromium.launch(launchOptions());
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  await page.goto(dashboardUrl);
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${route}`);
  await page.locator("h1", { hasText: title }).waitFor();
  return browser;
}

/** A headless Chromium with the HTTP Live page. */
export async function openPageDashboard(dashboardUrl: string): Promise<AttachedDashboard> {
  const server = await chromium.launchServer(launchOptions());
  try {
    return await openPage(server, dashboardUrl);
  } catch (error) {
    await server.kill();
    throw error;
  }
}

function launchOptions(): LaunchOptions {
  // Chromium refuses to run as root with its sandbox.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return { executablePath: findProgram("chromium") ?? "chromium", headless: true, args };
}

async function openPage(server: BrowserServer, dashboardUrl: string): Promise<AttachedDashboard> {
  const browser = await chromium.connect(server.wsEndpoint());
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await page.addInitScript(installPageProbe);
  await page.goto(dashboardUrl);
  await page.evaluate(() => {
    location.hash = "#/http/live";
  });
  await heading(page).getByText("Running", { exact: true }).waitFor({ timeout: 10_000 });
  await page.waitForFunction(() => window.backlotProbe.subscribed);
  const pid = server.process().pid ?? 0;
  return {
    name: `Chromium ${browser.version().split(".", 1)[0]}, headless, on the HTTP Live page`,
    pids: () => processTree(pid),
    counts: async () => {
      if (problems.length > 0) throw new Error(`The page failed: ${problems[0]}`);
      return await page.evaluate(() => window.backlotProbe.counts());
    },
    page: {
      frames: () => page.evaluate(() => window.backlotProbe.takeFrames()),
      async clickStop() {
        const button = heading(page).getByRole("button", { name: "Stop", exact: true });
        await heading(page).getByText("Running", { exact: true }).waitFor();
        const stopped = page.evaluate(timeToStopped);
        await button.click();
        return await stopped;
      },
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/** Title, state and buttons of the service. */
const heading = (page: Page) => page.locator("h1").locator("xpath=..");
