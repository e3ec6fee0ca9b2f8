import { Client, credentials, type StatusObject } from "@grpc/grpc-js";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { prefixBytes } from "../../servers/grpc/engine/message-type.ts";
import { echoMessage, helloReply, helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { openTab, shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("grpc");
const asIs = (bytes: Buffer) => bytes;

it("[GRPC-70] [GRPC-71] Services shows methods with the fields of their types, and switches health", async () => {
  const { page } = await open();
  await openTab(page, "Services");
  const greeter = page.getByRole("row").filter({ hasText: "example.Greeter" });
  const health = greeter.getByRole("switch", { name: "example.Greeter is serving" });
  await health.click({ force: true });
  await greeter.getByText("NOT_SERVING").waitFor();
  await page.getByRole("row").filter({ hasText: "SayHello" }).click();
  const method = page.getByRole("region", { name: "Method" }).first();
  await method.getByText("example.HelloRequest").waitFor();
  await method.getByRole("cell", { name: "name", exact: true }).waitFor();
});

it("[GRPC-72] the inspector shows a message as JSON and as bytes", async () => {
  const { page, host } = await open();
  const client = new Client(host, credentials.createInsecure());
  onTestFinished(() => client.close());
  client.makeUnaryRequest("/example.Greeter/SayHello", asIs, asIs, helloRequest.frame({ name: "Ada" }).subarray(prefixBytes), () => {});
  await page.getByRole("row").filter({ hasText: "SayHello" }).click();
  await page.getByRole("row").filter({ hasText: '{"name":"Ada"}' }).click();
  await page.getByTitle("example.HelloRequest").waitFor();
  await page.getByText("Bytes", { exact: true }).click();
  await page.getByRole("region", { name: "Bytes of the message" }).waitFor();
});

/** Mantine's selects are text boxes or combo boxes, by what else they do. */
const input = (page: Page, label: string) => page.locator(`input[aria-label="${label}"]`);

const chooseMethod = async (page: Page, name: string) => {
  await input(page, "Method").click();
  await page.getByRole("option", { name, exact: true }).click();
};

it("[GRPC-73] [GRPC-75] Try opens a stream from its template, sends another message and half-closes it", async () => {
  const { page } = await open();
  await openTab(page, "Try");
  await chooseMethod(page, "EchoBidiStream");
  await page.getByText("JSON", { exact: true }).click();
  const message = page.getByRole("textbox", { name: "Message to send" });
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await message.fill('{"message":"two"}');
  await page.getByRole("button", { name: "Send message" }).click();
  const answer = page.getByRole("region", { name: "Answer" });
  await answer.getByText("2 sent · 2 received").waitFor();
  await answer.getByText(/\d s left/).waitFor();
  await page.getByRole("button", { name: "Half-close" }).click();
  await answer.getByText("0 OK").waitFor();
  await answer.getByRole("row").filter({ hasText: "received" }).filter({ hasText: "two" }).waitFor();
});

it("[GRPC-76] [GRPC-77] [GRPC-78] Try has a form of the type, remembers what is typed, and decodes the details of a status", async () => {
  const { page } = await open();
  await openTab(page, "Try");
  await chooseMethod(page, "Chat");
  await input(page, "action: which field").click();
  await page.getByRole("option", { name: "say", exact: true }).click();
  await page.getByRole("textbox", { name: "say.room" }).fill("hall");
  await page.getByText(`-d '{"say":{"room":"hall"}}'`).waitFor();
  await chooseMethod(page, "SayHello");
  await page.getByRole("textbox", { name: "name", exact: true }).fill("Ada");
  const metadata = page.getByRole("region", { name: "Metadata to send" });
  for (const [at, name, value] of [
    [1, "x-backlot-status", "UNAVAILABLE"],
    [2, "x-backlot-details", '{"@type":"RetryInfo","retryDelay":"2s"}'],
  ] as const) {
    await metadata.getByRole("button", { name: "Add" }).click();
    await input(page, `Metadata ${at}, name`).fill(name);
    await input(page, `Metadata ${at}, value`).fill(value);
  }
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const answer = page.getByRole("region", { name: "Answer" });
  await answer.getByText("14 UNAVAILABLE").waitFor();
  await answer.getByText("google.rpc.RetryInfo").waitFor();
  await answer.getByText('"retryDelay": "2s"').waitFor();
  // What is shown is of another method then.
  await chooseMethod(page, "Chat");
  await answer.getByText(/^Of the call of \/example\.Greeter\/SayHello at \d/).waitFor();
  await chooseMethod(page, "SayHello");
  await page.getByRole("textbox", { name: "name", exact: true }).fill("Ada");
  await page.reload();
  await page.getByRole("textbox", { name: "name", exact: true }).and(page.locator('[value="Ada"]')).waitFor();
});

it("[GRPC-112] a rule added on the page answers the next call, and Send in the inspector sends into an open stream and ends it", async () => {
  const { page, host } = await open();
  const client = new Client(host, credentials.createInsecure());
  onTestFinished(() => client.close());
  await openTab(page, "Replies");
  await page.getByText("No rules yet").waitFor();
  await page.getByRole("button", { name: "Add rule" }).first().click();
  await page.getByRole("textbox", { name: "Reply as JSON" }).fill('{ "message": "Hi {{request.name}}" }');
  await page.getByRole("button", { name: "Save the rule" }).click();
  const rule = page.getByRole("row").filter({ hasText: "Greeter/SayHello" });
  await rule.waitFor();
  const reply = await new Promise<string>((resolve, reject) => {
    const decode = (bytes: Buffer) => helloReply.decode(bytes).message;
    const request = helloRequest.frame({ name: "Ada" }).subarray(prefixBytes);
    client.makeUnaryRequest("/example.Greeter/SayHello", asIs, decode, request, (error, value) =>
      error ? reject(error) : resolve(value as string),
    );
  });
  expect(reply).toBe("Hi Ada");
  await rule.getByRole("gridcell").last().getByText("1", { exact: true }).waitFor();

  const received: string[] = [];
  const decode = (bytes: Buffer) => echoMessage.decode(bytes).message;
  const stream = client.makeBidiStreamRequest("/example.EchoService/EchoBidiStream", asIs, decode);
  const ended = new Promise<StatusObject>((resolve) => {
    stream.on("data", (message: string) => received.push(message)).on("error", () => {});
    stream.on("status", resolve);
  });
  await openTab(page, "Live");
  await page.getByRole("row").filter({ hasText: "EchoBidiStream" }).click();
  await openTab(page, "Send");
  const message = page.getByRole("textbox", { name: "Message as JSON" });
  await message.fill('{\n  "nome": 1 }');
  await page.getByText("line 2 column 3").waitFor();
  await message.fill('{ "message": "pushed" }');
  await page.getByRole("button", { name: "Send message" }).click();
  await page.getByText("1 message sent").waitFor();
  await page.keyboard.press("Escape");
  await message.waitFor({ state: "hidden" });
  await page.getByRole("row").filter({ hasText: "EchoBidiStream" }).click();
  await openTab(page, "Send");
  expect(await message.inputValue()).toBe('{ "message": "pushed" }');
  await page.getByText("Status", { exact: true }).last().click();
  await page.getByRole("textbox", { name: "Details of the status as JSON" }).fill('{"@type":"RetryInfo","retryDelay":"2s"}');
  await page.getByRole("button", { name: "End with status" }).click();
  const status = await ended;
  expect(status).toMatchObject({ code: 14 });
  expect(status.metadata.get("grpc-status-details-bin").toString()).toContain("google.rpc.RetryInfo");
  expect(received).toEqual(["pushed"]);
});

it("[GRPC-145] while the service is stopped its methods are shown, and recorded messages as JSON", async () => {
  const { page, host } = await open();
  const client = new Client(host, credentials.createInsecure());
  onTestFinished(() => client.close());
  client.makeUnaryRequest("/example.Greeter/SayHello", asIs, asIs, helloRequest.frame({ name: "Ada" }).subarray(prefixBytes), () => {});
  await page.getByRole("row").filter({ hasText: "SayHello" }).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "SayHello" }).click();
  await page.getByRole("row").filter({ hasText: '{"name":"Ada"}' }).waitFor();
  await openTab(page, "Services");
  await page.getByText("not running: services and types only").waitFor();
  await page.getByRole("row").filter({ hasText: "SayHello" }).click();
  await page.getByRole("region", { name: "Method" }).first().getByRole("cell", { name: "name", exact: true }).waitFor();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
});

it("[GRPC-144] Metrics plots calls of the last minutes", async () => {
  const { page } = await open();
  await page.getByRole("button", { name: "Send sample traffic" }).click();
  await openTab(page, "Metrics");
  await page.getByRole("img", { name: /^Calls a second over time; newest: begun [\d.]*[1-9]/ }).waitFor();
  await page
    .getByRole("img", { name: /^Messages a second over time/ })
    .locator("canvas")
    .waitFor();
  await page.getByRole("toolbar", { name: "Metrics" }).getByText("1 h", { exact: true }).click();
  await page.getByRole("img", { name: /^Unary latency over time; newest: p95/ }).waitFor();
});
