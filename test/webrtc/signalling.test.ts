import { once } from "node:events";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { onEnd } from "../support/start-service.ts";
import { JsonClient, startWebrtc } from "./webrtc-harness.ts";

/** The whole answer to a request, as text. The head may have a Host of its own. */
async function request(port: number, head: string, secure = false): Promise<string> {
  const socket = secure ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false }) : connect(port, "127.0.0.1");
  onEnd(() => socket.destroy());
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  const host = head.includes("\r\nHost: ") ? "" : `Host: 127.0.0.1:${port}\r\n`;
  socket.write(`${head}\r\n${host}Connection: close\r\n\r\n`);
  await once(socket, "close");
  return answer;
}

it("[WEBRTC-100] one port takes ws, wss, http and https", async () => {
  const service = await startWebrtc();
  const plain = await service.connect();
  const secure = await service.connect({ secure: true });
  expect([plain.id, secure.id].every((id) => id.length >= 12)).toBe(true);
  expect(await request(service.port, "GET /missing HTTP/1.1")).toMatch(/^HTTP\/1\.1 404 /);
  expect(await request(service.port, "GET /missing HTTP/1.1", true)).toMatch(/^HTTP\/1\.1 404 /);
  const socket = connectTls({ port: service.port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const issuer = socket.getPeerCertificate().issuer.CN;
  socket.destroy();
  expect(issuer).toMatch(/Backlot/);
});

it("[WEBRTC-100] a client whose first byte comes late, or never, holds up nobody", async () => {
  const service = await startWebrtc({ requestSeconds: 1 });
  const silent = connect(service.port, "127.0.0.1");
  onEnd(() => silent.destroy());
  const closed = once(silent, "close");
  const client = await service.connect();
  expect(client.id).not.toBe("");
  await closed;
});

it("[WEBRTC-101] a client of plain JSON gets a welcome", async () => {
  const { connect: join } = await startWebrtc();
  const [one, other] = [await join(), await join()];
  expect(one.messages.items).toEqual([{ type: "welcome", id: one.id, iceServers: one.iceServers }]);
  expect(one.iceServers.map(({ urls }) => urls.length)).toEqual([1, 3]);
  expect(one.id).not.toBe(other.id);
});

it("[WEBRTC-102] who joins and who leaves is told to the others", async () => {
  const service = await startWebrtc();
  const [anna, ben, eve] = [await service.connect(), await service.connect(), await service.connect()];
  expect(await anna.join("standup", { name: "Anna" })).toEqual({ type: "joined", room: "standup", peers: [] });
  const told = anna.next("peer-joined");
  expect(await ben.join("standup", { name: "Ben" })).toEqual({ type: "joined", room: "standup", peers: [{ id: anna.id, name: "Anna" }] });
  expect(await told).toEqual({ type: "peer-joined", room: "standup", id: ben.id, name: "Ben" });
  await eve.join("other");
  const left = anna.next("peer-left");
  ben.send({ type: "leave", room: "standup" });
  expect(await left).toEqual({ type: "peer-left", room: "standup", id: ben.id });
  await ben.join("standup");
  const lost = anna.next("peer-left");
  ben.socket.terminate();
  expect(await lost).toEqual({ type: "peer-left", room: "standup", id: ben.id });
  await eve.settled();
  expect(eve.messages.items.map(({ type }) => type)).toEqual(["welcome", "joined"]);
});

it("[WEBRTC-102] joining a room again is answered, and told to nobody", async () => {
  const service = await startWebrtc();
  const [anna, ben] = [await service.connect(), await service.connect()];
  await anna.join("standup");
  await ben.join("standup");
  expect(await ben.join("standup", { name: "Ben" })).toEqual({ type: "joined", room: "standup", peers: [{ id: anna.id, name: "" }] });
  await anna.settled();
  expect(anna.all("peer-joined")).toHaveLength(1);
});

it("[WEBRTC-103] offers, answers and candidates reach their peer unchanged", async () => {
  const service = await startWebrtc();
  const [anna, ben, eve] = [await service.connect(), await service.connect({ secure: true }), await service.connect()];
  for (const client of [anna, ben, eve]) await client.join("standup");
  const candidate = {
    candidate: "candidate:1 1 udp 1 127.0.0.1 5000 typ host",
    sdpMid: "0",
    sdpMLineIndex: 0,
    usernameFragment: "Ab",
    extra: 1,
  };
  const sent = [
    { type: "offer", sdp: "v=0\r\n\u2028…" },
    { type: "answer", sdp: { type: "answer", sdp: "v=0\r\n" } },
    { type: "candidate", candidate },
    { type: "candidate", candidate: "candidate:1 1 udp 1 127.0.0.1 5000 typ host" },
    { type: "candidate", candidate: null },
  ];
  for (const message of sent) {
    const received = ben.next(message.type);
    anna.send({ ...message, to: ben.id });
    expect(await received).toEqual({ ...message, from: anna.id });
  }
  expect(await anna.ask({ type: "offer", to: "nobody", sdp: "v=0" })).toMatchObject({ type: "error", code: "peer-unknown", re: "offer" });
  await eve.settled();
  expect(eve.messages.items.map(({ type }) => type)).toEqual(["welcome", "joined"]);
});

it("[WEBRTC-104] chat reaches the room, or one peer", async () => {
  const service = await startWebrtc();
  const [anna, ben, eve] = [await service.connect(), await service.connect(), await service.connect()];
  await anna.join("standup", { name: "Anna" });
  for (const client of [ben, eve]) await client.join("standup");
  const before = Date.now();
  const [toBen, toEve] = [ben.next("chat"), eve.next("chat")];
  anna.send({ type: "chat", room: "standup", text: "hello" });
  const message = await toBen;
  expect(message).toEqual({ type: "chat", room: "standup", text: "hello", from: anna.id, name: "Anna", at: expect.any(Number) });
  expect(message.at).toBeGreaterThanOrEqual(before);
  expect(await toEve).toEqual(message);
  const alone = ben.next("chat");
  anna.send({ type: "chat", to: ben.id, text: "a word" });
  expect(await alone).toEqual({ type: "chat", text: "a word", from: anna.id, name: "Anna", at: expect.any(Number) });
  expect(await anna.ask({ type: "chat", room: "elsewhere", text: "hello" })).toMatchObject({
    type: "error",
    code: "not-in-room",
    re: "chat",
  });
  await Promise.all([anna.settled(), eve.settled()]);
  expect([anna, eve].map((client) => client.all("chat").length)).toEqual([0, 1]);
});

it("[WEBRTC-105] who joins gets the kept part of the chat", async () => {
  const service = await startWebrtc({ chatHistory: 3 });
  const [anna, ben] = [await service.connect(), await service.connect()];
  await anna.join("standup", { name: "Anna" });
  for (const text of ["1", "2", "3", "4"]) anna.send({ type: "chat", room: "standup", text });
  await anna.settled();
  await ben.join("standup");
  await ben.settled();
  expect(ben.all("chat").map(({ text, history, from }) => [text, history, from])).toEqual([
    ["2", true, anna.id],
    ["3", true, anna.id],
    ["4", true, anna.id],
  ]);
});

it("[WEBRTC-105] the chat of all rooms is bounded by bytes, the oldest goes first, and that of an empty room is forgotten", async () => {
  const service = await startWebrtc({ chatHistory: 100, chatHistoryBytes: 4_000 });
  const [anna, ben] = [await service.connect(), await service.connect()];
  const say = (room: string, text: string) => anna.send({ type: "chat", room, text });
  await anna.join("old");
  await anna.join("new");
  say("old", "x".repeat(1_000));
  say("new", "y".repeat(1_000));
  await anna.settled();
  expect(await service.act("room.chat", { room: "old" })).toEqual([]);
  expect(await service.act("room.chat", { room: "new" })).toMatchObject([{ from: anna.id, text: "y".repeat(1_000) }]);
  for (let turn = 0; turn < 3_000; turn++) say(turn % 3 === 0 ? "old" : "new", "z");
  await anna.settled();
  const kept = [...(await service.act("room.chat", { room: "old" })), ...(await service.act("room.chat", { room: "new" }))];
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.length).toBeLessThan(20);
  const left = anna.send({ type: "leave", room: "new" });
  expect(left).toBeUndefined();
  await anna.settled();
  await ben.join("new");
  await ben.settled();
  expect(ben.all("chat")).toEqual([]);
});

it("[WEBRTC-106] a room has the password of its first peer", async () => {
  const service = await startWebrtc({ loginFailures: 3 });
  const [anna, ben] = [await service.connect(), await service.connect()];
  await anna.join("secret", { password: "sesame" });
  expect(await ben.join("secret")).toEqual({ type: "error", code: "wrong-password", message: "The room has a password", re: "join" });
  expect(await ben.join("secret", { password: "sesam" })).toMatchObject({ code: "wrong-password" });
  expect(await ben.join("secret", { password: "sesame" })).toMatchObject({ type: "joined" });
  ben.send({ type: "leave", room: "secret" });
  for (const password of ["again", "and again"])
    expect(await ben.join("secret", { password })).toMatchObject({ code: "wrong-password", message: "The password of the room is wrong" });
  expect(await ben.join("secret", { password: "sesame" })).toMatchObject({ code: "too-many-failures" });
  expect(await anna.join("secret", { password: "anything" })).toMatchObject({ type: "joined" });
});

it("[WEBRTC-527] the default room never has a password, and who gives none to another room has not guessed", async () => {
  const service = await startWebrtc({ loginFailures: 1 });
  const [anna, ben] = [await service.connect(), await service.connect()];
  const refused = { type: "error", code: "wrong-password", message: "The room default is for all, and has no password", re: "join" };
  expect(await anna.join("default", { password: "sesame" })).toEqual(refused);
  expect(await ben.join("default")).toMatchObject({ type: "joined" });
  expect(await anna.join("default", { password: "sesame" })).toEqual(refused);
  expect(await anna.join("default", { password: "" })).toMatchObject({ type: "joined" });
  await anna.join("secret", { password: "sesame" });
  for (let count = 0; count < 5; count++) expect(await ben.join("secret")).toMatchObject({ message: "The room has a password" });
  expect(await ben.join("secret", { password: "sesame" })).toMatchObject({ type: "joined" });
});

it("[WEBRTC-107] a silent client gets a ping, and is disconnected where it does not answer", async () => {
  const service = await startWebrtc({ heartbeatSeconds: 1 });
  const [lively, dead] = [await service.connect(), await service.connect({ autoPong: false })];
  await lively.join("standup");
  await dead.join("standup");
  const pinged = once(lively.socket, "ping");
  const left = lively.next("peer-left");
  await pinged;
  expect(await left).toEqual({ type: "peer-left", room: "standup", id: dead.id });
  expect(lively.socket.readyState).toBe(WebSocket.OPEN);
  expect(await service.ended(({ kind, target }) => kind === "webrtc-peer" && target === dead.id)).toMatchObject({
    outcome: "no answer to a ping",
  });
});

it("[WEBRTC-108] pages of other origins may not connect unless they are allowed", async () => {
  const service = await startWebrtc({ allowedOrigins: ["https://app.example.com"] });
  const refused = new WebSocket(`ws://127.0.0.1:${service.port}/ws`, { origin: "https://evil.example" });
  const [, response] = (await once(refused, "unexpected-response")) as [unknown, { readonly statusCode: number }];
  refused.on("error", () => {});
  refused.terminate();
  expect(response.statusCode).toBe(403);
  for (const origin of ["https://app.example.com", "http://localhost:5173", `http://127.0.0.1:${service.port}`]) {
    expect((await service.connect({ origin })).id).not.toBe("");
  }
  expect(await request(service.port, "POST /ws HTTP/1.1\r\nOrigin: https://evil.example\r\nContent-Length: 0")).toMatch(
    /^HTTP\/1\.1 40[35] /,
  );
  expect(await request(service.port, "GET /ws HTTP/1.1")).toMatch(/^HTTP\/1\.1 426 [\s\S]*Connection: Upgrade, close\r\n/);
  const elsewhere = new JsonClient(new WebSocket(`ws://127.0.0.1:${service.port}/elsewhere`));
  const [, missing] = (await once(elsewhere.socket, "unexpected-response")) as [unknown, { readonly statusCode: number }];
  expect(missing.statusCode).toBe(404);
});

it("[WEBRTC-108] a page under a public name that leads here may not connect, and gets no credentials of TURN", async () => {
  const service = await startWebrtc({ allowedOrigins: ["http://dev.example.com:8443"] });
  const head = (target: string, host: string, fields: string) => request(service.port, `${target} HTTP/1.1\r\nHost: ${host}\r\n${fields}`);
  const upgrade =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://";
  const browser = "User-Agent: Mozilla/5.0 (X11)";
  const own = `127.0.0.1:${service.port}`;
  expect(await head("GET /ws", "evil.example:8443", `${upgrade}evil.example:8443`)).toMatch(
    /^HTTP\/1\.1 403 [\s\S]*\(WEBRTC_ALLOWED_ORIGINS\)/,
  );
  expect(await head("POST /faults/turn?kind=credentials", "evil.example", "Origin: http://evil.example")).toMatch(/^HTTP\/1\.1 403 /);
  for (const fields of [browser, "User-Agent: x", "Accept: */*"])
    expect(await head("GET /ice-servers", "evil.example:8443", fields)).toMatch(/^HTTP\/1\.1 403 /);
  for (const [host, fields] of [
    [own, browser],
    ["backlot:8443", browser],
    ["dev.example.com:8443", browser],
  ] as const)
    expect(await head("GET /ice-servers", host, fields)).toMatch(/^HTTP\/1\.1 200 /);
});
