import { readFile } from "node:fs/promises";
import mqtt from "mqtt";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { loadAgain, openBrowserShell, openTab, shareBrowserShell } from "./browser-shell.ts";

const flags = ["--mqtt-web-socket", "false", "--mqtt-tls", "false"];
const open = shareBrowserShell("http", { others: ["mqtt", "events"], flags });

/** Resolves with its field. A page that is still loading does not take the key: the services are shown when it does. */
async function openPalette(page: Page): Promise<Locator> {
  await page.getByRole("link", { name: /^HTTP/ }).waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("dialog").getByLabel("Search services, actions, settings");
  await field.waitFor();
  return field;
}

it("[BL-258] an unknown tab opens the first one, and arrow keys, Home and End choose tabs", async () => {
  const { page } = await open();
  await page.evaluate(() => {
    location.hash = "#/http/nothing";
  });
  const tab = (name: string) => page.getByRole("main").getByRole("tab", { name, exact: true });
  await tab("Live").and(page.locator("[aria-selected=true]")).waitFor();
  await tab("Live").focus();
  for (const name of ["Try", "Config", "Logs"]) {
    await page.keyboard.press("ArrowRight");
    await tab(name).and(page.locator("[aria-selected=true]")).and(page.locator(":focus")).waitFor();
  }
  expect(await page.evaluate(() => location.hash)).toBe("#/http/logs");
  for (const [key, name] of [
    ["Home", "Live"],
    ["End", "Logs"],
  ] as const) {
    await page.keyboard.press(key);
    await tab(name).and(page.locator("[aria-selected=true]")).and(page.locator(":focus")).waitFor();
  }
});

it("[BL-480] the rail leads back to the tab of a service that was shown last, and from the service itself to its first", async () => {
  const { page } = await open();
  const rail = page.getByRole("navigation", { name: "Pages" });
  const service = rail.getByRole("link", { name: /HTTP/ });
  const hash = () => page.evaluate(() => location.hash);
  await openTab(page, "Config");
  await rail.getByRole("link", { name: /MQTT/ }).click();
  expect(await hash()).toBe("#/mqtt/live");
  await service.click();
  expect(await hash()).toBe("#/http/config");
  await page.getByRole("tabpanel", { name: "Config" }).waitFor();
  await service.click();
  expect(await hash()).toBe("#/http/live");
  // The first page of a window counts too.
  await loadAgain(page, "http/logs");
  await rail.getByRole("link", { name: "Timeline" }).click();
  await service.click();
  expect(await hash()).toBe("#/http/logs");
});

it("[BL-481] a reset waits for Save like the other changes of the form", async () => {
  const { page } = await open();
  await openTab(page, "Config");
  const field = page.getByRole("textbox", { name: /^Largest body/ });
  const reset = page.getByRole("button", { name: /^Reset Largest body to its default/ });
  const save = page.getByRole("button", { name: "Save", exact: true });
  await field.waitFor();
  const before = await field.inputValue();
  // What was only typed is discarded.
  expect(await reset.isDisabled()).toBe(true);
  await field.fill("2000000");
  await reset.click();
  expect(await field.inputValue()).toBe(before);
  expect(await save.isDisabled()).toBe(true);

  await field.fill("2000000");
  await save.click();
  await page.getByText("Saved 1 change").waitFor();
  await reset.click();
  expect(await field.inputValue()).toBe(before);
  await page.getByText("1 change not saved").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  expect(await field.inputValue()).toBe("2000000");
  await reset.click();
  await save.click();
  await page.getByText("1 change not saved").waitFor({ state: "detached" });
  await expect.poll(() => reset.isDisabled()).toBe(true);
  expect(await field.inputValue()).toBe(before);
});

it("[BL-467] the page asks before it is loaded again while a setting is not saved", async () => {
  const { page } = await open();
  await page.evaluate(() => {
    location.hash = "#/http/config";
  });
  const field = page.getByRole("textbox", { name: /^Largest body/ });
  await field.fill("2000000");
  await page.getByText("1 change not saved").waitFor();
  const asked = page.waitForEvent("dialog");
  // The load that is refused never ends.
  void page.reload().catch(() => {});
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
  expect(await field.inputValue()).toBe("2000000");
  await page.getByRole("button", { name: "Discard" }).click();
  await page.reload();
  await field.waitFor();
  expect(await field.inputValue()).not.toBe("2000000");
});

