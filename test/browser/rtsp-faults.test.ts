import { once } from "node:events";
import { connect } from "node:net";
import type { Locator, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { unchanged, until } from "../support/until.ts";
import { openBrowserShell, openTab } from "./browser-shell.ts";

/** Plays a track of a path over TCP until the test ends. */
async function play(host: string, path: string): Promise<{ readonly bytes: () => number }> {
  const { hostname, port } = new URL(`rtsp://${host}`);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  let text = "";
  let bytes = 0;
  socket.on("data", (chunk) => {
    bytes += chunk.length;
    if (text.length < 2_000) text += chunk.toString("latin1");
  });
  socket.write(`SETUP rtsp://${host}/${path}/trackID=0 RTSP/1.0\r\nCSeq: 1\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n`);
  const session = await until(() => /Session: (\w+)/.exec(text)?.[1]);
  socket.write(`PLAY rtsp://${host}/${path} RTSP/1.0\r\nCSeq: 2\r\nSession: ${session}\r\n\r\n`);
  return { bytes: () => bytes };
}

/** What of it its cell shows. */
const shownOf = (badge: Locator) =>
  badge.evaluate((chip) => {
    const cell = chip.closest("[role=gridcell]") ?? chip;
    const isCut = chip.scrollWidth > chip.clientWidth || chip.getBoundingClientRect().right > cell.getBoundingClientRect().right;
    return isCut ? "cut" : "whole";
  });

const item = (page: Page, name: string) => page.getByRole("menuitem", { name });

it("[RTSP-179] [BL-449] faults of a path and a session are started and ended on the page, and are badges while they are active", async () => {
  const { page, host } = await openBrowserShell("rtsp");
  const player = await play(host, "stream");
  const live = page.getByRole("row").filter({ hasText: "/stream" });
  await live.click();
  await page.keyboard.press("Enter");
  await openTab(page, "Session");
  const faults = page.getByRole("region", { name: "Faults", exact: true });
  await faults.getByText("None.").waitFor();
  await faults.getByRole("button", { name: "Faults…" }).click();
  await item(page, "Lose 5 % of the packets, for 1 minute").click();
  await live.getByText("loss 5 %").waitFor();
  await expect.poll(() => shownOf(live.getByText("loss 5 %"))).toBe("whole");
  await faults.getByText(/^for another (?:1 m|\d+ s)/).waitFor();
  await faults.getByRole("button", { name: "Faults…" }).click();
  await item(page, "With other figures…").click();
  const dialog = page.getByRole("dialog");
  await dialog.locator("input").first().click();
  await page.getByRole("option", { name: "Delay", exact: true }).click();
  await dialog.getByLabel("Delay", { exact: true }).fill("99999999");
  await dialog.getByText("1 to 60,000 ms").waitFor();
  expect(await dialog.getByRole("button", { name: "Start" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Delay", { exact: true }).fill("250");
  await dialog.getByRole("button", { name: "Start" }).click();
  await live.getByText("delay 250 ms").waitFor();
  await faults.getByRole("button", { name: "Release" }).click();
  await faults.getByText("None.").waitFor();

  await openTab(page, "Paths");
  const path = page.getByRole("row").filter({ hasText: "/stream" });
  await path.click();
  await page.keyboard.press("Enter");
  await faults.getByRole("button", { name: "Faults…" }).click();
  await item(page, "Stall, for 10 s").click();
  await path.getByText("stalled").waitFor();
  await expect.poll(() => shownOf(path.getByText("stalled"))).toBe("whole");
  const before = await unchanged(player.bytes, 500);
  await openTab(page, "Live");
  await live.getByText("stalled").waitFor();
  await openTab(page, "Paths");
  await faults.getByRole("button", { name: "Release" }).click();
  await path.getByText("stalled").waitFor({ state: "detached" });
  await until(() => player.bytes() > before);
});

it("[BL-447] Escape in a dialog that an inspector has opened closes the dialog, and the next one the inspector", async () => {
  const { page } = await openBrowserShell("rtsp");
  await openTab(page, "Paths");
  await page.getByRole("row").filter({ hasText: "/stream" }).first().click();
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  const menu = inspector.getByRole("button", { name: "Faults…" });
  await menu.click();
  await item(page, "With other figures…").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox").first().and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await menu.and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  await inspector.waitFor({ state: "detached" });
  await page.getByRole("grid", { name: "Paths" }).and(page.locator(":focus")).waitFor();
});
