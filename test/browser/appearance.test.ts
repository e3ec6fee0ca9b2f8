import { connectAsync } from "mqtt";
import type { Locator, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { openTab, shareBrowserShell } from "./browser-shell.ts";
import { publishMessage } from "./publish-message.ts";

const open = shareBrowserShell("http", { others: ["mqtt"], flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"] });

const boxOf = (element: Locator) => element.evaluate((one) => one.getBoundingClientRect().toJSON() as DOMRect);

/** How much of each side of a box has the colour of the focus ring, 2 px from its edge at most. */
async function ringOf(page: Page, element: Locator): Promise<Record<"top" | "right" | "bottom" | "left", number>> {
  const box = await boxOf(element);
  const picture = (await page.screenshot()).toString("base64");
  return page.evaluate(
    async ({ base64, left, top, right, bottom }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
      context.drawImage(image, 0, 0);
      const probe = document.createElement("i");
      probe.style.color = "var(--bl-select-line)";
      document.body.append(probe);
      const wanted = getComputedStyle(probe).color.match(/\d+/g)?.slice(0, 3).map(Number) ?? [];
      probe.remove();
      const isRing = (x: number, y: number) => {
        const { data } = context.getImageData(x, y, 1, 1);
        return wanted.every((value, at) => Math.abs(value - (data[at] ?? 0)) < 12);
      };
      const part = (length: number, has: (at: number) => boolean) => {
        const points = Array.from({ length: 40 }, (_, index) => ((index + 0.5) * length) / 40);
        return points.filter(has).length / points.length;
      };
      const near = [-2, -1, 0, 1, 2];
      return {
        top: part(right - left, (at) => near.some((by) => isRing(left + at, top + by))),
        bottom: part(right - left, (at) => near.some((by) => isRing(left + at, bottom - 1 + by))),
        left: part(bottom - top, (at) => near.some((by) => isRing(left + by, top + at))),
        right: part(bottom - top, (at) => near.some((by) => isRing(right - 1 + by, top + at))),
      };
    },
    { base64: picture, left: box.left, top: box.top, right: box.right, bottom: box.bottom },
  );
}

const whole = { top: 1, right: 1, bottom: 1, left: 1 };

it("[BL-393] the focus ring of a list is whole: around it, or around the row that the keys are about", async () => {
  const { page, origin } = await open();
  for (let sent = 0; sent < 60; sent++) await fetch(new URL(`/anything/${sent}`, origin));
  const grid = page.getByRole("main").getByRole("grid").first();
  await grid.getByRole("row").nth(10).waitFor();
  await page.keyboard.press("Tab");
  await grid.focus();
  await expect.poll(() => ringOf(page, grid)).toEqual(whole);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => ringOf(page, grid.locator("[aria-selected=true]"))).toEqual(whole);
});

it("[BL-394] a notification lies over no button of a dialog", async () => {
  const { page } = await open("mqtt");
  await publishMessage(page, "told/here");
  await page.keyboard.press("Escape");
  for (const [width, height] of [
    [900, 700],
    [1_280, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.getByRole("button", { name: "Copy the mosquitto_sub command" }).click();
    const note = page.locator(".mantine-Notification-root").filter({ hasText: "Copied the mosquitto_sub command." }).first();
    await note.waitFor();
    await page.getByRole("button", { name: "Publish…", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Publish", exact: true }).click();
    await dialog.getByText("Published; no subscriber.").waitFor();
    // It stays shown.
    if (width === 900) await dialog.getByRole("button", { name: "Show", exact: true }).click();
    const over = await boxOf(note);
    const covered: (string | null)[] = [];
    for (const button of await dialog.getByRole("button").all()) {
      const { left, right, top, bottom } = await boxOf(button);
      if (over.left < right && over.right > left && over.top < bottom && over.bottom > top) covered.push(await button.textContent());
    }
    expect({ width, covered }).toEqual({ width, covered: [] });
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    if (await note.isVisible()) await note.getByRole("button", { name: "Dismiss" }).click();
    await note.waitFor({ state: "detached" });
  }
});

it("[BL-395] in Settings the inputs end on one line", async () => {
  const { page } = await open();
  await page.getByRole("link", { name: "Settings" }).click();
  const inputs = page.getByRole("region", { name: "Kept traffic" }).getByRole("textbox");
  await inputs.nth(1).waitFor();
  for (const width of [900, 1_280, 1_920]) {
    await page.setViewportSize({ width, height: 800 });
    const boxes = await Promise.all((await inputs.all()).map(boxOf));
    expect(new Set(boxes.map(({ left }) => left)).size).toBe(1);
    expect(new Set(boxes.map(({ right }) => right)).size).toBe(1);
  }
});

it("[BL-396] the deliveries of a message take as much room as they need, up to eight rows", async () => {
  const { page, host } = await open("mqtt");
  const panel = page.getByRole("region", { name: "Delivery of the chosen message" });
  const heightPx = async () => (await boxOf(panel)).height;
  const subscribe = async (count: number) => {
    for (let index = 0; index < count; index++) {
      const client = await connectAsync(`mqtt://${host}`, { clientId: `lamp-${count}-${index}` });
      onTestFinished(() => client.endAsync(true));
      await client.subscribeAsync("rooms/#");
    }
  };
  const publishTo = async (receivers: number) => {
    await publishMessage(page, "rooms/a");
    await page.keyboard.press("Escape");
    await page.getByRole("treeitem", { name: /^rooms/ }).click();
    await panel.getByText(`Delivered to ${receivers} with QoS 0`).waitFor();
    return heightPx();
  };
  await subscribe(1);
  const one = await publishTo(1);
  await subscribe(2);
  const three = await publishTo(3);
  await subscribe(20);
  const many = await publishTo(23);
  await subscribe(10);
  expect(await publishTo(33)).toBe(many);
  const rowPx = 23;
  expect([three - one, many > three, many < 300]).toEqual([2 * rowPx, true, true]);
  const list = panel.getByRole("list", { name: "Deliveries" });
  expect(await list.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(true);
});

it("[BL-400] no two elements of kept pages have the same id: a label names the field of its own page", async () => {
  const { page } = await open();
  for (const service of ["HTTP", "MQTT"]) {
    await page
      .getByRole("navigation")
      .getByRole("link", { name: new RegExp(`^${service}\\b`) })
      .click();
    const tabs = page.getByRole("main").getByRole("tab");
    for (const tab of await tabs.allTextContents()) await openTab(page, tab);
    await openTab(page, "Config");
    const level = page.getByRole("combobox", { name: "Log level" });
    await level.waitFor();
    await page.getByText("Log level", { exact: true }).filter({ visible: true }).click();
    expect(await level.evaluate((element) => element === document.activeElement)).toBe(true);
  }
  const twice = await page.evaluate(() => {
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    return ids.filter((id, at) => ids.indexOf(id) !== at);
  });
  expect(twice).toEqual([]);
});
