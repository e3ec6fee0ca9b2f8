import mqtt from "mqtt";
import type { Locator, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { exampleEvent } from "../../contract/services/example-event.ts";
import { interceptAnswers } from "./answers.ts";
import { loadAgain, openBrowserShell } from "./browser-shell.ts";

interface Fault {
  readonly page: string;
  readonly call: string;
  /** An answer of another shape, which a component trips over. */
  readonly value: unknown;
  readonly open?: (page: Page) => Promise<unknown>;
  /** In the log. */
  readonly region: string;
  /** What goes on around it. */
  readonly goesOn: (page: Page) => readonly Locator[];
}

const row = (page: Page, text: string) => page.getByRole("main").getByRole("row").filter({ hasText: text }).first();

const faults: readonly Fault[] = [
  {
    page: "settings",
    call: "app.settings",
    value: {},
    region: "settings: program",
    goesOn: (page) => [page.getByText("SHA-256 fingerprint"), page.getByText("Data folder"), page.getByText("Colour scheme").first()],
  },
  {
    page: "http/config",
    call: "config.read",
    value: { fields: [{ group: "Broken" }] },
    region: "http: Config",
    goesOn: (page) => [page.getByRole("heading", { name: "HTTP" }), page.getByRole("tab", { name: "Logs" })],
  },
  {
    page: "http/live",
    call: "traffic.detail",
    value: { kind: "http" },
    open: (page) => row(page, "/api/data").click(),
    region: "inspector",
    goesOn: (page) => [row(page, "/api/data"), page.getByRole("button", { name: "Pause" })],
  },
  {
    page: "account/users",
    call: "account user.list",
    value: { matching: 1, users: [null] },
    open: (page) => page.getByPlaceholder("E-mail, name").fill("api@"),
    region: "Users",
    goesOn: (page) => [page.getByRole("button", { name: "Add user" }), page.getByRole("toolbar", { name: "Users" })],
  },
  {
    page: "events/live",
    call: "events plot",
    value: { step: "minute", at: [], byLanguage: [], byProvider: [], total: 0, accepted: 0, behind: 0 },
    region: "events outcomes",
    goesOn: (page) => [row(page, "accepted"), page.getByRole("region", { name: "Rate limits" })],
  },
  {
    page: "mqtt/live",
    call: "mqtt client.list",
    value: { at: 0, clients: [null], matching: 1 },
    open: async (page) => {
      await page.getByRole("button", { name: "Filter clients by name or subscription" }).click();
      await page.getByPlaceholder("Filter clients").fill("reader");
    },
    region: "mqtt clients",
    goesOn: (page) => [page.getByRole("treeitem").first(), page.getByRole("toolbar", { name: "Messages" })],
  },
];

it("[BL-221] a fault in one region is shown there and in the log, and the others keep working", { timeout: 240_000 }, async () => {
  const { page, endpointOf } = await openBrowserShell("http", {
    others: ["mqtt", "account", "events"],
    flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"],
  });
  await fetch(new URL("/api/data", endpointOf("http")));
  const client = await mqtt.connectAsync(`mqtt://${endpointOf("mqtt").host}`, { clientId: "reader" });
  onTestFinished(() => client.endAsync(true));
  await client.publishAsync("plant/one", "21.5", { qos: 1 });
  await fetch(new URL("/events", endpointOf("events")), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(exampleEvent),
  });
  const found: string[] = [];
  const answers = await interceptAnswers(page);
  for (const fault of faults) {
    try {
      answers.treat(fault.call, { kind: "replaced", value: fault.value });
      await loadAgain(page, fault.page);
      await fault.open?.(page);
      await page.getByRole("alert").filter({ hasText: "This part of the window failed" }).first().waitFor();
      for (const other of fault.goesOn(page)) await other.waitFor();
      await page.getByText(`dashboard, ${fault.region}:`).first().waitFor();
    } catch (error) {
      found.push(`${fault.page} ${fault.call}: ${(error as Error).message}`);
    } finally {
      answers.treat(fault.call, undefined);
      answers.fail();
    }
  }
  expect(found).toEqual([]);
});

it("[BL-221] a region that failed shows the next row that is chosen", async () => {
  const { page, origin } = await openBrowserShell("http");
  await fetch(`${origin}/api/data?one`);
  await fetch(`${origin}/api/data?two`);
  const answers = await interceptAnswers(page);
  answers.treat("traffic.detail", { kind: "replaced", value: { kind: "http" } });
  await loadAgain(page, "http/live");
  await row(page, "/api/data?one").click();
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await inspector.getByRole("alert").filter({ hasText: "This part of the window failed" }).waitFor();
  answers.treat("traffic.detail", undefined);
  await row(page, "/api/data?two").click();
  await inspector.getByRole("tab", { name: "Response" }).waitFor();
});
