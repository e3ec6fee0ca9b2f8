import type { Page } from "playwright-core";

/** By the page's dialog, which stays open. */
export async function publishMessage(page: Page, topic: string, everySeconds?: string, retain = false, payload?: string): Promise<void> {
  await page.getByRole("button", { name: "Publish…", exact: true }).click();
  await page.getByRole("textbox", { name: "Topic", exact: true }).fill(topic);
  if (payload !== undefined) await page.getByRole("textbox", { name: "Payload" }).fill(payload);
  await page.getByRole("checkbox", { name: "Retain" }).setChecked(retain);
  if (everySeconds === undefined) await page.getByRole("button", { name: "Publish", exact: true }).click();
  else {
    await page.getByRole("switch", { name: "Repeat every" }).click();
    await page.getByRole("textbox", { name: "Seconds between repeats" }).fill(everySeconds);
    await page.getByRole("button", { name: "Start", exact: true }).click();
  }
}
