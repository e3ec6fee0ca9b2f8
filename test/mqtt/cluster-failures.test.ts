import { describe, expect, it, onTestFinished } from "vitest";
import { encodeFrame } from "../../servers/mqtt/cluster/frame.ts";
import { Message } from "../../servers/mqtt/engine/message.ts";
import { checkLeaks } from "../support/check-leaks.ts";
import { hasRedis, missing, type RealServer, startRedis } from "../support/real-servers.ts";
import { seededRandom } from "../support/seeded-random.ts";
import {
  describeCluster,
  Inbox,
  kept,
  leave,
  openRedis,
  publishAcknowledged,
  Receiver,
  spawnMember,
  startMember,
  startPair,
} from "./cluster-harness.ts";
import { type Broker, connectWire, seen, startBroker } from "./harness.ts";

const will = (payload: string) => ({ topic: "w", payload: Buffer.from(payload), qos: 1 as const, retain: false });
const logged = (broker: Broker, text: string) => broker.logs.filter((line) => line.includes(text)).length;

describeCluster("a broker of a cluster dies", (nextUrl) => {
  it("[MQTT-215] the wills of its clients are published, once, also of those whose sessions end with it", async () => {
    const url = nextUrl();
    const [dying, one, other] = [await spawnMember(url), await startMember(url), await startMember(url)];
    const inboxes: Inbox[] = [];
    for (const broker of [one, other]) {
      const watcher = await connectWire(broker, 5);
      await watcher.subscribe("w", { qos: 1 });
      inboxes.push(new Inbox(watcher));
    }
    await connectWire(dying, 5, kept("kept", { will: will("kept") }));
    await connectWire(dying, 5, { clientId: "not kept", will: will("not kept") });
    await connectWire(dying, 4, { clientId: "of 3.1.1", will: will("of 3.1.1") });
    const delayed = { ...will("delayed"), properties: { willDelayInterval: 1 } };
    await connectWire(dying, 5, kept("delayed", { will: delayed }));
    await leave(await connectWire(dying, 5, kept("left", { will: will("left") })));
    await publishAcknowledged(await connectWire(dying, 5), "anything", "else");
    await dying.kill();
    for (const inbox of inboxes) await expect.poll(() => inbox.payloads.toSorted()).toEqual(["delayed", "kept", "not kept", "of 3.1.1"]);
    // A will after all of these.
    (await connectWire(one, 5, { clientId: "last", will: will("last") })).destroy();
    for (const inbox of inboxes) await expect.poll(() => inbox.payloads.at(-1)).toBe("last");
    for (const inbox of inboxes) expect(inbox.messages.length).toBe(5);
  });

  it("[MQTT-216] its sessions go on at another: what was queued, what was published while nobody had them, and what comes then", async () => {
    const url = nextUrl();
    const [dying, living] = [await spawnMember(url), await startMember(url)];
    for (const clientId of ["waits for the takeover", "comes at once"]) {
      const client = await connectWire(dying, 5, kept(clientId));
      await client.subscribe("q/#", { qos: 2 });
      await leave(client);
    }
    const [atDying, atLiving] = [await connectWire(dying, 5), await connectWire(living, 5)];
    await publishAcknowledged(atDying, "q/1", "before, there", { qos: 2 });
    await publishAcknowledged(atLiving, "q/1", "before, here", { qos: 2 });
    await dying.kill();
    await publishAcknowledged(atLiving, "q/1", "while dead", { qos: 2 });
    const first = await connectWire(living, 5, kept("comes at once"));
    expect(first.connack.sessionPresent).toBe(true);
    const firstInbox = new Inbox(first);
    await expect.poll(() => living.act("client.read", { clientId: "waits for the takeover" })).not.toBeNull();
    await publishAcknowledged(atLiving, "q/1", "after", { qos: 2 });
    const second = await connectWire(living, 5, kept("waits for the takeover"));
    expect(second.connack.sessionPresent).toBe(true);
    const secondInbox = new Inbox(second);
    const all = ["before, there", "before, here", "while dead", "after"];
    await expect.poll(() => firstInbox.payloads).toEqual(all);
    await expect.poll(() => secondInbox.payloads).toEqual(all);
  });

  it("[MQTT-217] killed in turns under load: nothing acknowledged is lost, and QoS 2 is never doubled", async () => {
    const url = nextUrl();
    let members = [await spawnMember(url), await spawnMember(url)] as const;
    const publishing = { nextId: 0, acknowledged: new Set<string>() };
    const receiver = new Receiver();
    const { received } = receiver;
    for (let round = 0; round < 4; round++) {
      const [dying, living] = members;
      const subscriber = await connectWire(round % 2 === 0 ? dying : living, 5, kept("subscriber"));
      if (round === 0) await subscriber.subscribe("load/+", { qos: 2 });
      const publisher = await connectWire(round < 2 ? living : dying, 5, kept("publisher"));
      const work = [receiver.take(subscriber), publish(publisher, publishing)];
      const target = received.length + 100;
      await expect.poll(() => received.length).toBeGreaterThan(target);
      await dying.kill();
      subscriber.destroy();
      publisher.destroy();
      await Promise.all(work);
      members = [living, await spawnMember(url)];
    }
    const last = await connectWire(members[1], 5, kept("subscriber"));
    expect(last.connack.sessionPresent).toBe(true);
    const work = receiver.take(last);
    await expect.poll(() => [...publishing.acknowledged].filter((payload) => !received.includes(payload))).toEqual([]);
    last.destroy();
    await work;
    const twice = received.filter((payload, index) => payload.startsWith("2:") && received.indexOf(payload) !== index);
    expect(twice).toEqual([]);
  }, 60_000);

  it("[MQTT-218] one that was only stopped for a time, and taken for dead, lets its clients connect again", async () => {
    const url = nextUrl();
    const [frozen, living] = [await spawnMember(url), await startMember(url)];
    const client = await connectWire(frozen, 5, kept("c"));
    await client.subscribe("t", { qos: 1 });
    frozen.child.kill("SIGSTOP");
    await expect.poll(() => living.act("client.read", { clientId: "c" })).not.toBeNull();
    const publisher = await connectWire(living, 5);
    await publishAcknowledged(publisher, "t", "meanwhile");
    frozen.child.kill("SIGCONT");
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8b });
    const back = await connectWire(frozen, 5, kept("c"));
    expect(back.connack.sessionPresent).toBe(true);
    const inbox = new Inbox(back);
    await publishAcknowledged(publisher, "t", "after");
    await expect.poll(() => inbox.payloads).toEqual(["meanwhile", "after"]);
  });
});

