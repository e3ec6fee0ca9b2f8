import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumOptions } from "../support/chromium-options.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { onEnd } from "../support/start-service.ts";
import { joinJson, scriptOf, startWebrtc, type Webrtc } from "./dialect-harness.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({
    ...chromiumOptions,
    args: [
      ...chromiumOptions.args,
      "--use-fake-device-for-media-stream",
      "--use-fake-ui-for-media-stream",
      "--autoplay-policy=no-user-gesture-required",
    ],
  });
});
afterAll(() => browser.close());

/** A page of the service, in a browser profile of its own. */
async function openPage({ host }: Webrtc, script?: string): Promise<Page> {
  const context = await browser.newContext();
  onEnd(() => context.close());
  // A busy machine may take long to connect two pages.
  context.setDefaultTimeout(100_000);
  const page = await context.newPage();
  await page.goto(`http://${host}/ice-servers`);
  if (script !== undefined) await page.addScriptTag({ content: script });
  return page;
}

/** What the page's script sees of the packages. */
interface DataConnection {
  on(event: string, listener: (data: never) => void): void;
  send(data: unknown): void;
}
interface PeerJs extends DataConnection {
  readonly socket: { on(event: "message", listener: (message: OpenMessage) => void): void };
  readonly options: { config: object };
  connect(id: string, options?: object): DataConnection;
  call(id: string, stream: MediaStream): DataConnection & { answer(stream: MediaStream): void };
}
interface OpenMessage {
  readonly type: string;
  readonly payload: { readonly iceServers: readonly RTCIceServer[] };
}
declare const Peer: new (id: string, options: object) => PeerJs;

/** Answers calls with its own video, and messages with the same and "!". Resolves when it can be called. */
function answerWithPeerJs(id: string): Promise<void> {
  return new Promise((resolve, reject) => {
    void (async () => {
      const iceServers = await (await fetch("/ice-servers")).json();
      const options = {
        host: location.hostname,
        port: Number(location.port),
        path: "/",
        secure: false,
        config: { iceServers, iceTransportPolicy: "relay" },
      };
      const own = await navigator.mediaDevices.getUserMedia({ video: true });
      const peer = new Peer(id, options);
      peer.on("error", reject);
      peer.on("connection", (connection: DataConnection) => connection.on("data", (data) => connection.send(`${data}!`)));
      peer.on("call", (call: { answer(stream: MediaStream): void }) => call.answer(own));
      peer.on("open", () => resolve());
    })();
  });
}

/** Resolves with the answer to a message, and the size of the other side's video. */
function callWithPeerJs({ id, to }: { id: string; to: string }): Promise<{ answer: string; width: number }> {
  return new Promise((resolve, reject) => {
    void (async () => {
      const iceServers = await (await fetch("/ice-servers")).json();
      const options = {
        host: location.hostname,
        port: Number(location.port),
        path: "/",
        secure: false,
        config: { iceServers, iceTransportPolicy: "relay" },
      };
      const own = await navigator.mediaDevices.getUserMedia({ video: true });
      const peer = new Peer(id, options);
      peer.on("error", reject);
      await new Promise<void>((opened) => peer.on("open", () => opened()));
      const answer = new Promise<string>((received) => {
        const connection = peer.connect(to, { reliable: true });
        connection.on("open", () => connection.send("hello"));
        connection.on("data", received as (data: never) => void);
      });
      const width = new Promise<number>((shown) => {
        peer.call(to, own).on("stream", (stream: MediaStream) => {
          const video = document.createElement("video");
          video.muted = true;
          video.srcObject = stream;
          video.onresize = () => shown(video.videoWidth);
          void video.play();
        });
      });
      resolve({ answer: await answer, width: await width });
    })();
  });
}

/** Without ICE servers of its own: it takes those of OPEN. Calls the other one, if there is one, and resolves with its answer; else it answers. */
function exchangeWithPeerJs({ id, to }: { id: string; to?: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const port = Number(location.port);
    const config = { iceTransportPolicy: "relay" };
    const peer = new Peer(id, { host: location.hostname, port, path: "/", secure: false, config });
    peer.on("error", reject);
    peer.on("connection", (connection: DataConnection) => connection.on("data", (data) => connection.send(`${data}!`)));
    peer.socket.on("message", ({ type, payload }) => {
      if (type !== "OPEN") return;
      peer.options.config = { ...config, iceServers: payload.iceServers };
      if (to === undefined) {
        resolve("");
        return;
      }
      const connection = peer.connect(to);
      connection.on("open", () => connection.send("hello"));
      connection.on("data", resolve as (data: never) => void);
    });
  });
}

/** Offers a data channel by plain JSON to a PeerJS client. Resolves with the answer to a message. */
async function callByPlainJson(to: string): Promise<string> {
  const socket = new WebSocket(`ws://${location.host}/ws`);
  const opened = new Promise((resolve) => {
    socket.onopen = resolve;
  });
  const connection = new RTCPeerConnection({ iceServers: await (await fetch("/ice-servers")).json(), iceTransportPolicy: "relay" });
  const send = (message: object) => socket.send(JSON.stringify({ ...message, to }));
  const waiting: RTCIceCandidateInit[] = [];
  socket.onmessage = async ({ data }) => {
    const { type, sdp, candidate } = JSON.parse(data);
    if (type === "answer") {
      await connection.setRemoteDescription({ type, sdp });
      for (const one of waiting) await connection.addIceCandidate(one);
    }
    if (type === "candidate" && connection.remoteDescription) await connection.addIceCandidate(candidate);
    else if (type === "candidate") waiting.push(candidate);
  };
  await opened;
  const channel = connection.createDataChannel("chat");
  connection.onicecandidate = ({ candidate }) => candidate && send({ type: "candidate", candidate });
  await connection.setLocalDescription();
  send({ type: "offer", sdp: connection.localDescription?.sdp });
  return await new Promise((resolve) => {
    channel.onopen = () => channel.send("hello");
    channel.onmessage = ({ data }) => resolve(typeof data === "string" ? data : new TextDecoder().decode(data));
  });
}

