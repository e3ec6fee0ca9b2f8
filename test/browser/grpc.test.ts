import { Client, credentials } from "@grpc/grpc-js";
import type { Page } from "playwright-core";
import { it, onTestFinished } from "vitest";
import { prefixBytes } from "../../servers/grpc/engine/message-type.ts";
import { helloRequest } from "../../servers/grpc/services/example-messages.ts";
import { openBrowserShell } from "./browser-shell.ts";

const flags = ["--grpc-metrics-port", "0"];
const tab = (page: Page, name: string) => page.getByRole("tab", { name, exact: true }).click();

it("[GRPC-70] [GRPC-71] Services shows methods with the fields of their types, and switches health", async () => {
  const { page } = await openBrowserShell("grpc", { flags });
  await tab(page, "Services");
  const greeter = page.getByRole("row").filter({ hasText: "example.Greeter" });
  const health = greeter.getByRole("switch", { name: "example.Greeter is serving" });
  await health.click({ force: true });
  await greeter.getByText("NOT_SERVING").waitFor();
  await page.getByRole("row").filter({ hasText: "SayHello" }).click();
  const method = page.getByRole("region", { name: "Method" }).first();
  await method.getByText("example.HelloRequest").waitFor();
  await method.getByRole("cell", { name: "name", exact: true }).waitFor();
}, 60_000);

it("[GRPC-72] the inspector shows a message as JSON and as bytes", async () => {
  const { page, host } = await openBrowserShell("grpc", { flags });
  const client = new Client(host, credentials.createInsecure());
  onTestFinished(() => client.close());
  const asIs = (bytes: Buffer) => bytes;
  client.makeUnaryRequest("/example.Greeter/SayHello", asIs, asIs, helloRequest.frame({ name: "Ada" }).subarray(prefixBytes), () => {});
  await page.getByRole("row").filter({ hasText: "SayHello" }).click();
  await page.getByRole("row").filter({ hasText: '{"name":"Ada"}' }).click();
  await page.getByText("example.HelloRequest").waitFor();
  await page.getByText("Bytes", { exact: true }).click();
  await page.getByRole("region", { name: "Bytes of the message" }).waitFor();
}, 60_000);