/** One message in flight at a time, QoS 1 and 2 in turn; what is answered counts as the brokers'. */
async function publish(
  client: Awaited<ReturnType<typeof connectWire>>,
  state: { nextId: number; acknowledged: Set<string> },
): Promise<void> {
  for (;;) {
    const id = state.nextId++;
    const qos = id % 2 === 0 ? 1 : 2;
    const payload = `${qos}:${id}`;
    const packetId = 1 + (id % 1_000);
    client.publish(`load/${id % 7}`, payload, { qos, packetId });
    const answer = await client.next();
    if (!answer) return;
    state.acknowledged.add(payload);
    if (answer.type !== "pubrec") continue;
    client.send({ type: "pubrel", packetId, reason: 0 });
    if (!(await client.next())) return;
  }
}

describe.skipIf(missing("Redis", "redis-server", hasRedis()))("the Redis of a cluster", () => {
  checkLeaks();

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

  it("[MQTT-219] is not there at the start: the error says so, and the password stands nowhere", async () => {
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

  it("[MQTT-219] a URL that is none is refused as configuration", async () => {
    for (const cluster of ["http://host", "redis", "redis://"])
      await expect(startBroker({ cluster })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("[MQTT-220] is lost: each broker goes on by itself and says so; when it is back, emptied, all is shared again", async () => {
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

  it("[MQTT-221] cuts one broker off for a moment: it catches up with what was published", async () => {
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

  it("[MQTT-221] is emptied by hand while the brokers run: they put back what is theirs", async () => {
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

  it("[MQTT-222] what is acknowledged to a client is in Redis", async () => {
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

  it("[MQTT-223] garbage on the channel, in the journal and in the keys is left out, counted in the log, and ends nothing", async () => {
    const redis = await startOwnRedis();
    const random = seededRandom(42);
    const client = await openRedis(redis.url);
    await client.hset("backlot:mqtt:retained", "garbage", "garbage", "good/looking", Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff]));
    await client.hset("backlot:mqtt:session:c", { session: "{", "s#": "x", d1: "y" });
    await client.hset("backlot:mqtt:session:d", { session: '{"v5":true,"expirySeconds":600,"disconnectedAt":1,"will":"{"}', d1: "y" });
    const [one, other] = await startPair(redis.url);
    const frame = encodeFrame({
      from: "stranger",
      seq: 1,
      entries: [
        {
          type: "message",
          message: new Message({ topic: "t", payload: Buffer.from("x"), qos: 1, retain: false }),
          routed: true,
          kept: true,
        },
      ],
    });
    for (let round = 0; round < 2_000; round++) {
      const bytes = round % 3 === 0 ? Buffer.alloc(random.below(80), random.below(256)) : Buffer.from(frame);
      for (let change = 0; change < 1 + random.below(4); change++) bytes[random.below(bytes.length)] = random.below(256);
      const noise = bytes.subarray(0, random.below(bytes.length + 1));
      await client.publish("backlot:mqtt:0", Buffer.concat([noise, Buffer.from([random.below(3)])]));
      if (round % 20 === 0) await client.xadd("backlot:mqtt:journal", "*", round % 40 === 0 ? "f" : "other", noise);
    }
    await expect.poll(() => logged(one, "nothing that a broker says")).toBeGreaterThan(0);
    for (const broker of [one, other]) {
      const back = await connectWire(broker, 5, kept(broker === one ? "c" : "d"));
      expect(back.connack).toMatchObject({ reason: 0 });
      await back.expectNothing();
    }
    const subscriber = await connectWire(one, 5);
    await subscriber.subscribe("end", { qos: 1 });
    await publishAcknowledged(await connectWire(other, 5), "end", "well");
    expect(seen(await subscriber.expect("publish")).payload).toBe("well");
  });
});
