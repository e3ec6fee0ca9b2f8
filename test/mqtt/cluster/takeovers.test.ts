import { expect, it, onTestFinished, vi } from "vitest";
import { decodeFrame, encodeFrame } from "../../../servers/mqtt/cluster/frame.ts";
import { createFrameBus } from "../../../servers/mqtt/cluster/frame-bus.ts";
import { GroupMembers } from "../../../servers/mqtt/cluster/group-members.ts";
import { type OwnershipOptions, SessionOwnership } from "../../../servers/mqtt/cluster/session-ownership.ts";
import { TurnShare } from "../../../servers/mqtt/engine/connection/turn-share.ts";
import { FlushScheduler } from "../../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { Forwarder } from "../../support/forwarder.ts";
import { type Broker, connectPacket, connectWire, openWire } from "../harness.ts";
import { describeCluster, Inbox, kept, leave, openRedis, publishAcknowledged, startMember, startPair } from "./cluster-harness.ts";

/** CONNECTs of the brokers in this process wait for their turn until `goOn`. */
function holdConnects() {
  const held: (() => void)[] = [];
  const spy = vi.spyOn(TurnShare.prototype, "inTurn").mockImplementation((step) => void held.push(step));
  onTestFinished(() => spy.mockRestore());
  return {
    held,
    goOn() {
      spy.mockRestore();
      for (const step of held.splice(0)) step();
    },
  };
}

/** How often a broker has asked another one for a session. */
async function countWanted(url: string): Promise<() => number> {
  let count = 0;
  const channel = `backlot:mqtt:${new URL(url).pathname.slice(1)}`;
  const bus = createFrameBus(channel, (_id, frame) => {
    count += decodeFrame(frame).entries.filter(({ type }) => type === "wanted").length;
  });
  const redis = await openRedis(url);
  redis.on("messageBuffer", (_channel: Buffer, bytes: Buffer) => bus.receive(bytes));
  await redis.subscribe(channel);
  return () => count;
}

it("[MQTT-535] clients that connect while Redis is lost and open no session are not remembered", async () => {
  const parts = {
    ...{ isConnected: false, comingBack: undefined, brokerId: "me", note: () => {}, flush: () => {} },
    engine: { sessions: new Map() },
  };
  const ownership = new SessionOwnership({ parts, patienceMs: 1_000, mayBury: () => false } as unknown as OwnershipOptions);
  for (let client = 0; client < 1_000; client++) {
    const clientId = `client ${client}`;
    expect(await ownership.bring(clientId, false)).toBe(true);
    ownership.settled(clientId);
  }
  await new Promise(setImmediate);
  const { unclaimed, opening, bringing } = ownership as unknown as Record<"unclaimed" | "opening" | "bringing", ReadonlySet<string>>;
  expect([unclaimed.size, opening.size, bringing.size]).toEqual([0, 0, 0]);
});

const kinds: readonly (readonly [string, (clientId: string) => object])[] = [
  ["kept", kept],
  ["not kept", (clientId) => ({ clientId })],
];

/** A client whose CONNECT waits for its turn at `one`, and a second one with its identifier at `other`, which has asked for the session. */
async function connectAtBoth(one: Broker, other: Broker, url: string, options: object) {
  const wanted = await countWanted(url);
  const connects = holdConnects();
  const first = await openWire(one, 5);
  first.send(connectPacket(5, "c", options));
  await expect.poll(() => connects.held.length).toBe(1);
  const second = await openWire(other, 5);
  second.send(connectPacket(5, "c", options));
  // It asks again as long as it gets no answer.
  await expect.poll(() => wanted() >= 2 || connects.held.length > 1).toBe(true);
  return { connects, first, second, wanted };
}

