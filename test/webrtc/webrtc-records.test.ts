import { io } from "socket.io-client";
import { expect, it } from "vitest";
import type { HttpExchange } from "../../contract/traffic/http.ts";
import { FoundCredentials } from "../../servers/core/credentials/found-credentials.ts";
import { exchangeWithoutCredentials } from "../../servers/core/http/record/without-credentials.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { openPolling } from "./socketio-client.ts";
import { TurnClientUnderTest } from "./turn-harness.ts";
import { startWebrtc, type WebrtcUnderTest } from "./webrtc-harness.ts";

const row = (service: WebrtcUnderTest, kind: string, verb?: string) =>
  until(() => service.rows().find((one) => one.kind === kind && (verb === undefined || one.verb === verb)));
const text = (base64: string): string => Buffer.from(base64, "base64").toString();

it("[WEBRTC-140] a client is a row, and each of its messages one that belongs to it", async () => {
  const service = await startWebrtc();
  const [anna, ben] = [await service.connect({ headers: { "User-Agent": "caller/2.1 (test)" } }), await service.connect()];
  await anna.join("standup", { name: "Anna" });
  await ben.join("standup");
  const offer = `{"type":"offer","to":"${ben.id}","sdp":"v=0\\r\\n"}`;
  const received = ben.next("offer");
  anna.send(offer);
  await received;
  anna.send({ type: "chat", room: "standup", text: "hello" });
  await anna.settled();
  const peer = await until(() => service.rows().find(({ target }) => target === anna.id));
  expect(peer).toMatchObject({ kind: "webrtc-peer", verb: "json", tone: "pending", client: "caller", outcome: "connected" });
  anna.socket.close();
  const ended = await service.ended(({ id }) => id === peer.id);
  expect(ended).toMatchObject({ tone: "ok", outcome: "the client left", user: "Anna", preview: "standup" });
  expect(service.detail(peer.id)).toMatchObject({
    kind: "webrtc-peer",
    peer: anna.id,
    dialect: "json",
    name: "Anna",
    rooms: ["standup"],
    userAgent: "caller/2.1 (test)",
    received: 3,
    ended: "the client left",
  });
  const children = service.rows().filter(({ parent }) => parent === peer.id);
  expect(children.map(({ verb, target, outcome }) => [verb, target, outcome])).toEqual([
    ["join", "#standup", "joined"],
    ["offer", ben.id, "delivered"],
    ["chat", "#standup", "delivered"],
  ]);
  const detail = service.detail(children[1]?.id ?? 0);
  expect(detail).toMatchObject({ kind: "webrtc-signal", signal: "offer", from: anna.id, to: ben.id, deliveries: 1, bytes: offer.length });
  expect(detail.kind === "webrtc-signal" && text(detail.base64)).toBe(offer);
});

it("[WEBRTC-550] rows of signals and of TURN keep the names of their peers, and the identifier of a sender without one", async () => {
  const service = await startWebrtc();
  const [anna, ben] = [await service.connect(), await service.connect()];
  await anna.join("standup", { name: "Anna" });
  await ben.join("standup");
  const [toAnna, toBen] = [anna.next("offer"), ben.next("answer")];
  ben.send({ type: "offer", to: anna.id, sdp: "v=0\r\n" });
  anna.send({ type: "answer", to: ben.id, sdp: "v=0\r\n" });
  await Promise.all([toAnna, toBen]);
  const { username = "", credential = "" } = anna.iceServers[1] ?? {};
  const port = Number(/turn:127\.0\.0\.1:(\d+)/.exec(service.urlOf("TURN"))?.[1]);
  const turn = await TurnClientUnderTest.connect({ port, tlsPort: 0 });
  await turn.relayed([], { credentials: { username, password: credential } });
  anna.socket.close();
  ben.socket.close();
  for (const { id } of [anna, ben]) await service.ended(({ target }) => target === id);
  expect(await row(service, "webrtc-signal", "offer")).toMatchObject({ user: ben.id, target: anna.id, peerName: "Anna" });
  const answer = await row(service, "webrtc-signal", "answer");
  expect(answer).toMatchObject({ user: "Anna", target: ben.id });
  expect(answer.peerName).toBeUndefined();
  expect(await row(service, "turn-allocation")).toMatchObject({ user: anna.id, peerName: "Anna" });
  const requests = service.rows().filter(({ kind }) => kind === "turn-request");
  expect(requests.map(({ user, peerName }) => [user, peerName])).toEqual([
    [undefined, undefined],
    [username, "Anna"],
  ]);
});

