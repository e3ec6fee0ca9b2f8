import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { OutcomePlot } from "../../contract/services/events.ts";
import { interceptAnswers } from "./answers.ts";
import { openBrowserShell, shareBrowserShell } from "./browser-shell.ts";

const open = shareBrowserShell("events");

async function fromMenu(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole("button", { name: "More: import, samples, delete" }).click();
  await page.getByRole("menuitem", { name }).click();
}

async function generate(page: Page, count: number): Promise<void> {
  await fromMenu(page, "Generate sample events…");
  await page.getByRole("textbox", { name: "Events" }).fill(String(count));
  await page.getByRole("button", { name: /^Generate [\d,]+ events$/ }).click();
}

it("[EV-74] the page counts before it asks for confirmation, and does not ask if that was cancelled", async () => {
  const { page } = await openBrowserShell("events");
  const held: (() => void)[] = [];
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((frame) => {
      // The note on sample events counts too.
      if (String(frame).includes('"delete.count"') && !String(frame).includes('"sample":"only"')) held.push(() => server.send(frame));
      else server.send(frame);
    });
  });
  await page.reload();
  await generate(page, 10);
  await page.getByText("1 to 10 of 10").first().waitFor();
  const filter = page.getByPlaceholder("Filter by text");
  await filter.fill("x".repeat(150));
  // As much as the service takes.
  expect((await filter.inputValue()).length).toBe(100);
  await filter.fill("sample");
  const counting = page.getByRole("progressbar", { name: "Counting what to delete" });
  await fromMenu(page, /^Delete the 10 that match…$/);
  await counting.waitFor();
  await page.getByRole("button", { name: "Cancel: Counting what to delete" }).click();
  await counting.waitFor({ state: "detached" });
  held.shift()?.();
  await fromMenu(page, /^Delete the 10 that match…$/);
  await counting.waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  held.shift()?.();
  await page.getByRole("dialog", { name: "Delete 10 events with “sample” in their text?" }).waitFor();
  expect(await counting.count()).toBe(0);
});

it("[EV-200] the labels of the plot's time axis move with its bars", async () => {
  const { page } = await openBrowserShell("events");
  const answers = await interceptAnswers(page);
  const plotFrom = (hour: number): OutcomePlot => ({
    step: "minute",
    at: Array.from({ length: 24 }, (_, minute) => new Date(2026, 10, 24, hour, minute).getTime()),
    series: [{ outcome: "accepted", counts: Array.from({ length: 24 }, () => 5) }],
    ...{ byLanguage: [], byProvider: [], total: 120, accepted: 120, behind: 0 },
  });
  answers.treat("events plot", { kind: "replaced", value: plotFrom(9) });
  await page.addInitScript(() => {
    const drawn: string[] = [];
    Object.assign(globalThis, { drawn });
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      drawn.push(text);
      fillText.call(this, text, ...place);
    };
  });
  await page.reload();
  // Without events there is no plot.
  await generate(page, 10);
  const hours = () =>
    page.evaluate(() => [...new Set((globalThis as unknown as { drawn: string[] }).drawn.map((text) => /^(\d\d):\d\d$/.exec(text)?.[1]))]);
  await expect.poll(hours).toContain("09");
  answers.treat("events plot", { kind: "replaced", value: plotFrom(6) });
  await generate(page, 10);
  await expect.poll(hours).toContain("06");
});

