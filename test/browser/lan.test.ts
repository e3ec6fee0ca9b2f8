import { expect, it } from "vitest";
import { openBrowserShell } from "./browser-shell.ts";

it("[BL-314] [BL-591] the badge in the heading opens a service to the LAN and closes it, with its restart, also over a flag", async () => {
  const { page } = await openBrowserShell("http", { flags: ["--http-open-to-lan", "false"] });
  await page.getByRole("button", { name: /^This computer only/ }).click();
  const explained = page.getByText(/^Every service listens on loopback: .* can reach it\.$/);
  expect(await explained.evaluate((text) => text.scrollWidth - text.clientWidth)).toBe(0);
  await page.getByRole("menuitem", { name: "Open HTTP to the LAN, with a restart" }).click();
  await page.getByText("HTTP is open to the LAN").waitFor();
  const badge = page.getByRole("button", { name: /^LAN: HTTP open/ });
  await badge.click();
  await page.getByRole("menuitem", { name: "Close HTTP to the LAN, with a restart" }).click();
  await page.getByText("HTTP listens on this computer only").waitFor();
  expect(await badge.count()).toBe(0);
});

it("[BL-588] in the heading of an open service no button is over an address, whatever the width of the window", async () => {
  const { page } = await openBrowserShell("mqtt", { flags: ["--mqtt-open-to-lan", "true"] });
  const chip = page.getByRole("main").locator("code").first().locator("..");
  await page.getByText("Anonymous, open to the LAN").waitFor();
  for (const width of [1_280, 1_100, 1_000, 900, 853, 760, 640, 450]) {
    await page.setViewportSize({ width, height: 533 });
    const covered = () =>
      chip.evaluate((element) => {
        const right = Math.max(...[...element.querySelectorAll("code > span")].map((part) => part.getBoundingClientRect().right));
        const button = element.querySelector("button")?.getBoundingClientRect();
        return {
          address: button !== undefined && right > button.left,
          button: (button?.right ?? 0) > element.getBoundingClientRect().right,
        };
      });
    await expect.poll(async () => ({ width, covered: await covered() })).toEqual({ width, covered: { address: false, button: false } });
  }
});
