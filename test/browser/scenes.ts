import type { Page } from "playwright-core";

export interface Scene {
  readonly name: string;
  /** "http/live" */
  readonly hash: string;
  /** Before any service was started. */
  readonly isBeforeStart?: boolean;
  /** What is opened on the page. */
  readonly open?: (page: Page) => Promise<unknown>;
}

const main = (page: Page) => page.getByRole("main");
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: typeof name === "string" }).first();
const tab = (page: Page, name: string) => page.getByRole("tab", { name, exact: true }).last();

/** Opens a row of a list. Rows that arrive move the others: a click may meet another one, so the list is held. */
async function openRow(page: Page, text: string | RegExp): Promise<void> {
  const pause = main(page).getByRole("button", { name: "Pause" }).first();
  const row = main(page).getByRole("row").filter({ hasText: text }).first();
  await row.waitFor();
  if (await pause.isVisible()) await pause.click();
  await row.click();
  await page.getByRole("button", { name: "Close the inspector" }).last().waitFor();
}

/** The inspector of a row, once for each of its tabs. */
const inspected = (name: string, hash: string, row: string | RegExp, tabs: readonly string[]): readonly Scene[] =>
  tabs.map((title) => ({
    name: `${name}-${title.toLowerCase().replace(/\W+/g, "-")}`,
    hash,
    async open(page) {
      await openRow(page, row);
      await tab(page, title).click();
    },
  }));

const dialog = (name: string, hash: string, open: (page: Page) => Promise<unknown>): Scene => ({
  name,
  hash,
  async open(page) {
    await open(page);
    await page.getByRole("dialog").first().waitFor();
  },
});

/** Its items lie behind "More". */
const ofMenu = (item: string | RegExp) => async (page: Page) => {
  await main(page).getByRole("button", { name: /^More/ }).first().click();
  await page.getByRole("menuitem", { name: item }).click();
};

const sent = async (page: Page) => {
  await button(page, "Send").click();
  await page
    .getByRole("region", { name: "Answer" })
    .getByText(/\d ms|\d s\b/)
    .first()
    .waitFor();
};

const configAndLogs = (id: string): readonly Scene[] =>
  ["config", "logs"].map((name) => ({ name: `${id}-${name}`, hash: `${id}/${name}` }));

/** Every page and tab of the dashboard but WebRTC's, with what can be opened on it. */
export const scenes: readonly Scene[] = [
  { name: "first-run", hash: "overview", isBeforeStart: true },
  ...["http", "mqtt", "account", "events", "grpc", "rtsp"].map((id) => ({
    name: `${id}-stopped`,
    hash: `${id}/live`,
    isBeforeStart: true,
  })),
  { name: "overview", hash: "overview" },
  { name: "timeline", hash: "timeline" },
  { name: "timeline-inspector", hash: "timeline", open: (page) => openRow(page, "HTTP") },
  { name: "settings", hash: "settings" },
  dialog("palette", "overview", (page) => page.keyboard.press("Control+k")),
  { name: "lan-menu", hash: "overview", open: (page) => button(page, /This computer only|LAN/).click() },

  { name: "http-live", hash: "http/live" },
  ...inspected("http-request", "http/live", "/api/echo", ["Request", "Response", "Timing", "Connection"]),
  ...inspected("http-long", "http/live", "northern-branch", ["Request"]),
  ...inspected("http-socket", "http/live", "/ws/echo", ["Messages", "Handshake"]),
  { name: "http-menu", hash: "http/live", open: (page) => main(page).getByRole("button", { name: /^More/ }).first().click() },
  { name: "http-try", hash: "http/try", open: sent },
  { name: "http-try-socket", hash: "http/try", open: (page) => page.getByText("WebSocket", { exact: true }).first().click() },
  ...configAndLogs("http"),

  { name: "mqtt-live", hash: "mqtt/live" },
  {
    name: "mqtt-client",
    hash: "mqtt/live",
    open: (page) => page.getByRole("option").filter({ hasText: "warehouse-controller" }).first().click(),
  },
  {
    name: "mqtt-topic",
    hash: "mqtt/live",
    async open(page) {
      await page.getByPlaceholder(/Filter topics/).fill("warehouse/#");
      await page.getByRole("treeitem").filter({ hasText: "temperature" }).last().click();
    },
  },
  { name: "mqtt-try", hash: "mqtt/try", open: (page) => button(page, "Subscribe").click() },
  dialog("mqtt-publish", "mqtt/live", (page) => button(page, "Publish…").click()),
  dialog("mqtt-replies", "mqtt/live", ofMenu(/^Auto-reply/)),
  dialog("mqtt-sample", "mqtt/live", ofMenu(/^Sample traffic/)),
  dialog("mqtt-export", "mqtt/live", ofMenu(/^Export/)),
  ...configAndLogs("mqtt"),

  { name: "account-live", hash: "account/live" },
  ...inspected("account-request", "account/live", "/details", ["Request", "Response"]),
  { name: "account-users", hash: "account/users" },
  ...inspected("account-user", "account/users", "api@example.com", ["Sign-in", "Contact"]),
  dialog("account-add-user", "account/users", (page) => button(page, "Add user").click()),
  { name: "account-sessions", hash: "account/sessions" },
  { name: "account-session", hash: "account/sessions", open: (page) => openRow(page, "api@example.com") },
  { name: "account-try", hash: "account/try", open: sent },
  ...configAndLogs("account"),

  { name: "events-live", hash: "events/live" },
  { name: "events-inspector", hash: "events/live", open: (page) => openRow(page, /accepted|rejected|ignored/) },
  { name: "events-try", hash: "events/try", open: sent },
  dialog("events-generate", "events/live", ofMenu(/^Generate/)),
  ...configAndLogs("events"),

  { name: "grpc-live", hash: "grpc/live" },
  ...inspected("grpc-call", "grpc/live", "StreamData", ["Messages", "Call", "Metadata"]),
  { name: "grpc-services", hash: "grpc/services" },
  { name: "grpc-method", hash: "grpc/services", open: (page) => main(page).getByRole("row").filter({ hasText: "StreamData" }).click() },
  { name: "grpc-try", hash: "grpc/try", open: sent },
  { name: "grpc-replies", hash: "grpc/replies" },
  { name: "grpc-metrics", hash: "grpc/metrics" },
  ...configAndLogs("grpc"),

  { name: "rtsp-live", hash: "rtsp/live" },
  ...inspected("rtsp-session", "rtsp/live", "/stream", ["Requests", "Plots", "Session"]),
  { name: "rtsp-paths", hash: "rtsp/paths" },
  { name: "rtsp-path", hash: "rtsp/paths", open: (page) => openRow(page, "/stream") },
  { name: "rtsp-try", hash: "rtsp/try", open: (page) => button(page, /^Play/).click() },
  ...configAndLogs("rtsp"),

  // The last one: the drawer stays open.
  { name: "log", hash: "overview", open: (page) => page.keyboard.press("Control+j") },
];