it("[WEBRTC-140] a long message is kept whole as far as the rate allows, and by its start beyond it", async () => {
  const service = await startWebrtc({ messageBytes: 1 << 20, recordedMessageRate: 1, recordedMessageBytes: 1_000 });
  const anna = await service.connect();
  await anna.join("r");
  const long = (kib: number) => JSON.stringify({ type: "offer", to: "nobody", sdp: `v=0\r\ns=${"x".repeat(kib << 10)}` });
  for (const message of [long(200), long(100)]) anna.send(message);
  await anna.settled();
  const offers = await until(() => {
    const rows = service.rows().filter(({ verb }) => verb === "offer");
    return rows.length === 2 ? rows : undefined;
  });
  const kept = offers.map(({ id }) => {
    const detail = service.detail(id);
    return detail.kind === "webrtc-signal" ? text(detail.base64) : "";
  });
  expect(kept[0]).toBe(long(200));
  expect(kept[1]).toBe(long(100).slice(0, 1_000));
});

it("[WEBRTC-141] no password and no credential is in rows or log lines", async () => {
  const service = await startWebrtc({ turnUsers: ["ada:lovelace-of-turn"], turnSecret: "shared-with-others" });
  const [anna, ben] = [await service.connect(), await service.connect()];
  const passwords = [
    "open-sesame",
    "wrong-guess",
    "cut-off",
    "escaped-one",
    "otherwise-named",
    "pin-of-a-room",
    "key-of-a-dance",
    "in-a-path",
    "in-a-query",
    "in-a-field",
  ];
  await anna.join("secret", { password: passwords[0] });
  await ben.join("secret", { password: passwords[1] });
  await ben.ask(`{"type":"join","room":"secret","password":"${passwords[2]}`);
  await ben.ask(`{"type":"join","room":"secret","pass":"${passwords[4]}","room_pin":"${passwords[5]}"}`);
  await ben.ask(`{"type":"dance","roomKey":"${passwords[6]}"}`);
  await ben.ask(`{"type":"dance","pass\\u0077ord":"${passwords[3]}"}`);
  // PeerJS: the password of a room follows its name in the key.
  await fetch(`http://127.0.0.1:${service.port}/secret:${passwords[7]}/peers`);
  await fetch(`http://127.0.0.1:${service.port}/peerjs/secret%3A${passwords[7]}/id`);
  // Its path may be a wrong one, and it encodes no key.
  for (const path of ["/app/secret:", "//secret:", "/a/b/secret%253A", "/app/secret:un/encoded-", "/secret:un?encoded-"])
    await fetch(`http://127.0.0.1:${service.port}${path}${passwords[7]}/id?ts=1`);
  await fetch(`http://127.0.0.1:${service.port}/missing?key=secret:${passwords[8]}`);
  await fetch(`http://127.0.0.1:${service.port}/ice-servers`, { headers: { Authorization: `Bearer ${passwords[9]}` } });
  await until(() => (service.rows().filter((one) => one.kind === "http" && one.outcome !== "").length > 8 ? true : undefined));
  anna.socket.close();
  ben.socket.close();
  for (const { id } of [anna, ben]) await service.ended(({ target }) => target === id);
  const secrets = [
    ...passwords,
    "lovelace-of-turn",
    "shared-with-others",
    ...[anna, ben].map((client) => client.iceServers[1]?.credential ?? "none"),
  ];
  const details = service.rows().map(({ id }) => service.detail(id));
  const shown = JSON.stringify([service.rows(), service.logs, details, [...service.views]]);
  const contents = details
    .map((detail) =>
      detail.kind === "webrtc-signal" ? text(detail.base64) : detail.kind === "http" ? text(detail.response?.body.base64 ?? "") : "",
    )
    .join("\n");
  expect(contents).toContain('"room":"secret"');
  expect(contents).toContain('"credential":"•••"');
  expect(service.rows().map(({ target }) => target)).toEqual(
    expect.arrayContaining(["/secret:…/peers", "/peerjs/secret%3A…/id", "/app/secret:…/id?ts=1", "//secret:…/id?ts=1"]),
  );
  expect(secrets.filter((secret) => shown.includes(secret) || contents.includes(secret))).toEqual([]);
});

/** A client of Socket.IO over long polling, and packets of one POST by hand, all with these passwords. */
async function joinByPolling(service: WebrtcUnderTest, passwords: readonly [string, string, string, string]): Promise<void> {
  const host = `http://127.0.0.1:${service.port}`;
  const auth = { room: "secret", name: "Anna", password: passwords[0] };
  const socket = io(host, { forceNew: true, reconnection: false, transports: ["polling"], auth });
  onEnd(() => socket.disconnect());
  const next = (event: string) => new Promise((resolve) => void socket.once(event, resolve));
  await Promise.all([next("ice-servers"), next("joined")]);
  const joined = next("joined");
  socket.emit("join", { room: "other", password: passwords[1] });
  await joined;
  const { sid, url } = await openPolling(new URL(host).host);
  const body = [`40{"room":"secret","password":"${passwords[2]}"}`, `42["join",{"room":"other","password":"${passwords[3]}`].join("\x1e");
  await fetch(url, { method: "POST", body, headers: { "Content-Type": "text/plain" } }).catch(() => undefined);
  await until(() => service.rows().some(({ verb, target, outcome }) => verb === "POST" && target.includes(sid) && outcome !== ""));
}

