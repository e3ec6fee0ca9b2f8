import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { FaultLog } from "../../servers/core/net/fault-log.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { ClientSessions } from "../../servers/webrtc/dialects/client-sessions.ts";
import { parseJsonMessage } from "../../servers/webrtc/dialects/json/parse-json-message.ts";
import { WebSocketClients } from "../../servers/webrtc/dialects/web-socket-clients.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { type JsonClient, startWebrtc, type WebrtcUnderTest } from "./webrtc-harness.ts";

/** Two who chat all the while: nothing that others do may hold them up. */
async function bystanders(service: WebrtcUnderTest): Promise<() => Promise<void>> {
  const [one, other] = [await service.connect(), await service.connect()];
  await one.join("bystanders");
  await other.join("bystanders");
  let turn = 0;
  return async () => {
    const text = `still here ${turn++}`;
    const heard = other.messages.next((message) => message.text === text);
    one.send({ type: "chat", room: "bystanders", text });
    await heard;
  };
}

const deep = (levels: number): string => `{"type":"candidate","to":"x","candidate":${"[".repeat(levels)}${"]".repeat(levels)}}`;

it("[WEBRTC-120] what is not a message gets an error with its type, and the connection goes on", async () => {
  const service = await startWebrtc();
  const others = await bystanders(service);
  const client = await service.connect();
  const wrong: readonly (readonly [string, string, string | null])[] = [
    ["", "bad-message", null],
    ["nonsense", "bad-message", null],
    ['{"type":"join"', "bad-message", null],
    ["null", "bad-message", null],
    ["[]", "bad-message", null],
    ["{}", "bad-message", null],
    ['{"type":7}', "bad-message", null],
    ['{"type":"dance"}', "unknown-type", "dance"],
    ['{"type":"__proto__"}', "unknown-type", "__proto__"],
    ['{"type":"join"}', "bad-message", "join"],
    ['{"type":"join","room":7}', "bad-message", "join"],
    ['{"type":"join","room":"a","name":[]}', "bad-message", "join"],
    ['{"type":"leave","room":"nowhere"}', "not-in-room", "leave"],
    ['{"type":"offer","to":"x"}', "bad-message", "offer"],
    ['{"type":"offer","sdp":"v=0"}', "bad-message", "offer"],
    ['{"type":"candidate","to":"x","candidate":7}', "bad-message", "candidate"],
    ['{"type":"chat","text":"hello"}', "bad-message", "chat"],
    ['{"type":"chat","room":"a","to":"b","text":"hello"}', "bad-message", "chat"],
    ['{"type":"chat","room":"a","text":""}', "bad-message", "chat"],
    [deep(15), "bad-message", "candidate"],
    [deep(30_000), "bad-message", "candidate"],
  ];
  for (const [text, code, re] of wrong)
    expect([text.slice(0, 60), await client.ask(text)]).toMatchObject([text.slice(0, 60), { type: "error", code, re }]);
  await others();
  expect(await client.join("after all")).toMatchObject({ type: "joined" });
  await until(() => service.rows().filter(({ kind, tone }) => kind === "webrtc-signal" && tone === "refused").length === wrong.length);
  await until(() => service.logs.filter(({ text }) => text.includes("bad-message")).length > 10);
});

it("[WEBRTC-121] bytes, wrong UTF-8 and messages beyond the limit end their connection alone", async () => {
  const service = await startWebrtc({ messageBytes: 2_048 });
  const others = await bystanders(service);
  const endings: readonly (readonly [number, (client: JsonClient) => void])[] = [
    [1_003, ({ socket }) => socket.send(Buffer.from([1, 2, 3]), { binary: true })],
    [1_007, ({ socket }) => socket.send(Buffer.from([0xc3, 0x28]), { binary: false })],
    [1_009, (client) => client.send("x".repeat(2_049))],
  ];
  for (const [code, send] of endings) {
    const client = await service.connect();
    send(client);
    expect(await client.closed).toBe(code);
    await service.ended(({ kind, target }) => kind === "webrtc-peer" && target === client.id);
  }
  await others();
});

