import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { openBrowserShell, openTab } from "./browser-shell.ts";

it("[BL-401] what one window saves is in the configuration of the others, which say that a value under a change is another one", async () => {
  const { page: first } = await openBrowserShell("http");
  await openTab(first, "Config");
  const second = await first.context().newPage();
  await second.goto(first.url());
  await openTab(second, "Config");
  const delay = (page: Page) => page.getByRole("textbox", { name: "Longest delay" });
  const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();
  const before = await delay(first).inputValue();

  await delay(first).fill("20");
  await delay(second).fill("30");
  await save(second);
  await first.getByText("Changed meanwhile to 30. Save replaces that, Discard keeps it.").waitFor();
  expect(await delay(first).inputValue()).toBe("20");
  await save(first);
  await expect.poll(() => delay(second).inputValue()).toBe("20");
  await first.getByText(/^Changed meanwhile/).waitFor({ state: "detached" });

  await delay(second).fill("40");
  await first.getByRole("button", { name: /^Reset Longest delay to its default/ }).click();
  await save(first);
  await second.getByText(`Changed meanwhile to ${before}.`, { exact: false }).waitFor();
  await second.getByRole("button", { name: "Discard" }).click();
  expect(await delay(second).inputValue()).toBe(before);
});
