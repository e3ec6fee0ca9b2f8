import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { type ChatEntry, ChatLog } from "../../servers/webrtc/test-page/page/room/chat-log.ts";
import { SignalInbox, WaitingText } from "../../servers/webrtc/test-page/page/room/signal-inbox.ts";
import { desktop, openTestPages, saidOn, urlOf, waitMs, write } from "./test-page-harness.ts";
import { type JsonClient, startWebrtc, type WebrtcUnderTest } from "./webrtc-harness.ts";

const { browser, open, joined } = openTestPages();

const member = async (service: WebrtcUnderTest, name: string): Promise<JsonClient> => {
  const client = await service.connect();
  await client.join("test", { name });
  return client;
};
const members = (service: WebrtcUnderTest, count: number): Promise<JsonClient[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => member(service, `Peer ${index}`)));

/** An offer of a data channel, as text: nothing is behind it. */
const handMadeOffer = (session: number, sections = 1): string =>
  [
    ...["v=0", `o=- ${session} 2 IN IP4 127.0.0.1`, "s=-", "t=0 0"],
    `a=group:BUNDLE ${Array.from({ length: sections }, (_, index) => index).join(" ")}`,
    ...Array.from({ length: sections }, (_, index) => [
      ...["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuvwx"],
      ...[`a=fingerprint:sha-256 ${Array(32).fill("AB").join(":")}`, "a=setup:actpass", `a=mid:${index}`, "a=sctp-port:5000"],
    ]).flat(),
    "",
  ].join("\r\n");

/** Runs in the page: counts its connections. */
const countOpened = () => {
  const real = window.RTCPeerConnection;
  Object.assign(window, { opened: 0 });
  window.RTCPeerConnection = class extends real {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      (window as unknown as { opened: number }).opened++;
    }
  };
};
const openedIn = (page: Page) => page.evaluate(() => (window as unknown as { readonly opened: number }).opened);

const card = (page: Page, name: string) => page.getByLabel("Called peers").getByRole("listitem", { name, exact: true });
const row = (page: Page, name: string) => page.getByRole("region", { name: "Not called" }).getByRole("listitem", { name, exact: true });

