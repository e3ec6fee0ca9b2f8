import { once } from "node:events";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";
import { type JsonClient, joinJson, startWebrtc, type Webrtc } from "./dialect-harness.ts";
import { openPolling, pollingUrl } from "./socketio-client.ts";

const messagesOfSeed = 600;
const messagesOfConnection = 40;

/** Where a client connects, what it sends first, and messages that the dialect knows. */
interface Dialect {
  readonly target: (number: number) => string;
  readonly opening: readonly string[];
  readonly messages: readonly unknown[];
  readonly write: (message: unknown) => string;
}

const description = { type: "offer", sdp: "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" };
const candidate = { candidate: "candidate:1 1 udp 1 127.0.0.1 9 typ host", sdpMid: "0", sdpMLineIndex: 0 };
const json = (message: unknown): string => JSON.stringify(message) ?? "";

const dialects: Readonly<Record<string, Dialect>> = {
  json: {
    target: () => "/ws",
    opening: [],
    messages: [
      { type: "join", room: "fuzz", name: "n", password: "p" },
      { type: "leave", room: "fuzz" },
      { type: "offer", to: "x", sdp: description },
      { type: "answer", to: "x", sdp: "v=0" },
      { type: "candidate", to: "x", candidate },
      { type: "chat", room: "fuzz", text: "t" },
    ],
    write: json,
  },
  peerjs: {
    target: (number) => `/peerjs?key=fuzz&id=p${number}&token=t`,
    opening: [],
    messages: [
      { type: "OFFER", dst: "p0", payload: { sdp: description, type: "data", connectionId: "dc_1" } },
      { type: "ANSWER", dst: "p1", payload: { sdp: description } },
      { type: "CANDIDATE", dst: "p2", payload: { candidate, connectionId: "dc_1" } },
      { type: "LEAVE", dst: "p0" },
      { type: "EXPIRE", dst: "p0" },
      { type: "HEARTBEAT" },
    ],
    write: json,
  },
  socketio: {
    target: () => "/socket.io/?EIO=4&transport=websocket",
    opening: ["40"],
    messages: [
      ["signal", { sdp: description }],
      ["signal", { candidate, to: "x" }],
      ["join", { room: "fuzz", name: "n" }],
      ["leave", { room: "fuzz" }],
      ["chat", { text: "t", room: "fuzz" }],
    ],
    write: (message) => `42${json(message)}`,
  },
  ywebrtc: {
    target: () => "/y-webrtc",
    opening: ['{"type":"subscribe","topics":["fuzz"]}'],
    messages: [
      { type: "subscribe", topics: ["fuzz", "b"] },
      { type: "unsubscribe", topics: ["fuzz"] },
      { type: "publish", topic: "fuzz", data: { type: "announce", from: "y" } },
      { type: "publish", topic: "fuzz", data: { type: "signal", from: "y", to: "z", token: 1, signal: description } },
      { type: "ping" },
    ],
    write: json,
  },
};

const oddities: readonly unknown[] = [
  ...[
    null,
    true,
    -1,
    1e308,
    "",
    "\0",
    "__proto__",
    "x".repeat(1_000),
    [],
    {},
    [[[[[[]]]]]],
    { __proto__: null, toString: 1, constructor: 2 },
  ],
  ...["fuzz", "service", "\ud800", { candidate: 7 }, { type: "offer" }, Array.from({ length: 200 }, (_, number) => `room ${number}`)],
];

/** The value with some of its parts replaced, removed or repeated. */
function changed(random: SeededRandom, value: unknown): unknown {
  if (random.chance(0.15)) return oddities[random.below(oddities.length)];
  if (Array.isArray(value))
    return value.flatMap((item) =>
      random.chance(0.1) ? [] : random.chance(0.1) ? [item, changed(random, item)] : [changed(random, item)],
    );
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, item]) =>
    random.chance(0.1) ? [] : [[random.chance(0.05) ? "odd" : name, changed(random, item)]],
  );
  return Object.fromEntries(entries);
}

/** Text or bytes; some of them are cut, or have a character that does not belong there. */
function fuzzed(random: SeededRandom, { messages, write }: Dialect): string | Buffer {
  const text = write(changed(random, messages[random.below(messages.length)]));
  if (random.chance(0.03)) return Buffer.from(text);
  if (random.chance(0.1)) return text.slice(random.below(4), random.below(text.length + 1));
  if (!random.chance(0.1)) return text;
  const at = random.below(text.length + 1);
  return text.slice(0, at) + String.fromCharCode(random.below(0x300)) + text.slice(at + random.below(2));
}

async function fuzz({ host }: Webrtc, dialect: Dialect, random: SeededRandom): Promise<void> {
  for (let sent = 0, number = 0; sent < messagesOfSeed; number++) {
    const socket = new WebSocket(`ws://${host}${dialect.target(number)}`);
    socket.on("error", () => {});
    await once(socket, "open");
    const closed = once(socket, "close");
    for (const text of dialect.opening) socket.send(text);
    for (let count = 0; count < messagesOfConnection; count++) {
      sent++;
      if (socket.readyState === WebSocket.OPEN) socket.send(fuzzed(random, dialect));
    }
    // Behind them: whatever the service still answers has been answered.
    socket.ping();
    await Promise.race([once(socket, "pong"), closed]);
    socket.terminate();
    await closed;
  }
}

async function expectChat(one: JsonClient, other: JsonClient, text: string): Promise<void> {
  one.send({ type: "chat", to: other.id, text });
  await other.log.until((message) => message.type === "chat" && message.text === text);
}

it.each(Object.entries(dialects).flatMap(([name, dialect]) => [1, 2].map((seed) => ({ name, dialect, seed }))))(
  "[WEBRTC-280] no message of $name makes the service fail or disturbs others, seed $seed",
  async ({ dialect, seed }) => {
    const webrtc = await startWebrtc({ turn: false });
    const [one, other] = [await joinJson(webrtc, "bystanders"), await joinJson(webrtc, "bystanders")];
    const fuzzing = fuzz(webrtc, dialect, seededRandom(seed));
    await expectChat(one, other, "meanwhile");
    await fuzzing;
    await expectChat(other, one, "afterwards");
    expect(webrtc.service.logs.filter(({ level }) => level === "error")).toEqual([]);
    expect(one.log.items.filter(({ type }) => type === "error")).toEqual([]);
  },
);

it("[WEBRTC-280] no bytes over long polling make the service fail", async () => {
  const webrtc = await startWebrtc({ turn: false });
  const one = await joinJson(webrtc, "bystanders");
  const random = seededRandom(3);
  const base = pollingUrl(webrtc.host);
  const post = (target: string, body: string) => fetch(target, { method: "POST", body, headers: { "Content-Type": "text/plain" } });
  for (let number = 0; number < 40; number++) {
    const { url } = await openPolling(webrtc.host);
    const packets = Array.from({ length: 5 }, () => fuzzed(random, dialects.socketio as Dialect).toString());
    const response = await post(random.chance(0.1) ? `${base}&sid=none` : url, ["40", ...packets].join("\x1e"));
    expect([200, 400]).toContain(response.status);
    await response.text();
    await (await post(url, "41\x1e1")).text();
  }
  expect(await post(base, "x").then(({ status }) => status)).toBe(400);
  await expectChat(one, one, "afterwards");
  expect(webrtc.service.logs.filter(({ level }) => level === "error")).toEqual([]);
});
