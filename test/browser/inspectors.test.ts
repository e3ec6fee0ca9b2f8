import { connectAsync } from "mqtt";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { openBrowserShell } from "./browser-shell.ts";

it("[BL-185] a WebSocket and its messages have inspectors of their own, which copy it as a command and say how it was closed", async () => {
  const { page, host } = await openBrowserShell("http");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const socket = new WebSocket(`ws://${host}/ws/echo?room=1`, { headers: { "x-team": "blue" } });
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send('{"n":1}');
  await page.getByRole("row", { name: /text .*echoed/ }).click();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Message", exact: true }).getByText("received from the client").waitFor();
  await page.getByRole("button", { name: "Show the connection" }).click();
  await page.getByRole("grid", { name: "Messages, newest first" }).waitFor();
  await page.getByRole("button", { name: "Copy as websocat" }).click();
  await expect.poll(copied).toBe(`websocat -H 'x-team: blue' 'ws://${host}/ws/echo?room=1'`);
  socket.close(4_001, "done");
  await page.getByText("closed 4001").first().waitFor();
}, 60_000);

it("[BL-185] a row of the Timeline opens its own inspector there", async () => {
  const { page, host } = await openBrowserShell("mqtt", { flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"] });
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
    .getByRole("row", { name: /CONNECT/ })
    .first()
    .click();
  await page.getByRole("region", { name: "Event", exact: true }).getByText("lamp connected from").waitFor();
  expect(await page.evaluate(() => location.hash)).toBe("#/timeline");
  await client.endAsync();
}, 60_000);
