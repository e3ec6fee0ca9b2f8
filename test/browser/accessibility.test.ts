import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Client, credentials } from "@grpc/grpc-js";
import type { AxeResults, ElementContext, RunOptions } from "axe-core";
import type { Locator, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { services } from "../../servers/catalog.ts";
import { type BrowserShell, openTab, shareBrowserShell } from "./browser-shell.ts";

const ids = services.map(({ id }) => id);
const openShared = shareBrowserShell("http", { others: ids.filter((id) => id !== "http") });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const options = {
  dark: { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] },
  // The schemes differ in colours only.
  light: { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] }, resultTypes: ["violations"] },
} satisfies Record<string, RunOptions>;
type Scheme = keyof typeof options;

/** Resolves when the page has taken it over: its colours change from then on. */
async function useScheme(page: Page, colorScheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
}

/** Schemes in which the header and the rail were checked since the page was loaded: its tabs do not change them. */
const checkedFrames = new Set<Scheme>();

async function open(service: string): Promise<BrowserShell> {
  const shell = await openShared(service);
  checkedFrames.clear();
  await shell.page.evaluate(axe);
  return shell;
}

/** Of the whole page, or of the panel of a tab: where only that was changed, the rest was checked before. */
async function violationsOf(page: Page, scheme: Scheme, changed?: Locator): Promise<string[]> {
  const panel = await changed?.getAttribute("aria-controls");
  const exclude = checkedFrames.has(scheme) ? ["nav[aria-label='Pages']", "header:has(a[href='#/overview'])"] : [];
  if (!panel) checkedFrames.add(scheme);
  // A page that is still coming has colours in between.
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
        .map((animation) => animation.finished),
    ),
  );
  // Only what is wrong leaves the page: the other results name each element of it.
  const violations = await page.evaluate(
    async ({ context, rules }) => {
      const { axe } = globalThis as unknown as { axe: { run(context: ElementContext, options: RunOptions): Promise<AxeResults> } };
      return (await axe.run(context, rules)).violations.map(({ id, nodes }) => `${id} at ${nodes[0]?.target.join(" ")}`);
    },
    { context: panel ? { include: [`[id="${panel}"]`] } : { exclude }, rules: options[scheme] as RunOptions },
  );
  return violations.map((violation) => `${scheme}: ${violation}`);
}

/** In both schemes. */
async function faultsOf(page: Page, what: string, changed?: Locator): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ["dark", "light"] as const) {
    await useScheme(page, colorScheme);
    found.push(...(await violationsOf(page, colorScheme, changed)).map((violation) => `${what}, ${violation}`));
  }
  return found;
}

it.each(ids)("every page of %s passes axe in both schemes (WCAG 2.1 AA)", async (service) => {
  const { page } = await open(service);
  const tabs = page.getByRole("main").getByRole("tab");
  await tabs.first().waitFor();
  const found: string[] = [];
  // Tabs that were shown stay in the document: each is checked in both schemes before the next one is added.
  for (const name of await tabs.allTextContents()) {
    await page.getByRole("tab", { name, exact: true }).first().click();
    found.push(...(await faultsOf(page, name)));
  }
  expect(found).toEqual([]);
});

it("the inspectors of an exchange, a WebSocket and a stream pass axe in both schemes", async () => {
  const { page, origin, host } = await open("http");
  await fetch(`${origin}/anything`, { method: "POST", body: '{"a":[1,"two",null]}', headers: { authorization: "Bearer abc" } });
  await fetch(`${origin}/api/stream?count=3&interval=10`).then((answer) => answer.text());
  const socket = new WebSocket(`ws://${host}/ws/echo`);
  socket.onopen = () => socket.send("hello");
  // The newest row comes first: a click must not meet a list that still moves.
  await page.getByRole("row", { name: /text.*ws\/echo/ }).waitFor();
  const found: string[] = [];
  for (const [path, tabs] of [
    [/POST.*anything/, ["Request", "Response", "Timing", "Connection"]],
    [/GET.*api\/stream/, ["Events"]],
    [/GET.*ws\/echo/, ["Messages", "Handshake"]],
  ] as const) {
    await page.getByRole("row", { name: path }).click();
    await page.keyboard.press("Enter");
    for (const name of tabs) {
      const tab = page.getByRole("tab", { name, exact: true }).last();
      await tab.click();
      found.push(...(await faultsOf(page, name, name === tabs[0] ? undefined : tab)));
    }
  }
  socket.close();
  expect(found).toEqual([]);
});