describeCluster("a session that is wanted at two brokers", (nextUrl) => {
  it.each(kinds)(
    "[MQTT-530] %s, is opened by the client that waits for its turn before the other broker gets it",
    async (_kind, options) => {
      const url = nextUrl();
      const [one, other] = await startPair(url);
      const { connects, first, second } = await connectAtBoth(one, other, url, options("c"));
      expect(connects.held.length).toBe(1);
      connects.goOn();
      await first.expect("connack");
      expect(await first.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8e });
      await second.expect("connack");
      await second.expectNothing();
    },
  );

  it("[MQTT-530] goes to the other broker when the client that waited for its turn has left", async () => {
    const url = nextUrl();
    const [one, other] = await startPair(url);
    const { connects, first, second } = await connectAtBoth(one, other, url, kept("c"));
    first.destroy();
    await expect.poll(() => connects.held.length).toBe(2);
    // Steps of a connection that is closed are not done.
    connects.held.shift();
    connects.goOn();
    await second.expect("connack");
    await second.expectNothing();
    expect(await one.act("client.read", { clientId: "c" })).toBeNull();
  });

  it("[MQTT-530] one connection remains of many on a busy machine", async () => {
    const [one, other] = await startPair(nextUrl());
    let asked = 0;
    const turn = vi.spyOn(FlushScheduler.prototype, "isTurnOver").mockImplementation(() => ++asked % 3 !== 0);
    onTestFinished(() => turn.mockRestore());
    for (let round = 0; round < 24; round++) {
      const clientId = `client ${round}`;
      const options = kinds[round % 2]?.[1](clientId);
      const clients = await Promise.all(Array.from({ length: 6 }, (_, index) => connectWire(index % 2 === 0 ? one : other, 5, options)));
      await expect.poll(() => clients.filter(({ closed }) => !closed).length, { interval: 5, timeout: 5_000 }).toBe(1);
      for (const client of clients) client.destroy();
    }
  });

  it("[MQTT-530] a client that waited for its turn while Redis was emptied has to connect again if its session is elsewhere by then", async () => {
    const url = nextUrl();
    const broker = await startMember(url);
    const redis = await openRedis(url);
    const connects = holdConnects();
    const client = await openWire(broker, 5);
    client.send(connectPacket(5, "c", kept("c")));
    await expect.poll(() => connects.held.length).toBe(1);
    await redis.flushdb();
    await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
    await expect.poll(() => broker.logs.filter((line) => line.includes("Redis is back")).length, { timeout: 10_000 }).toBe(1);
    await redis.set("backlot:mqtt:alive:another", 1);
    await redis.hset("backlot:mqtt:owners", "c", "another");
    connects.goOn();
    await client.expect("connack");
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8b });
    expect(await redis.hget("backlot:mqtt:owners", "c")).toBe("another");
  });

  it("[MQTT-534] stays where it is opened while Redis is lost there, and goes to the other broker, with what came meanwhile, when Redis is back", async () => {
    const url = new URL(nextUrl());
    const forwarder = new Forwarder(Number(url.port));
    await forwarder.listen();
    const patient = { clusterTimeoutMs: 60_000 };
    const one = await startMember(`redis://127.0.0.1:${forwarder.port}${url.pathname}`, patient);
    const other = await startMember(url.href, patient);
    const publisher = await connectWire(one, 5);
    const { connects, first, second, wanted } = await connectAtBoth(one, other, url.href, kept("c"));
    expect(wanted()).toBeGreaterThanOrEqual(2);
    const port = forwarder.target;
    forwarder.cut();
    await expect.poll(() => one.logs.filter((line) => line.includes("Redis is lost")).length).toBe(1);
    connects.goOn();
    await first.expect("connack");
    await first.subscribe("t", { qos: 1 });
    first.destroy();
    await expect.poll(() => one.act("client.read", { clientId: "c" })).toMatchObject({ connected: false });
    await publishAcknowledged(publisher, "t", "meanwhile");
    // It is connected, and has not written its sessions yet.
    const { announceAgain } = GroupMembers.prototype;
    let asked = Number.POSITIVE_INFINITY;
    const spy = vi.spyOn(GroupMembers.prototype, "announceAgain").mockImplementation(async function (this: GroupMembers) {
      asked = wanted();
      await expect.poll(wanted).toBeGreaterThan(asked + 1);
      await announceAgain.call(this);
    });
    onTestFinished(() => spy.mockRestore());
    forwarder.target = port;
    expect((await second.expect("connack")).sessionPresent).toBe(true);
    expect(wanted()).toBeGreaterThan(asked + 1);
    const inbox = new Inbox(second);
    await expect.poll(() => inbox.payloads).toEqual(["meanwhile"]);
  });

  it("[MQTT-534] stays where a broker that was disconnected reads in the journal that it was wanted", async () => {
    const url = nextUrl();
    const [one, other] = await startPair(url);
    const redis = await openRedis(url);
    const client = await connectWire(one, 5, kept("c"));
    await client.subscribe("t", { qos: 1 });
    await leave(client);
    const owner = (await redis.hget("backlot:mqtt:owners", "c")) ?? "";
    const message = new Message({ topic: "t", payload: Buffer.from("missed"), qos: 1, retain: false });
    const entries = [
      { type: "message", message, routed: true, kept: false },
      { type: "wanted", to: owner, clientId: "c", cleanStart: false },
    ] as const;
    await redis.xadd("backlot:mqtt:journal", "*", "f", encodeFrame({ from: "third", seq: 1, entries }));
    await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
    for (const { logs } of [one, other])
      await expect.poll(() => logs.filter((line) => line.includes("Redis is back")).length, { timeout: 20_000 }).toBe(1);
    const inbox = new Inbox(await connectWire(other, 5, kept("c")));
    await expect.poll(() => inbox.payloads).toEqual(["missed"]);
  });
});
