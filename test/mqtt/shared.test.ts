import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Properties } from "../../servers/mqtt/codec/properties.ts";
import { Connection } from "../../servers/mqtt/engine/connection/connection.ts";
import type { Engine } from "../../servers/mqtt/engine/engine.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { SharedGroup } from "../../servers/mqtt/engine/routing/subscription.ts";
import { Session } from "../../servers/mqtt/engine/session/session.ts";
import { type Broker, connectWire, seen, startBroker } from "./harness.ts";
import { isOverForMost, MemoryClient, startEngine } from "./memory-client.ts";

async function join(broker: Broker, clientId: string, qos: 0 | 1 | 2, properties: Properties = {}) {
  const client = await connectWire(broker, 5, { clientId, properties: { sessionExpiryInterval: 60, ...properties } });
  await client.subscribe("$share/g/jobs", { qos }, { subscriptionIdentifiers: [7 + qos] });
  return client;
}

const gone = (broker: Broker, clientId: string) =>
  expect.poll(async () => (await broker.act("client.read", { clientId }))?.connected ?? false).toBe(false);

describe("members of a shared subscription", () => {
  it.each([
    [2, 1, 1],
    [1, 2, 2],
    [2, 0, 0],
  ] as const)("[MQTT-81] a message for a lost member with QoS %s goes to one with QoS %s with QoS %s", async (from, to, comes) => {
    const broker = await startBroker();
    const one = await join(broker, "one", from, { receiveMaximum: 1 });
    // The first occupies the window, so that the second waits, not sent.
    for (const payload of ["first", "second"]) await broker.act("publish", { topic: "jobs", qos: 2, payload });
    await one.expect("publish");
    const two = await join(broker, "two", to);
    one.destroy();
    await gone(broker, "one");
    const got = [await two.expect("publish"), ...(from === 1 ? [await two.expect("publish")] : [])];
    expect(got.map((packet) => packet.payload.toString())).toEqual(from === 1 ? ["first", "second"] : ["second"]);
    for (const packet of got) {
      expect(seen(packet)).toMatchObject({ qos: comes, dup: false });
      expect(packet.properties?.subscriptionIdentifiers).toEqual([7 + to]);
    }
  });

  it("[MQTT-82] a message too large for one member goes to one that accepts it", async () => {
    const broker = await startBroker();
    const small = await join(broker, "small", 1, { maximumPacketSize: 60 });
    const large = await join(broker, "large", 1);
    for (let count = 0; count < 4; count++) await broker.act("publish", { topic: "jobs", qos: 1, payload: "x".repeat(100) });
    for (let count = 0; count < 4; count++) expect((await large.expect("publish")).payload.length).toBe(100);
    await small.expectNothing();
    await broker.act("publish", { topic: "jobs", qos: 1, payload: "fits" });
    expect(seen(await small.expect("publish")).payload).toBe("fits");
  });

  it("[MQTT-82] and is dropped and counted if it is too large for all", async () => {
    const broker = await startBroker();
    const small = await join(broker, "small", 1, { maximumPacketSize: 60 });
    expect(await broker.act("publish", { topic: "jobs", qos: 1, payload: "x".repeat(100) })).toEqual({ matched: 1 });
    await small.expectNothing();
    expect(await broker.act("client.read", { clientId: "small" })).toMatchObject({ dropped: 1, inflight: 0 });
  });

  it.each([1, 2] as const)("[MQTT-83] a refusal by the member ends a message with QoS %s: no other member gets it", async (qos) => {
    const broker = await startBroker();
    const one = await join(broker, "one", qos);
    await broker.act("publish", { topic: "jobs", qos, payload: "x" });
    const { packetId } = await one.expect("publish");
    const two = await join(broker, "two", qos);
    one.send({ type: qos === 1 ? "puback" : "pubrec", packetId, reason: 0x83 });
    await one.expectNothing();
    one.destroy();
    await gone(broker, "one");
    await two.expectNothing();
  });

  it("[MQTT-84] a QoS 2 message in flight waits for its member, and ends with the member's session", async () => {
    const broker = await startBroker();
    const one = await join(broker, "one", 2);
    await broker.act("publish", { topic: "jobs", qos: 2, payload: "mine" });
    const { packetId } = await one.expect("publish");
    const two = await join(broker, "two", 2);
    one.destroy();
    await gone(broker, "one");
    await two.expectNothing();
    const back = await connectWire(broker, 5, { clientId: "one", cleanStart: false, properties: { sessionExpiryInterval: 60 } });
    expect(await back.expect("publish")).toMatchObject({ packetId, dup: true });
    back.send({ type: "disconnect", reason: 0, properties: { sessionExpiryInterval: 0 } });
    await back.expectClose();
    await expect.poll(() => broker.act("client.read", { clientId: "one" })).toBeNull();
    await two.expectNothing();
  });

  it("[MQTT-85] a client with a shared and a plain subscription to the same topic gets a copy for each", async () => {
    const broker = await startBroker();
    const one = await join(broker, "one", 1);
    await one.subscribe("jobs", { qos: 0 }, { subscriptionIdentifiers: [1] }, 2);
    await broker.act("publish", { topic: "jobs", qos: 1, payload: "x" });
    const got = [await one.expect("publish"), await one.expect("publish")];
    expect(got.map(({ qos, properties }) => [qos, properties?.subscriptionIdentifiers])).toEqual([
      [0, [1]],
      [1, [8]],
    ]);
    one.send({ type: "unsubscribe", packetId: 3, filters: ["jobs"] });
    expect(await one.expect("unsuback")).toMatchObject({ reasons: [0] });
    await broker.act("publish", { topic: "jobs", qos: 1, payload: "y" });
    expect((await one.expect("publish")).properties?.subscriptionIdentifiers).toEqual([8]);
    await one.expectNothing();
  });
});

