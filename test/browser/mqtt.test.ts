import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import path from "node:path";
import { connectAsync } from "mqtt";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDir } from "../support/temporary-dir.ts";
import { interceptAnswers } from "./answers.ts";
import { loadAgain, openBrowserShell, openTab, shareBrowserShell } from "./browser-shell.ts";
import { publishMessage } from "./publish-message.ts";

/** One port is enough. */
const flags = ["--mqtt-web-socket", "false", "--mqtt-tls", "false"];
const open = shareBrowserShell("mqtt", { flags });

it("[MQTT-136] [MQTT-137] Try subscribes, publishes and receives as a client, and continues while another tab is shown", async () => {
  const { page } = await open();
  await openTab(page, "Try");
  await page.getByRole("textbox", { name: "Topic filter" }).fill("test/#");
  await page.getByRole("button", { name: "Subscribe", exact: true }).click();
  await page.getByText("SUBACK 0x01 QoS 1 granted").waitFor();
  await page.getByText("QoS 2", { exact: true }).first().click();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("PUBCOMP 0x00 success").waitFor();
  const received = page.getByRole("list", { name: "Received messages, newest first" }).getByRole("listitem");
  await received.filter({ hasText: "test/topic" }).waitFor();
  await openTab(page, "Live");
  await page.getByRole("option", { name: /^dashboard/ }).waitFor();
  await publishMessage(page, "test/other");
  await page.getByText("Published to 1 subscription.").waitFor();
  await page.keyboard.press("Escape");
  await openTab(page, "Try");
  await received.filter({ hasText: "test/other" }).waitFor();
  await page.getByRole("button", { name: "Unsubscribe from test/#" }).click();
  await page.getByRole("list", { name: "Subscriptions" }).waitFor({ state: "detached" });
});

it("[MQTT-135] a repeated message continues when the page is left, and can be stopped from the strip", async () => {
  const { page } = await open();
  await publishMessage(page, "lab/clock", "0.05");
  const repeating = page.getByText(/^lab\/clock every .*, [\d,]+ sent$/);
  await repeating.waitFor();
  await openTab(page, "Logs");
  await page.reload();
  await openTab(page, "Live");
  await repeating.waitFor();
  await page.getByRole("button", { name: /^Stop lab\/clock/ }).click();
  await repeating.waitFor({ state: "detached" });
});

it("[MQTT-107] [MQTT-108] a user is added by name and password, which the form never shows again and the settings file never holds", async () => {
  const dataDir = temporaryDir();
  const { page } = await openBrowserShell("mqtt", { flags, dataDir });
  await openTab(page, "Config");
  await page.getByRole("button", { name: "Add a user" }).click();
  await page.getByRole("textbox", { name: "Name of user 1" }).fill("ada");
  await page.getByLabel("Password of ada", { exact: true }).fill("open, sesame");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved 1 change").waitFor();
  await page.reload();
  const password = page.getByLabel("Password of ada", { exact: true });
  await password.waitFor();
  expect([await password.inputValue(), await password.getAttribute("placeholder")]).toEqual(["", "set; type to change it"]);
  expect(await page.content()).not.toContain("sesame");
  const settings = readFileSync(path.join(dataDir, "settings.json"), "utf8");
  expect(settings).toContain("ada:$scrypt$");
  expect(settings).not.toContain("sesame");
});