it("[GRPC-159] the tabs of gRPC pass axe in both schemes with traffic, rules and an open stream's inspector", {
  timeout: 240_000,
}, async () => {
  const { page, host } = await open("grpc");
  const client = new Client(host, credentials.createInsecure());
  onTestFinished(() => client.close());
  const asIs = (bytes: Buffer) => bytes;
  const found: string[] = [];
  const check = async (what: string, changed?: Locator) => void found.push(...(await faultsOf(page, what, changed)));

  await openTab(page, "Replies");
  await page.getByRole("button", { name: "Edit file" }).click();
  await page.getByRole("textbox", { name: "Text of the file" }).fill(JSON.stringify({ rules: exampleRules }, null, 2));
  await page.getByRole("list", { name: "Problems" }).waitFor();
  await check("Edit file");
  await page.getByRole("button", { name: "Save the file" }).click();
  await page.getByRole("textbox", { name: "Text of the file" }).waitFor({ state: "hidden" });
  client.makeUnaryRequest("/example.EchoService/EchoUnary", asIs, asIs, Buffer.alloc(0), () => {});
  await page.getByRole("region", { name: "Waiting calls" }).waitFor();
  await page.getByRole("row").filter({ hasText: "Greeter/SayHello" }).last().click();
  const inner = (name: string) => page.getByRole("tab", { name, exact: true }).last();
  for (const name of ["Rule", "JSON"]) {
    await openTab(page, name);
    await check(`Replies, ${name}`, name === "Rule" ? undefined : inner(name));
  }

  const stream = client.makeBidiStreamRequest("/example.Greeter/BidirectionalStream", asIs, asIs).on("error", () => {});
  stream.write(Buffer.from([18, 2, 104, 105]));
  await openTab(page, "Live");
  await page.getByRole("row").filter({ hasText: "BidirectionalStream" }).click();
  await page.getByRole("row").filter({ hasText: "from client" }).first().click();
  for (const name of ["Messages", "Send", "Call", "Metadata"]) {
    await openTab(page, name);
    await check(`Live, ${name}`, name === "Messages" ? undefined : inner(name));
  }
  await page.getByRole("button", { name: "Method all" }).click();
  await page.getByRole("option", { name: "example.Greeter", exact: true }).waitFor();
  await check("Live, methods");
  await page.keyboard.press("Escape");

  await openTab(page, "Services");
  await page.getByRole("row").filter({ hasText: "StreamData" }).click();
  await page.getByRole("region", { name: "Request" }).waitFor();
  await check("Services, method");
  await openTab(page, "Try");
  await page.getByRole("region", { name: "Metadata to send" }).getByRole("button", { name: "Add" }).click();
  await page.locator('input[aria-label="Metadata 1, name"]').fill("bad name");
  await page.keyboard.press("Escape");
  await page.getByText("Only letters, digits").waitFor();
  await check("Try, wrong metadata");
  await page.getByRole("button", { name: /^Remove metadata/ }).click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("region", { name: "Answer" }).getByText("0 OK").waitFor();
  await check("Try, answer");
  await openTab(page, "Metrics");
  await page.getByRole("img", { name: /^Calls a second/ }).waitFor();
  await check("Metrics");
  stream.cancel();
  expect(found).toEqual([]);
});