it("[BL-288] the dashboard and its plots are shown in a POSIX locale", async () => {
  const { page, origin } = await openBrowserShell("http", { language: "en-US@posix" });
  await fetch(`${origin}/api/data`);
  await page.evaluate(() => {
    location.hash = "#/overview";
  });
  await page
    .getByRole("img", { name: /^Bytes a second by service/ })
    .locator("canvas")
    .waitFor();
});

it("[BL-259] a column header sorts the rows, by mouse and keyboard, until the list follows again", async () => {
  const { page, origin } = await open();
  for (const target of ["/api/b", "/api/c", "/api/a"]) await fetch(`${origin}${target}`);
  const head = page.getByRole("columnheader", { name: "Path" });
  const paths = () =>
    page
      .getByRole("row")
      .getByText(/^\/api\/[abc]$/)
      .allTextContents();
  await expect.poll(paths).toEqual(["/api/a", "/api/c", "/api/b"]);
  expect(await head.getAttribute("aria-sort")).toBe("none");
  await head.getByRole("button").click();
  await expect.poll(paths).toEqual(["/api/c", "/api/b", "/api/a"]);
  expect(await head.getAttribute("aria-sort")).toBe("descending");
  await head.getByRole("button").press("Enter");
  await expect.poll(paths).toEqual(["/api/a", "/api/b", "/api/c"]);
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await expect.poll(paths).toEqual(["/api/a", "/api/c", "/api/b"]);
  expect(await head.getAttribute("aria-sort")).toBe("none");
});

it("[BL-482] End goes to the last row of all that are kept, loaded or not, and Home to the first", async () => {
  const { page, origin } = await open();
  const send = async (from: number) => {
    for (let n = from; n < from + 140; n++) await (await fetch(`${origin}/api/data?n=${n}`)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 10 }, (_, index) => send(1_000 + index * 140)));
  await page.reload();
  await page.getByText("500 of 1,400 loaded").waitFor();
  const first = page.getByRole("row").nth(1);
  await first.waitFor();
  await page.keyboard.press("End");
  await page.getByText("1,400 of 1,400").waitFor();
  await expect.poll(() => page.locator("[role=row][aria-selected=true]").getAttribute("aria-rowindex")).toBe("1401");
  await page.keyboard.press("Home");
  await expect.poll(() => page.locator("[role=row][aria-selected=true]").getAttribute("aria-rowindex")).toBe("2");
});

it("[BL-469] an empty list says that it was cleared, if its service has had traffic", async () => {
  const { page, origin } = await openBrowserShell("http");
  await page.getByText("No requests yet.").waitFor();
  await fetch(`${origin}/api/data`);
  await page.getByRole("row").filter({ hasText: "/api/data" }).waitFor();
  await page.getByRole("button", { name: "Clear the list" }).click();
  await page.getByText("The list was cleared.").waitFor();
});

it("[BL-165] changing the tab and back keeps what is paused, opened and answered", async () => {
  const { page, origin } = await open();
  await fetch(`${origin}/api/data?first`);
  const main = page.getByRole("main");
  const tab = (name: string) => main.getByRole("tab", { name, exact: true });
  await main.getByRole("row").filter({ hasText: "/api/data?first" }).click();
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await inspector.getByRole("heading", { name: "/api/data?first" }).waitFor();
  await main.getByRole("button", { name: "Pause" }).click();

  await tab("Try").click();
  await inspector.waitFor({ state: "detached" });
  await main.getByRole("button", { name: "Send", exact: true }).click();
  await main.getByRole("heading", { name: "200 OK" }).waitFor();

  await tab("Live").click();
  await inspector.getByRole("heading", { name: "/api/data?first" }).waitFor();
  await main.getByText(/^1 arrived since/).waitFor();
  expect(await main.getByRole("row").count()).toBe(2);

  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.getByRole("link", { name: /^HTTP/ }).click();
  await main.getByText(/^1 arrived since/).waitFor();
  await tab("Try").click();
  await main.getByRole("heading", { name: "200 OK" }).waitFor();
});

it("[BL-165] a Try request that is answered while another tab is shown is in the history", async () => {
  const { page } = await open();
  const main = page.getByRole("main");
  const tab = (name: string) => main.getByRole("tab", { name, exact: true });
  await tab("Try").click();
  await main.getByRole("combobox", { name: "Path and query" }).fill("/api/delay/1");
  await main.getByRole("button", { name: "Send", exact: true }).click();
  await tab("Live").click();
  await main.getByRole("row").filter({ hasText: "/api/delay/1" }).filter({ hasText: "200" }).waitFor();
  await tab("Try").click();
  await main.getByRole("region", { name: "History" }).getByRole("button").filter({ hasText: "/api/delay/1" }).waitFor();
  await main.getByRole("heading", { name: "200 OK" }).waitFor();
});