it("[WEBRTC-122] names, passwords and chat messages have limits", async () => {
  const service = await startWebrtc({ nameLength: 10, chatLength: 10 });
  const client = await service.connect();
  const long = "x".repeat(11);
  for (const join of [{ room: long }, { room: "a", name: long }, { room: "a", password: long }]) {
    expect(await client.ask({ type: "join", ...join })).toMatchObject({ type: "error", code: "too-long", re: "join" });
  }
  await client.join("a");
  expect(await client.ask({ type: "chat", room: "a", text: long })).toMatchObject({ code: "too-long" });
  expect(await client.ask({ type: "chat", to: client.id, text: long })).toMatchObject({ code: "too-long" });
});

it("[WEBRTC-122] 10,000 rooms, and one client in 1,000 rooms, are bounded by the limits of rooms", async () => {
  const service = await startWebrtc({ rooms: 2_000, peerRooms: 500, roomPeers: 2, messagesPerSecond: 100_000 });
  const others = await bystanders(service);
  const greedy = await service.connect();
  for (let room = 0; room < 1_000; room++) greedy.send({ type: "join", room: `greedy ${room}` });
  await greedy.settled();
  expect(greedy.all("joined")).toHaveLength(500);
  expect(greedy.all("error").map(({ code }) => code)).toEqual(Array.from({ length: 500 }, () => "too-many-rooms"));
  const many = await Promise.all(Array.from({ length: 25 }, () => service.connect()));
  for (const [index, client] of many.entries())
    for (let room = 0; room < 400; room++) client.send({ type: "join", room: `${index} ${room}` });
  await Promise.all(many.map((client) => client.settled()));
  expect(many.reduce((sum, client) => sum + client.all("joined").length, 0)).toBe(2_000 - 500 - 1);
  await others();
  const [one, other, third] = many as [JsonClient, JsonClient, JsonClient];
  const joined = one.all("joined")[0]?.room as string;
  for (const client of many) client.send({ type: "leave", room: client.all("joined")[0]?.room ?? "" });
  await Promise.all(many.map((client) => client.settled()));
  expect(await one.join(joined)).toMatchObject({ type: "joined" });
  expect(await other.join(joined)).toMatchObject({ type: "joined" });
  expect(await third.join(joined)).toMatchObject({ code: "room-full" });
});

it("[WEBRTC-123] a client that sends too fast is read no faster, and loses nothing", async () => {
  // Few, so that a busy machine takes more than the limit in a second as well.
  const service = await startWebrtc({ messagesPerSecond: 20 });
  const others = await bystanders(service);
  const [flood, receiver] = [await service.connect(), await service.connect()];
  const count = 100;
  for (let n = 0; n < count; n++) flood.send({ type: "chat", to: receiver.id, text: String(n) });
  await others();
  expect(receiver.all("chat").length).toBeLessThan(count);
  await until(() => receiver.all("chat").length === count);
  expect(receiver.all("chat").map(({ text }) => Number(text))).toEqual(Array.from({ length: count }, (_, n) => n));
  await until(() => service.logs.some(({ text }) => text.includes("is read no faster")));
});

it("[WEBRTC-124] a client that reads too slowly is disconnected, and others get everything", async () => {
  const service = await startWebrtc({ unsentBytes: 200_000, chatLength: 100_000, messagesPerSecond: 100_000 });
  const [sender, slow, reader] = [await service.connect(), await service.connect(), await service.connect()];
  for (const client of [sender, slow, reader]) await client.join("standup");
  slow.socket.pause();
  const text = "x".repeat(50_000);
  let sent = 0;
  const left = reader.next("peer-left");
  const isGone = left.then(() => true);
  while (!(await Promise.race([isGone, sender.settled().then(() => false)]))) {
    sender.send({ type: "chat", room: "standup", text });
    sent++;
  }
  expect(await left).toMatchObject({ id: slow.id });
  await sender.settled();
  await until(() => reader.all("chat").length === sent);
  expect(await service.ended(({ kind, target }) => kind === "webrtc-peer" && target === slow.id)).toMatchObject({
    outcome: "it reads too slowly",
    tone: "failed",
  });
});