it("[WEBRTC-438] the tabs of WebRTC and the inspectors of their rows pass axe in both schemes with peers, signals, relays, players and faults", {
  timeout: 240_000,
}, async () => {
  const { page, origin, host } = await open("webrtc");
  const http = origin.replace("ws:", "http:");
  const [ada, bob] = [await joinWebrtc(host, "Ada"), await joinWebrtc(host, "Bob")];
  onTestFinished(() => [ada, bob].forEach(({ socket }) => void socket.close()));
  const player = await page.context().newPage();
  onTestFinished(() => player.close());
  await player.goto(`${http}/ice-servers`);
  await player.evaluate(callAndPlay);
  const fault = async (path: string) => expect((await fetch(`${http}/faults/${path}`, { method: "POST" })).status).toBe(200);
  await fault(`peers/${ada.id}?kind=drop&percent=100`);
  await fault("relays/1?kind=loss&percent=5");
  ada.send({ type: "offer", to: bob.id, sdp: webrtcOffer });
  bob.send({ type: "offer", to: "nobody", sdp: webrtcOffer });
  bob.send({ type: "chat", room: "demo", text: "Hello" });

  const row = (text: string) => page.getByRole("row").filter({ hasText: text }).first();
  const found: string[] = [];
  const check = async (what: string, changed?: Locator) => void found.push(...(await faultsOf(page, what, changed)));
  for (const [name, text, tabs] of [
    ["Media", "/test", []],
    ["Rooms", "Ada", ["Exchanged", "Peer"]],
    ["Rooms", "demo", []],
    ["Signals", "dropped by a fault", ["Description", "Signal"]],
    ["Relays", "loss 5 %", ["Plots", "Relay"]],
  ] as const) {
    await openTab(page, name);
    await row(text).click();
    await page.getByRole("button", { name: "Close the inspector" }).last().waitFor();
    if (tabs.length === 0) await check(`${name}, ${text}`);
    // To decode its pictures would take a processor for the rest of the test.
    if (name === "Media") await player.evaluate(() => (globalThis as unknown as { player: RTCPeerConnection }).player.close());
    for (const inner of tabs) {
      const tab = page.getByRole("tab", { name: inner, exact: true }).last();
      await tab.click();
      await check(`${name}, ${text}, ${inner}`, inner === tabs[0] ? undefined : tab);
    }
    await page.keyboard.press("Escape");
  }
  await openTab(page, "Live");
  await page.getByPlaceholder("Peer, room, text").fill("allocate");
  await row("allocate").click();
  await check("Live, a request of TURN");
  expect(found).toEqual([]);
});

const webrtcOffer = [
  ...["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0"],
  ...["a=ice-ufrag:abcd", "a=ice-pwd:not-a-secret-of-anyone", "a=setup:actpass", "a=mid:0", "a=sctp-port:5000", ""],
].join("\r\n");

async function joinWebrtc(host: string, name: string) {
  const socket = new WebSocket(`ws://${host}/ws`);
  const send = (message: object) => socket.send(JSON.stringify(message));
  const id = await new Promise<string>((resolve) => {
    let welcomed = "";
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as { type: string; id: string };
      if (message.type === "welcome") {
        welcomed = message.id;
        send({ type: "join", room: "demo", name });
      }
      if (message.type === "joined") resolve(welcomed);
    };
  });
  return { id, socket, send };
}

/** A connection by two relays, and a player of /test; the page keeps them. */
async function callAndPlay(): Promise<void> {
  const iceServers = await (await fetch("/ice-servers")).json();
  const [one, other] = [0, 1].map(() => new RTCPeerConnection({ iceServers, iceTransportPolicy: "relay" })) as [
    RTCPeerConnection,
    RTCPeerConnection,
  ];
  one.onicecandidate = ({ candidate }) => candidate && void other.addIceCandidate(candidate);
  other.onicecandidate = ({ candidate }) => candidate && void one.addIceCandidate(candidate);
  const opened = new Promise((resolve) => {
    one.createDataChannel("chat").onopen = resolve;
  });
  await one.setLocalDescription();
  await other.setRemoteDescription(one.localDescription as RTCSessionDescription);
  await other.setLocalDescription();
  await one.setRemoteDescription(other.localDescription as RTCSessionDescription);
  await opened;
  const player = new RTCPeerConnection();
  for (const kind of ["video", "audio"]) player.addTransceiver(kind, { direction: "recvonly" });
  await player.setLocalDescription();
  const body = player.localDescription?.sdp ?? "";
  const answer = await fetch("/whep/test", { method: "POST", headers: { "content-type": "application/sdp" }, body });
  await player.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  Object.assign(globalThis, { kept: [one, other], player });
}

/** The last one does not fit the types of its method. */
const exampleRules = [
  { name: "Ada", method: "example.Greeter/SayHello", when: { request: { name: "Ada" } }, reply: { message: "Hi" } },
  { method: "example.EchoService/EchoUnary", waitFor: "go", reply: { message: "released" } },
  { method: "example.Greeter/SayHello", reply: { status: "one" } },
];
