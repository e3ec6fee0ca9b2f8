import { expect, it } from "vitest";
import { openBrowserShell } from "./browser-shell.ts";

it("[BL-314] the badge in the heading opens a service to the LAN and closes it, with its restart, also over a flag", async () => {
  const { page } = await openBrowserShell("http", { flags: ["--http-open-to-lan", "false"] });
  await page.getByRole("button", { name: /^This computer only/ }).click();
  await page.getByRole("menuitem", { name: "Open HTTP to the LAN, with a restart" }).click();
  await page.getByText("HTTP is open to the LAN").waitFor();
  const badge = page.getByRole("button", { name: /^LAN: HTTP open/ });
  await badge.click();
  await page.getByRole("menuitem", { name: "Close HTTP to the LAN, with a restart" }).click();
  await page.getByText("HTTP listens on this computer only").waitFor();
  expect(await badge.count()).toBe(0);
});
