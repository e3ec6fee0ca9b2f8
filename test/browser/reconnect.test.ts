import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { startBacklot } from "../support/start-backlot.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { newContext } from "./shared-browser.ts";

const start = (port: number, dataDir: string) =>
  startBacklot(
    ["--headless", "--json", "--dashboard-port", String(port), "--only", "http,events", "--http-port", "0", "--events-port", "0"],
    {
      dataDir,
    },
  );

const isConnected = (page: Page) => page.getByRole("link", { name: /^HTTP.*running/ }).waitFor();

const open = async (page: Page, hash: string) => {
  await page.evaluate((next) => {
    location.hash = next;
  }, hash);
};

describe("a page that stays open while Backlot is started again", () => {
  it("[BL-135] reconnects by itself on the same data folder; [BL-91] its cookies and address have no token", async () => {
    const [port, dataDir, context] = [await freePort(), temporaryDir(), await newContext()];
    const first = start(port, dataDir);
    const { dashboard } = await first.ready();
    const page = await context.newPage();
    await page.goto(dashboard);
    await isConnected(page);
    expect(page.url()).not.toContain("token");
    expect(await page.context().cookies()).toEqual([]);
    first.kill("SIGTERM");
    await first.ended;
    await page.getByText("Connection lost, reconnecting").waitFor();
    const second = start(port, dataDir);
    expect((await second.ready()).dashboard).toBe(dashboard);
    await page.getByText("Connection lost, reconnecting").waitFor({ state: "detached" });
    await isConnected(page);
    // A second dashboard beside it, by the same link.
    const other = await context.newPage();
    await other.goto(dashboard);
    await isConnected(other);
  });

  it("[BL-136] says that its link has expired when the secret is another one, and reconnects with a new link", async () => {
    const [port, context] = [await freePort(), await newContext()];
    const first = start(port, temporaryDir());
    const page = await context.newPage();
    await page.goto((await first.ready()).dashboard);
    await isConnected(page);
    first.kill("SIGTERM");
    await first.ended;
    const second = start(port, temporaryDir());
    const { dashboard } = await second.ready();
    await page.getByText("The link of this page has expired").waitFor();
    await page.getByText(/Open the link that Backlot printed/).waitFor();
    await page.goto(dashboard);
    await isConnected(page);
    expect(await page.getByText("The link of this page has expired").count()).toBe(0);
    // Without the link there is only an empty dashboard.
    const stranger = await (await newContext()).newPage();
    await stranger.goto(new URL(dashboard).origin);
    await stranger.getByText("This page was opened without its link").waitFor();
    await stranger.getByText("To read the services, open this page by its link.").waitFor();
    expect(await stranger.getByText("This computer only").count()).toBe(0);
    expect(await stranger.getByRole("link", { name: /^HTTP/ }).count()).toBe(0);
  });

  it("[BL-485] a list without rows says that Backlot was started again, also with a filter", async () => {
    const [port, dataDir, context] = [await freePort(), temporaryDir(), await newContext()];
    const first = start(port, dataDir);
    const page = await context.newPage();
    await page.goto((await first.ready()).dashboard);
    await open(page, "#/http/live");
    const url = (await first.state("http", "running")).endpoints?.[0]?.url ?? "";
    await page.getByText("No requests yet.").waitFor();
    await page.getByRole("textbox", { name: /^Filter/ }).fill("path:checkout");
    await page.getByText("No requests yet.").waitFor();
    await fetch(new URL("/api/data", url));
    await page.getByText("None of 1 request matches the filter.").waitFor();
    first.kill("SIGTERM");
    await first.ended;
    const second = start(port, dataDir);
    await second.ready();
    await page.getByText(/Backlot was started again at .*: what it had recorded before is gone/).waitFor();
    expect(await page.getByText("matches the filter").count()).toBe(0);
    await page.reload();
    await page.getByText("No requests yet.").waitFor();
  });

  it("[BL-282] keeps an opened row of a paused list, says why it has no details, and shows the newer ones when it is resumed", async () => {
    const [port, dataDir, context] = [await freePort(), temporaryDir(), await newContext()];
    const request = async (run: ReturnType<typeof start>, target: string) => {
      const url = (await run.state("http", "running")).endpoints?.[0]?.url ?? "";
      expect((await fetch(new URL(target, url))).status).toBe(200);
    };
    const first = start(port, dataDir);
    const page = await context.newPage();
    await page.goto((await first.ready()).dashboard);
    await page.evaluate(() => {
      location.hash = "#/http/live";
    });
    await request(first, "/api/data?before");
    await page.getByRole("row", { name: /data\?before/ }).click();
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await inspector.getByRole("tab", { name: "Response" }).waitFor();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    first.kill("SIGTERM");
    await first.ended;
    const second = start(port, dataDir);
    await second.ready();
    // The same number as the row before.
    await request(second, "/api/data?after");
    await inspector.getByText(/^Recorded before Backlot was started again/).waitFor();
    await page.getByRole("row", { name: /data\?before/ }).waitFor();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByRole("row", { name: /data\?after/ }).waitFor();
    await page.getByRole("row", { name: /data\?before/ }).waitFor({ state: "detached" });
    await inspector.getByText(/^Recorded before Backlot was started again/).waitFor();
  });

  it("[BL-282] shows no row of another run in the place of one that was opened below a list", async () => {
    const [port, dataDir, context] = [await freePort(), temporaryDir(), await newContext()];
    const refuse = async (run: ReturnType<typeof start>, query: string) => {
      const url = (await run.state("events", "running")).endpoints?.[0]?.url ?? "";
      expect((await fetch(new URL(`/events?${query}`, url), { method: "POST", body: "{" })).status).toBe(400);
    };
    const first = start(port, dataDir);
    const page = await context.newPage();
    await page.goto((await first.ready()).dashboard);
    await page.evaluate(() => {
      location.hash = "#/events/live";
    });
    await refuse(first, "before");
    await page.getByRole("region", { name: "Requests" }).getByRole("heading", { name: "Requests" }).click();
    const list = page.getByRole("grid", { name: "Requests, newest first" });
    await list.getByRole("row", { name: /before/ }).click();
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await inspector.getByRole("tab", { name: "Response" }).waitFor();
    first.kill("SIGTERM");
    await first.ended;
    const second = start(port, dataDir);
    await second.ready();
    // The same number as the row before.
    await refuse(second, "after");
    await list.getByRole("row", { name: /after/ }).waitFor();
    await inspector.getByText(/^Recorded before Backlot was started again/).waitFor();
    await inspector.getByRole("heading", { name: "POST /events?before" }).waitFor();
    expect(await list.getByRole("row", { name: /after/ }).getAttribute("aria-selected")).toBe("false");
  });
});