it("[WEBRTC-141] over long polling no password of a room and no credential of TURN is in rows", async () => {
  const service = await startWebrtc({ turnUsers: ["ada:lovelace-of-turn"] });
  const passwords = ["open-sesame", "by-an-event", "in-a-body-of-two", "cut-off"] as const;
  await joinByPolling(service, passwords);
  const link = (await fetch(`http://127.0.0.1:${service.port}/whep/test`, { method: "OPTIONS" })).headers.get("link") ?? "";
  const inLinks = [...link.matchAll(/credential="([^"]+)"/g)].map(([, credential = ""]) => credential);
  expect(inLinks).not.toEqual([]);
  await until(() => service.rows().some(({ verb, outcome }) => verb === "OPTIONS" && outcome !== ""));
  const details = service.rows().map(({ id }) => service.detail(id));
  const bodies = details.flatMap((detail) => (detail.kind === "http" ? [detail.request.body, detail.response?.body] : []));
  const contents = bodies.map((body) => text(body?.base64 ?? "")).join("\n");
  expect(contents).toContain('40{"room":"secret","name":"Anna","password":"•••"}');
  expect(contents).toContain('42["join",{"room":"other","password":"•••"}]');
  expect(contents).toContain('40{"room":"secret","password":"•••"}\x1e42["join",{"room":"other","password":•••');
  expect(contents).not.toMatch(/"credential":"(?!•••")/);
  expect(contents).toContain('"credential":"•••"');
  const shown = JSON.stringify([service.rows(), service.logs, details, [...service.views]]);
  expect(shown).toContain('credential=\\"•••\\"; credential-type=');
  expect([...passwords, ...inLinks].filter((secret) => shown.includes(secret) || contents.includes(secret))).toEqual([]);
});

it("[WEBRTC-141] with recordCredentials passwords of long polling are in rows, and not in an export without credentials", async () => {
  const service = await startWebrtc({ recordCredentials: true });
  const passwords = ["open-sesame", "by-an-event", "in-a-body-of-two", "cut-off"] as const;
  await joinByPolling(service, passwords);
  const posts = service.rows().filter(({ kind, verb }) => kind === "http" && verb === "POST");
  const contentsOf = (detail: HttpExchange) => text(detail.request.body.base64);
  const details = posts.map(({ id }) => service.detail(id) as HttpExchange);
  const found = new FoundCredentials();
  const exported = posts.map((post, index) =>
    exchangeWithoutCredentials({ row: { ...post, service: "webrtc" }, detail: details[index] ?? null }, found),
  );
  const isIn = (all: string) => passwords.filter((password) => all.includes(password));
  expect(isIn(details.map(contentsOf).join("\n"))).toEqual(passwords);
  const shown = exported.map(({ row: one, detail }) => `${one.preview}\n${detail ? contentsOf(detail) : ""}`).join("\n");
  expect(shown).toContain('"room":"secret"');
  expect(isIn(shown)).toEqual([]);
});

it("[WEBRTC-141] with recordCredentials the passwords of rooms are in rows, and not in the log", async () => {
  const service = await startWebrtc({ recordCredentials: true });
  const anna = await service.connect();
  await anna.join("secret", { password: "open-sesame" });
  await anna.ask(`{"type":"dance","password":"cut-off`);
  anna.socket.close();
  await service.ended(({ target }) => target === anna.id);
  const details = service.rows().map(({ id }) => service.detail(id));
  const contents = details.map((detail) => (detail.kind === "webrtc-signal" ? text(detail.base64) : "")).join("\n");
  expect(contents).toContain('"password":"open-sesame"');
  expect(contents).toContain('"password":"cut-off');
  expect(JSON.stringify(service.logs)).not.toMatch(/open-sesame|cut-off/);
});

it("[WEBRTC-143] requests over HTTP are rows", async () => {
  const service = await startWebrtc();
  await fetch(`http://127.0.0.1:${service.port}/missing`);
  expect(await row(service, "http")).toMatchObject({ verb: "GET", target: "/missing", outcome: "404" });
});

