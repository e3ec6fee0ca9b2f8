/** Opens every page and tab of the built program's dashboard with traffic, at each size and zoom, and prints what `layoutFaults` finds. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { connectAsync } from "mqtt";
import { type CDPSession, chromium, type Page } from "playwright-core";
import { WebSocket } from "ws";
import { chromiumOptions } from "../support/chromium-options.ts";
import { freePort } from "../support/free-port.ts";
import { freePortFlags } from "../support/free-port-flags.ts";
import { toolOptions } from "../support/tool-options.ts";
import { layoutFaults } from "./layout-faults.ts";
import { type Scene, scenes } from "./scenes.ts";

const usage = `Usage: npm run look -- [options]

Prints what is cut, covered or out of reach on each page. Not all of it is wrong: at a zoom of 2 bars have several lines.

  --only REGEX        the scenes with such a name
  --sizes WxH,…       of the window (900x700,1280x800,1440x900,1920x1080)
  --zooms N,…         (1,1.5,2)
  --schemes NAME,…    (dark,light)
  --contrast          also what axe says of the contrast of texts
  --pictures FOLDER   keep a picture of each
  --portion N/M       every M-th scene, from the N-th
`;

const options = toolOptions(usage, {
  only: { type: "string", default: "" },
  sizes: { type: "string", default: "900x700,1280x800,1440x900,1920x1080" },
  zooms: { type: "string", default: "1,1.5,2" },
  contrast: { type: "boolean", default: false },
  pictures: { type: "string" },
  schemes: { type: "string", default: "dark,light" },
  portion: { type: "string", default: "1/1" },
});
const sizes = options.sizes.split(",").map((size) => size.split("x").map(Number) as [width: number, height: number]);
const zooms = options.zooms.split(",").map(Number);
const schemes = options.schemes.split(",") as ("dark" | "light")[];
/** Of a page that was resized. */
const settleMs = 350;

const root = path.resolve(import.meta.dirname, "../..");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Program {
  readonly dashboard: string;
  /** Of a service that has been started: its endpoints by label. */
  endpoint(service: string, label?: string): URL;
  end(): Promise<void>;
}

/** Flags with numbers, as a user has them: with 0 the pages before a start have no addresses. */
async function portFlags(): Promise<string[]> {
  const flags: string[] = [];
  // The pair of RTP begins with an even number, which is found at the start.
  for (const text of freePortFlags()) flags.push(text === "0" && flags.at(-1) !== "--rtsp-rtp-port" ? String(await freePort()) : text);
  return flags;
}

async function startProgram(): Promise<Program> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "backlot-look-"));
  const child = spawn(
    process.execPath,
    [
      path.join(root, "dist/servers/backlot.cjs"),
      "--headless",
      "--json",
      "--dashboard-port",
      "0",
      ...(await portFlags()),
      "--data-dir",
      folder,
    ],
    { stdio: ["ignore", "pipe", "ignore"], env: { PATH: process.env.PATH ?? "" } },
  );
  process.once("exit", () => child.kill("SIGTERM"));
  const endpoints = new Map<string, readonly { readonly label: string; readonly url: string }[]>();
  const dashboard = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`Backlot ended with ${code}`)));
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line = JSON.parse(text) as {
        type: string;
        dashboard?: string;
        service?: string;
        state?: string;
        endpoints?: { label: string; url: string }[];
      };
      if (line.service && line.state === "running") endpoints.set(line.service, line.endpoints ?? []);
      if (line.type === "ready" && line.dashboard) resolve(line.dashboard);
    });
  });
  return {
    dashboard,
    endpoint(service, label) {
      const all = endpoints.get(service) ?? [];
      return new URL((all.find((one) => one.label === label) ?? all[0])?.url ?? "");
    },
    async end() {
      child.kill("SIGTERM");
      await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Beside the sample traffic: long names, failures and high counts. */
async function sendLongNames(program: Program): Promise<void> {
  const http = program.endpoint("http");
  const deep = `/anything/${"orders-of-the-northern-branch/".repeat(4)}42?status=open&sort=created_at&direction=descending`;
  for (const [method, target] of [
    ["GET", deep],
    ["OPTIONS", "/api/data"],
    ["DELETE", "/status/503"],
    ["GET", "/bytes/100000"],
    ["GET", "/redirect-to?url=/get"],
  ] as const) {
    await fetch(new URL(target, http), {
      method,
      redirect: "manual",
      headers: { "user-agent": "SomeCompanyMobileApplication/12.345.6 (build 7890)" },
    });
  }
  const socket = new WebSocket(new URL("/ws/echo", http.href.replace("http", "ws")));
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "subscribe", channels: ["orders", "prices"] }));
  await delay(200);
  socket.close(1000);
  const account = program.endpoint("account");
  const login = (username: string, password: string) =>
    fetch(new URL("/login", account), { method: "POST", body: new URLSearchParams({ username, password }) });
  await login("api@example.com", "backlot-demo");
  await login("somebody.with.a.long.name@a-subsidiary-company.example.org", "wrong");
  const broker = await connectAsync(`mqtt://${program.endpoint("mqtt").host}`, {
    protocolVersion: 5,
    clientId: "warehouse-controller-of-the-northern-branch-17",
  });
  await broker.subscribeAsync(["sensors/#", "warehouse/+/shelves/+/temperature", "commands/warehouse-controller/#"], { qos: 1 });
  const topic = "warehouse/northern-branch/shelves/upper-left-corner-17/temperature";
  for (let sent = 0; sent < 400; sent++) {
    await broker.publishAsync(topic, JSON.stringify({ celsius: 20 + Math.sin(sent / 9), sensor: "DS18B20", at: sent }), {
      qos: 1,
      retain: sent === 399,
      properties: { contentType: "application/json", userProperties: { "name-of-the-building": "warehouse of the northern branch" } },
    });
  }
  process.once("exit", () => broker.end(true));
}

