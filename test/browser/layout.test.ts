import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { services } from "../../servers/catalog.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { openBrowserShell, openTab, shareBrowserShell } from "./browser-shell.ts";
import { layoutFaults } from "./layout-faults.ts";

const ids = services.map(({ id }) => id);
const open = shareBrowserShell("http", { others: ids.filter((id) => id !== "http") });

/** The last ones are a small one at 150 % zoom, and both at 200 %. */
const windows = [
  { width: 900, height: 700 },
  { width: 1_280, height: 800 },
  { width: 600, height: 466 },
  { width: 640, height: 400 },
  { width: 450, height: 350 },
];

/** In a narrow window bars have several lines, and placeholders end with an ellipsis. */
const isAccepted = (fault: string, width: number) => width < 1_280 && /^(bar of|field cuts)/.test(fault);

it.each(ids)("[BL-330] no tab of %s cuts words or hides controls, at five sizes", async (service) => {
  const { page } = await open(service);
  await page.getByRole("button", { name: "Send sample traffic" }).first().click();
  const tabs = page.getByRole("main").getByRole("tab");
  const names = await tabs.allTextContents();
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    await page.getByRole("main").getByRole("tab", { name, exact: true }).first().click();
    for (const window of windows) {
      await page.setViewportSize(window);
      // The layout follows the window in steps: columns are measured after it.
      const faults = async () => (await page.evaluate(layoutFaults)).filter((fault) => !isAccepted(fault, window.width));
      await expect.poll(async () => ({ name, window, faults: await faults() })).toEqual({ name, window, faults: [] });
    }
  }
});

