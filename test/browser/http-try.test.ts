import { expect, it } from "vitest";
import { openTab, shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("http");

it("[HTTP-140] [BL-311] a WebSocket is tried: connected, sent to, and closed with its code; Ctrl Enter sends from anywhere", async () => {
  const { page, host } = await open();
  await page.getByRole("tab", { name: "Try", exact: true }).click();
  await page.locator("label:visible", { hasText: /^WebSocket$/ }).click();
  // Nothing of the form has the focus.
  await page.locator("body").press("Control+Enter");
  await page.getByText("opened in").waitFor();
  await page.locator("body").press("Control+Enter");
  const messages = page.getByRole("grid", { name: "Messages of the WebSocket, newest first" });
  await messages.getByText("↓ received").waitFor();
  expect(await page.getByText("websocat -n1").innerText()).toContain(`ws://${host}/ws/echo`);
  await page.getByRole("textbox", { name: "Close code" }).fill("4001");
  await page.getByRole("textbox", { name: "Close reason" }).fill("bye");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByText("closed 4001", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Show in Live" }).click();
  await page.getByRole("row").filter({ hasText: "closed 4001" }).click({ button: "right" });
  await page.getByRole("menu", { name: "Row" }).getByRole("menuitem", { name: "Open in Try" }).click();
  await page.getByRole("region", { name: "Try a WebSocket" }).waitFor();
});

it("[BL-341] [BL-342] a recorded form keeps its line breaks when it is edited in Try, and no menu stays in the tab that was left", async () => {
  const { page, origin } = await open();
  const part = (name: string, value: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const body = `${part("a", "1\n2")}${part("file", "x")}--b--\r\n`;
  await fetch(`${origin}/post`, { method: "POST", headers: { "Content-Type": "multipart/form-data; boundary=b" }, body });
  await page.getByRole("row").filter({ hasText: "/post" }).click();
  const more = page.getByRole("button", { name: "More: export, copy, send again" });
  await more.click();
  await page.getByRole("menuitem", { name: "Open in Try" }).click();
  const field = page.getByRole("textbox", { name: "Body to send" });
  await field.press("Control+Home");
  for (let line = 0; line < 3; line++) await field.press("ArrowDown");
  await field.press("End");
  await field.pressSequentially("0");
  await page.locator("body").press("Control+Enter");
  await page.getByRole("region", { name: "Answer" }).getByText(String.raw`"10\n2"`).waitFor();
  await openTab(page, "Live");
  expect(await page.getByRole("menu", { includeHidden: true }).count()).toBe(0);
});

it("[BL-312] a path with a space is sent encoded", async () => {
  const { page } = await open();
  await page.getByRole("tab", { name: "Try", exact: true }).click();
  await page.locator(`input[aria-label="Path and query"]:visible`).fill("/anything/a b ü");
  await page.locator("body").press("Control+Enter");
  await page.getByText("200 OK").waitFor();
  await page.getByRole("button", { name: "Show in Live" }).click();
  await page.getByText("/anything/a%20b%20%C3%BC").first().waitFor();
});

it("[BL-320] a header field is found that only the details of a request have", async () => {
  const { page, origin } = await open();
  await fetch(`${origin}/api/data`, { headers: { "X-Trace": "needle-1" } });
  await fetch(`${origin}/health`);
  const rows = page.getByRole("grid", { name: "Requests, newest first" }).getByRole("row");
  await rows.filter({ hasText: "/health" }).waitFor();
  await page.getByRole("textbox", { name: "Filter by path, client, body" }).fill("x-trace: needle");
  await page.getByText("matches the filter").waitFor();
  await page.getByText("Of headers and bodies, only what the list shows was searched.").waitFor();
  await page.getByRole("button", { name: "Search all of them" }).click();
  await rows.filter({ hasText: "/api/data" }).waitFor();
  const inDetails = page.getByRole("button", { name: "Search headers and bodies too" });
  await inDetails.click();
  await page.getByText("matches the filter").waitFor();
  await inDetails.click();
  await rows.filter({ hasText: "/api/data" }).waitFor();
  await fetch(`${origin}/api/status`, { headers: { "X-Trace": "needle-2" } });
  await rows.filter({ hasText: "/api/status" }).waitFor();
  expect(await rows.filter({ hasText: "/health" }).count()).toBe(0);
});