it("[MQTT-131] a file larger than a frame is uploaded and replayed, and its messages are cleared and restored", async () => {
  const { page } = await open();
  const file = path.join(temporaryDir(), "recorded.jsonl");
  const line = (index: number) => JSON.stringify({ at: index, topic: `replayed/${index % 3}`, payload: btoa("x".repeat(60)) });
  writeFileSync(file, Array.from({ length: 12_000 }, (_, index) => `${line(index)}\n`).join(""));
  await publishMessage(page, "first");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Replay a file…" }).click();
  await page.setInputFiles("input[type=file]", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no messages") });
  await page.getByRole("dialog").getByRole("alert").waitFor();
  await page.setInputFiles("input[type=file]", file);
  await page.getByText("As fast as possible", { exact: true }).click();
  await page.getByRole("button", { name: "Replay 12,000" }).click();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  const replayed = page.getByRole("treeitem", { name: /^replayed 12,000/ });
  await replayed.waitFor();
  await page.getByRole("button", { name: "Clear counts and history" }).click();
  await replayed.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await replayed.waitFor();
});

it("topics with the same beginning show their ends, and the shown message names its topic", async () => {
  const { page } = await open();
  const topics = ["building/west-wing/sensors/hall-a/humidity", "building/west-wing/sensors/hall-a/temperature"];
  for (const topic of topics) {
    await publishMessage(page, topic);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("textbox", { name: /^Filter topics/ }).fill("building/#");
  const row = page.getByRole("treeitem", { name: /temperature/ });
  await row.click();
  const names = [row, page.getByRole("region", { name: "Message", exact: true }).getByRole("heading")];
  for (const name of names) {
    await name.getByText("building/west-wing/sensors/hall-a/temperature").waitFor();
    // Where it is too long its end is in sight, and its beginning is not.
    const [from, to, left, right] = await name.locator("bdi").evaluate((text) => {
      const box = text.parentElement?.getBoundingClientRect() ?? new DOMRect();
      const own = text.getBoundingClientRect();
      return [own.left, own.right, box.left, box.right];
    });
    expect([Math.round((to ?? 0) - (right ?? 0)) <= 0, (from ?? 0) <= (left ?? 0) + 1]).toEqual([true, true]);
  }
});

it("[MQTT-302] Publish begins with the topic that is shown", async () => {
  const { page } = await open();
  for (const topic of ["hall/a/lamp", "hall/b/lamp"]) {
    await publishMessage(page, topic);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("textbox", { name: /^Filter topics/ }).fill("hall/#");
  await page.getByRole("treeitem", { name: "hall/a/lamp" }).click();
  await page.getByRole("region", { name: "Message", exact: true }).getByText("hall/a/lamp").first().waitFor();
  await page.getByRole("button", { name: "Publish…", exact: true }).click();
  const topic = page.getByRole("dialog").getByRole("textbox", { name: "Topic", exact: true });
  await expect.poll(() => topic.inputValue()).toBe("hall/a/lamp");
});

it("[BL-256] hidden characters in a topic and a payload are shown escaped", async () => {
  const { page } = await open();
  await publishMessage(page, "hostile/x\u202eevil", undefined, false, "a\u2066b\u200bc");
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: /^Filter topics/ }).fill("hostile/#");
  await page.getByRole("treeitem", { name: /hostile\/x\\u202eevil/ }).click();
  await page.getByRole("gridcell", { name: "a\\u2066b\\u200bc" }).waitFor();
  const message = page.getByRole("region", { name: "Message", exact: true });
  await message.getByText("hostile/x\\u202eevil").waitFor();
  await message.locator(".cm-line").filter({ hasText: "a\\u2066b\\u200bc" }).waitFor();
});

it("[MQTT-133] clicking a receiver or publisher shows the client beside what is shown; [MQTT-500] the page says how many messages it shows", async () => {
  const { page } = await open();
  await openTab(page, "Try");
  await page.getByRole("textbox", { name: "Topic filter" }).fill("a/#");
  await page.getByRole("button", { name: "Subscribe", exact: true }).click();
  await page.getByText("SUBACK 0x01 QoS 1 granted").waitFor();
  await openTab(page, "Live");
  for (const topic of ["a/one", "a/two"]) {
    await publishMessage(page, topic);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("textbox", { name: /^Filter topics/ }).fill("a/#");
  await page.getByRole("treeitem", { name: /one/ }).click();
  await page.getByText(/^showing 1 of this topic, [\d,]+ kept of all$/).waitFor();
  await page.getByRole("list", { name: "Deliveries" }).getByRole("button", { name: "dashboard" }).click();
  const card = page.getByRole("region", { name: "Client dashboard", exact: true });
  await card.getByRole("button", { name: "Freeze or delay…" }).waitFor();
  const [shown, message] = [await card.boundingBox(), await page.getByRole("region", { name: "Message", exact: true }).boundingBox()];
  expect(shown?.x).toBeGreaterThanOrEqual((message?.x ?? 0) + (message?.width ?? 0));
  await page.getByRole("treeitem", { name: /two/ }).click();
  await card.waitFor();
  await card.getByRole("button", { name: "Close the client" }).click();
  await card.waitFor({ state: "detached" });
});

it("[BL-281] the clients of a broker that has ended are shown as gone, also by a page that is opened later", async () => {
  const { page, host } = await open();
  const client = await connectAsync(`mqtt://${host}`, { clientId: "lamp", reconnectPeriod: 0 });
  onTestFinished(() => client.endAsync(true));
  await client.subscribeAsync("rooms/#");
  await client.publishAsync("rooms/kitchen", "on");
  await page.getByRole("option", { name: /^lamp.*connected/ }).click();
  const card = page.getByRole("region", { name: "Client lamp", exact: true });
  await card.getByRole("button", { name: "Disconnect…" }).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await card.getByText(/^for .*, until the broker ended$/).waitFor();
  expect(await card.getByRole("button", { name: "Disconnect…" }).count()).toBe(0);
  await card.getByRole("button", { name: "Close the client" }).click();
  await page.getByRole("option", { name: /^lamp.*gone/ }).waitFor();
  await page.reload();
  await page.getByRole("option", { name: /^lamp.*gone/ }).waitFor();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("option", { name: /^lamp/ }).waitFor({ state: "detached" });
});

it("[MQTT-313] of more than 200 clients further ones are listed at the end; a request waits for the answer to the one before, and one that fails takes none away", async () => {
  const { page, host } = await openBrowserShell("mqtt", { flags });
  // In a lower window the details of a client replace the list.
  await page.setViewportSize({ width: 1_280, height: 1_000 });
  const answers = await interceptAnswers(page);
  const clients = await Promise.all(
    Array.from({ length: 230 }, (_, index) => connectAsync(`mqtt://${host}`, { clientId: `lamp-${String(index).padStart(3, "0")}` })),
  );
  onTestFinished(async () => void (await Promise.all(clients.map((client) => client.endAsync(true)))));
  await clients[0]?.subscribeAsync(["rooms/a", "rooms/b", "rooms/c"]);
  await loadAgain(page, "mqtt/live");
  const list = page.getByRole("listbox", { name: "Clients" });
  await list.getByText("rooms/a +2").waitFor();
  expect(await list.getByText("rooms/a +2").getAttribute("title")).toBe("rooms/a +2");
  answers.treat("mqtt client.list", { kind: "late" });
  await list.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("End");
  await expect.poll(() => answers.held()).toBe(true);
  const asked = answers.asked("mqtt client.list");
  // Three more views come, of later seconds.
  const started = await page.evaluate(() => performance.now());
  for (let index = 0; index < 3; index++) {
    await clients[0]?.publishAsync("rooms/a", "on");
    await page.waitForFunction((until) => performance.now() > until, started + (index + 1) * 1_000);
  }
  expect(answers.asked("mqtt client.list")).toBe(asked);
  answers.treat("mqtt client.list", { kind: "failing" });
  answers.fail();
  // Those that the page has stay.
  const failed = page.getByRole("alert").filter({ hasText: "Could not update the clients" });
  await failed.waitFor();
  await list
    .getByRole("option", { name: /^lamp-/ })
    .first()
    .waitFor();
  answers.treat("mqtt client.list", undefined);
  await failed.waitFor({ state: "detached" });
  // 200 rows are of 10,000 px.
  const heightPx = async () => {
    await list.press("End");
    return list.evaluate((element) => element.scrollHeight);
  };
  await expect.poll(heightPx).toBeGreaterThan(11_000);
});

it("[MQTT-109] a topic rule is added by row, marked where it is wrong, moved and saved", async () => {
  const { page } = await open();
  await openTab(page, "Config");
  const add = page.getByRole("button", { name: "Add a rule" });
  await add.click();
  const first = page.getByRole("group", { name: "rule 1" });
  await page.getByRole("combobox", { name: "Who of rule 1" }).selectOption("The user");
  await page.getByRole("textbox", { name: "The user, Who of rule 1" }).fill("ada");
  await page.getByRole("textbox", { name: "Topics of rule 1" }).fill("a#");
  await first.getByText(/^A topic filter is needed/).waitFor();
  await page.getByRole("textbox", { name: "Topics of rule 1" }).fill("home/%u/#");
  await add.click();
  await page.getByRole("combobox", { name: "May of rule 2" }).selectOption("read");
  await page.getByRole("textbox", { name: "Topics of rule 2" }).fill("public/#");
  await page.getByRole("button", { name: "Move rule 2 up" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved 1 change").waitFor();
  await page.reload();
  const topics = page.getByRole("textbox", { name: /^Topics of rule/ });
  await topics.nth(1).waitFor();
  expect([await topics.nth(0).inputValue(), await topics.nth(1).inputValue()]).toEqual(["public/#", "home/%u/#"]);
});

it("[MQTT-160] retained messages of a branch are cleared from its menu, which names the branch and the number", async () => {
  const { page } = await open();
  for (const topic of ["attic/a", "attic/b", "yard"]) {
    await publishMessage(page, topic, undefined, true);
    await page.keyboard.press("Escape");
  }
  const attic = page.getByRole("treeitem", { name: /^attic 2/ });
  await attic.click({ button: "right" });
  await page.getByRole("menuitem", { name: "Clear retained messages below…" }).click();
  const question = page.getByRole("dialog", { name: "Clear the retained messages of “attic/#”?" });
  await question.getByText(/^2 retained messages of 3\./).waitFor();
  await question.getByRole("button", { name: "Clear 2" }).click();
  await page.getByText("Cleared 2 retained messages of attic/#").waitFor();
});

it("[MQTT-164] nothing scrolls sideways in a narrow window", async () => {
  const { page } = await open();
  await publishMessage(page, "a/b");
  await page.keyboard.press("Escape");
  for (const width of [1_024, 900, 800]) {
    await page.setViewportSize({ width, height: 700 });
    for (const name of ["Config", "Logs", "Try", "Live"]) {
      await openTab(page, name);
      const widths = () =>
        page.evaluate(() => [
          [...document.querySelectorAll("*")].filter(
            (element) => element.scrollWidth > element.clientWidth && /auto|scroll/.test(getComputedStyle(element).overflowX),
          ).length,
          document.documentElement.scrollWidth,
        ]);
      await expect.poll(async () => [name, ...(await widths())]).toEqual([name, 0, width]);
    }
  }
});

it("[MQTT-130] a rule with a payload condition is created, shown and opened again", async () => {
  const { page } = await open();
  const dialog = page.getByRole("dialog");
  const field = (name: string) => dialog.getByRole("textbox", { name, exact: true });
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: /Auto-reply/ }).click();
  await dialog.getByRole("button", { name: "New rule" }).click();
  await field("Topic filter").fill("ask");
  await dialog.getByText("JSON field equals").click();
  await field("Field").fill("state.power");
  await field("Reply payload").fill("{payload}");
  await field("Value").fill("on");
  await dialog.getByRole("button", { name: "Show" }).click();
  await field("Content type").fill("text/plain");
  await dialog.getByRole("checkbox", { name: "Copy the correlation data" }).uncheck();
  await dialog.getByRole("button", { name: "Save the rule" }).click();
  await dialog.getByText("with state.power = on").waitFor();
  await dialog.getByRole("button", { name: "Change the rule for ask" }).click();
  expect(await field("Field").inputValue()).toBe("state.power");
  expect(await field("Content type").inputValue()).toBe("text/plain");
  expect(await dialog.getByRole("checkbox", { name: "Copy the correlation data" }).isChecked()).toBe(false);
});

it("[MQTT-277] a tab keeps its content when it is shown again, and when the broker is stopped", async () => {
  const { page } = await openBrowserShell("mqtt", { flags });
  for (const topic of ["a/one", "a/two"]) {
    await publishMessage(page, topic);
    await page.keyboard.press("Escape");
  }
  const two = page.getByRole("treeitem", { name: /^two/ });
  await two.click();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await openTab(page, "Config");
  await openTab(page, "Live");
  expect(await two.getAttribute("aria-selected")).toBe("true");
  await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("stopped; this is what was kept").waitFor();
  await two.waitFor();
  await page.getByRole("row", { name: /Hello, MQTT!/ }).waitFor();
});

it("[MQTT-291] [MQTT-500] a stopped broker without kept messages shows no note about them; kept messages can be cleared", async () => {
  const { page } = await openBrowserShell("mqtt", { flags });
  const kept = page.getByText(/this is what was kept/);
  const clear = page.getByRole("button", { name: "Clear counts and history" });
  const pause = page.getByRole("button", { name: "Pause", exact: true });
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Start", exact: true }).waitFor();
  expect([await kept.count(), await clear.isDisabled(), await pause.isDisabled()]).toEqual([0, true, true]);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await publishMessage(page, "a/one");
  await page.getByText("showing 1 of these topics, 1 kept of all", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await kept.waitFor();
  await clear.click();
  await page.getByText("Cleared 1 message.").waitFor();
  await kept.waitFor({ state: "detached" });
});

it("[BL-433] a refused connection is on the page; [MQTT-303] with its reason, also while no client is connected", async () => {
  const { page, host } = await open();
  // An empty client identifier for a session that is to be kept (MQTT 3.1.1 §3.1.3.1).
  const connect = Buffer.from("100c00044d5154540400003c0000", "hex");
  const url = new URL(`tcp://${host}`);
  const socket = createConnection(Number(url.port), url.hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(connect);
  await once(socket, "data");
  await page.getByRole("button", { name: "Connections and subscriptions", exact: true }).click();
  const list = page.getByRole("grid", { name: "Connections and subscriptions, newest first" });
  await list.getByRole("row").nth(1).click();
  await page
    .getByRole("complementary")
    .getByText(/was refused: /)
    .waitFor();
});

it("[MQTT-430] what clients connect and subscribe with is on the page", async () => {
  const { page, host } = await open();
  const client = await connectAsync(`mqtt://${host}`, { clientId: "sensor-1" });
  onTestFinished(() => void client.end(true));
  await client.subscribeAsync("a/#", { qos: 1 });
  const region = page.getByRole("region", { name: "Connections and subscriptions" });
  await region.getByText("none", { exact: true }).waitFor();
  await region.getByText("All", { exact: true }).click();
  const list = page.getByRole("grid", { name: "Connections and subscriptions, newest first" });
  await list.getByText("CONNECT tcp").waitFor();
  await list.getByText("SUBSCRIBE a/#").waitFor();
  await list.getByRole("row", { name: /QoS 1/ }).click();
  await page
    .getByRole("complementary")
    .getByText(/subscribed to a\/#/)
    .waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Close the inspector" }).waitFor({ state: "detached" });
});