describe("many members", () => {
  const member = (engine: Engine, name: string, receiveMaximum: number) => {
    const client = new MemoryClient(engine, name, { cleanStart: false, properties: { sessionExpiryInterval: 60, receiveMaximum } });
    client.subscribe("$share/g/jobs", 1);
    return client;
  };
  const publish = (engine: Engine, payload: string, topic = "jobs") =>
    engine.publishInternal(new Message({ topic, payload: Buffer.from(payload), qos: 1, retain: false }));

  it.each([true, false])(
    "[MQTT-246] a message looks at few of 2,000 members, also if none can take it now, connected: %s",
    async (connected) => {
      const { engine } = await startEngine();
      const members = Array.from({ length: 2_000 }, (_, index) => member(engine, `${index}`, 1));
      await expect.poll(() => members.every(({ received }) => received.length === 2)).toBe(true);
      if (connected) for (const [index] of members.entries()) publish(engine, `first ${index}`);
      else for (const { connection } of members) connection.cutOff("The connection was lost.");
      const looks = vi.spyOn(Session.prototype, "readiness");
      onTestFinished(() => void looks.mockRestore());
      for (let count = 0; count < 500; count++) publish(engine, String(count));
      // 32 of each kind, and now and then all.
      expect(looks.mock.calls.length).toBeLessThan(500 * 100);
      expect(engine.load.waiting).toBe(500);
      for (const { clientId, queue } of engine.sessions.values()) expect(queue.length, clientId).toBeLessThanOrEqual(1);
    },
  );

  it("[MQTT-247] what full members leave goes to one that returns, as it reads, and nothing is lost", async () => {
    const { engine } = await startEngine({ limits: { queueMessages: 300 } });
    const gone = ["one", "two", "three"].map((name) => member(engine, name, 1));
    await expect.poll(() => gone.every(({ received }) => received.length === 2)).toBe(true);
    for (const { connection } of gone) connection.cutOff("The connection was lost.");
    for (let count = 0; count < 900; count++) publish(engine, String(count));
    const back = member(engine, "one", 10);
    const received = new Set<string>();
    const acknowledge = () => {
      for (const packet of back.received.splice(0)) {
        if (packet.type !== "publish") continue;
        received.add(packet.payload.toString());
        back.send({ type: "puback", packetId: packet.packetId, reason: 0 });
      }
      return received.size;
    };
    await expect.poll(acknowledge, { interval: 1, timeout: 10_000 }).toBe(900);
    expect([engine.counters.droppedInAll, engine.load.waiting]).toEqual([0, 0]);
  });

  it("[MQTT-247] what a member leaves is moved over several turns, before its session ends and while others are served", async () => {
    const { engine, bystander } = await startEngine();
    const leaving = new MemoryClient(engine, "leaving", { properties: { receiveMaximum: 1 } });
    leaving.subscribe("$share/g/jobs", 1);
    await expect.poll(() => leaving.received.length).toBe(2);
    for (let count = 0; count < 5_000; count++) publish(engine, String(count));
    const staying = member(engine, "staying", 1);
    await expect.poll(() => staying.received.length).toBeGreaterThan(1);
    const before = engine.sessions.get("staying")?.queue.length ?? 0;
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    leaving.connection.cutOff("The connection was lost.");
    bystander.send({ type: "pingreq" });
    await expect.poll(() => bystander.received.at(-1)?.type, { interval: 1 }).toBe("pingresp");
    expect((engine.sessions.get("staying")?.queue.length ?? 0) - before).toBeLessThan(1_000);
    turn.mockRestore();
    const deliveries = () => (engine.sessions.get("staying")?.queue.length ?? 0) + (engine.sessions.get("staying")?.inflight.size ?? 0);
    await expect.poll(deliveries, { timeout: 5_000 }).toBe(5_000);
    await expect.poll(() => engine.sessions.has("leaving")).toBe(false);
  });

  it("[MQTT-317] what waits for members that leave together is looked at over several turns, and the groups of one that comes back move so", async () => {
    const { engine } = await startEngine();
    const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600, receiveMaximum: 1 } };
    const clients = Array.from({ length: 10 }, (_, index) => new MemoryClient(engine, `leaves ${index}`, kept));
    await expect.poll(() => engine.clients.size).toBe(11);
    for (const client of clients) client.subscribe("$share/g/jobs", 1);
    const many = Array.from({ length: 200 }, (_, index) => `$share/g${index}/others`);
    for (const filter of many) clients[0]?.subscribe(filter, 1);
    await expect.poll(() => engine.groups.size).toBe(201);
    for (let count = 0; count < 100; count++) publish(engine, String(count));
    const looked = vi.spyOn(Session.prototype, "deliveries");
    onTestFinished(() => looked.mockRestore());
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    for (const { connection } of clients) connection.cutOff("The connection was lost.");
    const stays = member(engine, "stays", 1_000);
    expect(looked).not.toHaveBeenCalled();
    turn.mockReturnValue(false);
    const received = () => new Set(stays.received.flatMap((packet) => (packet.type === "publish" ? packet.payload.toString() : [])));
    await expect.poll(() => received().size).toBe(100);
    const moved = vi.spyOn(SharedGroup.prototype, "moved");
    onTestFinished(() => moved.mockRestore());
    turn.mockReturnValue(true);
    new MemoryClient(engine, "leaves 0", kept);
    expect(moved.mock.calls.length).toBeLessThan(100);
    turn.mockRestore();
    const connected = () => many.filter((name) => engine.groups.get(name)?.counts().connected === 1).length;
    await expect.poll(connected).toBe(200);
  });

  it("[MQTT-317] what waits in a session that is begun anew is moved over several turns, before its client is accepted", async () => {
    const { engine } = await startEngine();
    const keptFor = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
    for (const name of ["gone", "other"]) {
      const client = new MemoryClient(engine, name, keptFor);
      client.subscribe("$share/group/jobs", 1);
      await expect.poll(() => client.received.at(-1)?.type).toBe("suback");
      client.connection.cutOff("The connection was lost.");
    }
    for (let number = 0; number < 1_000; number++)
      engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from(String(number)), qos: 1, retain: false }));
    const waiting = (name: string) => engine.sessions.get(name)?.queue.length ?? 0;
    await expect.poll(() => [waiting("gone"), waiting("other")]).toEqual([500, 500]);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    turn.mockReturnValueOnce(false).mockReturnValueOnce(false);
    let looks = 0;
    const { inSteps } = Connection.prototype;
    const spy = vi.spyOn(Connection.prototype, "inSteps").mockImplementation(function (this: Connection, work: Iterator<unknown>) {
      const next = () => {
        looks++;
        return work.next();
      };
      inSteps.call(this, { next });
    });
    onTestFinished(() => spy.mockRestore());
    const back = new MemoryClient(engine, "gone");
    turn.mockRestore();
    await expect.poll(() => back.received[0]).toMatchObject({ type: "connack", sessionPresent: false });
    expect(looks).toBeGreaterThan(5);
    expect([waiting("gone"), waiting("other")]).toEqual([0, 1_000]);
  });

  it("[MQTT-317] a member that can take none of what waits for another one is asked once for each of their groups, in turns", async () => {
    const { engine } = await startEngine();
    const names = Array.from({ length: 300 }, (_, index) => `$share/g/jobs/${index}`);
    const options = { qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
    const subscribe = { type: "subscribe", packetId: 1, subscriptions: names.map((filter) => ({ filter, ...options })) } as const;
    const absent = new MemoryClient(engine, "absent", { cleanStart: false, properties: { sessionExpiryInterval: 600 } });
    absent.send(subscribe);
    await expect.poll(() => engine.groups.size).toBe(300);
    absent.connection.cutOff("The connection was lost.");
    for (let index = 0; index < 1_500; index++) publish(engine, "x".repeat(200), `jobs/${index % 300}`);
    const waiting = () => engine.sessions.get("absent")?.queue.length;
    expect(waiting()).toBe(1_500);
    const small = new MemoryClient(engine, "small", { properties: { maximumPacketSize: 100 } });
    const asked = vi.spyOn(SharedGroup.prototype, "pickConnected");
    onTestFinished(() => asked.mockRestore());
    small.send(subscribe);
    small.subscribe("pings", 1);
    // That of the groups is too large for it.
    await expect.poll(() => small.received.filter(({ type }) => type === "suback").length).toBe(1);
    await expect.poll(() => asked.mock.calls.length).toBeGreaterThanOrEqual(300);
    for (let index = 0; index < 20; index++) publish(engine, "x", "pings");
    const acked = () => small.received.filter((packet) => packet.type === "publish");
    await expect.poll(() => acked().length).toBe(20);
    asked.mockClear();
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    for (const packet of acked()) if (packet.type === "publish") small.send({ type: "puback", packetId: packet.packetId, reason: 0 });
    expect(asked.mock.calls.length).toBeLessThan(300);
    turn.mockRestore();
    await expect.poll(() => asked.mock.calls.length).toBeGreaterThan(0);
    const large = new MemoryClient(engine, "large");
    large.send(subscribe);
    await expect.poll(waiting).toBe(0);
    expect(asked.mock.calls.length).toBeLessThan(1_500 + 20 * 300);
    await expect.poll(() => large.received.filter(({ type }) => type === "publish").length).toBe(1_000);
  });
});
