import { describe, expect, it } from "vitest";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import type { Packet } from "../../servers/mqtt/codec/packet.ts";
import {
  connectPacket,
  connectWire,
  openWire,
  openWireWebSocket,
  publishPacket,
  seen,
  startBroker,
  versions,
  type WireClient,
} from "./harness.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

describe("bounds", () => {
  it.each(versions)(
    "[MQTT-90] a client that stops reading delays no other: its QoS 0 messages are dropped and counted, version %s",
    async (version) => {
      const broker = await startBroker({ unreadBytes: 65_536 });
      const frozen = await connectWire(broker, version, { clientId: "frozen" });
      await frozen.subscribe("t");
      const reader = await connectWire(broker, version);
      await reader.subscribe("t");
      if ("pause" in frozen.socket) frozen.socket.pause();
      const publisher = await connectWire(broker, version);
      const count = 400;
      for (let index = 0; index < count; index++) {
        publisher.publish("t", `${index} ${"x".repeat(50_000)}`);
        // In step with the reader, so that only the frozen client falls behind.
        expect(seen(await reader.expect("publish")).payload.startsWith(`${index} `)).toBe(true);
      }
      const client = await broker.act("client.read", { clientId: "frozen" });
      expect(client?.dropped).toBeGreaterThan(0);
      expect(client?.unreadBytes).toBeLessThan(400_000);
    },
  );

  it("[MQTT-90] what all clients leave unread is bounded, too: each has its share", async () => {
    const broker = await startBroker({ memoryBytes: 800_000 });
    const frozen = await connectWire(broker, 5, { clientId: "frozen" });
    for (const client of [frozen, await connectWire(broker, 5, { clientId: "cold" })]) {
      await client.subscribe("t");
      if ("pause" in client.socket) client.socket.pause();
    }
    const unread = async () => {
      // What the system takes of it comes on top; a sweep goes by each time.
      for (let count = 0; count < 100; count++) await broker.act("publish", { topic: "t", payload: "x".repeat(100_000) });
      const both = await Promise.all(["frozen", "cold"].map((clientId) => broker.act("client.read", { clientId })));
      return both.reduce((sum, client) => sum + (client?.unreadBytes ?? 0), 0);
    };
    await expect.poll(unread).toBeGreaterThan(90_000);
    // And a message for each.
    expect(await unread()).toBeLessThan(620_000);
  });

  it("[MQTT-91] QoS 1 messages for a client that stops reading wait in its bounded queue", async () => {
    const broker = await startBroker({ unreadBytes: 65_536, queueMessages: 50 });
    const frozen = await connectWire(broker, 5, { clientId: "frozen" });
    await frozen.subscribe("t", { qos: 1 });
    if ("pause" in frozen.socket) frozen.socket.pause();
    const publisher = await connectWire(broker, 5);
    for (let packetId = 1; packetId <= 400; packetId++) {
      publisher.publish("t", "x".repeat(50_000), { qos: 1, packetId });
      await publisher.expect("puback");
    }
    const client = await broker.act("client.read", { clientId: "frozen" });
    expect(client).toMatchObject({ queued: 50 });
    expect(client?.dropped).toBeGreaterThan(0);
    expect((client?.queued ?? 0) + (client?.inflight ?? 0) + (client?.dropped ?? 0)).toBe(400);
  });

  it.each([
    ["drop newest", ["1", "2"]],
    ["drop oldest", ["3", "4"]],
  ])("[MQTT-92] a full queue: %s", async (queuePolicy, expected) => {
    const broker = await startBroker({ queueMessages: 2, queuePolicy });
    const options = { clientId: "s", cleanStart: false, properties: { sessionExpiryInterval: 60 } };
    const first = await connectWire(broker, 5, options);
    await first.subscribe("t", { qos: 1 });
    first.send({ type: "disconnect", reason: 0 });
    await first.expectClose();
    for (const payload of ["1", "2", "3", "4"]) await broker.act("publish", { topic: "t", qos: 1, payload });
    const second = await connectWire(broker, 5, options);
    const got = [seen(await second.expect("publish")).payload, seen(await second.expect("publish")).payload];
    expect(got).toEqual(expected);
    await second.expectNothing();
    expect(await broker.act("client.read", { clientId: "s" })).toMatchObject({ dropped: 2 });
  });

  it("[MQTT-153] the queues of all clients together are bounded: each has its share, also a late one", async () => {
    const broker = await startBroker({ memoryBytes: 136_000 });
    const away = async (clientId: string) => {
      const client = await connectWire(broker, 5, { clientId, cleanStart: false, properties: { sessionExpiryInterval: 60 } });
      await client.subscribe("t", { qos: 1 });
      client.send({ type: "disconnect", reason: 0 });
      await client.expectClose();
    };
    const publish = async (count: number) => {
      for (let index = 0; index < count; index++) await broker.act("publish", { topic: "t", qos: 1, payload: "x".repeat(799) });
    };
    const queued = async (clientId: string) => (await broker.act("client.read", { clientId }))?.queued;
    await away("one");
    await publish(50);
    expect(await queued("one")).toBe(20);
    await away("two");
    await publish(50);
    expect(await queued("two")).toBe(10);
    expect(await broker.act("client.read", { clientId: "one" })).toMatchObject({ queued: 20, dropped: 80 });
    await broker.act("client.forget", { clientId: "one" });
    await publish(50);
    expect(await queued("two")).toBe(20);
  });

  it("[MQTT-153] unacknowledged messages of a client count in the bound of its queue", async () => {
    const broker = await startBroker({ queueBytes: 5_000 });
    const client = await connectWire(broker, 5, { clientId: "reads" });
    await client.subscribe("t", { qos: 1 });
    for (let count = 0; count < 40; count++) await broker.act("publish", { topic: "t", qos: 1, payload: "x".repeat(799) });
    expect(await broker.act("client.read", { clientId: "reads" })).toMatchObject({ inflight: 7, queued: 7, dropped: 26 });
    for (let count = 0; count < 14; count++)
      client.send({ type: "puback", packetId: (await client.expect("publish")).packetId, reason: 0 });
    await client.expectNothing();
    expect(await broker.act("client.read", { clientId: "reads" })).toMatchObject({ inflight: 0, queued: 0 });
  });

  it("[MQTT-154] subscriptions of a client above the configured number are refused with 0x97", async () => {
    const broker = await startBroker({ subscriptions: 2 });
    const client = await connectWire(broker, 5, { clientId: "client" });
    for (const [filter, reason] of [
      ["a", 0],
      ["b/#", 0],
      ["c", 0x97],
      ["a", 0],
    ] as const) {
      expect((await client.subscribe(filter)).reasons).toEqual([reason]);
    }
    await expect.poll(() => broker.logs).toContain("client subscribed to c: quota exceeded");
  });

  it("[MQTT-244] above the configured number of sessions a new one takes the place of the oldest absent one, and is refused if there is none", async () => {
    const broker = await startBroker({ sessions: 2 });
    const options = { cleanStart: false, properties: { sessionExpiryInterval: 60 } };
    for (const clientId of ["first", "second"]) {
      const kept = await connectWire(broker, 5, { clientId, ...options });
      kept.send({ type: "disconnect", reason: 0 });
      await kept.expectClose();
    }
    await connectWire(broker, 5, { clientId: "third", ...options });
    expect(await broker.act("client.read", { clientId: "first" })).toBeNull();
    expect((await connectWire(broker, 5, { clientId: "second", ...options })).connack.sessionPresent).toBe(true);
    const line = "1 sessions of absent clients ended for those of other clients";
    await expect.poll(() => broker.logs.some((text) => text.startsWith(line))).toBe(true);
    const more = await openWire(broker, 5);
    more.send(connectPacket(5, "more"));
    expect(await more.expect("connack")).toMatchObject({ reason: 0x97 });
    const old = await openWire(broker, 4);
    old.send(connectPacket(4, "old"));
    expect(await old.expect("connack")).toMatchObject({ reason: 3 });
    await expect.poll(() => broker.logs.filter((text) => text.includes("The limit of sessions is reached.")).length).toBe(2);
  });

  it("[MQTT-265] filters above the configured bytes of a client are refused with 0x97, until it has unsubscribed from others", async () => {
    const broker = await startBroker({ subscriptionBytes: 10_000 });
    const client = await connectWire(broker, 5);
    // Each with 20 levels of 300 bytes.
    const filterOf = (index: number) => `${index}${"/+".repeat(19)}`;
    for (const [index, reason] of [0, 0x97, 0].entries()) {
      if (index === 2) {
        client.send({ type: "unsubscribe", packetId: 1, filters: [filterOf(0)] });
        expect((await client.expect("unsuback")).reasons).toEqual([0]);
      }
      expect((await client.subscribe(filterOf(index))).reasons).toEqual([reason]);
    }
    expect((await client.subscribe(filterOf(2))).reasons).toEqual([0]);
    // Others have their own.
    expect((await (await connectWire(broker, 5)).subscribe(filterOf(1))).reasons).toEqual([0]);
  });

  it("[MQTT-269] when the subscriptions of all clients take their memory, also of those that left, who has few may have more", async () => {
    const broker = await startBroker({ memoryBytes: 1 << 20 });
    // About 30,000 bytes each.
    const filters = (name: string) => Array.from({ length: 5 }, (_, index) => `${name}${index}${"/+".repeat(19)}`);
    const options = { qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
    const leave = async (name: string) => {
      const client = await connectWire(broker, 5, { clientId: name, properties: { sessionExpiryInterval: 60 } });
      client.send({ type: "subscribe", packetId: 1, subscriptions: filters(name).map((filter) => ({ filter, ...options })) });
      const { reasons } = await client.expect("suback");
      client.destroy();
      return reasons.some((reason) => reason === 0x97);
    };
    let refused = 0;
    for (let index = 0; index < 40; index++) if (await leave(`client ${index}`)) refused++;
    expect(refused).toBeGreaterThan(25);
    const late = await connectWire(broker, 5);
    expect((await late.subscribe("a/+")).reasons).toEqual([0]);
    expect((await late.subscribe("late/+/+")).reasons).toEqual([0]);
  });

  it("[MQTT-269] a shared subscription counts with the group that it needs, once for all its members, until the last one leaves", async () => {
    const { engine } = await startEngine();
    const { counters } = engine;
    const before = counters.subscriptionBytes;
    const [one, other] = ["one", "other"].map((name) => new MemoryClient(engine, name));
    await expect.poll(() => engine.clients.size).toBe(3);
    const added = (client: MemoryClient | undefined) => {
      const held = counters.subscriptionBytes;
      client?.subscribe("$share/group/a");
      return counters.subscriptionBytes - held;
    };
    const first = added(one);
    const second = added(other);
    expect(first).toBeGreaterThan(second + 500);
    expect(added(other)).toBe(0);
    expect(engine.sessions.get("other")?.subscriptionBytes).toBe(first);
    for (const client of [one, other]) client?.send({ type: "unsubscribe", packetId: 2, filters: ["$share/group/a"] });
    await expect.poll(() => counters.subscriptionBytes).toBe(before);
    expect(engine.sessions.get("one")?.subscriptionBytes).toBe(0);
  });

  it("[MQTT-252] packets that are not completed are bounded for all clients together: those with most end", async () => {
    const broker = await startBroker({ memoryBytes: 4 << 20 });
    const whole = encodePacket(publishPacket("t", "x".repeat(300_000)), 5);
    const write = ({ socket }: WireClient, bytes: Buffer) => "write" in socket && socket.write(bytes);
    const little = await connectWire(broker, 5);
    const own = encodePacket(publishPacket("t", "x".repeat(50_000)), 5);
    write(little, own.subarray(0, 1_000));
    const clients = await Promise.all(Array.from({ length: 8 }, () => connectWire(broker, 5)));
    for (const client of clients) write(client, whole.subarray(0, 250_000));
    const ended = () => clients.filter(({ closed }) => closed);
    await expect.poll(() => ended().length).toBeGreaterThan(3);
    expect(ended().length).toBeLessThan(8);
    for (const { received } of ended()) expect(received.at(-1)).toMatchObject({ type: "disconnect", reason: 0x97 });
    write(little, own.subarray(1_000));
    little.send({ type: "pingreq" });
    await little.expect("pingresp");
  });

  it("[MQTT-252] fragments of a WebSocket's message count with the memory that they take", async () => {
    const broker = await startBroker({ memoryBytes: 4 << 20, webSocket: true });
    const client = await openWireWebSocket(broker.urls.WS ?? "", 5);
    client.send(connectPacket(5, "fragments"));
    await client.expect("connack");
    const { socket } = client;
    for (let fragments = 0; fragments < 12_000; fragments++) {
      if ("ping" in socket) socket.send(Buffer.alloc(200, 0x30), { fin: false, binary: true }, () => {});
    }
    await client.expectClose();
    await expect.poll(() => broker.logs.join()).toContain("What clients have sent and not completed");
  });

  it("[MQTT-266] a packet with more filters or user properties than configured is refused with 0x97", async () => {
    const broker = await startBroker({ packetItems: 100 });
    const filters = (count: number) => Array.from({ length: count }, (_, index) => `f/${index}`);
    const properties = (count: number) => ({ userProperties: filters(count).map((name): [string, string] => [name, ""]) });
    const options = { qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
    const subscriptions = (count: number) => filters(count).map((filter) => ({ filter, ...options }));
    const client = await connectWire(broker, 5, { properties: properties(100) });
    client.send({ type: "subscribe", packetId: 1, subscriptions: subscriptions(100) });
    expect((await client.expect("suback")).reasons).toHaveLength(100);
    const tooMany: readonly Packet[] = [
      { type: "subscribe", packetId: 2, subscriptions: subscriptions(101) },
      { type: "unsubscribe", packetId: 2, filters: filters(101) },
      { type: "disconnect", reason: 0, properties: properties(101) },
    ];
    for (const packet of tooMany) {
      const other = await connectWire(broker, 5);
      other.send(packet);
      expect(await other.expectClose()).toMatchObject({ type: "disconnect", reason: 0x97 });
    }
    client.publish("f/1", "still there");
    expect((await client.expect("publish")).payload.toString()).toBe("still there");
  });

  it("[MQTT-155] the memory of deep retained topics is counted, and not only their bytes", async () => {
    const broker = await startBroker({ memoryBytes: 240_000 });
    const client = await connectWire(broker, 5);
    const retain = async (topic: string, payload = "v") => {
      client.publish(topic, payload, { qos: 1, packetId: 1, retain: true });
      return (await client.expect("puback")).reason;
    };
    const reasons: number[] = [];
    for (let index = 0; index < 5; index++) reasons.push(await retain(`${index}${"/x".repeat(90)}`));
    expect(reasons).toEqual([0x10, 0x10, 0x10, 0x97, 0x97]);
    await retain(`0${"/x".repeat(90)}`, "");
    expect(await retain(`0${"/y".repeat(60)}`)).toBe(0x10);
    for (let index = 1; index < 3; index++) await retain(`${index}${"/x".repeat(90)}`, "");
    // Topics with more levels than the tree has stand beside it, and take their bytes alone.
    for (let index = 0; index < 5; index++) expect(await retain(`${index}${"/z".repeat(2_000)}`)).toBe(0x10);
  });

  it("[MQTT-93] a client above its rate is slowed down, and nothing is lost", async () => {
    const broker = await startBroker({ messagesPerSecond: 400 });
    const client = await connectWire(broker, 5);
    await client.subscribe("t");
    for (let index = 0; index < 250; index++) client.publish("t", String(index));
    for (let index = 0; index < 250; index++) expect(seen(await client.expect("publish")).payload).toBe(String(index));
    for (let index = 0; index < 50; index++) client.publish("t", String(index));
    for (let index = 0; index < 50; index++) expect(seen(await client.expect("publish")).payload).toBe(String(index));
  });

  it("[MQTT-94] dropped messages are counted in $SYS", async () => {
    const broker = await startBroker({ queueMessages: 1, sysIntervalSeconds: 1 });
    const options = { clientId: "s", cleanStart: false, properties: { sessionExpiryInterval: 60 } };
    const away = await connectWire(broker, 5, options);
    await away.subscribe("t", { qos: 1 });
    away.send({ type: "disconnect", reason: 0 });
    await away.expectClose();
    for (let count = 0; count < 3; count++) await broker.act("publish", { topic: "t", qos: 1 });
    const watcher = await connectWire(broker, 4);
    await watcher.subscribe("$SYS/broker/publish/messages/dropped");
    let value = "";
    while (value !== "2") value = seen(await watcher.expect("publish")).payload;
  });

  it("[MQTT-95] dropped and unretained messages are logged in one line a second", async () => {
    const broker = await startBroker({ queueMessages: 1, retainedMessages: 1 });
    const away = await connectWire(broker, 5, { clientId: "s", cleanStart: false, properties: { sessionExpiryInterval: 60 } });
    await away.subscribe("t", { qos: 1 });
    away.send({ type: "disconnect", reason: 0 });
    await away.expectClose();
    for (let count = 0; count < 301; count++) await broker.act("publish", { topic: "t", qos: 1 });
    for (let count = 0; count < 41; count++) await broker.act("publish", { topic: `kept/${count}`, payload: "x", retain: true });
    const told = (pattern: RegExp) => broker.logs.flatMap((line) => pattern.exec(line)?.slice(1) ?? []).map(Number);
    const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0);
    const dropped = () => told(/^(\d+) messages dropped for s: queue full$/);
    const notRetained = () => told(/^(\d+) messages were routed and not retained: the limit of retained messages is reached\.$/);
    await expect.poll(() => [sum(dropped()), sum(notRetained())]).toEqual([300, 40]);
    expect(dropped().length + notRetained().length).toBeLessThan(10);
  });

  it("[MQTT-96] 2,000 clients that connect at once are all served, with few log lines and rows", async () => {
    const broker = await startBroker();
    const before = process.memoryUsage.rss();
    const count = 2_000;
    const clients = await Promise.all(Array.from({ length: count }, (_, index) => connectWire(broker, 5, { clientId: `storm-${index}` })));
    expect((await broker.act("client.list", {})).matching).toBe(count);
    // Both ends are in this process.
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 << 20);
    await expect
      .poll(() =>
        broker.logs.some((line) => line.endsWith("more clients connected, disconnected or violated the protocol within a second.")),
      )
      .toBe(true);
    for (const client of clients) client.destroy();
    await expect.poll(async () => (await broker.act("client.list", {})).matching).toBe(0);
  });

  it("[MQTT-97] 100,000 retained topics are kept, found by filter, and removed", async () => {
    const broker = await startBroker({ sysIntervalSeconds: 0 });
    const publisher = await connectWire(broker, 5);
    const [groups, each] = [100, 1_000];
    const before = process.memoryUsage.rss();
    for (let group = 0; group < groups; group++) {
      for (let index = 0; index < each; index++) publisher.publish(`plant/${group}/sensor/${index}`, "21.5", { retain: true });
      await publisher.expectNothing();
    }
    const reader = await connectWire(broker, 4);
    await reader.subscribe("plant/7/sensor/+");
    for (let index = 0; index < each; index++) expect(seen(await reader.expect("publish")).retain).toBe(true);
    await reader.expectNothing();
    expect(process.memoryUsage.rss() - before).toBeLessThan(400 << 20);
    expect(await broker.act("retained.clear", { filter: "#" })).toEqual({ cleared: groups * each });
  });
});
