import { Client, credentials } from "@grpc/grpc-js";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { openTab, shareBrowserShell } from "./browser-shell.ts";
import { dropFiles } from "./drop-files.ts";

const open = shareBrowserShell("grpc");

const drop = (page: Page, files: Readonly<Record<string, string>>, said = "Drop .proto files, a folder with them, or a descriptor set") =>
  dropFiles(page, files, said);

const shop = (field: string) => `syntax = "proto3"; package shop;
  message Item { string ${field} = 1; }
  service Items { rpc Get(Item) returns (Item); }`;

it("[GRPC-115] dropped files are served and listed, a broken one with its line; a call keeps its types; what was dropped is removed", async () => {
  const { page, host } = await open();
  await openTab(page, "Services");
  await drop(page, {
    "items.proto": shop("sku"),
    "set/v1/more.proto": 'syntax = "proto3"; package set; message M {}',
    "broken.proto": 'syntax = "proto3";\nmessage Bad {\n  Nothing a = 1;\n}',
  });
  const panel = page.getByRole("region", { name: "Your protocol files" });
  await panel.getByText("broken.proto:3:11").waitFor();
  await panel.getByText("there is no type Nothing").waitFor();
  await panel.getByText("shop.Items").waitFor();
  await panel.getByRole("listitem").filter({ hasText: "set" }).getByText("1 file").waitFor();
  await page.getByPlaceholder("Service, method, type").fill("shop.");
  await page.getByRole("row").filter({ hasText: "shop.Items" }).first().waitFor();

  const client = new Client(host, credentials.createInsecure());
  onTestFinished(() => client.close());
  const asIs = (bytes: Buffer) => bytes;
  const get = () =>
    new Promise((resolve) =>
      client.makeUnaryRequest("/shop.Items/Get", asIs, asIs, Buffer.from([10, 1, 0x41]), (_, reply) => resolve(reply)),
    );
  expect(await get()).toBeDefined();
  await drop(page, { "items.proto": shop("label"), "notes.txt": "no" });
  await page.getByText("Nothing to add in notes.txt").waitFor();
  await page.getByText("1 file added").waitFor();
  expect(await get()).toBeDefined();
  await openTab(page, "Live");
  const calls = page.getByRole("row").filter({ hasText: "Items/Get" });
  await calls.nth(1).click();
  await page.getByRole("row").filter({ hasText: '{"sku":"A"}' }).waitFor();
  await calls.first().click();
  await page.getByRole("row").filter({ hasText: '{"label":"A"}' }).waitFor();

  await openTab(page, "Services");
  for (const name of ["broken.proto", "items.proto", "set"]) {
    await panel.getByRole("button", { name: `Remove ${name}` }).click();
    await page
      .getByRole("dialog", { name: `Remove “${name}”?` })
      .getByRole("button", { name: "Remove the files" })
      .click();
    await panel.getByRole("button", { name: `Remove ${name}` }).waitFor({ state: "detached" });
  }
  await panel.getByText("none; drop .proto files").waitFor();
  await expect.poll(() => page.getByRole("row").filter({ hasText: "shop.Items" }).count()).toBe(0);
});

it("[GRPC-154] while the service is stopped a dropped file is not taken, and the page stays", async () => {
  const { page } = await open();
  await openTab(page, "Services");
  await page.getByRole("row").filter({ hasText: "SayHello" }).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("not running: services and types only").waitFor();
  const address = page.url();
  await drop(page, { "items.proto": shop("sku") }, "Start gRPC first");
  expect(page.url()).toBe(address);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("none; drop .proto files").waitFor();
  expect(await page.getByRole("row").filter({ hasText: "shop.Items" }).count()).toBe(0);
});