it("[EV-245] where nothing matches the filter, the plots say so", async () => {
  const { page } = await open();
  await generate(page, 10);
  await page.getByText("1 to 10 of 10").first().waitFor();
  await page.getByRole("img", { name: /^Outcomes over time/ }).waitFor();
  await page.getByPlaceholder("Filter by text").fill("xyzzy");
  const figures = page.getByRole("region", { name: "Figures" });
  await expect.poll(() => figures.getByText("No event matches the filter.").count()).toBe(2);
  expect(await page.getByRole("img", { name: /^Outcomes over time/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByRole("img", { name: /^Outcomes over time/ }).waitFor();
});

it("[EV-78] Space does not pause the table of a stopped service", async () => {
  const { page } = await open();
  await generate(page, 10);
  await page.getByText("1 to 10 of 10").first().waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("stopped; browsing what is stored").waitFor();
  await page.getByRole("region", { name: "Rate limits" }).getByText("Available while the service runs.").waitFor();
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("Following newest").waitFor();
});

it("[EV-75] a job whose process ended is not shown as running", async () => {
  const { page } = await open();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Start", exact: true }).waitFor();
  await generate(page, 1_000_000);
  await page.getByText("Generating events").waitFor();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("Following newest").waitFor();
  await page.getByText("Generating events").waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "Logs", exact: true }).click();
  await page
    .getByRole("region", { name: "Log lines" })
    .getByText(/The generation was interrupted by the end of the service, after [\d,]+ events/)
    .first()
    .waitFor();
});

/** In a window of this height the panel is folded, and says how many there are. */
async function unfold(page: Page): Promise<void> {
  const region = page.getByRole("region", { name: "Requests" });
  await region.getByText("2", { exact: true }).waitFor();
  const fold = region.getByRole("button", { name: "Requests", exact: true });
  // Its title is a part of it.
  if ((await fold.getAttribute("aria-expanded")) === "false") await region.getByText("Requests", { exact: true }).click();
  expect(await fold.getAttribute("aria-expanded")).toBe("true");
}

it("[EV-94] a refused request is a row with its reason, which opens the request and its answer", async () => {
  const { page, origin } = await open();
  const refuse = (body: string, client: string) =>
    fetch(`${origin}/events`, { method: "POST", body, headers: { "User-Agent": client } }).then((response) => response.text());
  await page.getByText("Following newest").waitFor();
  expect(await page.getByRole("region", { name: "Requests" }).count()).toBe(0);
  await refuse("{not json", "first/1.0");
  await refuse("{}", "second/1.0");
  await unfold(page);
  const list = page.getByRole("grid", { name: "Requests, newest first" });
  const malformed = list.getByRole("row", { name: /Malformed JSON in request body/ });
  await list.getByRole("row", { name: /device_id: .*, and \d+ more/ }).waitFor();
  await malformed.click();
  const inspector = page.getByRole("complementary");
  await inspector.getByRole("heading", { name: "POST /events" }).waitFor();
  await inspector.getByRole("tab", { name: "Request" }).click();
  await inspector.getByText("{not json").first().waitFor();
  await page.getByRole("textbox", { name: "Filter by reason, client, path" }).fill("second");
  await malformed.waitFor({ state: "detached" });
  // With the head.
  expect(await list.getByRole("row").count()).toBe(2);
  await page.getByRole("textbox", { name: "Filter by reason, client, path" }).fill("nobody");
  await page.getByText("none matches").waitFor();
  await page.getByRole("textbox", { name: "Filter by reason, client, path" }).fill("");
  await fetch(`${origin}/stats`).then((response) => response.text());
  await page.getByRole("region", { name: "Requests" }).getByText("All", { exact: true }).click();
  await list.getByText("GET /stats").waitFor();
});

it("[EV-195] the list of requests is moved through by the keys, sends again from its menu, and is held by a pause of the page", async () => {
  const { page, origin } = await open();
  const refuse = (query: string) => fetch(`${origin}/events?${query}`, { method: "POST", body: "{" }).then((response) => response.text());
  await refuse("first");
  await refuse("second");
  await unfold(page);
  const list = page.getByRole("grid", { name: "Requests, newest first" });
  await list.getByRole("row", { name: /second/ }).click();
  const inspector = page.getByRole("complementary");
  await inspector.getByRole("heading", { name: "POST /events?second" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await inspector.getByRole("heading", { name: "POST /events?first" }).waitFor();
  await page.keyboard.press("Escape");
  await inspector.waitFor({ state: "detached" });
  await list.getByRole("row", { name: /first/ }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Send again" }).click();
  await page.getByText(/^Sent POST \/events\?first again: 400/).waitFor();
  await page.getByRole("button", { name: "1 new", exact: true }).click();
  await list.getByRole("row", { name: /sent again/ }).waitFor();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await refuse("third");
  await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
  expect(await list.getByRole("row", { name: /third/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await list.getByRole("row", { name: /third/ }).waitFor();
});

it("[EV-194] where no sample traffic is sent, its stored events are counted, and deleted in one click", async () => {
  const { page } = await openBrowserShell("events");
  await fromMenu(page, "Send sample traffic");
  await page
    .getByText(/^1 to \d+ of \d+$/)
    .first()
    .waitFor();
  const note = page.getByText(/^\d+ sample events? (?:is|are) kept, and in what the API answers\.$/);
  expect(await note.count()).toBe(0);
  await fromMenu(page, "Stop sample traffic");
  await note.waitFor();
  await page.getByRole("button", { name: /^Delete (?:it|them)$/ }).click();
  await note.waitFor({ state: "detached" });
  await generate(page, 10);
  await note.waitFor();
  await page.getByRole("button", { name: "Keep" }).click();
  await note.waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("1 to 10 of 10").first().waitFor();
  expect(await note.count()).toBe(0);
});
