import mqtt from "mqtt";
import type { Locator, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { exampleEvent } from "../../contract/services/example-event.ts";
import { type Answers, interceptAnswers } from "./answers.ts";
import { loadAgain, openBrowserShell } from "./browser-shell.ts";

interface Reading {
  readonly page: string;
  readonly call: string;
  /** "Loading …", "Could not read …" */
  readonly what: string;
  /** Up to where it is read. */
  readonly open?: (page: Page) => Promise<unknown>;
  readonly shows: (page: Page) => Locator;
  /** Until there is an answer, what is shown stays. */
  readonly keeps?: boolean;
}

const row = (page: Page, text: string) => page.getByRole("main").getByRole("row").filter({ hasText: text }).first();

const readings: readonly Reading[] = [
  { page: "http/config", call: "config.read", what: "the configuration", shows: (page) => page.getByLabel("Port", { exact: true }) },
  { page: "settings", call: "app.settings", what: "the settings", shows: (page) => page.getByText("Rows of each service") },
  { page: "settings", call: "app.info", what: "the version", shows: (page) => page.getByText("Data folder") },
  {
    page: "settings",
    call: "certificate.authority",
    what: "the certificate authority",
    shows: (page) => page.getByText("SHA-256 fingerprint"),
  },
  {
    page: "overview",
    call: "rate.history",
    what: "the traffic",
    shows: (page) => page.getByRole("img", { name: /^Bytes a second/ }).or(page.getByText("No traffic in this time")),
  },
  { page: "http/live", call: "traffic.read", what: "the requests", shows: (page) => row(page, "/api/data") },
  { page: "timeline", call: "traffic.read", what: "the traffic of all services", shows: (page) => row(page, "/api/data") },
  { page: "http/logs", call: "log.read", what: "the log", shows: (page) => page.getByText("Listening").first() },
  { page: "mqtt/live", call: "mqtt topic.history", what: "the messages", shows: (page) => row(page, "celsius") },
  {
    page: "http/live",
    call: "traffic.detail",
    what: "the details",
    open: (page) => row(page, "/api/data").click(),
    shows: (page) => page.getByRole("tab", { name: "Response" }),
  },
  {
    page: "timeline",
    call: "traffic.detail",
    what: "the details",
    open: (page) => row(page, "/api/data").click(),
    shows: (page) => page.getByRole("tab", { name: "Response" }),
  },
  {
    page: "http/live",
    call: "traffic.parts",
    what: "the events",
    open: async (page) => {
      await row(page, "/api/stream").click();
      await page.getByRole("tab", { name: "Events" }).click();
    },
    shows: (page) => page.getByRole("grid", { name: /^Events, / }),
  },
  {
    page: "account/users",
    call: "account user.list",
    what: "the users",
    open: (page) => page.getByPlaceholder("E-mail, name").fill("api@"),
    shows: (page) => row(page, "api@example.com"),
    keeps: true,
  },
  {
    page: "account/users",
    call: "account user.read",
    what: "the user",
    open: (page) => row(page, "api@example.com").click(),
    shows: (page) => page.getByRole("tab", { name: "Sign-in" }),
  },
  {
    page: "account/sessions",
    call: "account token.list",
    what: "the tokens",
    open: (page) => row(page, "api@example.com").click(),
    shows: (page) => page.getByRole("region", { name: "Tokens", exact: true }),
  },
  {
    page: "events/live",
    call: "events plot",
    what: "the figures",
    shows: (page) => page.getByRole("region", { name: "Outcomes over time" }),
  },
  { page: "events/live", call: "events page", what: "the events", shows: (page) => row(page, "accepted") },
  {
    page: "events/live",
    call: "events devices",
    what: "the choices",
    open: (page) => page.getByRole("button", { name: /^Device/ }).click(),
    shows: (page) => page.getByRole("option").nth(1),
  },
  { page: "mqtt/live", call: "mqtt topic.children", what: "the topics", shows: (page) => page.getByRole("treeitem").first() },
  {
    page: "mqtt/live",
    call: "mqtt message.read",
    what: "the message",
    shows: (page) => page.getByRole("region", { name: "Message", exact: true }).getByRole("heading", { name: "plant/one" }),
  },
  {
    page: "mqtt/live",
    call: "mqtt client.list",
    what: "the clients",
    open: async (page) => {
      await page.getByRole("button", { name: "Filter clients by name or subscription" }).click();
      await page.getByPlaceholder("Filter clients").fill("reader");
    },
    shows: (page) => page.getByRole("option").filter({ hasText: "reader" }),
    keeps: true,
  },
];

it("[BL-220] a page shows loading, then a failure with a retry button, then the data", { timeout: 240_000 }, async () => {
  const { page, endpointOf } = await openBrowserShell("http", {
    others: ["mqtt", "account", "events"],
    flags: ["--mqtt-web-socket", "false", "--mqtt-tls", "false"],
  });
  await sendTraffic(endpointOf);
  const found: string[] = [];
  const answers = await interceptAnswers(page);
  for (const reading of readings) {
    try {
      answers.treat(reading.call, { kind: "late" });
      await loadAgain(page, reading.page);
      await reading.open?.(page);
      await isRead(page, reading, answers);
    } catch (error) {
      found.push(`${reading.page} ${reading.call}: ${(error as Error).message}`);
    } finally {
      answers.treat(reading.call, undefined);
      answers.fail();
    }
  }
  expect(found).toEqual([]);
});

it("[BL-540] a list says that it searches until it knows what matches, and that nothing matches only then", async () => {
  const { page, endpointOf } = await openBrowserShell("http", { others: ["events"] });
  await fetch(new URL("/api/data", endpointOf("http")));
  await fetch(new URL("/events", endpointOf("events")), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(exampleEvent),
  });
  const answers = await interceptAnswers(page);
  for (const { at, call, searching, status, none } of [
    {
      at: "http/live",
      call: "traffic.read",
      searching: "Searching 1 row…",
      status: "searching 1 row…",
      none: "None of 1 request matches the filter.",
    },
    {
      at: "timeline",
      call: "traffic.read",
      searching: /^Searching [1-9] rows?…$/,
      status: /searching [1-9] rows?…/,
      none: "Nothing matches this filter",
    },
    {
      at: "events/live",
      call: "events page",
      searching: "Searching 1 event…",
      status: "searching…",
      none: "None of 1 event matches the filter.",
    },
  ]) {
    await loadAgain(page, at);
    const main = page.getByRole("main");
    const filter = main.getByPlaceholder(/^(?:Path|Filter by text)/).first();
    const nothing = main.getByText(none);
    await main.getByRole("row").nth(1).waitFor();
    // Nothing is left of the rows before it: the table of events keeps them until there is an answer.
    await filter.fill("nothing has this");
    await nothing.waitFor();
    answers.treat(call, { kind: "late" });
    await filter.fill("nor this");
    await main.getByRole("status").filter({ hasText: searching }).waitFor();
    // The count of Events is not shown where the page is narrow.
    await main.getByText(status).last().waitFor({ state: "attached" });
    expect([await nothing.count(), await main.getByText(/that match|\d events? match/).count()]).toEqual([0, 0]);
    answers.treat(call, undefined);
    answers.fail();
    await main.getByRole("alert").getByText("The test refused this call.").waitFor();
    expect([await nothing.count(), await main.getByText(/earching|that match/).count()]).toEqual([0, 0]);
    await main.getByRole("button", { name: "Retry" }).click();
    await nothing.waitFor();
  }
});

