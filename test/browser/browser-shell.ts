import { once } from "node:events";
import type { Page } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { controlProtocol, type DownFrame, linkFragment, tokenProtocol } from "../../contract/wire.ts";
import { freePortFlags } from "../support/free-port-flags.ts";
import { startBacklot } from "../support/start-backlot.ts";
import type { OnEnd } from "../support/temporary-dir.ts";
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

/** Backlot without a window of its own, with one service on a free port, and its dashboard in Chromium; both end with the test. */
export async function openBrowserShell(service: string, options: BrowserShellOptions = {}): Promise<BrowserShell> {
  const { dashboard, page, shellOf } = await startShell(service, options, onTestFinished);
  await page.goto(dashboard);
  return shellOf(service);
}

/**
 * As `openBrowserShell`, for all tests of a file that can share one Backlot: starting it and the first load take most of the time
 * of a short test. For each test the lists are empty and the page is loaded again, at the service that it names. What a service
 * keeps by itself, such as its configuration, is as the test before left it.
 */
export function shareBrowserShell(
  service: string,
  options: Omit<BrowserShellOptions, "dataDir"> = {},
): (shown?: string) => Promise<BrowserShell> {
  const releases: Parameters<OnEnd>[0][] = [];
  let starting: ReturnType<typeof startShell> | undefined;
  afterAll(async () => {
    for (const release of releases.reverse()) await release();
  });
  return async (shown = service) => {
    if (starting === undefined) {
      starting = startShell(service, options, (release) => void releases.push(release));
      // The next test starts another one.
      starting.catch(() => {
        starting = undefined;
      });
      const { dashboard, page, shellOf } = await starting;
      await page.goto(dashboard);
      if (shown === service) return shellOf(service);
    }
    const { dashboard, page, shellOf } = await starting;
    await clearRows(dashboard, [service, ...(options.others ?? [])]);
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1_280, height: 800 });
    await loadAgain(page, `${shown}/live`);
    return shellOf(shown);
  };
}

/** Loads the dashboard in the same page, with nothing remembered but its link: "http/config", "settings". */
export async function loadAgain(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    const link = localStorage.getItem("backlot.link") ?? "";
    localStorage.clear();
    localStorage.setItem("backlot.link", link);
    // Without an event: the page that is shown does not follow.
    history.replaceState(null, "", `/#/${to}`);
  }, hash);
  await page.reload();
}

async function startShell(
  service: string,
  { flags = [], dataDir, others = [], language }: BrowserShellOptions,
  onEnd: OnEnd,
): Promise<{ readonly dashboard: string; readonly page: Page; shellOf(id: string): BrowserShell }> {
  const all = [service, ...others];
  const args = ["--headless", "--json", "--dashboard-port", "0", "--only", all.join(), ...freePortFlags(all), ...flags];
  const run = startBacklot(args, { onEnd, ...(dataDir !== undefined && { dataDir }) });
  // Both take about as long.
  const [{ dashboard }, page] = await Promise.all([run.ready(), newContext(onEnd).then((context) => context.newPage())]);
  for (const id of all) await run.state(id, "running");
  if (language !== undefined) {
    await page.addInitScript((value) => Object.defineProperty(navigator, "language", { value }), language);
  }
  // It is opened as the page that was visited last, so that no other one is made before.
  await page.addInitScript((id) => {
    if (localStorage.getItem("backlot.page") === null) localStorage.setItem("backlot.page", `#/${id}/live`);
  }, service);
  // A service that was started again may have another port.
  const endpointOf = (id: string) => {
    const lines = run.lines.items.filter((line) => line.type === "status" && line.service === id && line.state === "running");
    const newest = lines.at(-1);
    return new URL((newest?.type === "status" && newest.endpoints?.[0]?.url) || "");
  };
  return {
    dashboard,
    page,
    shellOf(id) {
      const { origin, host } = endpointOf(id);
      return { page, origin, host, endpointOf };
    },
  };
}

async function clearRows(dashboard: string, services: readonly string[]): Promise<void> {
  const { host, origin, hash } = new URL(dashboard);
  const socket = new WebSocket(`ws://${host}/control`, [controlProtocol, tokenProtocol(hash.slice(linkFragment.length))], { origin });
  await once(socket, "open");
  const cleared = new Set<number>();
  const all = new Promise<void>((resolve, reject) => {
    socket.on("close", () => reject(new Error("the control connection ended")));
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as DownFrame;
      if (frame.type === "failure") reject(new Error(frame.failure.message));
      if (frame.type === "result") cleared.add(frame.id);
      if (cleared.size === services.length) resolve();
    });
  });
  services.forEach((id, index) => void socket.send(JSON.stringify({ type: "call", id: index + 1, name: "traffic.clear", params: { id } })));
  await all;
  socket.removeAllListeners("close").close();
}

/** Shows a tab. Resolves when its content is there, and that of the one before is not: rows of both may have the same text. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole("tab", { name, exact: true }).click();
  await page.getByRole("tabpanel", { name, exact: true }).waitFor();
}
