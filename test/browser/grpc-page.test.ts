import { writeFileSync } from "node:fs";
import { Client, credentials } from "@grpc/grpc-js";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { prefixBytes } from "../../servers/grpc/engine/message-type.ts";
import { helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { interceptAnswers } from "./answers.ts";
import { openTab, shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("grpc");
const asIs = (bytes: Buffer) => bytes;
/** Mantine's selects are text boxes or combo boxes, by what else they do. */
const input = (page: Page, label: string) => page.locator(`input[aria-label="${label}"]`);
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

function clientOf(host: string): Client {
  const client = new Client(host, credentials.createInsecure());
  onTestFinished(() => client.close());
  return client;
}

const sayHello = (client: Client, name: string): Promise<string> =>
  new Promise((resolve) => {
    const request = helloRequest.frame({ name }).subarray(prefixBytes);
    client.makeUnaryRequest(
      "/example.Greeter/SayHello",
      asIs,
      (bytes: Buffer) => helloReply.decode(bytes).message,
      request,
      (error, reply) => resolve(error ? error.message : (reply as string)),
    );
  });

it("[GRPC-150] Live shows open calls, or those of a service, a method or a status", async () => {
  const { page, host } = await open();
  const client = clientOf(host);
  const stream = client.makeBidiStreamRequest("/example.EchoService/EchoBidiStream", asIs, asIs).on("error", () => {});
  await sayHello(client, "Ada");
  await new Promise((resolve) => client.makeUnaryRequest("/no.Such/Method", asIs, asIs, Buffer.alloc(0), resolve));
  await expect.poll(() => page.getByRole("row").count()).toBe(4);
  const status = page.getByRole("radiogroup", { name: "Status" });
  await status.getByText("Open", { exact: true }).click();
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await row(page, "EchoBidiStream").waitFor();
  stream.cancel();
  await page.getByText("None of 3 calls matches the filter.").waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await row(page, "EchoBidiStream").click();
  await page.getByText("No messages.", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Method all" }).click();
  await page.getByRole("combobox", { name: "Service or method contains" }).fill("greeter");
  await page.getByRole("option", { name: "example.Greeter", exact: true }).click();
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await row(page, "SayHello").waitFor();
  await page.getByRole("button", { name: "Method Greeter" }).click();
  await page.getByRole("option", { name: "all", exact: true }).click();
  await page.getByRole("button", { name: "Status all" }).click();
  await page.getByRole("option", { name: "UNIMPLEMENTED", exact: true }).click();
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await row(page, "no.Such").waitFor();
  await page.getByText("showing 1 of 1 that match").waitFor();
});

it("[GRPC-151] a wrong name of metadata is named at its field, and nothing is sent", async () => {
  const { page } = await open();
  await openTab(page, "Try");
  await page.getByRole("region", { name: "Metadata to send" }).getByRole("button", { name: "Add" }).click();
  await input(page, "Metadata 1, name").fill("bad name");
  await page.keyboard.press("Escape");
  await page.getByText("Only letters, digits").waitFor();
  const send = page.getByRole("button", { name: "Send", exact: true });
  await send.and(page.locator("[aria-disabled=true]")).waitFor();
  await page.keyboard.press("Control+Enter");
  await input(page, "Metadata 1, name").fill("x-good");
  await page.keyboard.press("Escape");
  await input(page, "Metadata 1, value").fill("größe");
  await page.getByText("A value is ASCII text").waitFor();
  expect(await page.getByText("The call appears here").count()).toBe(1);
  await input(page, "Metadata 1, value").fill("1");
  await send.click();
  await page.getByRole("region", { name: "Answer" }).getByText("0 OK").waitFor();
});

it("[GRPC-155] [GRPC-370] what is wrong with a rule or the file is shown with its line while it is typed", async () => {
  const { page } = await open();
  await openTab(page, "Replies");
  await page.getByRole("button", { name: "Edit file" }).click();
  const text = page.getByRole("textbox", { name: "Text of the file" });
  await text.fill('{ "rules": [\n  { "method": "example.Greeter/SayHello",\n    "reply": { "status": "one" } }\n] }');
  const problem = page.getByRole("list", { name: "Problems" }).getByRole("button", { name: /^Line 3 of the file, column/ });
  await problem.click();
  expect(await text.evaluate((area: HTMLTextAreaElement) => area.value.slice(area.selectionStart, area.selectionEnd))).toBe(
    '    "reply": { "status": "one" } }',
  );
  await text.fill('{ "rules": [\n  { "method": "example.Greeter/SayHello" "reply": {} }\n] }');
  await page.getByText("a comma is expected").waitFor();
  await page.getByText(/^Line 2 of the file, column 42/).waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "Add rule" }).first().click();
  await page.getByRole("textbox", { name: "Reply as JSON" }).fill('{ "status": "one" }');
  const ofRule = page.getByRole("list", { name: "Problems" }).getByRole("button");
  await ofRule.filter({ hasText: /^Answer, status / }).click();
  await page.getByRole("textbox", { name: "The rule as JSON" }).and(page.locator(":focus")).waitFor();
  await ofRule.filter({ hasText: /^Line \d+ of the rule as JSON, column \d+ reply\.status: / }).waitFor();
});

it("[GRPC-210] a replies file that changes while it is edited is not overwritten without a question", async () => {
  const { page, host } = await open();
  await openTab(page, "Replies");
  const rules = (name: string) =>
    `{ "rules": [\n{ "name": "${name}", "method": "example.Greeter/SayHello", "reply": { "message": "${name}" } }\n] }`;
  const save = page.getByRole("button", { name: "Save the file" });
  await page.getByRole("button", { name: "Edit file" }).click();
  const text = page.getByRole("textbox", { name: "Text of the file" });
  await text.fill(rules("mine"));
  const file = await page.getByRole("dialog").locator("code").first().innerText();
  writeFileSync(file, rules("theirs"));
  await page.getByText("The file was changed meanwhile").waitFor();
  expect(await save.isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Load the changed file" }).click();
  await expect.poll(() => text.inputValue()).toBe(rules("theirs"));
  await text.fill(rules("mine"));
  writeFileSync(file, rules("others"));
  await page.getByRole("button", { name: "Keep this text" }).click();
  await text.press("Control+Enter");
  await expect.poll(() => sayHello(clientOf(host), "Ada")).toBe("mine");
});

it("[GRPC-358] what was typed into the text of the file is kept when its dialog is left, until it is saved or discarded", async () => {
  const { page } = await open();
  await openTab(page, "Replies");
  const edit = page.getByRole("button", { name: "Edit file" });
  const dialog = page.getByRole("dialog", { name: "Edit the replies file" });
  const text = page.getByRole("textbox", { name: "Text of the file" });
  const fact = page.getByText("Text of the file not saved");
  const discard = dialog.getByRole("button", { name: "Discard" });
  await edit.click();
  const saved = await text.inputValue();
  expect(await discard.isDisabled()).toBe(true);
  await text.fill("typed for an hour");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await fact.waitFor();
  await edit.click();
  expect(await text.inputValue()).toBe("typed for an hour");
  await page.mouse.click(5, 5);
  await dialog.waitFor({ state: "detached" });
  await openTab(page, "Live");
  await openTab(page, "Replies");
  await edit.click();
  expect(await text.inputValue()).toBe("typed for an hour");
  await discard.click();
  expect(await text.inputValue()).toBe(saved);
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await fact.count()).toBe(0);
});

it("[GRPC-156] [GRPC-157] a changed rule stays as typed, a rule is moved by keys, duplicated, and tried with its conditions", async () => {
  const { page, host } = await open();
  await openTab(page, "Replies");
  await page.getByRole("button", { name: "Edit file" }).click();
  const rule = (name: string, who: string) =>
    `{ "name": "${name}", "method": "example.Greeter/SayHello", "when": { "request": { "name": "${who}" } }, "reply": { "message": "${name}" } }`;
  await page
    .getByRole("textbox", { name: "Text of the file" })
    .fill(`{ "rules": [\n${rule("first", "Ada")},\n${rule("second", "Ada")}\n] }`);
  await page.getByRole("button", { name: "Save the file" }).click();
  await row(page, "first").click();
  await page.getByRole("textbox", { name: "Reply as JSON" }).fill('{ "message": "changed" }');
  await row(page, "second").click();
  await page.getByText("1 not saved").waitFor();
  await row(page, "first").getByRole("switch").click({ force: true });
  await expect.poll(() => sayHello(clientOf(host), "Ada")).toBe("second");
  await row(page, "first").click();
  await page.getByText("Not saved yet").waitFor();
  await page.getByRole("button", { name: "Save the rule" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await row(page, "first").getByRole("switch").click({ force: true });
  await expect.poll(() => sayHello(clientOf(host), "Ada")).toBe("changed");

  await page.keyboard.press("Escape");
  const table = page.getByRole("grid", { name: "Rules" });
  await table.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Alt+ArrowDown");
  await expect.poll(() => table.getByRole("row").nth(1).textContent()).toContain("second");
  await row(page, "second").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await expect.poll(() => table.getByRole("row").count()).toBe(4);
  await page.getByRole("button", { name: "More for example.Greeter/SayHello" }).click();
  await page.getByRole("menuitem", { name: "Call its method in Try" }).click();
  await page.getByRole("textbox", { name: "name", exact: true }).and(page.locator('[value="Ada"]')).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("region", { name: "Answer" }).getByRole("row").filter({ hasText: '"second"' }).waitFor();
});

it("[GRPC-330] a rule is saved before the page knows that it was switched; one that was changed otherwise is not overwritten", async () => {
  const { page, host } = await open();
  const answers = await interceptAnswers(page);
  await page.reload();
  await openTab(page, "Replies");
  await page.getByRole("button", { name: "Edit file" }).click();
  const rules = (message: string) =>
    `{ "rules": [\n{ "name": "only", "method": "example.Greeter/SayHello", "reply": { "message": "${message}" } }\n] }`;
  const file = await page.getByRole("dialog").locator("code").first().innerText();
  await page.getByRole("textbox", { name: "Text of the file" }).fill(rules("as it was"));
  await page.getByRole("button", { name: "Save the file" }).click();
  await expect.poll(() => sayHello(clientOf(host), "Ada")).toBe("as it was");
  await row(page, "only").click();
  const json = page.getByRole("textbox", { name: "Reply as JSON" });
  await json.fill('{ "message": "changed" }');
  answers.treat("grpc replies.read", { kind: "late" });
  await row(page, "only").getByRole("switch").click({ force: true });
  await expect.poll(answers.held).toBe(true);
  answers.treat("grpc replies.read", undefined);
  const save = page.getByRole("button", { name: "Save the rule" });
  await save.click();
  await page.getByText("Saved", { exact: true }).waitFor();
  answers.fail();
  await row(page, "only").getByRole("switch").click({ force: true });
  await expect.poll(() => sayHello(clientOf(host), "Ada")).toBe("changed");

  // A page that has not read that it is on again would save it as off.
  await page.reload();
  await openTab(page, "Replies");
  await row(page, "only").click();
  await expect.poll(() => json.inputValue()).toContain("changed");
  await json.fill('{ "message": "mine" }');
  answers.treat("grpc replies.read", { kind: "late" });
  writeFileSync(file, rules("theirs"));
  await expect.poll(answers.held).toBe(true);
  answers.treat("grpc replies.read", undefined);
  await save.click();
  await page.getByText("The rule was changed meanwhile. Save replaces that, Discard keeps it.").waitFor();
  expect(await sayHello(clientOf(host), "Ada")).toBe("theirs");
  answers.fail();
  await save.click();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await sayHello(clientOf(host), "Ada")).toBe("mine");
});

it("[GRPC-359] changes of a rule that was removed meanwhile are saved as a new rule, or discarded", async () => {
  const { page, host } = await open();
  await openTab(page, "Replies");
  await page.getByRole("button", { name: "Edit file" }).click();
  const file = await page.getByRole("dialog").locator("code").first().innerText();
  const rules = (...names: string[]) =>
    JSON.stringify({ rules: names.map((name) => ({ name, method: "example.Greeter/SayHello", reply: { message: name } })) });
  await page.getByRole("textbox", { name: "Text of the file" }).fill(rules("gone", "stays"));
  await page.getByRole("button", { name: "Save the file" }).click();
  const json = page.getByRole("textbox", { name: "Reply as JSON" });
  const removed = page.getByText("The rule was removed meanwhile. Save adds it again, Discard leaves it removed.");
  const foot = page.getByRole("button", { name: "Save the rule" });
  await row(page, "gone").click();
  await json.fill('{ "message": "mine" }');
  writeFileSync(file, rules("stays"));
  await removed.waitFor();
  await page.keyboard.press("Escape");
  await row(page, "stays").click();
  await page.getByRole("button", { name: "Change the rule gone" }).click();
  await removed.waitFor();
  expect(await json.inputValue()).toBe('{ "message": "mine" }');
  await foot.click();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await removed.count()).toBe(0);
  await row(page, "gone").waitFor();

  await json.fill('{ "message": "other" }');
  writeFileSync(file, rules("stays"));
  await removed.waitFor();
  await page.getByRole("button", { name: "Discard", exact: true }).click();
  await json.waitFor({ state: "detached" });
  expect(await page.getByRole("button", { name: "Change the rule gone" }).count()).toBe(0);
  expect(await sayHello(clientOf(host), "Ada")).toBe("stays");
});

it("[GRPC-158] from Services a method is opened in Try, and gets a rule", async () => {
  const { page } = await open();
  await openTab(page, "Services");
  await row(page, "EchoUnary").click();
  await page.getByRole("button", { name: "Open in Try" }).click();
  await page.getByText("example.EchoService/EchoUnary", { exact: false }).last().waitFor();
  await openTab(page, "Services");
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("heading", { name: "New rule" }).waitFor();
  await page.getByRole("button", { name: "Save the rule" }).click();
  await row(page, "EchoService/EchoUnary").waitFor();
});
