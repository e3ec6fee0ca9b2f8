import { describe, expect, it, onTestFinished } from "vitest";
import { type Entry, encodeFrame } from "../../../servers/mqtt/cluster/frame.ts";
import { createFrameBus } from "../../../servers/mqtt/cluster/frame-bus.ts";
import { encodeForwarded } from "../../../servers/mqtt/codec/encode-properties.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { hasRedis, missing, type RealServer, startRedis } from "../../support/real-servers.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { temporaryDir } from "../../support/temporary-dir.ts";
import { type Broker, connectWire, seen, startBroker } from "../harness.ts";
import { spawnBroker } from "../spawned-broker.ts";
import { Inbox, kept, leave, openRedis, publishAcknowledged, startMember, startPair } from "./cluster-harness.ts";

const logged = (broker: Broker, text: string) => broker.logs.filter((line) => line.includes(text)).length;

describe.skipIf(missing("Redis", "redis-server", hasRedis()))("the Redis of a cluster", () => {
  async function startOwnRedis(options: Parameters<typeof startRedis>[0] = {}): Promise<RealServer & { readonly port: number }> {
    const redis = await startRedis(options);
    let stopped = false;
    const stop = async () => {
      if (stopped) return;
      stopped = true;
      await redis.stop();
    };
    onTestFinished(stop);
    return { ...redis, stop, port: Number(new URL(redis.url).port) };
  }

  it("[MQTT-219] is not reachable at the start: the error says so, without the password", async () => {
    const failure = { code: "CLUSTER_UNREACHABLE" };
    await expect(startMember("redis://user:geheim@127.0.0.1:1/0")).rejects.toMatchObject(failure);
    await expect(startMember("redis://user:geheim@127.0.0.1:1/0")).rejects.not.toThrow(/geheim|user/);
    const redis = await startOwnRedis({ password: "geheim" });
    await expect(startMember(redis.url.replace("geheim", "falsch"))).rejects.toThrow(/WRONGPASS/);
    await expect(startMember(`${redis.url}/1000`)).rejects.toThrow(/out of range/);
    const broker = await startMember(redis.url, { logLevel: "debug" });
    await connectWire(broker, 5);
    await redis.stop();
    await expect.poll(() => logged(broker, "Redis is lost")).toBe(1);
    expect(JSON.stringify([broker.logs, broker.rows, [...broker.views]])).not.toMatch(/geheim/);
  });

  it("[MQTT-219] an invalid URL is refused as configuration", async () => {
    for (const cluster of ["http://host", "redis", "redis://"])
      await expect(startBroker({ cluster })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("[MQTT-220] is lost: each broker continues alone and logs it; when it is back and empty, everything is shared again", async () => {
    const redis = await startOwnRedis();
    const [one, other] = await startPair(redis.url);
    const subscribers = [await connectWire(one, 5, kept("a")), await connectWire(other, 5, kept("b"))];
    for (const subscriber of subscribers) await subscriber.subscribe("t/#", { qos: 2, retainAsPublished: true });
    const inboxes = subscribers.map((subscriber) => new Inbox(subscriber));
    const publisher = await connectWire(one, 5);
    await publishAcknowledged(publisher, "t/old", "before", { retain: true });
    await expect.poll(() => inboxes.map(({ payloads }) => payloads)).toEqual([["before"], ["before"]]);
    await redis.stop();
    for (const broker of [one, other]) await expect.poll(() => logged(broker, "Redis is lost")).toBe(1);
    await publishAcknowledged(publisher, "t/1", "meanwhile", { qos: 2 });
    await publishAcknowledged(publisher, "t/2", "kept meanwhile", { retain: true });
    await expect.poll(() => inboxes[0]?.payloads).toEqual(["before", "meanwhile", "kept meanwhile"]);
    const late = await connectWire(one, 5, kept("late"));
    expect(late.connack).toMatchObject({ reason: 0, sessionPresent: false });
    await late.subscribe("t/#", { qos: 1, retainHandling: 2 });
    await leave(late);

    const again = await startOwnRedis({ port: redis.port });
    for (const broker of [one, other]) await expect.poll(() => logged(broker, "Redis is back")).toBe(1);
    await expect.poll(() => inboxes[1]?.payloads).toEqual(["before", "meanwhile", "kept meanwhile"]);
    await publishAcknowledged(publisher, "t/3", "after");
    for (const inbox of inboxes) await expect.poll(() => inbox.payloads).toEqual(["before", "meanwhile", "kept meanwhile", "after"]);
    // A third one knows only what Redis has.
    const third = await startMember(again.url);
    const reader = await connectWire(third, 5);
    await reader.subscribe("t/#", { qos: 1 });
    const found = [await reader.expect("publish"), await reader.expect("publish")].map((message) => seen(message).payload);
    expect(found.sort()).toEqual(["before", "kept meanwhile"]);
    const moved = await connectWire(third, 5, kept("late"));
    expect(moved.connack.sessionPresent).toBe(true);
    expect(seen(await moved.expect("publish"))).toMatchObject({ payload: "after" });
  });

  it("[MQTT-221] is disconnected from one broker for a moment: that broker catches up with what was published", async () => {
    const redis = await startOwnRedis();
    const [one, other] = await startPair(redis.url);
    const client = await openRedis(redis.url);
    const subscriber = await connectWire(one, 5);
    await subscriber.subscribe("t", { qos: 2 });
    const inbox = new Inbox(subscriber);
    const publisher = await connectWire(other, 5);
    const sent: string[] = [];
    for (let round = 0; round < 40; round++) {
      sent.push(String(round));
      if (round % 10 === 5) await client.call("CLIENT", "KILL", "TYPE", "pubsub");
      await publishAcknowledged(publisher, "t", String(round), { qos: round % 2 === 0 ? 1 : 2 });
    }
    await expect.poll(() => inbox.payloads).toEqual(sent);
  });

  it("[MQTT-473] connections break while messages for hundreds are delivered: each session has all that was acknowledged, and none twice", async () => {
    const { url } = await startOwnRedis();
    const [one, other] = await startPair(url, { clusterTimeoutMs: 600_000 });
    const redis = await openRedis(url);
    const inboxes: Inbox[] = [];
    for (let index = 0; index < 300; index++) {
      const client = await connectWire(one, 5, kept(`client ${index}`));
      await client.subscribe("q", { qos: 2 });
      inboxes.push(new Inbox(client));
    }
    const acknowledged: string[] = [];
    const publishAll = async (broker: { port: number }, name: string) => {
      const client = await connectWire(broker, 5, kept(name));
      for (let packetId = 1; packetId <= 20; packetId++) {
        await publishAcknowledged(client, "q", `${name} ${packetId}`, { qos: 2, packetId });
        acknowledged.push(`${name} ${packetId}`);
      }
    };
    const publishing = Promise.all([publishAll(one, "one"), publishAll(other, "other")]);
    for (const [count, type] of ["normal", "pubsub"].entries()) {
      await expect.poll(() => acknowledged.length).toBeGreaterThan(count * 12);
      await redis.call("client", "kill", "type", type, "skipme", "yes");
    }
    await publishing;
    for (const inbox of inboxes) {
      await expect.poll(() => acknowledged.filter((text) => !inbox.payloads.includes(text))).toEqual([]);
      expect(new Set(inbox.payloads).size).toBe(inbox.payloads.length);
    }
  });

  it("[MQTT-221] is emptied by hand while the brokers run: they restore their data", async () => {
    const redis = await startOwnRedis();
    const [one, other] = await startPair(redis.url);
    const client = await openRedis(redis.url);
    const publisher = await connectWire(one, 5);
    await publishAcknowledged(publisher, "r", "kept", { retain: true });
    const session = await connectWire(other, 5, kept("c"));
    await session.subscribe("t", { qos: 1 });
    await leave(session);
    await client.flushall();
    await publishAcknowledged(publisher, "t", "waits");
    for (const broker of [one, other]) await expect.poll(() => logged(broker, "Redis is back")).toBe(1);
    const third = await startMember(redis.url);
    const back = await connectWire(third, 5, kept("c"));
    expect(back.connack.sessionPresent).toBe(true);
    expect(seen(await back.expect("publish")).payload).toBe("waits");
    await back.subscribe("r");
    expect(seen(await back.expect("publish")).payload).toBe("kept");
  });

  it("[MQTT-222] a message is in Redis before it is acknowledged", async () => {
    const redis = await startOwnRedis();
    const [one] = await startPair(redis.url);
    const client = await openRedis(redis.url);
    const publisher = await connectWire(one, 5, kept("c"));
    const before = publisher.received.length;
    await client.client("PAUSE", 60_000, "WRITE");
    publisher.publish("t", "kept", { qos: 2, packetId: 5 });
    await expect.poll(() => one.act("client.read", { clientId: "c" })).toMatchObject({ messagesIn: 1 });
    expect(publisher.received.length).toBe(before);
    await client.client("UNPAUSE");
    await publisher.expect("pubrec");
    expect(JSON.stringify(await client.xrange("backlot:mqtt:journal", "-", "+"))).toContain("kept");
    expect(await client.hexists("backlot:mqtt:session:c", "r5")).toBe(1);
  });

  it("[MQTT-223] garbage in the channel, the journal and the keys is ignored, counted in the log, and does no harm", async () => {
    const redis = await startOwnRedis();
    const random = seededRandom(42);
    const client = await openRedis(redis.url);
    await client.hset("backlot:mqtt:retained", "garbage", "garbage", "good/looking", Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff]));
    await client.hset("backlot:mqtt:session:c", { session: "{", "s#": "x", d1: "y" });
    await client.set("backlot:mqtt:session:e", "no hash");
    await client.hset("backlot:mqtt:session:d", { session: '{"v5":true,"expirySeconds":600,"disconnectedAt":1,"will":"{"}', d1: "y" });
    const [one, other] = await startPair(redis.url);
    const message = new Message({
      topic: "t",
      payload: Buffer.from("x"),
      qos: 1,
      retain: false,
      forwarded: encodeForwarded({ contentType: "a" }),
    });
    const entries: Entry[] = [
      { type: "message", message, routed: true, kept: true },
      { type: "member", group: "$share/g/t", clientId: "c", broker: "nobody", state: "gone" },
      { type: "handed on", to: "nobody", groups: ["$share/g/t"], message },
      { type: "dead", broker: "nobody" },
      { type: "wanted", to: "nobody", clientId: "c", cleanStart: true },
      { type: "surrendered", to: "nobody", clientId: "c" },
      { type: "left" },
    ];
    const channel = "backlot:mqtt:0";
    const bus = createFrameBus(channel, () => {});
    const broken = (bytes: Buffer) => {
      const copy = Buffer.from(bytes);
      for (let change = 0; change < 1 + random.below(4); change++) copy[random.below(copy.length)] = random.below(256);
      return random.chance(0.2) ? copy.subarray(0, random.below(copy.length)) : copy;
    };
    for (let round = 0; round < 3_000; round++) {
      const frame = encodeFrame({ from: "stranger", seq: round, entries });
      const noise = [
        () => Buffer.alloc(random.below(80), random.below(256)),
        () => Buffer.concat([broken(bus.envelope(frame)), Buffer.from([0])]),
        () => Buffer.concat([bus.envelope(broken(frame)), Buffer.from([0])]),
      ][round % 3]?.() as Buffer;
      await client.publish(channel, noise);
      if (round % 20 === 0) await client.xadd("backlot:mqtt:journal", "*", round % 40 === 0 ? "f" : "other", broken(frame));
    }
    await expect.poll(() => logged(one, "not valid frames of a broker")).toBeGreaterThan(0);
    for (const [broker, clientId] of [
      [one, "c"],
      [other, "d"],
      [other, "e"],
    ] as const) {
      const back = await connectWire(broker, 5, kept(clientId));
      expect(back.connack).toMatchObject({ reason: 0 });
      await back.expectNothing();
    }
    const subscriber = await connectWire(one, 5);
    await subscriber.subscribe("end", { qos: 1 });
    await publishAcknowledged(await connectWire(other, 5), "end", "well");
    expect(seen(await subscriber.expect("publish")).payload).toBe("well");
  });

  it("[MQTT-248] has few bytes to hold for brokers that read slowly: publishers wait, and no broker is disconnected", async () => {
    const { url } = await startOwnRedis();
    const redis = await openRedis(url);
    // A quarter of what Redis allows unless configured.
    await redis.config("SET", "client-output-buffer-limit", "pubsub 8388608 0 0");
    // A suspended broker must not count as dead.
    const config = { cluster: url, clusterTimeoutMs: 60_000 };
    const one = await startBroker(config);
    const two = await spawnBroker(temporaryDir(), config);
    const subscriber = await connectWire(two, 5);
    await subscriber.subscribe("large", { qos: 1 });
    const publisher = await connectWire(one, 5);
    const count = 60;
    two.child.kill("SIGSTOP");
    for (let packetId = 1; packetId <= count; packetId++)
      publisher.publish("large", String.fromCharCode(packetId).repeat(1_000_000), { qos: 1, packetId });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    two.child.kill("SIGCONT");
    for (let packetId = 1; packetId <= count; packetId++) {
      const packet = await subscriber.expect("publish");
      expect([packet.payload.length, packet.payload[0]]).toEqual([1_000_000, packetId]);
      subscriber.send({ type: "puback", packetId: packet.packetId, reason: 0 });
    }
    for (let packetId = 1; packetId <= count; packetId++) expect(await publisher.expect("puback")).toMatchObject({ packetId });
    expect([...one.logs, ...two.logs].filter((line) => line.includes("Redis is lost"))).toEqual([]);
  });

  it("[MQTT-249] keeps a journal of bounded size, from which a broker that was disconnected reads what it missed, however large", async () => {
    const { url } = await startOwnRedis();
    const redis = await openRedis(url);
    const [one, two] = await startPair(url, { memoryBytes: 40 << 20 });
    const subscriber = await connectWire(two, 5, kept("s"));
    await subscriber.subscribe("large", { qos: 1 });
    const publisher = await connectWire(one, 5);
    const publish = async (number: number) => {
      publisher.publish("large", String.fromCharCode(number).repeat(1_000_000), { qos: 1, packetId: number });
      await publisher.expect("puback");
    };
    await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
    for (let number = 1; number <= 8; number++) await publish(number);
    for (let number = 1; number <= 8; number++) {
      const packet = await subscriber.expect("publish");
      expect(packet.payload[0]).toBe(number);
      subscriber.send({ type: "puback", packetId: packet.packetId, reason: 0 });
    }
    for (let number = 9; number <= 20; number++) await publish(number);
    const sizes = (await redis.lrange("backlot:mqtt:journal-sizes", 0, -1)).map((entry) => Number(entry.split(" ")[1]));
    const sum = sizes.reduce((all, bytes) => all + bytes, 0);
    expect([Number(await redis.get("backlot:mqtt:journal-bytes")), await redis.xlen("backlot:mqtt:journal")]).toEqual([sum, sizes.length]);
    expect(sum).toBeLessThanOrEqual(10 << 20);
    expect(sum).toBeGreaterThan(8_000_000);
  });
});
