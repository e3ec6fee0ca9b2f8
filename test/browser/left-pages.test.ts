import { connectAsync } from "mqtt";
import { expect, it, onTestFinished } from "vitest";
import { interceptAnswers } from "./answers.ts";
import { loadAgain, openBrowserShell, shareBrowserShell } from "./browser-shell.ts";

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

it("[BL-501] the palette that is opened again as soon as it was closed has an empty field", async () => {
  const { page } = await open();
  const field = page.getByRole("textbox", { name: "Search services, actions, settings" });
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  for (const typed of ["port", "restart", "sse"]) {
    await page.keyboard.press("Control+k");
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.type(typed);
    await expect.poll(() => field.inputValue()).toBe(typed);
    await page.keyboard.press("Escape");
  }
  await expect.poll(() => field.count()).toBe(0);
});

it("[BL-342] no tooltip is there when a page is shown again that was left while it was open", async () => {
  const { page } = await open();
  const show = (hash: string) =>
    page.evaluate((to) => {
      location.hash = to;
    }, hash);
  await page.getByRole("button", { name: "Pause", exact: true }).hover();
  await page.getByRole("tooltip").waitFor();
  await show("#/settings");
  await page.getByText("Data folder").waitFor();
  await page.mouse.move(100, 600);
  await show("#/mqtt/live");
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  await expect.poll(() => page.getByRole("tooltip").count()).toBe(0);
  await page.getByRole("button", { name: "Pause", exact: true }).hover();
  await page.getByRole("tooltip").waitFor();
});

it("[BL-486] rates are of the last second also when the page is shown again that was left while messages arrived", async () => {
  const { page, host } = await open();
  const client = await connectAsync(`mqtt://${host}`, { clientId: "many" });
  onTestFinished(() => void client.end(true));
  const flow = page.getByText(/^in .*\/s · out /);
  const row = page.getByRole("option", { name: /many/ });
  const publish = () => Promise.all(Array.from({ length: 1_000 }, () => client.publishAsync("many/messages", "x", { qos: 1 })));
  await row.waitFor();
  await expect
    .poll(
      async () => {
        await publish();
        return flow.textContent();
      },
      { interval: 200 },
    )
    .toMatch(/^in \d+,\d{3}\/s/);
  const leave = () =>
    page.evaluate(() => {
      location.hash = "#/overview";
    });
  const inRail = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: /^MQTT/ });
  await leave();
  await publish();
  await inRail.getByText(/, 0 msg\/s$/).waitFor();
  // All that is shown from the first frame until a view of the broker has come.
  const shown = await page.evaluate(async () => {
    const texts = new Set<string>();
    location.hash = "#/mqtt/live";
    for (let frame = 0; frame < 90; frame++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const main = document.querySelector("main") as HTMLElement;
      for (const text of main.innerText.match(/\bin [\d,.]+\/s · out [\d,.]+\/s/g) ?? []) texts.add(text);
      for (const option of main.querySelectorAll<HTMLElement>("[role=option]"))
        if (/^many\b/.test(option.innerText)) texts.add(option.innerText.match(/[\d,.]+\/s/)?.[0] ?? "");
    }
    return [...texts];
  });
  expect(shown).toEqual(expect.arrayContaining(["in 0/s · out 0/s"]));
  expect(shown.filter((text) => /[1-9]/.test(text))).toEqual([]);
});

it("[BL-574] what failed on a page is no longer said on the next one, also while the pointer is on it; an Undo is still offered there", async () => {
  const { page, origin } = await openBrowserShell("http");
  const answers = await interceptAnswers(page);
  await loadAgain(page, "http/live");
  await fetch(`${origin}/get`);
  await page.getByRole("row", { name: /\/get/ }).waitFor();
  const clear = page.getByRole("button", { name: /^Clear/ });
  const note = (text: string) => page.getByRole("alert").filter({ hasText: text });
  const goTo = (to: string) =>
    page.evaluate((hash) => {
      location.hash = hash;
    }, to);
  answers.treat("traffic.clear", { kind: "failing" });
  await clear.click();
  await note("The test refused this call.").hover();
  await goTo("#/overview");
  await note("The test refused this call.").waitFor({ state: "detached" });

  await goTo("#/http/live");
  answers.treat("traffic.clear", undefined);
  await fetch(`${origin}/bytes/2`);
  await page.getByRole("row", { name: /\/bytes\/2/ }).waitFor();
  await clear.click();
  await note("Cleared 1 row").hover();
  await goTo("#/overview");
  await page.getByRole("article", { name: "HTTP" }).waitFor();
  await note("Cleared 1 row").getByRole("button", { name: "Undo" }).click();
  await goTo("#/http/live");
  await page.getByRole("row", { name: /\/bytes\/2/ }).waitFor();
});
