import { connectAsync } from "mqtt";
import { expect, it } from "vitest";
import { shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("mqtt", { others: ["http"], flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"] });

it("[BL-180] hostile payloads are shown and compared, also after a reload", async () => {
  const { page, host } = await open();
  const client = await connectAsync(`mqtt://${host}`);
  const crashes: string[] = [];
  page.on("crash", () => crashes.push("crash"));
  page.on("pageerror", (error) => crashes.push(error.message));
  const payload = page.getByRole("region", { name: "Payload", exact: true });
  const bignum = Buffer.concat([Buffer.from([0xc2, 0x5a, 0, 1, 0, 0]), Buffer.alloc(65_536, 0xff)]);
  let workers = 0;
  page.on("worker", () => workers++);
  for (const [topic, content] of [
    ["deep", "[".repeat(65_500)],
    ["long", `{"a":"${"\\".repeat(60_000)}`],
    ["lines", "\n".repeat(60_000)],
    ["xml", `<?xml version="1.0"?>${"<a>".repeat(20_000)}`],
    ["bignum", bignum],
  ] as const) {
    await client.publishAsync(topic, content);
    await client.publishAsync(topic, content.slice(0, -1));
    await page.getByRole("treeitem", { name: new RegExp(`^${topic}`) }).click();
    await payload.locator(".cm-line").first().waitFor();
  }
  await page.getByRole("treeitem", { name: /^deep/ }).click();
  await page
    .getByText(/Shown to depth 200; what is deeper is on one line\./)
    .first()
    .waitFor();
  await page.reload();
  await page.getByRole("treeitem", { name: /^deep/ }).click();
  await page
    .getByText(/Shown to depth 200/)
    .first()
    .waitFor();
  await client.endAsync();
  expect(crashes).toEqual([]);
  // Each of them was laid out beside the page's thread.
  expect(workers).toBeGreaterThanOrEqual(5);
});

it("[BL-184] a body is searched, folded, selected over lines and copied by keyboard", async () => {
  const { page, origin } = await open("http");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const body = { order: 48_213, lines: Array.from({ length: 40 }, (_, index) => ({ sku: `KB-${index}`, note: "n".repeat(60) })) };
  await fetch(`${origin}/anything`, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  await page.getByRole("row", { name: /anything/ }).click();
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "Request", exact: true }).click();
  const well = page.getByRole("region", { name: "Body of the request", exact: true });
  await well.getByText('"order"').waitFor();
  await well.getByRole("textbox", { name: "Text, read-only" }).focus();
  await page.keyboard.press("Control+f");
  await page.keyboard.type("kb-17");
  await well.getByText("1 of 1").waitFor();
  await well.getByText('"KB-17"').waitFor();
  await page.keyboard.press("Escape");
  // The inspector stays: Escape closed the search.
  await well.getByRole("textbox", { name: "Text, read-only" }).focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Control+c");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('{\n  "order": 48213,\n');
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Control+Shift+[");
  await well.getByText("…").waitFor();
  await page.getByText("Raw", { exact: true }).click();
  await well.getByText(/^\{"order":48213,"lines":\[/).waitFor();
  await page.getByRole("button", { name: /^Format: / }).click();
  await page.getByRole("menuitemradio", { name: "Hex" }).click();
  await page.getByText("Pretty", { exact: true }).click();
  await well.getByText(/^7b 22 6f 72/).waitFor();
  // For this route alone, and after a reload as well.
  await page.reload();
  await page.getByRole("row", { name: /anything/ }).click();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Format: Hex" }).waitFor();
});

it("[BL-445] an image in a multipart body is drawn in the place of its part", async () => {
  const { page, origin } = await open("http");
  const form = new FormData();
  form.set("title", "A picture");
  form.set("file", await (await fetch(`${origin}/image/png`)).blob(), "picture.png");
  await fetch(`${origin}/post`, { method: "POST", body: form });
  await page.getByRole("row", { name: /post/ }).click();
  await page.getByRole("tab", { name: "Request", exact: true }).click();
  const well = page.getByRole("region", { name: "Body of the request", exact: true });
  const picture = well.getByRole("img", { name: /^PNG picture, \d+ by \d+ pixels$/ });
  await picture.waitFor();
  await well.getByText(/^PNG · \d+ × \d+$/).waitFor();
  const hasPixels = () =>
    picture.evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value) => value !== 0);
    });
  await expect.poll(hasPixels).toBe(true);
});
