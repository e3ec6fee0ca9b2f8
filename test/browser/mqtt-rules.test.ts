import { expect, it } from "vitest";
import { openBrowserShell } from "./browser-shell.ts";

it("[BL-542] the rules are listed again after the form of one was left with Escape", async () => {
  const { page } = await openBrowserShell("mqtt", { flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"] });
  const dialog = page.getByRole("dialog");
  const show = async () => {
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: /Auto-reply/ }).click();
  };
  await show();
  await dialog.getByRole("button", { name: "New rule" }).click();
  await dialog.getByRole("textbox", { name: "Topic filter", exact: true }).fill("left");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await show();
  await dialog.getByRole("button", { name: "New rule" }).waitFor();
  expect(await dialog.getByRole("textbox").count()).toBe(0);
});