/** Late, then failed, then failed again, then there. */
async function isRead(page: Page, { call, what, shows, keeps = false }: Reading, answers: Answers): Promise<void> {
  const loading = page
    .getByRole("status")
    .filter({ hasText: `Loading ${what}` })
    .first();
  if (keeps) await expect.poll(() => answers.held()).toBe(true);
  else {
    await loading.waitFor();
    // It may be replaced by another one of its kind meanwhile.
    await expect.poll(() => loading.evaluate((element) => getComputedStyle(element).animationDelay)).toBe("0.2s");
    expect(await shows(page).first().isVisible()).toBe(false);
  }
  answers.treat(call, { kind: "failing" });
  answers.fail();

  const failed = page
    .getByRole("alert")
    .filter({ hasText: `Could not read ${what}` })
    .first();
  await failed.waitFor();
  expect(await failed.textContent()).toContain("The test refused this call.");
  const retry = failed.locator("xpath=..").getByRole("button", { name: "Retry" });
  const asked = answers.asked(call);
  await retry.click();
  await expect.poll(() => answers.asked(call)).toBeGreaterThan(asked);
  await failed.waitFor();

  answers.treat(call, undefined);
  // What is asked for again by itself may be there before the click, and the button gone.
  await Promise.race([retry.click().catch(() => undefined), failed.waitFor({ state: "detached" })]);
  await shows(page).first().waitFor();
  await failed.waitFor({ state: "detached" });
}

async function sendTraffic(endpointOf: (service: string) => URL): Promise<void> {
  await fetch(new URL("/api/data", endpointOf("http")));
  await fetch(new URL("/api/stream?count=3&interval=10", endpointOf("http"))).then((answer) => answer.text());
  const client = await mqtt.connectAsync(`mqtt://${endpointOf("mqtt").host}`, { clientId: "reader" });
  onTestFinished(() => client.endAsync(true));
  await client.subscribeAsync("plant/#");
  await client.publishAsync("plant/one", '{"celsius":21.5}', { qos: 1, retain: true });
  await fetch(new URL("/events", endpointOf("events")), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(exampleEvent),
  });
  await fetch(new URL("/login", endpointOf("account")), {
    method: "POST",
    body: new URLSearchParams({ username: "api@example.com", password: "backlot-demo" }),
  });
}
