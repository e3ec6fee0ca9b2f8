import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LadderAnswer } from "../../contract/services/webrtc-signals.ts";
import { type ClientKind, clientGroups, clientLine, clientNotes } from "../../renderer/src/services/webrtc/client-lines.ts";
import { chromiumOptions } from "../support/chromium-options.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { connectWire, startWebrtc } from "./dialect-harness.ts";
import { startMediaServices } from "./media-harness.ts";

const room = "demo";
let browser: Browser;
beforeAll(async () => {
  const args = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required"];
  browser = await chromium.launch({ ...chromiumOptions, args: [...chromiumOptions.args, ...args] });
});
afterAll(() => browser.close());

interface LinesPage {
  readonly page: Page;
  /** What it has written to its console. */
  readonly said: string[];
}

/** A page of its own profile that runs the lines as they are, as a module. */
async function runLines(host: string, lines: string): Promise<LinesPage> {
  const context = await browser.newContext();
  onEnd(() => context.close());
  const page = await context.newPage();
  const said: string[] = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  await page.goto(`http://${host}/ice-servers`);
  await page.addScriptTag({ type: "module", content: lines });
  return { page, said };
}

/** The lines with the packages that they import, as a project of a user has them. */
async function bundled(kind: ClientKind, lines: string): Promise<string> {
  const folder = path.join(projectRoot, "node_modules/.cache");
  mkdirSync(folder, { recursive: true });
  const entry = path.join(folder, `lines-of-${kind}.js`);
  writeFileSync(entry, lines);
  onEnd(() => rmSync(entry));
  const built = await build({
    configFile: false,
    root: projectRoot,
    logLevel: "error",
    define: { "process.env.NODE_DEBUG": "undefined", global: "globalThis" },
    build: { write: false, minify: false, target: "esnext", lib: { entry, formats: ["es"], fileName: "lines" } },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (!output || !("output" in output)) throw new Error("The lines could not be built");
  return output.output[0].code;
}

describe("lines to copy", () => {
  it("[WEBRTC-439] the line of websocat joins the room", async () => {
    const webrtc = await startWebrtc();
    const [, message = "", url = ""] = /^echo '(.*)' \| websocat -n (\S+)$/.exec(clientLine("websocat", { host: webrtc.host, room })) ?? [];
    expect(url).toBe(`ws://${webrtc.host}/ws`);
    const client = await connectWire(webrtc, new URL(url).pathname);
    client.send(message);
    expect((await client.until("joined")).room).toBe(room);
  });

  it("[WEBRTC-439] two pages with the lines of JavaScript exchange a message", async () => {
    const { host } = await startWebrtc();
    const lines = clientLine("browser", { host, room });
    const first = await runLines(host, lines);
    const second = await runLines(host, lines);
    await until(() => [...first.said, ...second.said].includes("hello"));
  });

  it("[WEBRTC-439] the lines of PeerJS exchange a message", async () => {
    const { host } = await startWebrtc();
    const { said } = await runLines(host, await bundled("peerjs", clientLine("peerjs", { host, room })));
    await until(() => said.includes("hello"));
  });

  it("[WEBRTC-439] two pages with the lines of Socket.IO connect", async () => {
    const webrtc = await startWebrtc();
    const lines = await bundled("socketio", clientLine("socketio", { host: webrtc.host, room }));
    const pages = [await runLines(webrtc.host, lines), await runLines(webrtc.host, lines)];
    await until(() => pages.some(({ said }) => said.includes("connected")));
    expect(pages.flatMap(({ said }) => said.filter((text) => text !== "connected"))).toEqual([]);
  });

  it("[WEBRTC-439] two pages with the lines of y-webrtc offer and answer one another", async () => {
    const { host, service } = await startWebrtc();
    const lines = await bundled("ywebrtc", clientLine("ywebrtc", { host, room }));
    await runLines(host, lines);
    await runLines(host, lines);
    const kinds = async () => ((await service.act("signals.list", { room, limit: 500 })) as LadderAnswer).signals.map(({ kind }) => kind);
    await expect.poll(kinds).toEqual(expect.arrayContaining(["offer", "answer"]));
  });

  it("[WEBRTC-439] the line of turnutils_uclient relays without loss", async () => {
    const { host, service } = await startWebrtc();
    const line = clientLine("turnutils", { host, room, iceServers: await service.act("ice.servers", {}) });
    const { stdout } = await promisify(execFile)("sh", ["-c", line.replace("-n 100", "-n 5")]);
    expect(stdout).toContain("Total lost packets 0 (0.000000%)");
  });

  it("[WEBRTC-439] beside the line of GStreamer, and no other, is that it does not connect on loopback", () => {
    const noted = [...clientGroups.signalling, ...clientGroups.media].filter((kind) => clientNotes(kind).length > 0);
    expect(noted).toEqual(["gstreamer"]);
    expect(clientNotes("gstreamer").join()).toContain("loopback");
  });

  it("[WEBRTC-439] the lines of WHEP play, and those of WHIP publish", async () => {
    const { url, webrtc } = await startMediaServices();
    const { host } = new URL(url);
    const player = await runLines(host, clientLine("whep", { host, room }));
    await player.page.waitForFunction(() => (document.querySelector("video")?.videoWidth ?? 0) > 0);
    const publisher = await runLines(host, clientLine("whip", { host, room }));
    const published = () => webrtc.views.get("media")?.sessions.find(({ protocol }) => protocol === "whip");
    await until(() => published()?.state === "connected" && (published()?.bitRate ?? 0) > 0);
    expect(published()).toMatchObject({ path: "mine", codecs: "H.264, Opus" });
    expect([...player.said, ...publisher.said]).toEqual([]);
  });
});
