import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createEventLog } from "../support/event-log.ts";
import { hasRedis, missing, type RealServer, startRedis } from "../support/real-servers.ts";
import { connectWire, joinJson, type Message, openPeerJs, startWebrtc, type Webrtc, type WireClient } from "./dialect-harness.ts";

/** Those of one process stop responding together when the machine is busy: only what waits for the end of this time has a short one. */
const clusterTimeoutMs = 10_000;
const shortly = { clusterTimeoutMs: 2_000 };
const room = "r1";

const startInstance = (cluster: string, config = {}): Promise<Webrtc> => startWebrtc({ cluster, clusterTimeoutMs, turn: false, ...config });
/** Members of the room as this instance knows them, those at other instances too. */
const peersAt = ({ service }: Webrtc): number => service.views.get("rooms")?.rooms.find(({ name }) => name === room)?.peerCount ?? 0;
const published = (data: string) => ({ type: "publish", topic: room, data });
const logOf = ({ service }: Webrtc): string => service.logs.map(({ text }) => text).join("\n");

/** A client of y-webrtc in the room: it publishes to all of its members. */
async function subscribeY(webrtc: Webrtc): Promise<WireClient> {
  const client = await connectWire(webrtc, "/y-webrtc");
  client.send({ type: "subscribe", topics: [room] });
  return client;
}

