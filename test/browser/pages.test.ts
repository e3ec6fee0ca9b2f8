import mqtt from "mqtt";
import { expect, it } from "vitest";
import { openBrowserShell } from "./browser-shell.ts";

it("a tab that the service does not have is its first one, and arrow keys walk through the tabs", async () => {
  const { page } = await openBrowserShell("http");
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
});

it("a row of the Timeline opens in place, whatever its kind", async () => {
  const { page, host } = await openBrowserShell("mqtt", { flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"] });
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