it("[WEBRTC-150] the page sees rooms, peers and what the service offers", async () => {
  const service = await startWebrtc({ turnUsers: ["ada:lovelace"] });
  const [anna, ben] = [await service.connect(), await service.connect({ secure: true })];
  await anna.join("standup", { name: "Anna", password: "sesame" });
  await ben.join("standup", { password: "sesame" });
  anna.send({ type: "chat", room: "standup", text: "hello" });
  const rooms = await until(() => service.views.get("rooms")?.rooms.find(({ chatMessages }) => chatMessages === 1));
  expect(rooms).toMatchObject({ name: "standup", hasPassword: true, peers: [anna.id, ben.id], peerCount: 2, chatKept: 1 });
  const peers = service.views.get("peers")?.peers ?? [];
  expect(peers.map(({ id, name, dialect, isSecure, rooms: names }) => [id, name, dialect, isSecure, names])).toEqual([
    [ben.id, "", "json", true, ["standup"]],
    [anna.id, "Anna", "json", false, ["standup"]],
  ]);
  expect(service.rows().find(({ id }) => id === peers[1]?.row)?.target).toBe(anna.id);
  expect(service.views.get("offers")).toMatchObject({
    origins: [`ws://127.0.0.1:${service.port}`],
    secureOrigins: [`wss://127.0.0.1:${service.port}`],
    turnUsers: ["ada"],
    openToLan: false,
  });
  await until(() => service.counters()?.clients === 2);
  expect(service.counters()?.note).toBe("2 peers in 1 room · 0 relays");
  // Rows mention her after she has left.
  anna.socket.close();
  await until(() => service.views.get("peers")?.left.some(({ id, name }) => id === anna.id && name === "Anna"));
});

it("[WEBRTC-151] a peer can be disconnected, a room closed, and a message sent", async () => {
  const service = await startWebrtc();
  const [anna, ben] = [await service.connect(), await service.connect()];
  for (const client of [anna, ben]) await client.join("standup");
  const heard = [anna.next("chat"), ben.next("chat")];
  expect(await service.act("chat.send", { room: "standup", text: "lunch" })).toEqual({ deliveries: 2 });
  for (const message of await Promise.all(heard)) expect(message).toMatchObject({ room: "standup", text: "lunch", from: "service" });
  const alone = anna.next("chat");
  expect(await service.act("chat.send", { to: anna.id, text: "you" })).toEqual({ deliveries: 1 });
  expect(await alone).toMatchObject({ text: "you", from: "service" });
  expect(await service.act("chat.send", { to: "nobody", text: "you" })).toEqual({ deliveries: 0 });
  expect(await service.act("room.chat", { room: "standup" })).toMatchObject([{ text: "lunch" }]);
  const closed = ben.next("error");
  expect(await service.act("room.close", { room: "standup" })).toEqual({ closed: true });
  expect(await closed).toMatchObject({ code: "room-closed", re: null });
  expect(await service.act("room.close", { room: "standup" })).toEqual({ closed: false });
  expect(await service.act("peer.kick", { peer: ben.id })).toEqual({ kicked: true });
  expect(await ben.closed).toBe(1_001);
  expect(await service.act("peer.kick", { peer: ben.id })).toEqual({ kicked: false });
  expect(await service.act("allocation.close", { allocation: 1 })).toEqual({ closed: false });
  expect(await service.act("allocation.history", { allocation: 1 })).toBeNull();
});

it("[WEBRTC-152] sample traffic sends messages until it is switched off", async () => {
  const service = await startWebrtc();
  await service.act("sample.start");
  await until(() => service.views.get("sample")?.running === true);
  for (const verb of ["join", "offer", "answer", "candidate", "chat", "leave"]) await row(service, "webrtc-signal", verb);
  await service.act("sample.stop");
  await until(() => service.views.get("sample")?.running === false);
  await until(() => service.rows().every(({ kind, tone }) => kind !== "webrtc-peer" || tone !== "pending"));
});

it("[WEBRTC-520] the view of peers and rooms has few of long names, and counts the others", async () => {
  const service = await startWebrtc();
  const clients = await Promise.all(Array.from({ length: 100 }, () => service.connect()));
  await Promise.all(
    clients.map(async (client, index) => {
      for (let room = 0; room < 30; room++) await client.join(`${index} ${room} ${"\u200b".repeat(180)}`);
    }),
  );
  const views = await until(() => {
    const [peers, rooms] = [service.views.get("peers"), service.views.get("rooms")];
    return peers && rooms && rooms.rooms.length + rooms.more === 3_000 ? { peers, rooms } : undefined;
  });
  for (const view of Object.values(views)) expect(JSON.stringify(view).length).toBeLessThan(1.7 * (1 << 20));
  expect(views.peers.peers.length + views.peers.more).toBe(100);
});
