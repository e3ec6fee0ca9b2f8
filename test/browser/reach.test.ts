import { once } from "node:events";
import { connectAsync } from "mqtt";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { exampleEvent } from "../../contract/services/example-event.ts";
import { unchanged } from "../support/until.ts";
import { openBrowserShell, shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("http", { others: ["events"] });

async function postEvents(origin: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    await fetch(`${origin}/events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(exampleEvent),
    });
  }
}

/** The texts that live regions got within some seconds. */
const announcedIn = (page: Page, ms: number): Promise<string[]> =>
  page.evaluate(async (waitMs) => {
    const live = "[aria-live=polite],[aria-live=assertive],[role=status],[role=alert],[role=log],output";
    const said: string[] = [];
    const observer = new MutationObserver((changes) => {
      for (const { target } of changes) {
        const region = (target instanceof Element ? target : target.parentElement)?.closest(live);
        if (region && !region.closest("[aria-live=off]")) said.push(region.textContent ?? "");
      }
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    observer.disconnect();
    return said;
  }, ms);

it("[BL-222] live regions do not count while traffic passes", async () => {
  const { page, origin } = await openBrowserShell("http", { others: ["events"] });
  await page.getByRole("button", { name: "Send sample traffic" }).first().click();
  await page.getByRole("main").getByRole("row").nth(2).waitFor();
  const said: Record<string, string[]> = {};
  for (const hash of ["http/live", "overview", "timeline", "events/live"]) {
    await page.evaluate((to) => {
      location.hash = `#/${to}`;
    }, hash);
    // What is shown at first is announced once: then it is quiet.
    for (let round = 0; round < 10 && (await announcedIn(page, 1_500)).length > 0; round++);
    said[hash] = await announcedIn(page, 2_500);
  }
  await fetch(`${origin}/api/data`);
  expect(said).toEqual({ "http/live": [], overview: [], timeline: [], "events/live": [] });
});

it("[BL-223] a column is sorted by keyboard, both ways", async () => {
  const { page, origin } = await open("events");
  await postEvents(origin, 2);
  const head = page.getByRole("columnheader", { name: "Device" });
  const button = head.getByRole("button");
  await button.focus();
  await page.keyboard.press("Enter");
  await page
    .locator('[role=columnheader][aria-sort="descending"]')
    .filter({ hasText: "Device" })
    .or(page.locator('[role=columnheader][aria-sort="ascending"]').filter({ hasText: "Device" }))
    .waitFor();
  const first = await head.getAttribute("aria-sort");
  await page.keyboard.press("Space");
  await expect.poll(() => head.getAttribute("aria-sort")).not.toBe(first);
  expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
});

it("[BL-224] below 1,000 px the inspector lies over the list, and the rail keeps its names", async () => {
  const { page, origin } = await open();
  await fetch(`${origin}/api/data`);
  await page.setViewportSize({ width: 900, height: 700 });
  const grid = page.getByRole("main").getByRole("grid");
  const place = async () => JSON.stringify(await grid.boundingBox());
  const before = await unchanged(place, 500);
  await page.getByRole("main").getByRole("row").filter({ hasText: "/api/data" }).click();
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await inspector.getByRole("tab", { name: "Response" }).waitFor();
  expect(await unchanged(place, 500)).toBe(before);
  const box = await inspector.boundingBox();
  expect(Math.round((box?.x ?? 0) + (box?.width ?? 0))).toBe(900);
  expect((await page.getByRole("navigation", { name: "Pages" }).boundingBox())?.width).toBeLessThanOrEqual(80);
  await page.getByRole("link", { name: /^HTTP, running|^HTTP.*running/ }).waitFor();
  await page.keyboard.press("Escape");
  await inspector.waitFor({ state: "detached" });
});

it("[BL-224] at 200 % zoom every control of the longest page can be reached", async () => {
  const { page, origin } = await open("events");
  await postEvents(origin, 3);
  // 1,280 x 800 at 200 %.
  await page.setViewportSize({ width: 640, height: 400 });
  const main = page.getByRole("main");
  for (const name of ["Stop", "Export", "Pause", "Last page"]) {
    const button = main.getByRole("button", { name }).first();
    await expect
      .poll(async () => {
        await button.scrollIntoViewIfNeeded();
        const box = await button.boundingBox();
        return [name, box && box.x >= 0 && box.y >= 0 && box.x + box.width <= 640 && box.y + box.height <= 400];
      })
      .toEqual([name, true]);
  }
  await expect.poll(async () => (await main.getByRole("grid").boundingBox())?.height).toBeGreaterThan(80);
});