const axeRules = ["color-contrast", "link-in-text-block"];

async function contrastFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async (values) => {
    interface Found {
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
    }
    const { axe: checker } = globalThis as unknown as { axe: { run(options: object): Promise<Found> } };
    const { violations } = await checker.run({ runOnly: { type: "rule", values }, resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 90)}`));
  }, axeRules);
}

const resize = (cdp: CDPSession, width: number, height: number, zoom: number) =>
  cdp.send("Emulation.setDeviceMetricsOverride", {
    width: Math.round(width / zoom),
    height: Math.round(height / zoom),
    deviceScaleFactor: zoom,
    mobile: false,
  });

/** Of a scene: by fault, at which sizes it was seen. */
async function look(page: Page, cdp: CDPSession, { name }: Scene): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const note = (fault: string, where: string) => found.set(fault, [...(found.get(fault) ?? []), where]);
  for (const [width, height] of sizes) {
    for (const zoom of zooms) {
      await resize(cdp, width, height, zoom);
      await delay(settleMs);
      const where = `${width}x${height}@${zoom}`;
      for (const fault of await page.evaluate(layoutFaults)) note(fault, where);
      for (const scheme of schemes) {
        if (options.pictures === undefined && !options.contrast) continue;
        await page.emulateMedia({ colorScheme: scheme });
        await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor();
        // Colours change in a transition.
        if (schemes.length > 1) await delay(settleMs);
        if (options.contrast && zoom === 1) {
          for (const fault of await contrastFaults(page)) note(`${scheme} ${fault}`, where);
        }
        if (options.pictures === undefined) continue;
        // Playwright's own would go back to the size of its window.
        const { data } = await cdp.send("Page.captureScreenshot", { format: "png" });
        writeFileSync(path.join(options.pictures, `${name}-${where}-${scheme}.png`), data, "base64");
      }
    }
  }
  return found;
}

let faults = 0;
const [portion = 1, portions = 1] = options.portion.split("/").map(Number);
const wanted = scenes.filter(({ name }) => new RegExp(options.only).test(name)).filter((_, place) => place % portions === portion - 1);
if (options.pictures !== undefined) mkdirSync(options.pictures, { recursive: true });
const program = await startProgram();
const browser = await chromium.launch(chromiumOptions);
try {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, colorScheme: "dark" });
  context.setDefaultTimeout(20_000);
  const open = async (hash: string) => {
    const page = await context.newPage();
    await page.goto(new URL(`/#/${hash}`, program.dashboard).href);
    await page.getByRole("main").waitFor();
    return page;
  };
  // Its address has the token, which pages keep from then on.
  const first = await context.newPage();
  await first.goto(program.dashboard);
  await first.getByRole("main").waitFor();
  let isStarted = false;
  for (const scene of wanted) {
    if (!isStarted && !scene.isBeforeStart) {
      const page = await open("overview");
      await page.getByRole("button", { name: "Start all and send sample traffic" }).click();
      await page.getByText("7 running").waitFor();
      await page.close();
      await sendLongNames(program);
      isStarted = true;
    }
    // A page for each: what one scene opens is not in the next one.
    const page = await open(scene.hash);
    try {
      await delay(settleMs);
      await scene.open?.(page);
      await delay(settleMs);
      const found = await look(page, await context.newCDPSession(page), scene);
      faults += found.size;
      console.log(`${scene.name}: ${found.size === 0 ? "nothing found" : ""}`);
      for (const [fault, places] of found) console.log(`  ${fault}\n      ${places.join(" ")}`);
      // Filters are remembered.
      for (const clear of await page.getByRole("button", { name: "Clear the filter" }).all()) await clear.click({ force: true });
    } catch (error) {
      faults += 1;
      console.log(`${scene.name}: was not opened: ${(error as Error).message.split("\n")[0]}`);
    }
    await page.close();
  }
} finally {
  await browser.close();
  await program.end();
}
console.log(`${faults} faults in ${wanted.length} scenes`);
process.exit(faults === 0 ? 0 : 1);
