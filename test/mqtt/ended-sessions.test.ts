import { describe, expect, it, vi } from "vitest";
import { type DeliveryTrace, Message } from "../../servers/mqtt/engine/routing/message.ts";
import {
  abandonSession,
  adoptSession,
  restoreClosed,
  surrenderAll,
  surrenderSession,
} from "../../servers/mqtt/engine/session/move-session.ts";
import { type Broker, type Connected, connectWire, startBroker } from "./harness.ts";
import { isOverForMost, MemoryClient, startEngine } from "./memory-client.ts";

const kept = (clientId: string, sessionExpiryInterval = 600) => ({ clientId, properties: { sessionExpiryInterval } });

async function leave(client: Connected): Promise<void> {
  client.send({ type: "disconnect", reason: 0 });
  await client.expectClose();
}

async function readNewest(broker: Broker, filter: string) {
  const { messages } = await broker.act("topic.history", { filter, limit: 1 });
  return broker.act("message.read", { id: messages[0]?.id ?? 0 });
}

/** What the row of the message on the topic says, as far as it was told. */
const outcomeOf = (broker: Broker, topic: string) =>
  broker.rows.findLast(({ target, kind }) => kind === "mqtt-message" && target === topic)?.outcome;

describe("messages of a session that ends", () => {
  const ways: readonly (readonly [string, number, (broker: Broker) => unknown])[] = [
    ["is deleted from the page", 600, (broker) => broker.act("client.forget", { clientId: "s" })],
    ["is ended by a clean start", 600, (broker) => connectWire(broker, 5, { ...kept("s"), cleanStart: true })],
    ["expires", 1, () => {}],
    ["gives way to another one", 600, (broker) => connectWire(broker, 5, { clientId: "another" })],
  ];

  it.each(ways)("[MQTT-490] that waits count as dropped when it %s", async (how, expiry, end) => {
    const broker = await startBroker({ sessions: how.startsWith("gives way") ? 1 : 10 });
    const client = await connectWire(broker, 5, kept("s", expiry));
    await client.subscribe("t", { qos: 1 });
    await leave(client);
    await broker.act("publish", { topic: "t", qos: 1, payload: "waits" });
    await end(broker);
    await expect.poll(() => readNewest(broker, "t")).toMatchObject({ matched: 1, delivered: 0, dropped: 1 });
    expect((await readNewest(broker, "t"))?.deliveries).toMatchObject([{ clientId: "s", dropped: "session ended" }]);
    await expect.poll(() => outcomeOf(broker, "t")).toBe("dropped for 1");
    await expect.poll(() => broker.logs).toContain("1 message dropped for s: session ended");
    await expect.poll(() => broker.views.get("figures")?.dropped["session ended"]).toBe(1);
  });

  it("[MQTT-490] that were sent and not acknowledged count as dropped, but not those of QoS 2 that its client has said it received", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, kept("s"));
    await client.subscribe("#", { qos: 2 });
    for (const qos of [1, 2] as const) await broker.act("publish", { topic: `open/${qos}`, qos });
    await broker.act("publish", { topic: "received", qos: 2 });
    for (let count = 0; count < 3; count++) {
      const { topic, packetId } = await client.expect("publish");
      if (topic === "received") client.send({ type: "pubrec", packetId, reason: 0 });
    }
    await client.expect("pubrel");
    await broker.act("client.forget", { clientId: "s" });
    for (const topic of ["open/1", "open/2"]) {
      expect(await readNewest(broker, topic)).toMatchObject({ delivered: 1, acknowledged: 0, dropped: 1 });
    }
    expect(await readNewest(broker, "received")).toMatchObject({ delivered: 1, acknowledged: 1, dropped: 0 });
    await expect.poll(() => broker.logs).toContain("2 messages dropped for s: session ended");
  });

  it("[MQTT-490] are dropped over several turns of the event loop, while others are served", async () => {
    const { engine, bystander } = await startEngine();
    const client = new MemoryClient(engine, "leaving", { ...kept("leaving"), cleanStart: false });
    client.subscribe("jobs", 1);
    await expect.poll(() => client.received.length).toBe(2);
    client.connection.cutOff("The connection was lost.");
    for (let count = 0; count < 5_000; count++) {
      engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from(String(count)), qos: 1, retain: false }));
    }
    const session = engine.sessions.get("leaving");
    if (!session) throw new Error("it is gone");
    expect(session.queue.length).toBe(5_000);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    engine.endSession(session);
    expect(session.dropped).toBeGreaterThan(0);
    expect(session.dropped).toBeLessThan(500);
    bystander.send({ type: "pingreq" });
    await expect.poll(() => bystander.received.at(-1)?.type, { interval: 1 }).toBe("pingresp");
    turn.mockRestore();
    await expect.poll(() => [session.dropped, session.queue.length, session.subscriptions.size]).toEqual([5_000, 0, 0]);
    expect(engine.counters.dropped["session ended"]).toBe(5_000);
    expect(engine.load).toMatchObject({ waiting: 0, bytes: 0, holders: 0 });
  });

  it("[MQTT-490] are dropped when thousands of sessions expire together", async () => {
    const { engine, expectUndisturbed } = await startEngine();
    const clients = Array.from({ length: 2_000 }, (_, index) => new MemoryClient(engine, `c${index}`, kept(`c${index}`, 1)));
    for (const client of clients) client.subscribe("jobs", 1);
    await expect.poll(() => clients.every(({ received }) => received.length === 2)).toBe(true);
    for (const { connection } of clients) connection.cutOff("The connection was lost.");
    for (let count = 0; count < 3; count++) {
      engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from(String(count)), qos: 1, retain: false }));
    }
    await expect.poll(() => engine.load.waiting).toBe(6_000);
    await expect.poll(() => engine.counters.dropped["session ended"], { timeout: 10_000 }).toBe(6_000);
    expect([engine.load.waiting, engine.sessions.size]).toEqual([0, 1]);
    await expectUndisturbed();
  });

  it("[MQTT-491] a message that was queued when its row was complete has a row that says what became of it", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, kept("s"));
    await client.subscribe("t", { qos: 1 });
    await leave(client);
    await broker.act("publish", { topic: "t", qos: 1, payload: "waits" });
    await expect.poll(() => outcomeOf(broker, "t")).toBe("queued");
    const back = await connectWire(broker, 5, { ...kept("s"), cleanStart: false });
    const { packetId } = await back.expect("publish");
    await expect.poll(() => outcomeOf(broker, "t")).toBe("0 of 1 acknowledged");
    back.send({ type: "puback", packetId, reason: 0 });
    await expect.poll(() => outcomeOf(broker, "t")).toBe("1 of 1 acknowledged");
  });

  it("[MQTT-503] one that matches a client that cannot get it is not queued: of QoS 0 for a client that is away", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, kept("s"));
    await client.subscribe("t", { qos: 1 });
    await leave(client);
    await broker.act("publish", { topic: "t", qos: 0, payload: "is not kept" });
    await expect.poll(() => outcomeOf(broker, "t")).toBe("no delivery recorded");
    const message = await readNewest(broker, "t");
    expect(message).toMatchObject({ matched: 1, delivered: 0, dropped: 0 });
    expect(message).not.toHaveProperty("queued");
  });

  it("[MQTT-503] the row says for how many it is queued, beside those that have it", async () => {
    const broker = await startBroker();
    const away = await connectWire(broker, 5, kept("away"));
    await away.subscribe("t", { qos: 1 });
    await leave(away);
    const here = await connectWire(broker, 5, kept("here"));
    await here.subscribe("t", { qos: 1 });
    await broker.act("publish", { topic: "t", qos: 1, payload: "waits" });
    here.send({ type: "puback", packetId: (await here.expect("publish")).packetId, reason: 0 });
    await expect.poll(() => outcomeOf(broker, "t")).toBe("1 of 1 acknowledged, queued for 1");
    expect(await readNewest(broker, "t")).toMatchObject({ matched: 2, delivered: 1, queued: 1 });
    const back = await connectWire(broker, 5, { ...kept("away"), cleanStart: false });
    back.send({ type: "puback", packetId: (await back.expect("publish")).packetId, reason: 0 });
    await expect.poll(() => outcomeOf(broker, "t")).toBe("2 of 2 acknowledged");
  });

  it("[MQTT-502] are told to have moved over several turns of the event loop, when another broker takes the session over", async () => {
    const { engine, bystander } = await startEngine();
    const client = new MemoryClient(engine, "leaving", { ...kept("leaving"), cleanStart: false });
    client.subscribe("jobs", 1);
    await expect.poll(() => client.received.length).toBe(2);
    client.connection.cutOff("The connection was lost.");
    let moved = 0;
    const trace = { id: 1, at: 0, owes() {}, moved: () => moved++ } as unknown as DeliveryTrace;
    for (let count = 0; count < 5_000; count++) {
      const message = new Message({ topic: "jobs", payload: Buffer.from(String(count)), qos: 1, retain: false });
      message.trace = trace;
      engine.publishInternal(message);
    }
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    expect(surrenderSession(engine, "leaving", false)).toBe(true);
    expect(moved).toBeGreaterThan(0);
    expect(moved).toBeLessThan(500);
    bystander.send({ type: "pingreq" });
    await expect.poll(() => bystander.received.at(-1)?.type, { interval: 1 }).toBe("pingresp");
    turn.mockRestore();
    await expect.poll(() => moved).toBe(5_000);
    expect(engine.counters.dropped["session ended"]).toBe(0);
    expect(engine.load).toMatchObject({ waiting: 0, bytes: 0, holders: 0 });
  });

  it("[MQTT-502] are given to no other member of a shared subscription, when other brokers take all sessions over", async () => {
    const { engine } = await startEngine();
    const join = async (clientId: string) => {
      const client = new MemoryClient(engine, clientId, { ...kept(clientId), cleanStart: false });
      client.subscribe("$share/group/jobs", 1);
      await expect.poll(() => client.received.length).toBe(2);
      return client;
    };
    const first = await join("first");
    for (const text of ["1", "2"])
      engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from(text), qos: 1, retain: false }));
    await expect.poll(() => first.received.length).toBe(4);
    const second = await join("second");
    surrenderAll(engine);
    await expect.poll(() => engine.load).toMatchObject({ waiting: 0, bytes: 0 });
    expect(second.received.map(({ type }) => type)).toEqual(["connack", "suback", "disconnect"]);
    expect(engine.counters.dropped["session ended"]).toBe(0);
  });

  it("[MQTT-472] one that comes from another broker is restored in steps, with its messages, before it is opened; what was missed comes behind them", async () => {
    const { engine, bystander } = await startEngine();
    const messageOf = (text: string) => new Message({ topic: "jobs", payload: Buffer.from(text), qos: 1, retain: false });
    const of = { qos: 1, retain: false, identifiers: [], released: false, sharedFilter: "" } as const;
    const stored = {
      ...{ clientId: "moved", storedId: 0, v5: true, expirySeconds: 600, disconnectedAt: Date.now(), address: "", received: [] },
      subscriptions: [
        { filter: "jobs", options: { qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0, identifier: 0 }, storedId: 0 },
      ],
      deliveries: Array.from({ length: 500 }, (_, id) => ({
        ...of,
        id,
        message: messageOf(`stored ${id}`),
        packetId: id < 10 ? id + 1 : 0,
      })),
    } as const;
    const steps = restoreClosed(engine, stored);
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      if (count++ === 250) engine.publishInternal(messageOf("too early"));
    }
    expect(count).toBe(501);
    expect(engine.sessions.has("moved")).toBe(false);
    const missed = ["missed 1", "missed 2"].map(
      (text) => ({ message: messageOf(text), qos: 1, retain: false, identifiers: undefined }) as const,
    );
    adoptSession(engine, step.value, stored, missed);
    engine.publishInternal(messageOf("live"));
    const texts = [...step.value.deliveries()].map(({ message }) => message.payload.toString());
    expect(texts).toEqual([...stored.deliveries.map(({ id }) => `stored ${id}`), "missed 1", "missed 2", "live"]);
    const given = restoreClosed(engine, { ...stored, clientId: "not wanted" });
    let last = given.next();
    while (!last.done) last = given.next();
    abandonSession(engine, last.value);
    await expect.poll(() => engine.load.waiting).toBe(493);
    expect(engine.counters.dropped["session ended"]).toBe(0);
    expect(bystander.ended).toBe(false);
  });
});