it("[BL-224] at 200 % zoom the rail shows every page's whole name, and a list its time and five rows", async () => {
  const { page, origin } = await open();
  for (let sent = 0; sent < 8; sent++) await fetch(`${origin}/api/data`);
  await page.setViewportSize({ width: 640, height: 400 });
  const rail = page.getByRole("navigation", { name: "Pages" });
  await expect.poll(() => rail.evaluate((nav) => nav.scrollHeight - nav.clientHeight)).toBeLessThanOrEqual(0);
  await expect
    .poll(() => rail.getByRole("link").evaluateAll((links) => links.filter((link) => link.scrollWidth > link.clientWidth).length))
    .toBe(0);
  await page.getByRole("columnheader", { name: "Time" }).waitFor();
  await page.getByRole("columnheader", { name: "Took" }).waitFor();
  await expect
    .poll(async () => {
      const fifth = await page.getByRole("row").filter({ hasText: "/api/data" }).nth(4).boundingBox();
      const logs = await page.getByRole("button", { name: "Logs" }).first().boundingBox();
      return (fifth?.y ?? 999) + (fifth?.height ?? 0) - (logs?.y ?? 0);
    })
    .toBeLessThanOrEqual(0);
});

/** Columns that identify a row, and those that tell its outcome. */
const neededColumns: Readonly<Record<string, readonly string[]>> = {
  "http/live": ["Time", "Method", "Path", "Status", "Took"],
  "account/live": ["Time", "Method", "Path", "Status", "Refused because"],
  "events/live": ["Time", "Device", "Outcome", "Language"],
  timeline: ["Time", "Service", "What", "Where", "Outcome"],
};

it("[BL-277] beside the inspector at 1280 x 800 a list shows what identifies a row, and its outcome in full", async () => {
  const { page, endpointOf } = await openBrowserShell("http", {
    others: ["account", "events", "mqtt"],
    flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"],
  });
  await page.setViewportSize({ width: 1_280, height: 800 });
  const socket = new WebSocket(`${endpointOf("http").origin.replace("http", "ws")}/ws/echo`);
  await once(socket, "open");
  socket.close(1000);
  await once(socket, "close");
  await fetch(new URL("/anything/a/long/path/to/some/orders?limit=50&page=2", endpointOf("http")));
  await fetch(new URL("/details", endpointOf("account")));
  await postEvents(endpointOf("events").origin, 1);
  const client = await connectAsync(`mqtt://${endpointOf("mqtt").host}`);
  await client.subscribeAsync("rooms/#", { qos: 1 });
  await client.publishAsync("rooms/first-floor/kitchen/temperature", "21", { qos: 1, retain: true });
  await client.endAsync();
  const main = page.getByRole("main");
  for (const [hash, needed] of Object.entries(neededColumns)) {
    await page.evaluate((to) => {
      location.hash = `#/${to}`;
    }, hash);
    const grid = main.getByRole("grid").and(page.locator(":visible"));
    await grid.getByRole("row").nth(1).click();
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Inspector" }).waitFor();
    if (hash === "http/live") await grid.getByRole("gridcell", { name: "closed 1000" }).waitFor();
    // Its columns follow its width.
    const wrong = async () => {
      const shown = await grid.getByRole("columnheader").allTextContents();
      const outcome = shown.findIndex((title) => ["Status", "Outcome", "Refused because"].includes(title));
      const cut = await grid.locator(`[role=row] > [role=gridcell]:nth-child(${outcome + 1})`).evaluateAll((cells) =>
        cells
          .flatMap((cell) => [cell, ...cell.querySelectorAll("*")])
          .filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === "hidden")
          .map((element) => element.textContent),
      );
      const place = shown.findIndex((title) => ["Path", "Where"].includes(title));
      const lost = await grid.locator(`[role=row] > [role=gridcell]:nth-child(${place + 1})`).evaluateAll((cells) =>
        cells.map((cell) => {
          const seen = cell.querySelector("[aria-hidden]")?.textContent ?? cell.textContent;
          const path = (cell.querySelector("[title]")?.getAttribute("title") ?? seen).split("?")[0] ?? "";
          const hasLastSegment = seen.includes(path.slice(path.slice(0, -1).lastIndexOf("/") + 1));
          return cell.scrollWidth <= cell.clientWidth && hasLastSegment ? "" : seen;
        }),
      );
      const missing = needed.filter((title) => !shown.includes(title));
      return { hash, missing, cut, lost: place < 0 ? [] : lost.filter((text) => text !== "") };
    };
    await expect.poll(wrong).toEqual({ hash, missing: [], cut: [], lost: [] });
    await page.keyboard.press("Escape");
  }
});