describe.skipIf(missing("Redis", "redis-server", hasRedis()))("several instances", () => {
  let redis: RealServer;
  let database = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  const nextUrl = () => `${redis.url}/${database++}`;
  const startPair = async (): Promise<readonly [Webrtc, Webrtc]> => {
    const url = nextUrl();
    return [await startInstance(url), await startInstance(url)];
  };

  it("[WEBRTC-260] peers of a room see one another, come and go, wherever they are connected", async () => {
    const [here, there] = await startPair();
    const anna = await joinJson(here, room, { name: "Anna" });
    await expect.poll(() => peersAt(there)).toBe(1);
    const bert = await joinJson(there, room, { name: "Bert" });
    expect(await bert.until("joined")).toEqual({ type: "joined", room, peers: [{ id: anna.id, name: "Anna" }] });
    expect(await anna.until("peer-joined")).toEqual({ type: "peer-joined", room, id: bert.id, name: "Bert" });
    bert.send({ type: "leave", room });
    expect(await anna.until("peer-left")).toEqual({ type: "peer-left", room, id: bert.id });
    bert.send({ type: "join", room });
    await anna.log.until(
      ({ type, name }) => (type === "peer-joined" && name !== "Bert") || (type === "peer-joined" && anna.log.items.length > 4),
    );
    bert.close();
    await expect.poll(() => anna.log.items.filter(({ type }) => type === "peer-left").length).toBe(2);
  });

  it("[WEBRTC-261] signals and chat reach peers of another instance, of every dialect, once", async () => {
    const [here, there] = await startPair();
    const anna = await joinJson(here, room, { name: "Anna" });
    const [bert, carl] = [await joinJson(there, room), await joinJson(there, room)];
    const peerJs = await openPeerJs(there, "pj", { key: room });
    await anna.log.until(({ type, id }) => type === "peer-joined" && id === "pj");
    anna.send({ type: "offer", to: bert.id, sdp: "v=0" });
    expect(await bert.until("offer")).toEqual({ type: "offer", from: anna.id, sdp: "v=0" });
    bert.send({ type: "answer", to: anna.id, sdp: { type: "answer", sdp: "v=1" } });
    expect(await anna.until("answer")).toEqual({ type: "answer", from: bert.id, sdp: { type: "answer", sdp: "v=1" } });
    anna.send({ type: "candidate", to: bert.id, candidate: null });
    expect(await bert.until("candidate")).toEqual({ type: "candidate", from: anna.id, candidate: null });
    anna.send({ type: "offer", to: "pj", sdp: "v=0\r\nm=audio 9 x" });
    expect(await peerJs.until("OFFER")).toMatchObject({
      src: anna.id,
      payload: { type: "media", sdp: { type: "offer", sdp: "v=0\r\nm=audio 9 x" } },
    });
    anna.send({ type: "chat", room, text: "to all" });
    for (const client of [bert, carl])
      expect(await client.until("chat")).toMatchObject({ text: "to all", from: anna.id, name: "Anna", room });
    bert.send({ type: "chat", to: anna.id, text: "private" });
    expect(await anna.until("chat")).toMatchObject({ text: "private", from: bert.id });
    expect(carl.log.items.filter(({ type }) => type === "chat" || type === "offer").length).toBe(1);
    expect(bert.log.items.filter(({ type }) => type === "chat").length).toBe(1);
  });

  it("[WEBRTC-261] what is published to a whole room reaches its peers at another instance", async () => {
    const [here, there] = await startPair();
    const clients = [
      await connectWire(here, "/y-webrtc"),
      await connectWire(there, "/y-webrtc"),
      await connectWire(there, "/y-webrtc"),
    ] as const;
    for (const client of clients) client.send({ type: "subscribe", topics: ["t"] });
    const [one, other, third] = clients;
    const watcher = await joinJson(here, "t");
    await expect
      .poll(
        () => watcher.log.items.filter(({ type }) => type === "peer-joined").length + ((watcher.log.items[1]?.peers as []) ?? []).length,
      )
      .toBe(3);
    one.send({ type: "publish", topic: "t", data: { type: "announce", from: "id-1" } });
    for (const client of clients) {
      const isOurs = ({ data }: Message) => (data as { from?: string } | undefined)?.from === "id-1";
      expect(await client.log.until(isOurs)).toEqual({ type: "publish", topic: "t", data: { type: "announce", from: "id-1" }, clients: 3 });
    }
    other.send({ type: "publish", topic: "t", data: { type: "signal", from: "id-2", to: "id-1", signal: { type: "offer", sdp: "v=0" } } });
    await one.log.until(({ data }) => (data as { type?: string } | undefined)?.type === "signal");
    third.send({ type: "ping" });
    await third.until("pong");
    expect(third.log.items.some(({ data }) => (data as { type?: string } | undefined)?.type === "signal")).toBe(false);
  });

  it("[WEBRTC-271] a signal to a room goes to each other instance that has members of it once, and to no other", async () => {
    const url = nextUrl();
    const [here, there, third] = [await startInstance(url), await startInstance(url), await startInstance(url)];
    await startInstance(url);
    const watcher = await joinJson(here, room);
    const clients: WireClient[] = [];
    for (const instance of [here, there, third, there, third, there]) clients.push(await subscribeY(instance));
    const [sender, ...members] = clients;
    await expect.poll(() => watcher.log.items.filter(({ type }) => type === "peer-joined").length).toBe(clients.length);
    const listener = new Redis(url, { lazyConnect: true });
    await listener.connect();
    onTestFinished(() => listener.disconnect());
    const frames: string[] = [];
    listener.on("pmessage", (_pattern, _channel, text) => void (text.includes("once only") && frames.push(text)));
    await listener.psubscribe(`backlot:webrtc:${database - 1}*`);
    sender?.send(published("once only, without faults"));
    for (const member of members) await member.log.until(({ data }) => data === "once only, without faults");
    // With a fault somewhere each receiver is looked at by itself.
    await here.service.act("peer.fault", { peer: watcher.id, fault: { kind: "duplicate", percent: 100, signals: "candidates" } });
    sender?.send(published("once only, with a fault"));
    for (const member of members) await member.log.until(({ data }) => data === "once only, with a fault");
    await expect.poll(() => frames.length).toBe(4);
    expect(frames.map((text) => text.split("once only").length - 1)).toEqual([1, 1, 1, 1]);
  });

  it("[WEBRTC-272] while too much waits for Redis a client that sends is held, and nothing is lost", async () => {
    const own = await startRedis();
    onTestFinished(() => own.stop());
    const unsentBytes = 64 << 10;
    const here = await startInstance(own.url, { unsentBytes });
    const there = await startInstance(own.url);
    const [local, watcher] = [await joinJson(here, "other"), await joinJson(here, room)];
    const [sender, remote] = [await subscribeY(here), await subscribeY(there)];
    await expect.poll(() => watcher.log.items.filter(({ type }) => type === "peer-joined").length).toBe(2);
    process.kill(own.pid, "SIGSTOP");
    const data = "x".repeat(8 << 10);
    const count = 100;
    for (let index = 0; index < count; index++) sender.send(published(data));
    sender.send({ type: "ping" });
    // Many turns of the event loop.
    for (let index = 0; index < 200; index++) {
      local.send({ type: "chat", to: local.id, text: String(index) });
      await local.log.until(({ text }) => text === String(index));
    }
    const passed = here.service.rows().filter(({ verb }) => verb.toLowerCase() === "signal").length;
    expect(passed).toBeLessThan((2 * unsentBytes) / data.length);
    process.kill(own.pid, "SIGCONT");
    await sender.until("pong");
    await expect.poll(() => remote.log.items.filter((message) => message.data === data).length).toBe(count);
  });

  it("[WEBRTC-262] an instance that comes later knows the peers, the passwords and the chat of rooms", async () => {
    const url = nextUrl();
    const here = await startInstance(url);
    const anna = await joinJson(here, room, { name: "Anna", password: "secret" });
    anna.send({ type: "chat", room, text: "before" });
    await here.service.ended((row) => row.verb.toLowerCase() === "chat");
    const there = await startInstance(url, { roomPeers: 2 });
    const bert = await connectWire(there, "/ws");
    bert.send({ type: "join", room, password: "wrong" });
    expect(await bert.until("error")).toMatchObject({ code: "wrong-password" });
    bert.send({ type: "join", room, password: "secret" });
    expect(await bert.until("joined")).toEqual({ type: "joined", room, peers: [{ id: anna.id, name: "Anna" }] });
    expect(await bert.until("chat")).toMatchObject({ text: "before", history: true });
    const carl = await connectWire(there, "/ws");
    carl.send({ type: "join", room, password: "secret" });
    expect(await carl.until("error")).toMatchObject({ code: "room-full" });
    await here.service.act("room.close", { room });
    for (const client of [anna, bert])
      expect(await client.until("error")).toMatchObject({ code: client === anna ? "room-closed" : expect.any(String) });
    await bert.log.until(({ code }) => code === "room-closed");
  });

  it("[WEBRTC-263] an identifier of PeerJS is taken at every instance, and messages wait for a client that connects to another one", async () => {
    const [here, there] = await startPair();
    const anna = await openPeerJs(here, "anna");
    const watcher = await joinJson(there, "default");
    await expect.poll(() => JSON.stringify(watcher.log.items)).toContain("anna");
    const taken = await connectWire(there, "/peerjs?key=peerjs&id=anna&token=other");
    expect(await taken.until("ID-TAKEN")).toMatchObject({ type: "ID-TAKEN" });
    anna.send({ type: "OFFER", dst: "bert", payload: { connectionId: "dc_1" } });
    const bert = await openPeerJs(there, "bert");
    expect(await bert.until("OFFER")).toEqual({ type: "OFFER", dst: "bert", src: "anna", payload: { connectionId: "dc_1" } });
    expect(await (await fetch(`http://${there.host}/peerjs/peers`)).json()).toEqual(expect.arrayContaining(["anna", "bert"]));
  });

  it("[WEBRTC-264] the peers of an instance that stops leave at once", async () => {
    const [here, there] = await startPair();
    const anna = await joinJson(here, room);
    const bert = await joinJson(there, room);
    await anna.until("peer-joined");
    await there.service.stop();
    expect(await anna.until("peer-left")).toEqual({ type: "peer-left", room, id: bert.id });
    await expect.poll(() => logOf(here)).toContain("An instance was stopped");
  });

  it("[WEBRTC-265] without Redis each instance serves its own peers; those of the others leave after the timeout, and are back when Redis is", async () => {
    const own = await startRedis();
    let running: RealServer | undefined = own;
    onTestFinished(() => running?.stop());
    const [here, there] = [await startInstance(own.url, shortly), await startInstance(own.url, shortly)];
    const [anna, dora] = [await joinJson(here, room), await joinJson(here, room)];
    await expect.poll(() => peersAt(there)).toBe(2);
    const bert = await joinJson(there, room, { name: "Bert" });
    await anna.log.until(({ type, id }) => type === "peer-joined" && id === bert.id);
    await own.stop();
    running = undefined;
    expect(await anna.until("peer-left")).toEqual({ type: "peer-left", room, id: bert.id });
    await expect.poll(() => logOf(here)).toContain("Redis is lost");
    anna.send({ type: "chat", room, text: "alone" });
    expect(await dora.until("chat")).toMatchObject({ text: "alone" });
    dora.close();
    await anna.log.until(({ type, id }) => type === "peer-left" && id === dora.id);
    running = await startRedis({ port: Number(new URL(own.url).port) });
    await expect.poll(() => anna.log.items.filter(({ type, id }) => type === "peer-joined" && id === bert.id).length).toBe(2);
    await expect.poll(() => bert.log.items.filter(({ type, id }) => type === "peer-joined" && id === anna.id).length).toBe(1);
    anna.send({ type: "chat", room, text: "together" });
    expect(await bert.until("chat")).toMatchObject({ text: "together" });
    await expect.poll(() => logOf(here)).toContain("Redis is back");
  });

  it("[WEBRTC-266] what is no frame of an instance is logged and changes nothing", async () => {
    const url = nextUrl();
    const [here, there] = [await startInstance(url), await startInstance(url)];
    const stranger = new Redis(url, { lazyConnect: true });
    await stranger.connect();
    onTestFinished(() => stranger.disconnect());
    const channel = `backlot:webrtc:${database - 1}`;
    const frames = [
      null,
      {},
      { type: "none" },
      { type: "joined" },
      { type: "deliver", to: ["x"], event: { type: "joined" } },
      { type: "left", room: 1, peer: [] },
    ];
    for (const text of ["", "text", "[]", "{}", '["backlot"]', '["backlot",1,[]]', JSON.stringify(["backlot", "stranger", frames])])
      await stranger.publish(channel, text);
    await expect.poll(() => logOf(here)).toMatch(/\d+ messages on the channel in Redis were not valid frames/);
    const anna = await joinJson(here, room);
    const bert = await joinJson(there, room);
    expect(await anna.until("peer-joined")).toMatchObject({ id: bert.id });
  });

  it("[WEBRTC-268] an identifier that two instances accepted without Redis stays with the older client", async () => {
    const own = await startRedis();
    let running: RealServer | undefined = own;
    onTestFinished(() => running?.stop());
    const [here, there, third] = [await startInstance(own.url), await startInstance(own.url), await startInstance(own.url)];
    await own.stop();
    running = undefined;
    for (const instance of [here, there, third]) await expect.poll(() => logOf(instance)).toContain("Redis is lost");
    const older = await openPeerJs(there, "anna");
    const younger = await openPeerJs(here, "anna");
    const watcher = await joinJson(third, "default");
    running = await startRedis({ port: Number(new URL(own.url).port) });
    expect(await younger.closed).toMatchObject({ reason: "its identifier is in use at another instance" });
    await watcher.log.until(({ type, id }) => type === "peer-joined" && id === "anna");
    watcher.send({ type: "candidate", to: "anna", candidate: { candidate: "c" } });
    older.send({ type: "OFFER", dst: watcher.id, payload: { sdp: { type: "offer", sdp: "v=0" }, connectionId: "dc_1" } });
    expect(await watcher.until("offer")).toEqual({ type: "offer", from: "anna", sdp: "v=0" });
    expect(await (await fetch(`http://${here.host}/peerjs/peers`)).json()).toEqual(expect.arrayContaining(["anna", watcher.id]));
  });

  it("[WEBRTC-269] an instance that is heard again after the timeout is asked for its peers, and they are back", async () => {
    const url = nextUrl();
    const here = await startInstance(url, { clusterTimeoutMs: 500 });
    const anna = await joinJson(here, room);
    const [sending, listening] = [new Redis(url, { lazyConnect: true }), new Redis(url, { lazyConnect: true })];
    for (const client of [sending, listening]) {
      await client.connect();
      onTestFinished(() => client.disconnect());
    }
    const channel = `backlot:webrtc:${database - 1}`;
    const asked = createEventLog<string>();
    listening.on("message", (_channel, text) => asked.add(text));
    await listening.subscribe(`${channel}:suspended`);
    const say = (frame: object) => sending.publish(channel, JSON.stringify(["backlot", "suspended", [frame]]));
    const peer = { id: "bert", name: "Bert", dialect: "json", since: 1 };
    const state = { type: "state", isFirst: true, isLast: true, members: [{ room: { name: room, since: 1 }, peer }] };
    const count = (type: string) => anna.log.items.filter((message) => message.type === type && message.id === "bert").length;
    for (const times of [1, 2]) {
      const question = asked.next((text) => text.includes('"hello"'));
      await say({ type: "beat" });
      await question;
      await say(state);
      await expect.poll(() => count("peer-joined")).toBe(times);
      // Nothing is heard of it.
      await expect.poll(() => count("peer-left")).toBe(times);
    }
  });

  it("[WEBRTC-270] faults of a peer apply to what it sends to and gets from another instance; they are started where it is connected", async () => {
    const [here, there] = await startPair();
    const anna = await joinJson(here, room);
    const bert = await joinJson(there, room);
    await anna.until("peer-joined");
    const fault = { kind: "drop", percent: 100, signals: "candidates" } as const;
    await expect(there.service.act("peer.fault", { peer: anna.id, fault })).rejects.toMatchObject({
      code: "CALL_INVALID",
      message: "The peer is connected to another instance",
    });
    const overHttp = (instance: Webrtc) =>
      fetch(`http://${instance.host}/faults/peers/${anna.id}?kind=drop&percent=100&signals=candidates`, { method: "POST" });
    expect((await overHttp(there)).status).toBe(409);
    expect((await overHttp(here)).status).toBe(200);
    for (const [from, to] of [
      [anna, bert],
      [bert, anna],
    ] as const) {
      from.send({ type: "candidate", to: to.id, candidate: { candidate: "c" } });
      from.send({ type: "offer", to: to.id, sdp: "v=0" });
      expect(await to.until("offer")).toMatchObject({ from: from.id });
      expect(to.log.items.filter(({ type }) => type === "candidate")).toEqual([]);
    }
    await expect
      .poll(() =>
        there.service.views.get("rooms")?.rooms.map(({ peers, peerCount, elsewhereCount }) => ({ peers, peerCount, elsewhereCount })),
      )
      .toEqual([{ peers: [bert.id], peerCount: 2, elsewhereCount: 1 }]);
  });

  it("[WEBRTC-561] what is held back for or of a peer of another instance is lost when it leaves, and what is sent to one is passed on", async () => {
    const [here, there] = await startPair();
    const [anna, carl] = [await joinJson(here, room), await joinJson(here, room)];
    const bert = await joinJson(there, room);
    await anna.log.until(({ type, id }) => type === "peer-joined" && id === bert.id);
    const delay = { kind: "delay", delayMs: 60_000, signals: "all" } as const;
    const outcomesAt = async ({ service }: Webrtc) =>
      (await service.act("signals.list")).signals.flatMap(({ kind, outcome }) => (kind === "offer" ? [outcome] : []));
    await there.service.act("peer.fault", { peer: bert.id, fault: delay });
    anna.send({ type: "offer", to: bert.id, sdp: "of one who leaves" });
    await expect.poll(() => outcomesAt(here)).toEqual(["passed on"]);
    carl.send({ type: "offer", to: bert.id, sdp: "of one who stays" });
    anna.close();
    await bert.log.until(({ type, id }) => type === "peer-left" && id === anna.id);
    await there.service.act("peer.release", { peer: bert.id });
    expect(await bert.until("offer")).toMatchObject({ from: carl.id });
    await here.service.act("peer.fault", { peer: carl.id, fault: delay });
    carl.send({ type: "offer", to: bert.id, sdp: "to one who leaves" });
    await expect.poll(() => outcomesAt(here)).toContain("delayed");
    bert.close();
    await expect.poll(() => outcomesAt(here)).toContain("lost: receiver left");
  });

  it("[WEBRTC-267] the service does not start without the Redis that it is to share", async () => {
    await expect(startInstance("redis://user:hidden@127.0.0.1:1/0")).rejects.toMatchObject({
      code: "CLUSTER_UNREACHABLE",
      message: expect.stringContaining("redis://127.0.0.1:1/0"),
      hint: expect.stringContaining("WEBRTC_CLUSTER"),
    });
  });
});
