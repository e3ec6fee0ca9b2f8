import { describe, expect, it, onTestFinished, vi } from "vitest";
import { RetainedRoom } from "../../servers/mqtt/engine/retained/retained-room.ts";
import { RetainedTree } from "../../servers/mqtt/engine/retained/retained-tree.ts";
import { createAedesBus } from "../../servers/mqtt/engine/routing/aedes-bus.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { connectWire, publishPacket, seen, startBroker, versions } from "./harness.ts";
import { isOverForMost, MemoryClient, startEngine } from "./memory-client.ts";

const retain = { retain: true };

describe("retained messages", () => {
  it.each(versions)("[MQTT-60] are sent to a new subscription with the retain flag, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    client.publish("a/b", "old", retain).publish("a/b", "kept", { retain: true, qos: 1, packetId: 1 }).publish("a/c", "not kept");
    await client.expect("puback");
    await client.subscribe("a/+", { qos: 2 });
    expect(seen(await client.expect("publish"))).toEqual({ topic: "a/b", payload: "kept", qos: 1, retain: true, dup: false });
    await client.expectNothing();
  });

  it("[MQTT-60] the newest of a topic is kept, and a message without the flag does not replace or remove it", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client
      .publish("t", "old", { retain: true })
      .publish("t", "new", { retain: true, qos: 2, packetId: 1 })
      .publish("t", "live")
      .publish("t", "");
    await client.expect("pubrec");
    await client.subscribe("t", { qos: 1 }, undefined, 2);
    expect(seen(await client.expect("publish"))).toEqual({ topic: "t", payload: "new", qos: 1, retain: true, dup: false });
    await client.expectNothing();
  });

  it.each(versions)("[MQTT-61] an empty payload removes the message and is routed, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    client.publish("a", "kept", retain);
    await client.subscribe("a");
    expect(seen(await client.expect("publish")).retain).toBe(true);
    client.publish("a", "", retain);
    expect(seen(await client.expect("publish"))).toEqual({ topic: "a", payload: "", qos: 0, retain: false, dup: false });
    await client.subscribe("a");
    await client.expectNothing();
    expect(broker.service.outbox).toBeDefined();
  });

  it("[MQTT-62] retain handling: 0 always, 1 for a new subscription, 2 never", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.publish("a", "kept", retain);
    await client.subscribe("a", { retainHandling: 2 });
    await client.expectNothing();
    await client.subscribe("a", { retainHandling: 1 });
    await client.expectNothing();
    await client.subscribe("a", { retainHandling: 0 });
    expect(seen(await client.expect("publish")).payload).toBe("kept");
    await client.subscribe("+", { retainHandling: 1 });
    expect(seen(await client.expect("publish")).payload).toBe("kept");
  });

  it("[MQTT-63] retain as published keeps the flag; without it a live message has none", async () => {
    const broker = await startBroker();
    const published = await connectWire(broker, 5);
    await published.subscribe("a", { retainAsPublished: true });
    const plain = await connectWire(broker, 5);
    await plain.subscribe("a");
    published.publish("a", "x", retain);
    expect(seen(await published.expect("publish")).retain).toBe(true);
    expect(seen(await plain.expect("publish")).retain).toBe(false);
    published.publish("a", "y");
    expect(seen(await published.expect("publish")).retain).toBe(false);
  });

  it("[MQTT-64] expire, and are sent with the remaining expiry", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.publish("short", "x", { retain: true, properties: { messageExpiryInterval: 1 } });
    client.publish("long", "x", { retain: true, properties: { messageExpiryInterval: 100 } });
    await client.expectNothing();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await client.subscribe("+");
    const message = await client.expect("publish");
    expect(message.topic).toBe("long");
    expect(message.properties?.messageExpiryInterval).toBeLessThan(100);
    await client.expectNothing();
  });

  it("[MQTT-65] are not sent for a shared subscription, nor for a leading wildcard on $ topics", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.publish("a", "x", retain).publish("$mine", "x", retain);
    await client.subscribe("$share/g/a");
    await client.expectNothing();
    await client.subscribe("+");
    expect(seen(await client.expect("publish")).topic).toBe("a");
    await client.expectNothing();
  });

  it("[MQTT-66] are bounded: refused with 0x97 where possible, else routed only", async () => {
    const broker = await startBroker({ retainedMessages: 1 });
    const client = await connectWire(broker, 5);
    client.publish("one", "x", { retain: true, qos: 1, packetId: 1 }).publish("two", "x", { retain: true, qos: 1, packetId: 2 });
    expect(await client.expect("puback")).toMatchObject({ reason: 0x10 });
    expect(await client.expect("puback")).toMatchObject({ reason: 0x97 });
    await client.subscribe("three");
    client.publish("three", "x", retain);
    expect(seen(await client.expect("publish")).topic).toBe("three");
    expect(await broker.act("retained.clear", { filter: "#" })).toEqual({ cleared: 1 });
  });

  it("[MQTT-462] thousands of short messages give way to a long one over several turns, and it is there at once", async () => {
    const tree = new RetainedTree();
    const messageOf = (publisherId: string, topic: string, bytes: number) =>
      new Message({ topic, payload: Buffer.alloc(bytes), qos: 0, retain: true, publisherId });
    for (let count = 0; count < 5_000; count++) tree.set(messageOf("many", String(count), 1));
    const retainedBytes = tree.heldBytes;
    let waiting: (() => void)[] = [];
    const bus = await createAedesBus({ retained: tree, store: undefined });
    onTestFinished(() => bus.close());
    const room = new RetainedRoom({
      limits: { retainedMessages: 10_000, retainedBytes },
      bus,
      // After each look at the clock.
      scheduler: { isTurnOver: () => true, whenWritten: (resume) => void waiting.push(resume) },
      observer: {},
      log: { error: (text) => expect.unreachable(text) },
      keepRetained: ({ topic }) => void tree.delete(topic),
    });
    const long = messageOf("one", "long", retainedBytes / 5);
    expect([room.makeFor(long), tree.count]).toEqual([true, 5_000 - 32]);
    tree.set(long);
    const steps: number[] = [];
    while (waiting.length > 0) {
      const [resume] = waiting;
      expect(waiting.length).toBe(1);
      waiting = [];
      const before = tree.count;
      resume?.();
      steps.push(before - tree.count);
    }
    expect([Math.max(...steps) <= 32, steps.length > 10, tree.heldBytes <= retainedBytes, tree.get("long")]).toEqual([
      true,
      true,
      true,
      long,
    ]);
    expect([room.makeFor(messageOf("other", "longer", retainedBytes / 3)), waiting.length]).toEqual([false, 0]);
  });

  it("[MQTT-318] those of who wrote most give way to others: by address, and then by client", async () => {
    const { engine } = await startEngine({ limits: { retainedMessages: 10 } });
    const open = (clientId: string, address: string) => new MemoryClient(engine, clientId, {}, `${address}:1000`);
    const [hog, neighbour, other] = [open("hog", "192.0.2.1"), open("neighbour", "192.0.2.1"), open("other", "192.0.2.2")];
    await expect.poll(() => engine.clients.size).toBe(4);
    let packetId = 0;
    /** The reason of the answer. */
    const keep = async (client: MemoryClient, topic: string) => {
      const own = ++packetId;
      client.send({ ...publishPacket(topic, "x"), ...retain, qos: 1, packetId: own });
      const answers = () => client.received.flatMap((packet) => (packet.type === "puback" && packet.packetId === own ? packet.reason : []));
      await expect.poll(answers).toHaveLength(1);
      return answers()[0];
    };
    const kept = () => engine.bus.retained.matching("#").map(({ topic }) => topic);
    for (let index = 0; index < 10; index++) expect(await keep(hog, `hog/${index}`)).toBe(0x10);
    expect(await keep(hog, "hog/10")).toBe(0x97);
    expect(await keep(neighbour, "neighbour/0")).toBe(0x10);
    expect(await keep(other, "other/0")).toBe(0x10);
    expect(kept().toSorted()).toEqual([...Array.from({ length: 8 }, (_, index) => `hog/${index + 2}`), "neighbour/0", "other/0"]);
    for (let index = 1; index < 20; index++) await keep(other, `other/${index}`);
    expect(kept().filter((topic) => topic.startsWith("other/"))).toHaveLength(5);
    for (let index = 0; index < 20; index++) await keep(open(`one of many ${index}`, "192.0.2.1"), `many/${index}`);
    expect(kept().filter((topic) => topic.startsWith("other/"))).toHaveLength(5);
    expect(engine.bus.retained.count).toBe(10);
    expect(await keep(open("late", "192.0.2.3"), "late")).toBe(0x10);
  });

  it.each([false, true])("[MQTT-67] many are sent to a slow client as it reads, none lost, persistence %s", async (persistence) => {
    const broker = await startBroker({ unreadBytes: 4_096, persistence });
    const publisher = await connectWire(broker, 5);
    const count = 3_000;
    for (let index = 0; index < count; index++) publisher.publish(`many/${index}`, "x".repeat(100), retain);
    await publisher.expectNothing();
    const client = await connectWire(broker, 5);
    await client.subscribe("many/#");
    const topics = new Set<string>();
    while (topics.size < count) topics.add((await client.expect("publish")).topic);
    await client.expectNothing();
  });

  it("[MQTT-268] long searches for one client take turns with other clients", async () => {
    const broker = await startBroker({ sysIntervalSeconds: 0 });
    const publisher = await connectWire(broker, 5);
    for (let index = 0; index < 20_000; index++) publisher.publish(`r/${index}/x`, "kept", retain);
    publisher.publish("last", "kept", retain);
    await publisher.expectNothing();
    const [searcher, other] = [await connectWire(broker, 5), await connectWire(broker, 5)];
    const options = { qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
    const filters = [...Array.from({ length: 500 }, (_, index) => `+/+/none ${index}`), "last"];
    searcher.send({ type: "subscribe", packetId: 1, subscriptions: filters.map((filter) => ({ filter, ...options })) });
    await searcher.expect("suback");
    const order: string[] = [];
    const answered = other
      .send({ type: "pingreq" })
      .expect("pingresp")
      .then(() => order.push("other"));
    expect(seen(await searcher.expect("publish")).topic).toBe("last");
    order.push("searcher");
    await answered;
    expect(order).toEqual(["other", "searcher"]);
  });

  it("[MQTT-160] are counted and cleared by filter, and no message is sent", async () => {
    const broker = await startBroker();
    for (const topic of ["a", "a/b", "a/b/c", "ab"]) await broker.act("publish", { topic, payload: "x", retain: true });
    const count = async (filter: string) => (await broker.act("retained.count", { filter })).count;
    expect([await count("a/#"), await count("a/b"), await count("a/+"), await count("#"), await count("z/#")]).toEqual([3, 1, 1, 4, 0]);
    const watcher = await connectWire(broker, 5);
    await watcher.subscribe("a/#", { retainHandling: 2 });
    expect(await broker.act("retained.clear", { filter: "a/#" })).toEqual({ cleared: 3 });
    expect([await count("a/#"), await count("#")]).toEqual([0, 1]);
    await watcher.expectNothing();
  });

  it("[MQTT-268] the comparison of a filter of many levels with a topic of as many counts as many steps of the search", () => {
    const tree = new RetainedTree();
    const levels = 20_000;
    for (const name of ["x", "y"]) {
      tree.set(new Message({ topic: "a/".repeat(levels) + name, payload: Buffer.from("x"), qos: 0, retain: true }));
    }
    const found = [...tree.search(`${"+/".repeat(levels)}x`)];
    expect(found.filter((message) => message !== undefined).map(({ topic }) => topic.at(-1))).toEqual(["x"]);
    expect(found.length).toBeGreaterThan(150);
  });

  it("[MQTT-268] those of a subscription that is made again before they are sent wait once, and none when it is removed", async () => {
    const { engine } = await startEngine();
    const publish = (topic: string, payload: string) =>
      engine.publishInternal(new Message({ topic, payload: Buffer.from(payload), qos: 1, retain: true }));
    publish("first", "1");
    publish("f/1", "2");
    publish("g", "3");
    const client = new MemoryClient(engine, "slow", { properties: { receiveMaximum: 1 } });
    const options = { qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
    const subscribe = (...filters: string[]) =>
      client.send({ type: "subscribe", packetId: 9, subscriptions: filters.map((filter) => ({ filter, ...options })) });
    subscribe("first", "g", ...Array.from({ length: 2_000 }, () => "f/#"));
    for (let count = 0; count < 3; count++) subscribe("f/#");
    const publishes = () => client.received.filter((packet) => packet.type === "publish");
    await expect.poll(() => client.received.filter(({ type }) => type === "suback").length).toBe(4);
    expect(engine.sessions.get("slow")?.waitingFeeds).toBeLessThanOrEqual(3);
    client.send({ type: "unsubscribe", packetId: 10, filters: ["g"] });
    const seenPayloads: string[] = [];
    for (const expected of ["1", "2"]) {
      await expect.poll(() => publishes().at(-1)?.payload.toString()).toBe(expected);
      seenPayloads.push(expected);
      client.send({ type: "puback", packetId: publishes().at(-1)?.packetId ?? 0, reason: 0 });
    }
    client.send({ type: "pingreq" });
    await expect.poll(() => client.received.at(-1)?.type).toBe("pingresp");
    expect(publishes().map(({ payload }) => payload.toString())).toEqual(seenPayloads);
  });

  it("[MQTT-250] searches of many clients share a turn, and what is retained meanwhile comes once", async () => {
    const { engine } = await startEngine();
    const count = 3_000;
    const publish = (topic: string, payload: string) =>
      engine.publishInternal(new Message({ topic, payload: Buffer.from(payload), qos: 0, retain: true }));
    for (let index = 0; index < count; index++) publish(`r/${index}/x`, "old");
    const clients = Array.from({ length: 20 }, (_, index) => new MemoryClient(engine, `client ${index}`));
    await expect.poll(() => clients.every(({ received }) => received.length === 1)).toBe(true);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    for (const client of clients) {
      turn.mockReturnValueOnce(false).mockReturnValueOnce(false);
      client.subscribe("r/+/#");
    }
    publish(`r/${count - 1}/x`, "new");
    publish("r/more/x", "new");
    publish("r/1500/x", "");
    engine.scheduler.flush();
    const got = ({ received }: MemoryClient) => received.flatMap((packet) => (packet.type === "publish" ? [packet] : []));
    for (const client of clients) expect(got(client).length).toBeLessThan(100);
    turn.mockRestore();
    for (const client of clients) {
      await expect.poll(() => got(client).length, { timeout: 10_000 }).toBe(count + 1);
      const live = got(client).filter(({ retain: isRetained }) => !isRetained);
      expect(live.map(({ topic, payload }) => `${topic} ${payload}`)).toEqual([`r/${count - 1}/x new`, "r/more/x new", "r/1500/x "]);
      expect(new Set(got(client).map(({ topic }) => topic)).size).toBe(count + 1);
    }
  });
});
