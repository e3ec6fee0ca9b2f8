import type { Page } from "playwright-core";
import { freePortFlags } from "../support/free-port-flags.ts";
import { startBacklot } from "../support/start-backlot.ts";
import { newContext } from "./shared-browser.ts";

export interface BrowserShell {
  readonly page: Page;
  /** Of the service's endpoint. */
  readonly origin: string;
  /** Of the same, with its port. */
  readonly host: string;
  readonly endpointOf: (service: string) => URL;
}

export interface BrowserShellOptions {
  /** Behind those of the ports, which are free ones. */
  readonly flags?: readonly string[];
  readonly dataDir?: string;
  /** More services. */
  readonly others?: readonly string[];
  /** The browser's language as pages see it. */
  readonly language?: string;
}

/** Backlot without a window of its own, with one service on a free port, and its dashboard in Chromium. */
export async function openBrowserShell(
  service: string,
  { flags = [], dataDir, others = [], language }: BrowserShellOptions = {},
): Promise<BrowserShell> {
  const all = [service, ...others];
  const args = ["--headless", "--json", "--dashboard-port", "0", "--only", all.join(), ...freePortFlags(all), ...flags];
  const run = startBacklot(args, { ...(dataDir !== undefined && { dataDir }) });
  // Both take about as long.
  const [{ dashboard }, page] = await Promise.all([run.ready(), newContext().then((context) => context.newPage())]);
  const endpoints = new Map<string, URL>();
  for (const id of all) endpoints.set(id, new URL((await run.state(id, "running")).endpoints?.[0]?.url ?? ""));
  if (language !== undefined) {
    await page.addInitScript((value) => Object.defineProperty(navigator, "language", { value }), language);
  }
  // It is opened as the page that was visited last, so that no other one is made before.
  await page.addInitScript((id) => {
    if (localStorage.getItem("backlot.page") === null) localStorage.setItem("backlot.page", `#/${id}/live`);
  }, service);
  await page.goto(dashboard);
  const endpointOf = (id: string) => endpoints.get(id) as URL;
  const { origin, host } = endpointOf(service);
  return { page, origin, host, endpointOf };
}

/** Shows a tab. Resolves when its content is there, and that of the one before is not: rows of both may have the same text. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole("tab", { name, exact: true }).click();
  await page.getByRole("tabpanel", { name, exact: true }).waitFor();
}