it("[BL-331] the button of a destructive question is red in both schemes, and the last one at the lower right", async () => {
  const { page } = await open("account");
  await openTab(page, "Users");
  await page.getByRole("button", { name: "Reset to sample data" }).click();
  const buttons = page.getByRole("dialog").getByRole("button");
  await expect.poll(() => buttons.allTextContents()).toEqual(["Cancel", "Reset to sample data"]);
  for (const [colorScheme, red] of [
    ["dark", "rgb(255, 133, 122)"],
    ["light", "rgb(184, 50, 39)"],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await expect.poll(() => buttons.last().evaluate((button) => getComputedStyle(button).backgroundColor)).toBe(red);
  }
});

it("[BL-332] what is wrong in an item of a list of the configuration is said at its own field", async () => {
  const { page } = await open("mqtt");
  await openTab(page, "Config");
  await page.getByRole("button", { name: "Add a rule" }).click();
  const topics = page.getByRole("textbox", { name: "Topics of rule 1" });
  const problem = "A topic filter is needed: # comes last; + and # take a whole level.";
  const described = () =>
    topics.evaluate((field) => ({
      isInvalid: field.getAttribute("aria-invalid") === "true",
      words: (field.getAttribute("aria-describedby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? ""),
    }));
  // Nothing was typed yet.
  await expect.poll(described).toEqual({ isInvalid: false, words: [problem] });
  await topics.fill("a/#/b");
  await expect.poll(described).toEqual({ isInvalid: true, words: [problem] });
  await topics.fill("a/#");
  await expect.poll(described).toEqual({ isInvalid: false, words: [""] });
});

it("[BL-333] [BL-463] beside an inspector in a window of 1,280 px the lists of traffic keep the time of a row, and nothing is cut", async () => {
  const shown = ["http", "grpc", "rtsp", "webrtc", "account"];
  const { page } = await openBrowserShell("http", { others: shown.slice(1) });
  await page.setViewportSize({ width: 1_280, height: 800 });
  for (const id of shown) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${id}/live`);
    await page.getByRole("button", { name: "Send sample traffic" }).first().click();
    await page.getByRole("row").nth(1).click();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Close the inspector" }).waitFor();
    const heads = page.getByRole("main").getByRole("grid").first().getByRole("columnheader");
    await expect.poll(async () => ({ id, heads: await heads.allTextContents() })).toEqual({ id, heads: expect.arrayContaining(["Time"]) });
    // Scopes that do not fit have a line of their own.
    const faults = async () => (await page.evaluate(layoutFaults)).filter((fault) => !fault.startsWith("bar of 2 lines"));
    await expect.poll(async () => ({ id, faults: await faults() })).toEqual({ id, faults: [] });
  }
});

it("[BL-334] a name of a profile that exists is refused at its field", async () => {
  const { page } = await openBrowserShell("http");
  await page.getByRole("button", { name: /^Profile/ }).click();
  await page.getByRole("menuitem", { name: /^New profile/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Default");
  await dialog.getByRole("button", { name: "Create profile" }).click();
  await dialog.getByText('A profile "Default" already exists').waitFor();
  expect(await dialog.getByRole("textbox", { name: "Name" }).getAttribute("aria-invalid")).toBe("true");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Staging");
  await dialog.getByRole("button", { name: "Create profile" }).click();
  await page.getByRole("button", { name: /^Profile Staging/ }).waitFor();
});

it("[BL-338] [BL-339] a service that needs a restart says so wherever it is listed, and its heading is whole beside an inspector", async () => {
  const { page, origin } = await openBrowserShell("http", { flags: ["--http-open-to-lan", "true"] });
  await page.setViewportSize({ width: 1_280, height: 800 });
  await openTab(page, "Config");
  const rowOf = (field: string) => page.getByText(field, { exact: true }).locator("xpath=ancestor::*[contains(., 'applies')][1]");
  expect(await rowOf("Most links").textContent()).toContain("applies after restart");
  expect(await rowOf("Log level").textContent()).toContain("applies immediately");
  await page.getByRole("textbox", { name: "Most links" }).fill("255");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("navigation").getByText("restart needed").waitFor();
  await page.getByRole("main").getByText("Restart needed").waitFor();

  await openTab(page, "Live");
  await fetch(`${origin}/api/data`);
  await page.getByRole("row").filter({ hasText: "/api/data" }).click();
  await page.getByRole("button", { name: "Close the inspector" }).waitFor();
  const heading = page.getByRole("heading", { name: "HTTP", exact: true }).locator("..");
  const cut = () =>
    heading.evaluate((element) =>
      [...element.querySelectorAll("*")]
        .filter((part) => !part.closest("[inert], svg, .visually-hidden"))
        .filter(
          (part) => part.scrollWidth > part.clientWidth + 1 || part.getBoundingClientRect().right > element.getBoundingClientRect().right,
        )
        .filter((part) => getComputedStyle(part).display !== "inline")
        .map((part) => part.textContent),
    );
  await expect.poll(cut).toEqual([]);
  // Nothing makes the window itself scroll.
  const room = () => page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
  await expect.poll(room).toBe(0);

  await page.evaluate(() => {
    location.hash = "#/overview";
  });
  await page.getByRole("article", { name: "HTTP" }).getByText("Restart needed").waitFor();
  await expect.poll(room).toBe(0);
});

it("[BL-225] the sparklines of a row of cards end on one line", async () => {
  const { page } = await openBrowserShell("http", { others: ids.filter((id) => id !== "http" && id !== "account") });
  await page.evaluate(() => {
    location.hash = "#/overview";
  });
  const cards = page.getByRole("article").filter({ has: page.getByRole("heading", { level: 2 }) });
  await expect.poll(() => cards.count()).toBeGreaterThanOrEqual(ids.length);
  for (const window of [...windows, { width: 1_440, height: 900 }, { width: 1_920, height: 1_080 }]) {
    await page.setViewportSize(window);
    const ends = () =>
      cards.evaluateAll((elements) => {
        const rows = new Map<number, Set<number>>();
        for (const card of elements) {
          const end = card.querySelector("canvas")?.getBoundingClientRect().bottom;
          const top = Math.round(card.getBoundingClientRect().top);
          if (end !== undefined) rows.set(top, (rows.get(top) ?? new Set()).add(Math.round(end)));
        }
        return [...rows.values()].map((row) => row.size);
      });
    await expect.poll(async () => ({ window, ends: new Set(await ends()) })).toEqual({ window, ends: new Set([1]) });
  }
});

it("[BL-352] the filter of a list beside an inspector keeps its place while it is used, and covers nothing", async () => {
  const { page, origin } = await openBrowserShell("http");
  await page.setViewportSize({ width: 1_280, height: 800 });
  await fetch(`${origin}/api/data`);
  await page.getByRole("row").filter({ hasText: "/api/data" }).click();
  await page.getByRole("button", { name: "Close the inspector" }).waitFor();
  const filter = page.getByRole("textbox", { name: "Filter by path, client, body" });
  const before = await filter.boundingBox();
  await filter.fill("api");
  await page.getByRole("button", { name: "Clear the filter" }).waitFor();
  expect(await filter.boundingBox()).toEqual(before);
  await expect.poll(() => page.evaluate(layoutFaults)).toEqual([]);
});

it.each([
  ["saved", "instead"],
  ["a flag", "for this run"],
])("[BL-351] the Overview fits a window of 1,280 x 800 also where the port of a service is taken, which is %s", async (set, used) => {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  onTestFinished(() => void holder.close());
  const { port } = holder.address() as AddressInfo;
  const dataDir = temporaryDir();
  const profiles = { Default: { services: { account: { port } } } };
  if (set === "saved")
    writeFileSync(path.join(dataDir, "settings.json"), JSON.stringify({ version: 1, activeProfile: "Default", profiles }));
  const { page, origin } = await openBrowserShell("http", {
    others: ids.filter((id) => id !== "http" && id !== "account"),
    ...(set === "a flag" && { flags: ["--account-port", String(port)] }),
    dataDir,
  });
  await fetch(`${origin}/api/data`);
  await page.setViewportSize({ width: 1_280, height: 800 });
  await page.evaluate(() => {
    location.hash = "#/overview";
  });
  await page.getByRole("img", { name: /^Bytes a second by service/ }).waitFor();
  const card = page.getByRole("article", { name: "Account" });
  await card.getByRole("button", { name: "Start Account" }).click();
  await card.getByRole("button", { name: new RegExp(`^Use \\d+ ${used}$`) }).waitFor();
  const hidden = () =>
    card.evaluate((element) => {
      const scrolled = element.parentElement?.parentElement;
      return scrolled ? scrolled.scrollHeight - scrolled.clientHeight : undefined;
    });
  await expect.poll(hidden).toBe(0);
});

it("[BL-351] [BL-448] the Overview of all services fits a window of 1,280 x 800, also after a larger one, with each host and port", async () => {
  const { page, origin } = await open("http");
  // Without traffic there is no plot.
  await fetch(`${origin}/api/data`);
  await page.evaluate(() => {
    location.hash = "#/overview";
  });
  await page.getByRole("img", { name: /^Bytes a second by service/ }).waitFor();
  const hidden = () =>
    page.getByRole("article", { name: "HTTP" }).evaluate((card) => {
      const scrolled = card.parentElement?.parentElement;
      return scrolled ? scrolled.scrollHeight - scrolled.clientHeight : undefined;
    });
  for (const window of [
    { width: 1_280, height: 800 },
    { width: 1_920, height: 1_200 },
    { width: 1_280, height: 800 },
  ]) {
    await page.setViewportSize(window);
    await expect.poll(async () => ({ window, hidden: await hidden() })).toEqual({ window, hidden: 0 });
    const cut = () =>
      page
        .getByRole("article")
        .locator("code > :nth-child(-n + 2)")
        .evaluateAll((parts) => parts.filter((part) => part.scrollWidth > part.clientWidth).map(({ textContent }) => textContent));
    await expect.poll(async () => ({ window, cut: await cut() })).toEqual({ window, cut: [] });
  }
});

it("[BL-443] [BL-490] the menu of a list shows all entries without scrolling, also for a row with a long path, and no secret of it", async () => {
  const { page, origin } = await open("http");
  await page.setViewportSize({ width: 1_280, height: 800 });
  await fetch(`${origin}/anything/a?token=t-1&y=%C3%A9&q=a%20b%20and%20so%20on`);
  // Rows of sample traffic would push it down.
  await page.getByRole("textbox", { name: /^Filter by / }).fill("/anything/a?token");
  await expect.poll(() => page.getByRole("row").filter({ hasText: "/api/" }).count()).toBe(0);
  await page.getByRole("row").filter({ hasText: "/anything/a" }).click();
  await page.getByRole("button", { name: "More: export, copy, send again" }).click();
  await page.getByRole("menuitem", { name: "Export as JSON Lines, with credentials" }).waitFor();
  const hidden = () =>
    page.getByRole("menu").evaluate((menu) => ({
      right: menu.scrollWidth - menu.clientWidth,
      below: menu.scrollHeight - menu.clientHeight,
      window: Math.max(0, menu.getBoundingClientRect().bottom - innerHeight),
    }));
  await expect.poll(hidden).toEqual({ right: 0, below: 0, window: 0 });
  expect(await page.getByRole("menu").textContent()).toContain("GET /anything/a?token=…&y=");
  // Where there is no room for all, the rest is reached by scrolling.
  await page.setViewportSize({ width: 1_280, height: 420 });
  await expect.poll(async () => (await hidden()).below).toBeGreaterThan(0);
  expect(await hidden()).toMatchObject({ right: 0, window: 0 });
});

it("[BL-491] sentences of settings and paths of the history of Try have the room that there is", async () => {
  const { page } = await open("http");
  await page.setViewportSize({ width: 1_280, height: 800 });
  await openTab(page, "Try");
  for (const path of ["/get?a=1&b=2&c=3&d=4", "/uuid"]) {
    await page.locator(`input[aria-label="Path and query"]:visible`).fill(path);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("region", { name: "History" }).getByText(path).waitFor();
  }
  // Of all entries at one place, and whole.
  const paths = () =>
    page
      .getByRole("region", { name: "History" })
      .locator("li span", { hasText: /^\// })
      .evaluateAll((cells) => ({
        starts: new Set(cells.map((cell) => cell.getBoundingClientRect().left)).size,
        cut: cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length,
      }));
  await expect.poll(paths).toEqual({ starts: 1, cut: 0 });
  await page.evaluate(() => {
    location.hash = "#/settings";
  });
  const help = page.getByText("It signs the TLS certificates of all services.");
  await help.waitFor();
  expect((await help.boundingBox())?.width).toBeGreaterThanOrEqual(200);
});

it("[BL-589] above the open log drawer all links of the rail are visible, and in a low window reached by scrolling", async () => {
  const { page } = await open("http");
  await page.keyboard.press("Control+j");
  const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
  const hidden = () =>
    links.evaluateAll((elements) => {
      const end = elements[0]?.closest("nav")?.getBoundingClientRect().bottom ?? 0;
      return elements.filter((link) => link.getBoundingClientRect().bottom > end).map((link) => link.textContent);
    });
  await page.getByRole("button", { name: "Close the logs" }).first().waitFor();
  for (const window of [
    { width: 1_280, height: 800 },
    { width: 1_920, height: 1_080 },
    { width: 900, height: 700 },
  ]) {
    await page.setViewportSize(window);
    await expect.poll(async () => ({ window, hidden: await hidden() })).toEqual({ window, hidden: [] });
  }
  await page.setViewportSize({ width: 1_280, height: 560 });
  await expect.poll(async () => (await hidden()).length).toBeGreaterThan(0);
  await links.last().scrollIntoViewIfNeeded();
  await expect.poll(hidden).toEqual([]);
  await page.keyboard.press("Control+j");
});