describe("the test page in a room whose members send without end", () => {
  it(
    "[WEBRTC-600] answers while chat comes without a pause, renders it at most once per frame, and shows the last message",
    async () => {
      const service = await startWebrtc();
      const page = await open(service);
      await joined(page, { name: "Ada" });
      const bob = await member(service, "Bob");
      await page.evaluate(() => {
        const counts = { frames: 0, renders: 0 };
        Object.assign(window, { counts });
        const count = () => {
          counts.frames++;
          requestAnimationFrame(count);
        };
        count();
        const messages = document.querySelector('[aria-label="Messages"]');
        if (messages) new MutationObserver(() => counts.renders++).observe(messages, { childList: true });
      });
      let isFlooding = true;
      const flood = (async () => {
        for (let number = 0; isFlooding; number++) {
          bob.send({ type: "chat", room: "test", text: `${number} ${"long ".repeat(number % 100)}` });
          // As fast as the service reads.
          if (number % 200 === 0) await bob.settled();
        }
      })();
      await page.getByLabel("Messages").getByText("Bob").first().waitFor();
      for (const text of ["one", "two", "three"]) {
        const heard = bob.messages.until((message) => message.type === "chat" && message.text === text);
        await write(page, text);
        await heard;
      }
      isFlooding = false;
      await flood;
      bob.send({ type: "chat", room: "test", text: "the last message" });
      await saidOn(page, "the last message").waitFor();
      const { frames, renders, lines } = await page.evaluate(() => ({
        ...(window as unknown as { readonly counts: { readonly frames: number; readonly renders: number } }).counts,
        lines: document.querySelectorAll('[aria-label="Messages"] > li').length,
      }));
      expect(renders).toBeGreaterThan(0);
      expect(renders).toBeLessThanOrEqual(frames);
      expect(lines).toBeLessThanOrEqual(500);
    },
    4 * waitMs,
  );

  const line = { name: "Bob", at: 0, isOwn: false, isPrivate: false };
  const shownIn = (entries: readonly ChatEntry[]) => entries.map((entry) => ("leftOut" in entry ? entry.leftOut : entry.text));
  const chatLog = () => {
    let frame: (() => void) | undefined;
    const log = new ChatLog((run) => {
      frame = run;
    });
    return { log, paint: () => frame?.(), shown: () => shownIn(log.shown.get()) };
  };

  it("[WEBRTC-600] of messages that come faster than frames the newest and the own are shown, and the others counted; all are bounded", () => {
    const { log, paint, shown } = chatLog();
    log.add({ ...line, text: "mine", isOwn: true });
    for (let number = 0; number < 1_000; number++) log.add({ ...line, text: `${number}` });
    expect(shown()).toEqual([]);
    paint();
    expect(shown().slice(0, 3)).toEqual([900, "mine", "900"]);
    expect(shown()).toHaveLength(102);
    for (let frame = 0; frame < 20; frame++) {
      for (let number = 0; number < 50; number++) log.add({ ...line, text: `${frame} ${number}` });
      paint();
    }
    expect(shown()).toHaveLength(500);
    expect(shown().at(-1)).toBe("19 49");
    for (let number = 0; number < 4; number++) log.add({ ...line, text: `${number}`.repeat(400_000) });
    paint();
    expect(shown()).toHaveLength(2);
    log.clear();
    paint();
    for (let number = 0; number < 300; number++) log.add({ ...line, text: `${number}`, isHistory: true });
    paint();
    expect(shown()).toHaveLength(300);
  });

  it(
    "[WEBRTC-601] of a long message its beginning is shown, and all of it by a press",
    async () => {
      const service = await startWebrtc();
      const page = await open(service);
      await joined(page, { name: "Ada" });
      const bob = await member(service, "Bob");
      bob.send({ type: "chat", room: "test", text: `${"x".repeat(7_999)}!` });
      const whole = page.getByRole("button", { name: "Show all 8,000 characters" });
      await whole.waitFor();
      expect(await saidOn(page, "x!").count()).toBe(0);
      await whole.click();
      await saidOn(page, "x!").waitFor();
      bob.send({ type: "chat", room: "test", text: `first${"\n".repeat(300)}end` });
      await page.getByRole("button", { name: "Show all 308 characters" }).waitFor();
    },
    2 * waitMs,
  );

  it(
    "[WEBRTC-602] of a large room it calls and answers as many as are configured, the others when they are pressed or a place is free",
    async () => {
      const service = await startWebrtc({ testPageCalls: 2 });
      const peers = await members(service, 120);
      const page = await open(service);
      await joined(page, { name: "Ada" });
      await page.getByRole("heading", { name: "118 not called" }).waitFor();
      await page.getByText("This page calls 2 peers by itself").waitFor();
      await expect.poll(() => peers.filter((peer) => peer.all("offer").length > 0).length).toBe(2);
      const called = peers.filter((peer) => peer.all("offer").length > 0);
      const [caller, other, quiet] = peers.filter((peer) => !called.includes(peer)) as [JsonClient, JsonClient, JsonClient];
      const nameOf = (peer: JsonClient) => `Peer ${peers.indexOf(peer)}`;
      const find = (name: string) => page.getByLabel("Find a peer").fill(name);
      // The caller's own offer waits: one is answered by a press, one when another leaves.
      const to = caller.messages.items.find((message) => message.type === "peer-joined" && message.name === "Ada")?.id;
      for (const peer of [caller, other]) peer.send({ type: "offer", to, sdp: handMadeOffer(1) });
      await row(page, nameOf(caller)).getByText("Calls you").waitFor();
      await row(page, nameOf(other)).getByRole("button", { name: "Answer" }).click();
      await other.messages.until(({ type }) => type === "answer");
      await card(page, nameOf(other)).waitFor();
      expect(caller.all("answer")).toEqual([]);
      await find(nameOf(quiet));
      await row(page, nameOf(quiet)).getByRole("button", { name: "Call" }).click();
      await quiet.messages.until(({ type }) => type === "offer");
      for (const peer of [...called, other]) peer.send({ type: "leave", room: "test" });
      await caller.messages.until(({ type }) => type === "answer");
      await find("nobody of this name");
      await page.getByText("No peer has this in its name.").waitFor();
    },
    4 * waitMs,
  );

  it(
    "[WEBRTC-603] where the browser opens no further call, the page says so, and goes on",
    async () => {
      const service = await startWebrtc();
      const peers = await members(service, 3);
      const page = await open(service, desktop, () => {
        const real = window.RTCPeerConnection;
        let count = 0;
        window.RTCPeerConnection = class extends real {
          constructor(configuration?: RTCConfiguration) {
            if (++count > 1) throw new DOMException("Cannot create so many PeerConnections", "UnknownError");
            super(configuration);
          }
        };
      });
      await joined(page, { name: "Ada" });
      await expect.poll(() => page.getByText("The browser opens no further call: Cannot create so many").count()).toBe(2);
      await write(page, "still here");
      await peers[0]?.messages.until((message) => message.type === "chat" && message.text === "still here");
    },
    2 * waitMs,
  );

  it(
    "[WEBRTC-604] takes as many signals of one peer as a call needs, says how many it has left out, and calls others meanwhile",
    async () => {
      const service = await startWebrtc();
      const page = await open(service, desktop, countOpened);
      await joined(page, { name: "Ada" });
      const eve = await service.connect();
      const [ada] = (await eve.join("test", { name: "Eve" })).peers as [{ readonly id: string }];
      const to = ada.id;
      const count = 2_000;
      for (let number = 0; number < count; number++) {
        eve.send({ type: "offer", to, sdp: number % 2 === 0 ? handMadeOffer(number) : { type: "offer", sdp: `o=- ${number} 1` } });
        eve.send({ type: "candidate", to, candidate: { candidate: `candidate:${"x".repeat(number)}`, sdpMid: [], sdpMLineIndex: {} } });
        if (number % 200 === 0) await eve.settled();
      }
      await card(page, "Eve").getByText("signals were left out").waitFor();
      const bob = await open(service);
      await joined(bob, { name: "Bob" });
      await card(page, "Bob").getByText("Connected", { exact: true }).waitFor();
      expect(await openedIn(page)).toBeLessThan(count / 4);
      const zoe = await member(service, "Zoe");
      zoe.send({ type: "offer", to, sdp: handMadeOffer(1, 40) });
      await card(page, "Zoe").getByText("it has 40 media sections").waitFor();
    },
    4 * waitMs,
  );

  it("[WEBRTC-604] what waits of a peer is bounded, and a newer description replaces what came before it", () => {
    const text = new WaitingText(10_000);
    const inbox = new SignalInbox(text);
    const offer = (sdp: string) => ({ type: "offer", sdp }) as const;
    const candidate = (of: string) => ({ type: "candidate", candidate: { candidate: of } }) as const;
    inbox.add(offer("old"), true);
    inbox.add(offer("new"), true);
    expect([inbox.next, inbox.leftOut]).toEqual([offer("new"), 0]);
    for (let number = 0; number < 150; number++) inbox.add(candidate(`${number}`), true);
    expect(inbox.leftOut).toBe(50);
    inbox.add(candidate("x".repeat(2_001)), true);
    inbox.add(offer("x".repeat(10_001)), true);
    expect([inbox.next, inbox.leftOut]).toEqual([undefined, 52]);
    inbox.add(offer("x".repeat(10_000)), true);
    const other = new SignalInbox(text);
    other.add(offer("of another"), true);
    expect([other.next, other.leftOut]).toEqual([undefined, 1]);
    inbox.clear();
    other.add(offer("of another"), true);
    expect(other.take()).toEqual(offer("of another"));
  });

  it(
    "[WEBRTC-605] ends a call whose other end sends more over a data channel than it takes, and counts one answer to a ping",
    async () => {
      const service = await startWebrtc();
      const page = await open(service);
      await joined(page, { name: "Ada", over: "any" });
      const context = await browser().newContext();
      const other = await context.newPage();
      await other.goto(`${urlOf(service)}ice-servers`);
      await other.evaluate(
        (url) => {
          const socket = new WebSocket(url);
          const say = (message: object) => socket.send(JSON.stringify(message));
          const connection = new RTCPeerConnection();
          const channel = connection.createDataChannel("flood");
          let pings = 0;
          channel.onmessage = ({ data }) => {
            if (!String(data).startsWith("ping")) return;
            pings++;
            for (let count = 0; count < (pings < 3 ? 100 : 5_000); count++) channel.send(String(data).replace("ping", "pong"));
          };
          socket.onmessage = async (event) => {
            const message = JSON.parse(event.data);
            if (message.type === "welcome") say({ type: "join", room: "test", name: "Eve" });
            if (message.type === "joined") {
              const to = message.peers[0].id;
              connection.onicecandidate = ({ candidate }) => candidate && say({ type: "candidate", to, candidate: candidate.toJSON() });
              await connection.setLocalDescription();
              say({ type: "offer", to, sdp: connection.localDescription?.sdp });
            }
            if (message.type === "answer") await connection.setRemoteDescription({ type: "answer", sdp: message.sdp });
            if (message.type === "candidate") await connection.addIceCandidate(message.candidate);
          };
        },
        `${urlOf(service).replace("http", "ws")}ws`,
      );
      await page.getByRole("tab", { name: "Connection" }).click();
      await card(page, "Eve").getByText("sent more over the data channel than this page takes").waitFor();
      await card(page, "Eve").getByText("Closed").waitFor();
      const answered = await page.getByText(/pings answered/).textContent();
      expect(Number(/(\d+) pings answered/.exec(answered ?? "")?.[1])).toBeLessThanOrEqual(3);
      await context.close();
    },
    2 * waitMs,
  );

  it(
    "[WEBRTC-606] a double click on Call again calls once, and both ends are connected after it",
    async () => {
      const service = await startWebrtc();
      const [ada, bob] = [await open(service, desktop, countOpened), await open(service)];
      await joined(ada, { name: "Ada" });
      await joined(bob, { name: "Bob" });
      await card(ada, "Bob").getByText(/^ping/).waitFor();
      await card(ada, "Bob").getByRole("button", { name: "Call again" }).dblclick();
      await expect.poll(() => openedIn(ada)).toBe(2);
      for (const [page, other] of [
        [ada, "Bob"],
        [bob, "Ada"],
      ] as const) {
        await card(page, other).getByText(/^ping/).waitFor();
        await card(page, other).getByText("Connected", { exact: true }).waitFor();
        expect(await page.getByText("could not be used").count()).toBe(0);
      }
      expect(await openedIn(ada)).toBe(2);
    },
    2 * waitMs,
  );
});
