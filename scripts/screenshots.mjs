/** `node scripts/screenshots.mjs [NAME…]`: the pictures in docs/screenshots, all or those named, of the real program with sample traffic. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import mqtt from "mqtt";
import { chromium } from "playwright-core";
import { root } from "./setup.mjs";

const folder = path.join(root, "docs/screenshots");
const sizes = [
  { width: 1_280, height: 800 },
  { width: 1_920, height: 1_080 },
];
const schemes = ["dark", "light"];
const wanted = process.argv.slice(2);

const dataDir = mkdtempSync(path.join(os.tmpdir(), "backlot-screenshots-"));
const backlot = spawn(
  process.execPath,
  [path.join(root, "dist/servers/backlot.cjs"), "--headless", "--json", "--dashboard-port", "0", "--data-dir", dataDir],
  { stdio: ["ignore", "pipe", "ignore"] },
);
let clients = [];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
try {
  const dashboard = await readyAddress();
  mkdirSync(folder, { recursive: true });
  await everywhere(dashboard, "first-run", async () => {});

  const page = await open(dashboard, sizes[0], "dark");
  await page.getByRole("button", { name: "Start all and send sample traffic" }).click();
  await page.getByRole("link", { name: /^MQTT.*msg\/s/ }).waitFor();
  clients = await subscribers();
  // Long enough for the plots to show something, and for a request that is still open.
  await delay(40_000);
  await page.context().close();

  await everywhere(dashboard, "overview", (page) => page.getByText("Worth knowing").waitFor());
  await everywhere(dashboard, "http-live", async (page) => {
    await openService(page, "HTTP", "Live");
    await page.getByRole("row").filter({ hasText: "/api/echo" }).first().click();
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Response" }).waitFor();
  });
  await everywhere(dashboard, "http-try", async (page) => {
    await openService(page, "HTTP", "Try");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await delay(700);
  });
  for (const tab of ["Config", "Logs"]) await everywhere(dashboard, `http-${tab.toLowerCase()}`, (page) => openService(page, "HTTP", tab));
  for (const service of ["gRPC", "MQTT", "Account", "Events"]) {
    await everywhere(dashboard, `${service.toLowerCase()}-live`, (page) => openService(page, service, "Live"));
  }
  await everywhere(dashboard, "grpc-services", async (page) => {
    await openService(page, "gRPC", "Services");
    await page.getByRole("row").filter({ hasText: "StreamData" }).click();
  });
  await everywhere(dashboard, "grpc-try", async (page) => {
    await openService(page, "gRPC", "Try");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await delay(700);
  });
  await everywhere(dashboard, "grpc-metrics", (page) => openService(page, "gRPC", "Metrics"));
  await everywhere(dashboard, "account-users", async (page) => {
    await openService(page, "Account", "Users");
    await page.getByRole("row").filter({ hasText: "api@example.com" }).first().click();
  });
  await everywhere(dashboard, "account-try", async (page) => {
    await openService(page, "Account", "Try");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await delay(700);
  });
  await everywhere(dashboard, "account-sessions", async (page) => {
    await openService(page, "Account", "Sessions");
    await page.getByRole("row").nth(1).click();
  });
  await everywhere(dashboard, "mqtt-clients", async (page) => {
    await openService(page, "MQTT", "Live");
    await page
      .getByRole("button", { name: /hall-a-controller/ })
      .first()
      .click();
  });
  await everywhere(dashboard, "mqtt-try", async (page) => {
    await openService(page, "MQTT", "Try");
    await page.getByRole("textbox", { name: "Topic filter" }).fill("commands/#");
    await page.getByRole("button", { name: "Subscribe", exact: true }).click();
    await page.getByText("granted").waitFor();
    await page.getByRole("textbox", { name: "Topic", exact: true }).fill("commands/valve-3/open");
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    const newest = page.getByRole("list", { name: "Received messages, newest first" }).getByRole("button").first();
    await newest.filter({ hasText: "commands/valve-3/open" }).click();
  });
  for (const name of ["Timeline", "Settings"]) {
    await everywhere(dashboard, name.toLowerCase(), (page) => page.getByRole("link", { name }).first().click());
  }
  await everywhere(dashboard, "commands", (page) => page.keyboard.press("Control+k"));
} finally {
  for (const client of clients) client.end(true);
  await browser.close();
  backlot.kill("SIGTERM");
  rmSync(dataDir, { recursive: true, force: true });
}

/** Someone who listens to the broker's demo. */
async function subscribers() {
  const filters = { "dashboard-web": "sensors/#", "hall-a-controller": "sensors/hall-a/+", "alarm-display": "sensors/+/temperature" };
  return Promise.all(
    Object.entries(filters).map(async ([clientId, filter]) => {
      const client = mqtt.connect("mqtt://127.0.0.1:1883", { clientId, protocolVersion: 5 });
      await client.subscribeAsync(filter, { qos: 1 });
      return client;
    }),
  );
}

async function everywhere(dashboard, name, prepare) {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  for (const scheme of schemes) {
    for (const size of sizes) {
      const page = await open(dashboard, size, scheme);
      await prepare(page);
      await delay(1_500);
      await page.screenshot({ path: path.join(folder, `${name}-${scheme}-${size.width}.png`) });
      await page.context().close();
    }
  }
  console.log(name);
}

async function open(dashboard, viewport, colorScheme) {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  await page.goto(dashboard);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

async function openService(page, service, tab) {
  await page
    .getByRole("link", { name: new RegExp(`^${service}`) })
    .first()
    .click();
  await page.getByRole("tab", { name: tab, exact: true }).click();
}

function readyAddress() {
  return new Promise((resolve, reject) => {
    let text = "";
    backlot.stdout.on("data", (chunk) => {
      text += chunk;
      const address = /"dashboard":"([^"]+)"/.exec(text)?.[1];
      if (address) resolve(address);
    });
    backlot.once("exit", (code) => reject(new Error(`Backlot ended with ${code}`)));
  });
}