it("[WEBRTC-124] beyond the bytes that wait for all clients, those are disconnected for whom most waits", async () => {
  const service = await startWebrtc({
    ...{ unsentBytes: 1 << 30, allUnsentBytes: 4 << 20 },
    ...{ messageBytes: 1 << 20, chatLength: 100_000, messagesPerSecond: 100_000 },
  });
  const others = await bystanders(service);
  const sender = await service.connect();
  const slow = await Promise.all(Array.from({ length: 4 }, () => service.connect()));
  for (const client of [sender, ...slow]) await client.join("standup");
  for (const client of slow) client.socket.pause();
  const text = "x".repeat(100_000);
  while (sender.all("peer-left").length === 0) {
    sender.send({ type: "chat", room: "standup", text });
    await sender.settled();
  }
  await others();
});

it("[WEBRTC-125] connections and peers beyond the limits are closed at once", async () => {
  const service = await startWebrtc({ connections: 4, peers: 2 });
  const [one, other] = [await service.connect(), await service.connect()];
  const third = new WebSocket(`ws://127.0.0.1:${service.port}/ws`);
  onEnd(() => third.terminate());
  expect((await once(third, "close"))[0]).toBe(1_013);
  const idle = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${service.port}/ws`);
      socket.on("error", () => {});
      onEnd(() => socket.terminate());
      return (await once(socket, "close"))[0] as number;
    }),
  );
  expect(idle).toEqual([1_013, 1_013]);
  one.socket.terminate();
  await service.ended(({ target }) => target === one.id);
  expect((await service.connect()).id).not.toBe("");
  expect(other.socket.readyState).toBe(WebSocket.OPEN);
});

it("[WEBRTC-125] connections beyond the limit of an address are closed before anything is read", async () => {
  const service = await startWebrtc({ connectionsPerAddress: 2 });
  await service.connect();
  await service.connect();
  const third = new WebSocket(`ws://127.0.0.1:${service.port}/ws`);
  onEnd(() => third.terminate());
  const [error] = (await once(third, "error")) as [Error];
  expect(error.message).toMatch(/hang up|ECONNRESET|EPIPE/);
  await until(() => service.logs.some(({ text }) => text.includes("too many of this address")));
});

it("[WEBRTC-126] no text makes the dialect fail", () => {
  const random = seededRandom(12);
  const pieces = [
    '{"type":',
    '"join"',
    '"offer"',
    '"candidate"',
    '"chat"',
    ',"room":',
    ',"to":',
    ',"sdp":',
    ',"text":',
    '"x"',
    "null",
    "{}",
    "[",
    "]",
    "}",
    "1e999",
    '"\\ud800"',
    ",",
  ];
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: random.below(12) }, () => pieces[random.below(pieces.length)]).join("");
    const message = parseJsonMessage(text, 16);
    expect("code" in message || typeof message.type === "string").toBe(true);
  }
});

it("[WEBRTC-127] while a large room is told much, others are served, and every member gets all of it in order", async () => {
  const service = await startWebrtc({ chatLength: 20_000, messagesPerSecond: 100_000 });
  const others = await bystanders(service);
  const members = await Promise.all(Array.from({ length: 200 }, () => service.connect()));
  await Promise.all(members.map((member) => member.join("large")));
  const [sender, ...receivers] = members as [JsonClient, ...JsonClient[]];
  const count = 40;
  const texts = Array.from({ length: count }, (_, number) => `${number} ${"x".repeat(5_000)}`);
  for (const text of texts) sender.send({ type: "chat", room: "large", text });
  await others();
  await until(() => receivers.every((receiver) => receiver.all("chat").length === count));
  for (const receiver of receivers) expect(receiver.all("chat").map(({ text }) => text)).toEqual(texts);
});