describe("unmodified clients in Chromium", () => {
  it("[WEBRTC-210] two pages with PeerJS call one another through the relays: data and video", async () => {
    const webrtc = await startWebrtc();
    const script = scriptOf("peerjs/dist/peerjs.min.js");
    const [anna, bert] = [await openPage(webrtc, script), await openPage(webrtc, script)];
    await bert.evaluate(answerWithPeerJs, "bert");
    const { answer, width } = await anna.evaluate(callWithPeerJs, { id: "anna", to: "bert" });
    expect(answer).toBe("hello!");
    expect(width).toBeGreaterThan(0);
    expect(await (await fetch(`http://${webrtc.host}/peerjs/peers`)).json()).toEqual(["bert", "anna"]);
  });

  it("[WEBRTC-211] two pages with PeerJS call one another through the relays that OPEN names", async () => {
    const webrtc = await startWebrtc();
    const script = scriptOf("peerjs/dist/peerjs.min.js");
    const [anna, bert] = [await openPage(webrtc, script), await openPage(webrtc, script)];
    await bert.evaluate(exchangeWithPeerJs, { id: "bert" });
    expect(await anna.evaluate(exchangeWithPeerJs, { id: "anna", to: "bert" })).toBe("hello!");
  });

  it("[WEBRTC-252] a page with plain JSON opens a data channel to a page with PeerJS", async () => {
    const webrtc = await startWebrtc();
    const bert = await openPage(webrtc, scriptOf("peerjs/dist/peerjs.min.js"));
    await bert.evaluate(answerWithPeerJs, "bert");
    const page = await openPage(webrtc);
    expect(await page.evaluate(callByPlainJson, "bert")).toBe("hello!");
  });

  it("[WEBRTC-243] documents of y-webrtc in two pages get the same content", async () => {
    const webrtc = await startWebrtc();
    await exchangeTexts(webrtc, openDocument);
    const last = await joinJson(webrtc, "document");
    expect(((await last.until("joined")).peers as unknown[]).length).toBe(3);
  });

  it("[WEBRTC-247] documents in two pages get the same content through the relays that the welcome names", async () => {
    await exchangeTexts(await startWebrtc(), openDocumentByWelcome);
  });
});

/** Two pages with the document: each gets what the other one writes. */
async function exchangeTexts(webrtc: Webrtc, open: () => void | Promise<void>): Promise<void> {
  const script = await bundleYWebrtc();
  const [first, second] = [await openPage(webrtc, script), await openPage(webrtc, script)];
  const watcher = await joinJson(webrtc, "document");
  // Each is in the room before the next one comes: two that call one another at once wait for one another for up to a minute.
  for (const page of [first, second]) {
    const joined = watcher.log.next(({ type }) => type === "peer-joined");
    await page.evaluate(open);
    await joined;
  }
  await first.evaluate(() => shared.getText("t").insert(0, "from the first"));
  await second.waitForFunction(() => shared.getText("t").toString() === "from the first");
  await second.evaluate(() => shared.getText("t").insert(0, "and back, "));
  await first.waitForFunction(() => shared.getText("t").toString() === "and back, from the first");
}

interface SharedText {
  insert(at: number, text: string): void;
}
interface SharedDocument {
  getText(name: string): SharedText;
}
declare let shared: SharedDocument;
declare const YDoc: new () => SharedDocument;
interface Provider {
  peerOpts: object;
  readonly signalingConns: readonly { on(event: "message", listener: (message: Welcome) => void): void }[];
}
interface Welcome {
  readonly type: string;
  readonly iceServers: readonly RTCIceServer[];
}
declare const WebrtcProvider: new (room: string, document: SharedDocument, options: object) => Provider;

async function openDocument(): Promise<void> {
  const iceServers = await (await fetch("/ice-servers")).json();
  shared = new YDoc();
  const signaling = [`ws://${location.host}/y-webrtc`];
  new WebrtcProvider("document", shared, {
    signaling,
    filterBcConns: false,
    peerOpts: { config: { iceServers, iceTransportPolicy: "relay" } },
  });
}

/** Without ICE servers of its own: it takes those of the welcome. */
function openDocumentByWelcome(): void {
  shared = new YDoc();
  const provider = new WebrtcProvider("document", shared, { signaling: [`ws://${location.host}/y-webrtc`], filterBcConns: false });
  provider.signalingConns[0]?.on("message", ({ type, iceServers }) => {
    if (type === "welcome") provider.peerOpts = { config: { iceServers, iceTransportPolicy: "relay" } };
  });
}

/** The packages as a page loads them. */
async function bundleYWebrtc(): Promise<string> {
  const entry = path.join(projectRoot, "node_modules/.cache/y-webrtc-page.js");
  writeFileSync(
    entry,
    'import { Doc } from "yjs"; import { WebrtcProvider } from "y-webrtc"; Object.assign(globalThis, { YDoc: Doc, WebrtcProvider, shared: undefined });',
  );
  onEnd(() => rmSync(entry));
  const built = await build({
    configFile: false,
    root: projectRoot,
    logLevel: "error",
    define: { "process.env.NODE_DEBUG": "undefined", global: "globalThis" },
    build: { write: false, minify: false, lib: { entry, formats: ["iife"], name: "page", fileName: "page" } },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (!output || !("output" in output)) throw new Error("The page could not be built");
  return output.output[0].code;
}