it("[BL-166] a row of the Timeline opens in place, whatever its kind", async () => {
  const { page, host } = await open("mqtt");
  const client = await mqtt.connectAsync(`mqtt://${host}`);
  try {
    await client.publishAsync("plant/other", "first");
    await client.publishAsync("plant/one", '{"celsius":21.5}', { qos: 1 });
    await page.getByRole("link", { name: "Timeline" }).first().click();
    await page.getByRole("row").filter({ hasText: "plant/one" }).click();
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await inspector.getByRole("heading", { name: "plant/one" }).waitFor();
    expect(await page.evaluate(() => location.hash)).toBe("#/timeline");
  } finally {
    await client.endAsync(true);
  }
});

it("[BL-166] the Timeline is shown after a reload, before its services are known", async () => {
  const { page, origin } = await open();
  await page.getByRole("link", { name: "Timeline" }).first().click();
  // Not an empty Timeline: the end of a client of the test before may have its row only now.
  await fetch(`${origin}/api/data?reloaded`);
  const row = page.getByRole("row").filter({ hasText: "/api/data?reloaded" });
  await row.waitFor();
  await page.reload();
  await row.waitFor();
});

it("[BL-208] a row is sent again from its menu, the toolbar and the palette, and rows are exported as HAR", async () => {
  const { page, origin } = await open();
  await fetch(`${origin}/api/echo`, { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"a":1}' });
  const echoes = page.getByRole("row").filter({ hasText: "/api/echo" });
  // The menu of a request that is not over yet offers less.
  await echoes.filter({ hasText: "200" }).first().waitFor();
  await echoes.first().click({ button: "right" });
  await page.getByRole("menu", { name: "Row" }).getByRole("menuitem", { name: "Send again" }).click();
  await page.getByText("Sent POST /api/echo again: 200 OK").first().waitFor();
  await expect.poll(() => echoes.count()).toBe(2);
  const more = page.getByRole("button", { name: "More: export, copy, send again" });
  await more.click();
  await page.getByRole("menuitem", { name: "Send again" }).click();
  await expect.poll(() => echoes.count()).toBe(3);
  await (await openPalette(page)).fill("send again");
  await page.keyboard.press("Enter");
  await expect.poll(() => echoes.count()).toBe(4);
  await more.click();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as HAR", exact: true }).click();
  const { log } = JSON.parse(await readFile(await (await download).path(), "utf8"));
  expect(log.entries.map(({ request }: { request: { postData: { text: string } } }) => request.postData.text)).toEqual(
    Array.from({ length: 4 }, () => '{"a":1}'),
  );
});

it("[BL-215] a row is opened in Try, to be changed before it is sent", async () => {
  const { page, origin } = await open();
  await fetch(`${origin}/api/echo?a=1`, { method: "PUT", headers: { "X-Token": "secret", "X-Plain": "one" }, body: '{"a":1}' });
  await page.getByRole("row").filter({ hasText: "/api/echo" }).first().click({ button: "right" });
  await page.getByRole("menu", { name: "Row" }).getByRole("menuitem", { name: "Open in Try" }).click();
  await expect.poll(() => page.getByRole("combobox", { name: "Path and query" }).inputValue()).toBe("/api/echo?a=1");
  expect(await page.getByRole("textbox", { name: "Body to send" }).inputValue()).toBe('{"a":1}');
  expect(await page.getByRole("combobox", { name: "Method" }).inputValue()).toBe("PUT");
  const fields = page.getByRole("textbox").or(page.getByRole("combobox"));
  await expect
    .poll(async () => Promise.all((await fields.all()).map((field) => field.inputValue())))
    .toEqual(expect.arrayContaining(["X-Token", "secret", "X-Plain", "one"]));
  // The list still has the one row: nothing was sent.
  await page.getByRole("tab", { name: "Live" }).click();
  await expect.poll(() => page.getByRole("row").filter({ hasText: "/api/echo" }).count()).toBe(1);
});

it.each([
  ["mqtt", "auto-reply", "Auto-reply rules"],
  ["events", "generate sample", "Generate sample events"],
] as const)(
  "[BL-167] the palette offers what the menus of %s have, and [BL-447] its dialog gives the focus back",
  async (service, typed, title) => {
    const { page } = await open(service);
    const more = page.getByRole("button", { name: /^More/ });
    const dialog = page.getByRole("dialog", { name: title });
    const closeDialog = async () => {
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await more.and(page.locator(":focus")).waitFor();
    };
    await more.focus();
    await (await openPalette(page)).fill(typed);
    await page.keyboard.press("Enter");
    await closeDialog();
    await page.keyboard.press("Enter");
    await more.and(page.locator("[aria-haspopup=menu][aria-expanded=true]")).waitFor();
    await page.getByRole("menuitem", { name: new RegExp(typed, "i") }).click();
    await closeDialog();
  },
);

it("[BL-444] the palette does what another page can do", async () => {
  const { page } = await open();
  await (await openPalette(page)).fill("auto-reply");
  await page.getByText("MQTT: Auto-reply rules…").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Auto-reply rules" }).waitFor();
  expect(await page.evaluate(() => location.hash)).toBe("#/mqtt/live");
});

it.each([
  ["account", "add a user", "Account: Add a user…", (page: Page) => page.getByRole("dialog", { name: "Add a user" })],
  ["grpc", "add a rule", "gRPC: Add a rule…", (page: Page) => page.getByRole("heading", { name: "New rule" })],
] as const)("[BL-444] the palette finds what %s makes new", async (service, typed, title, madeBy) => {
  const { page } = await openBrowserShell("http", { others: [service] });
  await (await openPalette(page)).fill(typed);
  await page.getByText(title).waitFor();
  await page.keyboard.press("Enter");
  await madeBy(page).waitFor();
});

it("[BL-167] the palette offers the commands of the page with their keys, and the page of shortcuts lists the keys", async () => {
  const { page } = await open();
  const main = page.getByRole("main");
  await main.getByRole("button", { name: "Pause" }).waitFor();
  const search = await openPalette(page);
  await search.fill("pause");
  await page.keyboard.press("Enter");
  await main.getByRole("button", { name: "Resume" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press("Space");
  await main.getByRole("button", { name: "Pause" }).waitFor();
  await page.keyboard.press("/");
  await main.getByRole("textbox", { name: "Filter by path, client, body" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Control+j");
  await page.getByRole("button", { name: "Close the logs" }).waitFor();
  await page.getByRole("link", { name: "Settings" }).click();
  await main.getByText("Pause and resume the list").waitFor();
  await openPalette(page);
  await search.fill("sample traffic");
  await page.getByText("Send sample traffic to HTTP").waitFor();
  await search.fill("clear the list");
  await page.getByText("Clear the list of HTTP").waitFor();
  // The history of MQTT is cleared by a command of its page.
  expect(await page.getByText("Clear the list of MQTT").count()).toBe(0);
  await search.fill("sample traffic");
  await page.getByText("Send sample traffic to HTTP").waitFor();
  expect(await page.getByText("Stop sample traffic of HTTP").count()).toBe(0);
  await search.fill("theme");
  await page.getByText("Colour scheme: dark").click();
  await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
  await openPalette(page);
  await search.fill("new profile");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "New profile" });
  await dialog.getByRole("textbox").first().fill("Noisy");
  await dialog.getByRole("button", { name: "Create profile" }).click();
  await dialog.waitFor({ state: "detached" });
  await openPalette(page);
  await search.fill("switch to profile");
  // Only the other one is offered: the new one is active.
  await page.getByText("Switch to profile Default").waitFor();
  expect(await page.getByText("Switch to profile Noisy").count()).toBe(0);
  await page.keyboard.press("Enter");
  await openPalette(page);
  await search.fill("switch to profile");
  await page.getByText("Switch to profile Noisy").waitFor();
});

it("[BL-343] a row that is aimed at in a following list stays under the pointer, and rows arrive again when it rests", async () => {
  const { page, origin } = await openBrowserShell("http");
  await fetch(`${origin}/api/data?aimed`);
  const aimed = page.getByRole("row").filter({ hasText: "/api/data?aimed" });
  const box = await aimed.boundingBox();
  if (!box) throw new Error("The row is not shown.");
  // Pressed, so that no rest ends it on a slow machine before the rows have arrived.
  await page.mouse.move(box.x + 40, box.y + box.height / 2);
  await page.mouse.down({ button: "middle" });
  for (let count = 0; count < 3; count++) await fetch(`${origin}/api/data?later${count}`);
  await page.getByText("3 waiting").waitFor();
  expect(await aimed.boundingBox()).toEqual(box);
  expect(await page.getByRole("row").count()).toBe(2);
  await page.mouse.up({ button: "middle" });
  await expect.poll(() => page.getByRole("row").count()).toBe(5);
  expect(await page.getByText("waiting").count()).toBe(0);
});
