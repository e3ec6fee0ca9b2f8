import { connectAsync } from "mqtt";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("http", { others: ["mqtt"], flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"] });

it("[BL-185] [BL-186] a WebSocket's and a stream's inspectors grow while they are open, and say how they ended", async () => {
  const { page, origin, host } = await open();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const socket = new WebSocket(`ws://${host}/ws/echo?room=1`, { headers: { "x-team": "blue" } });
  await new Promise((resolve) => socket.once("open", resolve));
  await page
    .getByRole("row", { name: /ws\/echo/ })
    .first()
    .click();
  await page.keyboard.press("Enter");
  const messages = page.getByRole("grid", { name: "Messages, newest first" });
  await messages.waitFor();
  for (const text of ['{"n":1}', '{"n":2}']) socket.send(text);
  await messages.getByRole("row", { name: /"n":2/ }).first().waitFor();
  await messages.getByRole("row", { name: /from client.*"n":1/ }).click();
  await page.getByRole("region", { name: "Content of the message" }).getByText('"n"').waitFor();
  await page.getByRole("button", { name: "Copy as websocat" }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toBe(`websocat -H 'x-team: blue' 'ws://${host}/ws/echo?room=1'`);
  socket.send("third");
  await messages.getByRole("row", { name: /third/ }).first().waitFor();
  socket.close(4_001, "done");
  await page.getByText("closed 4001").first().waitFor();
  await page.getByRole("tab", { name: "Handshake" }).click();
  await page.getByRole("region", { name: "State" }).getByText("done").waitFor();

  const stop = new AbortController();
  const stream = await fetch(`${origin}/api/stream?interval=100`, { signal: stop.signal });
  await page.getByRole("row", { name: /api\/stream/ }).click();
  await page.getByRole("tab", { name: "Events" }).click();
  const events = page.getByRole("grid", { name: "Events, newest first" });
  const count = page.getByRole("tabpanel", { name: "Events" }).getByText(/^[\d,]+ events?\b/);
  await events.getByRole("row").nth(1).waitFor();
  const before = await count.textContent();
  await expect.poll(() => count.textContent()).not.toBe(before);
  stop.abort();
  await stream.body?.cancel().catch(() => {});
});

it("[BL-390] of thousands of query fields the first 200 are shown, and further ones by a button", async () => {
  const { page, origin } = await open();
  const fields = Array.from({ length: 1_000 }, (_, index) => `f${index}=v`).join("&");
  expect((await fetch(`${origin}/get?${fields}`)).status).toBe(200);
  await page
    .getByRole("row", { name: /\/get\?f0=v/ })
    .first()
    .click();
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "Request" }).click();
  await page.getByText("f199", { exact: true }).first().waitFor();
  expect(await page.getByText("f200", { exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Show 200 more of 1,000 fields" }).click();
  await page.getByText("f399", { exact: true }).first().waitFor();
});

it("[BL-185] a row of the Timeline opens its own inspector there", async () => {
  const { page, host } = await open("mqtt");
  const client = await connectAsync(`mqtt://${host}`, { clientId: "lamp" });
  for (const topic of ["hall/one", "hall/two"]) await client.publishAsync(topic, `{"topic":"${topic}"}`);
  await page.evaluate(() => {
    location.hash = "#/timeline";
  });
  await page.getByRole("row", { name: /hall\/one/ }).click();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Payload of the message" }).getByText('"hall/one"').waitFor();
  await page.getByRole("tab", { name: "Delivery" }).click();
  await page.getByText("lamp").last().waitFor();
  await page
    .getByRole("row", { name: /MQTT 3\.1\.1/ })
    .first()
    .click();
  await page.getByRole("region", { name: "Event", exact: true }).getByText("lamp connected from").waitFor();
  expect(await page.evaluate(() => location.hash)).toBe("#/timeline");
  await client.endAsync();
});

it("[BL-185] a WebSocket's message has an inspector of its own, with a link to its connection", async () => {
  const { page, host } = await open();
  const socket = new WebSocket(`ws://${host}/ws/echo?room=1`);
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send('{"n":1}');
  await page.getByRole("row", { name: /text .*echoed/ }).click();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Message", exact: true }).getByText("received from the client").waitFor();
  await page.getByRole("button", { name: "Show the connection" }).click();
  await page.getByRole("grid", { name: "Messages, newest first" }).waitFor();
  socket.terminate();
});

/** Hides all rows of the Timeline; the inspector of the row that was opened stays. */
async function hideRows(page: Page): Promise<void> {
  await page.getByPlaceholder("Path, topic, client").fill("nothing of this name");
  await page.getByText("Nothing matches this filter").waitFor();
}
const inspected = (page: Page, word: string) => page.getByLabel("Inspector").getByText(word, { exact: true }).first().waitFor();

it("[BL-240] an open request that no list shows any more is read again until it ends", async () => {
  const { page, origin } = await open();
  await page.evaluate(() => {
    location.hash = "#/timeline";
  });
  const stop = new AbortController();
  const stream = await fetch(`${origin}/api/stream?interval=100`, { signal: stop.signal });
  await page.getByRole("row", { name: /api\/stream/ }).click();
  await page.keyboard.press("Enter");
  await inspected(page, "200, open");
  await hideRows(page);
  stop.abort();
  await stream.body?.cancel().catch(() => {});
  await inspected(page, "200");
});

it("[BL-240] so is a message that waits for an acknowledgement", async () => {
  const { page, host } = await open("mqtt");
  await page.evaluate(() => {
    location.hash = "#/timeline";
  });
  const client = await connectAsync(`mqtt://${host}`, { clientId: "lamp" });
  let acknowledge = () => {};
  client.handleMessage = (_, done) => {
    acknowledge = done;
  };
  await client.subscribeAsync("hall/one", { qos: 1 });
  const publisher = await connectAsync(`mqtt://${host}`);
  await publisher.publishAsync("hall/one", "on", { qos: 1 });
  await page.getByRole("row", { name: /QoS 1.*hall\/one/ }).click();
  await page.keyboard.press("Enter");
  await inspected(page, "0 of 1 acknowledged");
  await hideRows(page);
  acknowledge();
  await inspected(page, "1 of 1 acknowledged");
  await Promise.all([client.endAsync(), publisher.endAsync()]);
});
