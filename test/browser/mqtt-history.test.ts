import { connectAsync } from "mqtt";
import { expect, it, onTestFinished } from "vitest";
import { interceptAnswers } from "./answers.ts";
import { loadAgain, openBrowserShell, shareBrowserShell } from "./browser-shell.ts";
import { publishMessage } from "./publish-message.ts";

/** One port is enough. */
const flags = ["--mqtt-web-socket", "false", "--mqtt-tls", "false"];
const open = shareBrowserShell("mqtt", { flags });

it("[MQTT-161] a message can be compared with any older one of its topic", async () => {
  const { page } = await open();
  for (const value of ["one", "two", "three"]) {
    await publishMessage(page, "compared", undefined, false, `{"v":"${value}"}`);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("treeitem", { name: /^compared/ }).click();
  const payload = page.getByRole("region", { name: "Payload", exact: true });
  await payload.getByText(/removed: .*two/).waitFor();
  await page.getByRole("button", { name: /^vs / }).click();
  await page.getByRole("menuitem", { name: /"v":"one"/ }).click();
  await payload.getByText(/removed: .*one/).waitFor();
  await page.getByRole("row", { name: /two/ }).click();
  await payload.getByText(/removed: .*one/).waitFor();
});

it("[MQTT-161] until a new message was read the one before stays, with what it is compared with", async () => {
  const { page } = await openBrowserShell("mqtt", { flags });
  const answers = await interceptAnswers(page);
  await loadAgain(page, "mqtt/live");
  const shown = page.getByRole("region", { name: "Message", exact: true });
  const rows = page.getByRole("grid", { name: /^Messages/ }).getByRole("row", { name: /step/ });
  const send = async (count: number) => {
    await publishMessage(page, "a/one", undefined, false, `{"step":${count}}`);
    await page.keyboard.press("Escape");
    await expect.poll(() => rows.count()).toBe(count);
  };
  await send(1);
  await send(2);
  await shown.getByRole("button", { name: /^vs \d/ }).waitFor();
  const head = () => Promise.all([shown.getByRole("time").textContent(), shown.getByRole("button", { name: /^vs/ }).textContent()]);
  const before = await head();
  answers.treat("mqtt message.read", { kind: "late" });
  await send(3);
  await expect.poll(() => answers.held()).toBe(true);
  expect(await head()).toEqual(before);
});

it("[BL-204] a message of which the page has only the start is not edited and published again", async () => {
  const { page, host } = await open();
  const client = await connectAsync(`mqtt://${host}`);
  onTestFinished(() => client.endAsync(true));
  await client.publishAsync("big/one", "x".repeat(100_000));
  await page.getByRole("treeitem", { name: /^big/ }).click();
  await page.getByText("The first 64 KiB are shown.").waitFor();
  await page.getByRole("button", { name: "Edit and publish again" }).click();
  await page.getByText("It cannot be sent again. Only the start of its payload is here", { exact: false }).waitFor();
  await page.getByText("set a larger “Recorded payload” in Config", { exact: false }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.getByRole("button", { name: "Save this part of the payload as a file" }).waitFor();
});

it("[MQTT-309] says of how many messages only a part could be searched, and without a match too", async () => {
  const { page } = await openBrowserShell("mqtt", { flags });
  const answers = await interceptAnswers(page);
  await loadAgain(page, "mqtt/live");
  await publishMessage(page, "a/one");
  await page.keyboard.press("Escape");
  const history = page.getByRole("region", { name: "History" });
  const row = history.getByRole("row", { name: /Hello, MQTT!/ });
  await row.waitFor();
  answers.treat("mqtt topic.history", { kind: "replaced", value: { messages: [], hasOlder: false, searchedInPart: 1 } });
  await history.getByRole("button", { name: "Filter payloads" }).click();
  await history.getByPlaceholder("Filter payloads").fill("Hello");
  await history.getByText(/^1 was searched in part only/).waitFor();
  expect(await row.count()).toBe(0);
});

it("[MQTT-466] the chosen topic is filled in to publish, and what is wrong is said before there is a command", async () => {
  const { page } = await open();
  const dialog = page.getByRole("dialog");
  const topic = dialog.getByRole("textbox", { name: "Topic", exact: true });
  for (const one of ["shed/spade", "shed/door"]) {
    await publishMessage(page, one);
    await page.keyboard.press("Escape");
  }
  // A row that comes above another one moves it away from under the pointer.
  await page.getByRole("treeitem", { name: /^door/ }).waitFor();
  await page.getByRole("treeitem", { name: /^spade/ }).click();
  await page.getByRole("button", { name: "Publish…", exact: true }).click();
  expect(await topic.inputValue()).toBe("shed/spade");
  await dialog.getByText(/^mosquitto_pub /).waitFor();
  await topic.fill("shed/#");
  await dialog.getByText("Fix the fields above to see the command.").waitFor();
  expect(await dialog.getByRole("button", { name: "Publish", exact: true }).isDisabled()).toBe(true);
});

it("[BL-433] the topic tree has room for ten rows in a window of 900 x 700", async () => {
  const { page, host } = await open();
  await page.setViewportSize({ width: 900, height: 700 });
  const client = await connectAsync(`mqtt://${host}`);
  onTestFinished(() => client.endAsync(true));
  for (let index = 0; index < 20; index++) await client.publishAsync(`row-${index}`, "on");
  const tree = page.getByRole("tree");
  await tree.getByRole("treeitem").nth(12).waitFor();
  const inSight = () =>
    tree.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      const rows = [...element.querySelectorAll("[role=treeitem]")].map((row) => row.getBoundingClientRect());
      return rows.filter((row) => row.top >= top - 1 && row.bottom <= Math.min(bottom, innerHeight) + 1).length;
    });
  await expect.poll(inSight).toBeGreaterThanOrEqual(10);
});

it("[BL-447] Escape in the details of a client closes them, and the list has the focus again", async () => {
  const { page, host } = await open();
  const client = await connectAsync(`mqtt://${host}`, { clientId: "lamp" });
  onTestFinished(() => client.endAsync(true));
  await page.getByRole("option", { name: /^lamp/ }).click();
  const details = page.getByRole("region", { name: "Client lamp", exact: true });
  await details.getByRole("button", { name: "Disconnect…" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Disconnect", exact: true }).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await details.getByRole("button", { name: "Disconnect…" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  await details.waitFor({ state: "detached" });
  await page.getByRole("listbox", { name: "Clients" }).and(page.locator(":focus")).waitFor();
});