it("[WEBRTC-128] what a client has sent is carried out in its order, also where it leaves at once", async () => {
  const service = await startWebrtc({ messagesPerSecond: 100_000 });
  const members = await Promise.all(Array.from({ length: 150 }, () => service.connect()));
  await Promise.all(members.map((member) => member.join("large")));
  const [sender, ...receivers] = members as [JsonClient, ...JsonClient[]];
  const count = 50;
  for (let number = 0; number < count; number++) sender.send({ type: "chat", room: "large", text: String(number) });
  sender.socket.close();
  await until(() => receivers.every((receiver) => receiver.all("peer-left").length > 0));
  for (const receiver of receivers) {
    const after = receiver.messages.items.slice(receiver.messages.items.findIndex(({ type }) => type === "chat"));
    expect(after.map(({ type, text }) => (type === "chat" ? Number(text) : type))).toEqual([
      ...Array.from({ length: count }, (_, number) => number),
      "peer-left",
    ]);
  }
});

it("[WEBRTC-128] a large message keeps its place among the small ones of its client", async () => {
  const service = await startWebrtc({ chatLength: 100_000 });
  const [sender, receiver] = [await service.connect(), await service.connect()];
  const lengths = [10, 60_000, 20, 30_000, 50_000, 30];
  for (const length of lengths) sender.send({ type: "chat", to: receiver.id, text: "x".repeat(length) });
  await until(() => receiver.all("chat").length === lengths.length);
  expect(receiver.all("chat").map(({ text }) => (text as string).length)).toEqual(lengths);
});

it("[WEBRTC-535] who joins gets the whole chat of the room, also where that is more than a client may leave unread", async () => {
  const service = await startWebrtc({ messageBytes: 2 << 20, chatLength: 1 << 20, chatHistoryBytes: 1 << 28 });
  const sender = await service.connect();
  await sender.join("standup");
  // More than the buffers of the system.
  const count = 40;
  for (let sent = 0; sent < count; sent++) sender.send({ type: "chat", room: "standup", text: "x".repeat(1_000_000) });
  await sender.settled();
  const joining = await service.connect();
  expect(await joining.join("standup")).toMatchObject({ type: "joined" });
  await until(() => joining.all("chat").length === count);
  await joining.settled();
});

it("[WEBRTC-124] a client that leaves answers to itself unread is disconnected", async () => {
  const faults = new FaultLog({ warning() {}, error() {} });
  onEnd(() => faults.flush());
  const limits = { messageBytes: 1_000, messagesPerSecond: 1_000, heartbeatMs: 60_000, unsentBytes: 1_000 };
  const clients = new WebSocketClients({
    limits,
    faults,
    held: new SharedBudget(256 << 20),
    sessions: new ClientSessions({ connections: 10, connectionsPerAddress: 10 }),
    unsent: { look() {} },
    turns: new WorkTurns(),
  });
  onEnd(() => clients.close());
  const server = createServer();
  const ended = new Promise<string>((resolve) => {
    const handler = { onText() {}, onClosed: (_client: unknown, reason: string) => resolve(reason) };
    // What is written stays in the process, as behind a client that reads nothing.
    server.on("upgrade", (request, socket, head) => clients.accept(request, socket as Socket, head, handler, () => socket.cork()));
  });
  server.listen(0, "127.0.0.1");
  onEnd(() => new Promise((resolve) => server.close(resolve)));
  await once(server, "listening");
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onEnd(() => client.terminate());
  client.on("error", () => {});
  await once(client, "open");
  for (let count = 0; count < 20; count++) client.ping(Buffer.alloc(125));
  expect(await ended).toBe("it reads too slowly");
});
