import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { openBrowserShell } from "./browser-shell.ts";

const others = ["account", "grpc", "mqtt", "rtsp", "webrtc"];

async function choose(page: Page, typed: string, title: string): Promise<void> {
  await page.evaluate(() => {
    location.hash = "#/overview";
  });
  await page.getByRole("article", { name: "HTTP" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByLabel("Search services, actions, settings").fill(typed);
  await page.getByRole("dialog").getByRole("button", { name: title }).click();
}

it("[BL-544] the palette finds faults, the expiry of tokens and clocks by their names, and opens the page with the list", async () => {
  const { page } = await openBrowserShell("http", { others });
  for (const [typed, title, hash] of [
    ["delay answers", "HTTP: Delay or break answers", "#/http/try"],
    ["delay answers", "gRPC: Add a rule…", "#/grpc/replies"],
    ["faults", "RTSP: Faults of a path", "#/rtsp/paths"],
    ["lose packets", "RTSP: Faults of a session", "#/rtsp/live"],
    ["faults", "WebRTC: Faults of a peer", "#/webrtc/rooms"],
    ["wrong credentials", "WebRTC: Faults of TURN or of a relay", "#/webrtc/relays"],
    ["freeze client", "MQTT: Faults of a client", "#/mqtt/live"],
    ["expire now", "Account: Expire or revoke a token now", "#/account/sessions"],
    ["clock", "Account: Shift the clock of a user", "#/account/users"],
  ] as const) {
    await choose(page, typed, title);
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(hash);
  }
});

it("[BL-544] the palette goes to the form that sends an event, and while nobody is subscribed to the line that subscribes", async () => {
  const { page, origin } = await openBrowserShell("http");
  await choose(page, "send event", "HTTP: Send an event…");
  await page.getByText("/api/stream?count=0").waitFor();
  expect(await page.evaluate(() => location.hash)).toBe("#/http/live");
  const leave = new AbortController();
  await fetch(`${origin}/api/stream?count=0`, { signal: leave.signal });
  try {
    const field = page.getByRole("textbox", { name: "Event data" });
    await field.waitFor();
    await choose(page, "send event", "HTTP: Send an event…");
    await field.and(page.locator(":focus")).waitFor();
  } finally {
    leave.abort();
  }
});

it("[BL-572] what is typed right after the keys that open the palette is in its field", async () => {
  const { page } = await openBrowserShell("http", { others });
  const filter = page.getByRole("textbox", { name: "Filter", exact: false }).first();
  await filter.waitFor();
  await filter.focus();
  const focused = () =>
    page.evaluate(async () => {
      const key = { key: "k", code: "KeyK", ctrlKey: true, bubbles: true, cancelable: true };
      (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", key));
      // No timer and no frame comes before the next key.
      await Promise.resolve();
      return document.activeElement?.getAttribute("aria-label");
    });
  for (let time = 0; time < 3; time++) {
    expect(await focused()).toBe("Search services, actions, settings");
    await page.keyboard.type("restart ht");
    expect(await page.getByRole("dialog").getByLabel("Search services, actions, settings").inputValue()).toBe("restart ht");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await filter.and(page.locator(":focus")).waitFor();
  }
});
