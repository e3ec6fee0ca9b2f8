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

/**
 * Opens a row of a list. Rows that arrive move the others: a click may meet another one, so the list is held. What newer rows have pushed
 * out of sight is found by the list's filter.
 */
async function openRow(page: Page, text: string | RegExp, filter = typeof text === "string" ? text : ""): Promise<void> {
  const pause = main(page).getByRole("button", { name: "Pause" }).first();
  const row = main(page).getByRole("row").filter({ hasText: text }).first();
  const isInSight = await row.waitFor({ timeout: 5_000 }).then(
    () => true,
    () => false,
  );
  if (!isInSight)
    await main(page)
      .getByRole("textbox", { name: /^Filter/ })
      .first()
      .fill(filter);
  await row.waitFor();
  if (await pause.isVisible()) await pause.click();
  await row.click();
  await page.getByRole("button", { name: "Close the inspector" }).last().waitFor();
}

/** The inspector of a row, once for each of its tabs. */
const inspected = (name: string, hash: string, row: string | RegExp, tabs: readonly string[], filter?: string): readonly Scene[] =>
  tabs.map((title) => ({
    name: `${name}-${title.toLowerCase().replace(/\W+/g, "-")}`,
    hash,
    async open(page) {
      await openRow(page, row, filter);
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

/** A fault with figures of one's own, of what is open. */
const ownFault = async (page: Page) => {
  await button(page, "Faults…").click();
  await page.getByRole("menuitem", { name: "With other figures…" }).click();
};

/** Two peers of the page in a call; then another tab. */
const afterCall =
  (title: string, open: (page: Page) => Promise<unknown> = async () => {}) =>
  async (page: Page) => {
    await button(page, "Call").click();
    await page.getByText(/^Connected after .* first picture/).waitFor();
    await tab(page, title).click();
    await open(page);
  };

const ofProfileMenu = (item: string | RegExp) => async (page: Page) => {
  await button(page, /^Profile/).click();
  await page.getByRole("menuitem", { name: item }).click();
};

/** The warehouse's client, with its details. */
const openClient = (page: Page) => page.getByRole("option").filter({ hasText: "warehouse-controller" }).first().click();

/** Every page and tab of the dashboard, with what can be opened on it. */
export const scenes: readonly Scene[] = [
  { name: "first-run", hash: "overview", isBeforeStart: true },
  ...["http", "mqtt", "account", "events", "grpc", "rtsp", "webrtc"].map((id) => ({
    name: `${id}-stopped`,
    hash: `${id}/live`,
    isBeforeStart: true,
  })),
  { name: "overview", hash: "overview" },
  { name: "timeline", hash: "timeline" },
  { name: "timeline-inspector", hash: "timeline", open: (page) => openRow(page, "HTTP") },
  { name: "settings", hash: "settings" },
  dialog("palette", "overview", (page) => page.keyboard.press("Control+k")),
  dialog("profile-new", "overview", ofProfileMenu(/^New profile/)),
  { name: "lan-menu", hash: "overview", open: (page) => button(page, /This computer only|LAN/).click() },

  { name: "http-live", hash: "http/live" },
  ...inspected("http-request", "http/live", "/api/echo", ["Request", "Response", "Timing", "Connection"]),
  ...inspected("http-long", "http/live", "northern-branch", ["Request"]),
  ...inspected("http-socket", "http/live", /GET\/ws\/echo/, ["Messages", "Handshake"], "/ws/echo"),
  { name: "http-menu", hash: "http/live", open: (page) => main(page).getByRole("button", { name: /^More/ }).first().click() },
  { name: "http-try", hash: "http/try", open: sent },
  { name: "http-try-socket", hash: "http/try", open: (page) => page.getByText("WebSocket", { exact: true }).first().click() },
  ...configAndLogs("http"),

  { name: "mqtt-live", hash: "mqtt/live" },
  { name: "mqtt-client", hash: "mqtt/live", open: openClient },
  dialog("mqtt-disconnect", "mqtt/live", async (page) => {
    await openClient(page);
    await button(page, "Disconnect…").click();
  }),
  dialog("mqtt-client-fault", "mqtt/live", async (page) => {
    await openClient(page);
    await button(page, "Freeze or delay…").click();
    await page.getByRole("menuitem", { name: /for another time/ }).click();
  }),
  {
    name: "mqtt-topic",
    hash: "mqtt/live",
    async open(page) {
      await page.getByPlaceholder(/Filter topics/).fill("warehouse/#");
      await page.getByRole("treeitem").filter({ hasText: "17/temperature" }).click();
    },
  },
  { name: "mqtt-try", hash: "mqtt/try", open: (page) => button(page, "Subscribe").click() },
  dialog("mqtt-publish", "mqtt/live", (page) => button(page, "Publish…").click()),
  dialog("mqtt-replies", "mqtt/live", ofMenu(/^Auto-reply/)),
  dialog("mqtt-sample", "mqtt/live", ofMenu(/^Sample traffic/)),
  dialog("mqtt-retained", "mqtt/live", ofMenu(/retained/)),
  dialog("mqtt-export", "mqtt/live", ofMenu(/^Export/)),
  {
    name: "mqtt-add-user",
    hash: "mqtt/config",
    async open(page) {
      for (const title of ["Add a user", "Add a rule"]) await button(page, title).click();
    },
  },
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
  { name: "grpc-reply", hash: "grpc/replies", open: (page) => button(page, "Add rule").click() },
  dialog("grpc-replies-file", "grpc/replies", (page) => button(page, "Edit file").click()),
  ...configAndLogs("grpc"),

  { name: "rtsp-live", hash: "rtsp/live" },
  ...inspected("rtsp-session", "rtsp/live", "/stream", ["Requests", "Plots", "Session"]),
  { name: "rtsp-paths", hash: "rtsp/paths" },
  { name: "rtsp-path", hash: "rtsp/paths", open: (page) => openRow(page, "/stream") },
  { name: "rtsp-try", hash: "rtsp/try", open: (page) => button(page, /^Play/).click() },
  dialog("rtsp-fault", "rtsp/paths", async (page) => {
    await openRow(page, "/stream");
    await ownFault(page);
  }),
  dialog("rtsp-publish", "rtsp/paths", (page) => button(page, /^Publish/).click()),
  ...configAndLogs("rtsp"),

  { name: "webrtc-live", hash: "webrtc/live" },
  ...inspected("webrtc-peer", "webrtc/live", /Peer/, ["Peer"]),
  ...inspected("webrtc-signal", "webrtc/live", "offer", ["Description", "Message"]),
  { name: "webrtc-rooms", hash: "webrtc/rooms" },
  { name: "webrtc-signals", hash: "webrtc/signals" },
  { name: "webrtc-relays", hash: "webrtc/relays" },
  { name: "webrtc-media", hash: "webrtc/media" },
  { name: "webrtc-try", hash: "webrtc/try", open: afterCall("Try") },
  {
    name: "webrtc-relay",
    hash: "webrtc/try",
    open: afterCall("Relays", (page) => openRow(page, "127.0.0.1")),
  },
  dialog("webrtc-fault", "webrtc/relays", ownFault),
  ...configAndLogs("webrtc"),

  // The last one: the drawer stays open.
  { name: "log", hash: "overview", open: (page) => page.keyboard.press("Control+j") },
];
