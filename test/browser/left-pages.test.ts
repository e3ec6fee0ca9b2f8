import { expect, it } from "vitest";
import { shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("mqtt", { flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"] });

it.each([0, 2, 5])("[BL-342] no dialog stays over a page that is left %i frames after the dialog was closed", async (frames) => {
  const { page } = await open();
  await page.getByRole("button", { name: "Publish…", exact: true }).click();
  await page.getByRole("textbox", { name: "Topic", exact: true }).waitFor();
  await page.evaluate(async (count) => {
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    for (let passed = 0; passed < count; passed++) await new Promise((resolve) => requestAnimationFrame(resolve));
    location.hash = "#/mqtt/try";
  }, frames);
  await page.getByRole("tabpanel", { name: "Try", exact: true }).waitFor();
  await page.evaluate(() => {
    location.hash = "#/mqtt/live";
  });
  await page.getByRole("tabpanel", { name: "Live", exact: true }).waitFor();
  expect(await page.getByRole("dialog", { includeHidden: true }).count()).toBe(0);
  await page.getByRole("button", { name: "More", exact: true }).click({ timeout: 10_000 });
  await page.getByRole("menuitem", { name: "Replay a file…" }).waitFor();
});
