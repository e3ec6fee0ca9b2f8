import { performance } from "node:perf_hooks";
import { expect, it, onTestFinished, vi } from "vitest";
import { Incoming, type IncomingOptions } from "../../../servers/mqtt/cluster/incoming.ts";
import { type RedisOperation, valuesOf } from "../../../servers/mqtt/cluster/redis-operation.ts";
import { RedisSessionStore } from "../../../servers/mqtt/cluster/redis-session-store.ts";
import { Delivery } from "../../../servers/mqtt/engine/delivery/delivery.ts";
import { FlushScheduler } from "../../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import type { Session } from "../../../servers/mqtt/engine/session/session.ts";
import { type Broker, connectWire } from "../harness.ts";
import { describeCluster, Inbox, kept, leave, openRedis, spawnMember, startMember } from "./cluster-harness.ts";

const ignored = () => {};

it("[MQTT-532] what a session has missed is written with its place in the journal, until its whole state is there", () => {
  const store = new RedisSessionStore({
    ...{ noted: ignored, commit: ignored },
    ...{ retainedChanged: ignored, retainedRemoved: ignored, retainedExpired: ignored },
  });
  const session = { clientId: "c", storedId: 0 };
  const commit = (position: string) =>
    store.take(position).flatMap((operation) => (operation.type === "call" ? [valuesOf(operation).filter((_, index) => index !== 1)] : []));
  const miss = (id: string, index: number) => {
    const message = new Message({ topic: "t", payload: Buffer.from("x"), qos: 1, retain: false });
    message.journalPlace = { id, index };
    store.queued(session, new Delivery(message, 1, false, undefined, undefined));
    store.caughtUpTo(session, message.journalPlace);
  };
  miss("1-0", 0);
  miss("1-0", 1);
  // The broker itself is far behind that place.
  expect(commit("9-0")).toEqual([["HSET", "ahead", "1-0 1", "d1", expect.any(String), "d2", expect.any(String)]]);
  miss("2-0", 0);
  const open = { ...session, v5: true, expirySeconds: 600, disconnectedAt: 0, address: "", recipient: undefined, will: undefined };
  store.keep({ ...open, inflight: { inOrder: () => [] } } as unknown as Session);
  expect(commit("9-0")).toEqual([
    ["HSET", "session", expect.any(String), "d3", expect.any(String)],
    ["HDEL", "at", "ahead"],
  ]);
  // Opened while a message for thousands is delivered, which is not in the broker's position yet.
  store.keep({ ...open, inflight: { inOrder: () => [] } } as unknown as Session);
  const message = new Message({ topic: "t", payload: Buffer.from("x"), qos: 1, retain: false });
  message.journalPlace = { id: "10-0", index: 0 };
  store.queued(session, new Delivery(message, 1, false, undefined, undefined));
  expect(commit("9-0")).toEqual([
    ["HSET", "session", expect.any(String), "ahead", "10-0 0", "d4", expect.any(String)],
    ["HDEL", "at"],
  ]);
});

it("[MQTT-221] who waits for a place in the journal that an emptied Redis does not have goes on when that is back", async () => {
  const incoming = new Incoming({ arrears: { clear: ignored } } as IncomingOptions);
  incoming.lost();
  let hasGoneOn = false;
  const waiting = incoming.reached("5-0")?.then(() => {
    hasGoneOn = true;
  });
  incoming.hold();
  incoming.position = "9-0";
  incoming.release();
  await Promise.race([waiting, new Promise(setImmediate)]);
  expect(hasGoneOn).toBe(true);
});

const deliveriesIn = (operations: readonly RedisOperation[]) =>
  operations
    .flatMap((one) => (one.type === "call" && one.values[0] === "HSET" ? one.values : []))
    .filter((value) => /^d\d+$/.test(String(value))).length;

/** What brokers of this process write from now on, each with its turn of the event loop. A session that is written again uses that up, on any machine. */
function watchWrites() {
  const turn = () => performance.nodeTiming.uvMetricsInfo.loopCount;
  const commits: { readonly turn: number; readonly deliveries: number }[] = [];
  const rewrites: number[] = [];
  const { take, rewrite } = RedisSessionStore.prototype;
  const { isTurnOver } = FlushScheduler.prototype;
  const spies = [
    vi.spyOn(RedisSessionStore.prototype, "take").mockImplementation(function (this: RedisSessionStore, position: string) {
      const operations = take.call(this, position);
      commits.push({ turn: turn(), deliveries: deliveriesIn(operations) });
      return operations;
    }),
    vi.spyOn(RedisSessionStore.prototype, "rewrite").mockImplementation(function (this: RedisSessionStore, session: Session) {
      rewrites.push(turn());
      rewrite.call(this, session);
    }),
    vi.spyOn(FlushScheduler.prototype, "isTurnOver").mockImplementation(function (this: FlushScheduler, parts?: number) {
      return rewrites.at(-1) === turn() || isTurnOver.call(this, parts);
    }),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return { commits, rewrites };
}

describeCluster("a session that has missed thousands of messages", (nextUrl) => {
  const count = 3_000;
  const payloads = Array.from({ length: count }, (_, index) => String(index));

  /** A broker with the session of an absent client is killed; at another one is published what it then misses. */
  async function startWithMissed(url: string) {
    const dying = await spawnMember(url);
    const client = await connectWire(dying, 5, kept("c"));
    await client.subscribe("q", { qos: 2 });
    await leave(client);
    const redis = await openRedis(url);
    const [dead = ""] = await redis.smembers("backlot:mqtt:brokers");
    const living = await startMember(url);
    await dying.kill();
    // It does not count as dead yet.
    await redis.set(`backlot:mqtt:alive:${dead}`, "1");
    await publishAll(living);
    return { living, redis, bury: () => redis.del(`backlot:mqtt:alive:${dead}`) };
  }
  async function publishAll(broker: Pick<Broker, "port">): Promise<void> {
    const publisher = await connectWire(broker, 5);
    for (let at = 0; at < count; at += 200) {
      for (let index = at; index < at + 200; index++) publisher.publish("q", String(index), { qos: 1, packetId: 1 + index - at });
      for (let answers = 0; answers < 200; answers++) await publisher.expect("puback");
    }
  }
  async function expectAll(broker: Pick<Broker, "port">): Promise<void> {
    const inbox = new Inbox(await connectWire(broker, 5, kept("c")));
    await expect.poll(() => inbox.payloads.length, { timeout: 20_000 }).toBe(count);
    expect(inbox.payloads).toEqual(payloads);
  }

  it("[MQTT-532] gets them before it is opened, over several turns of the event loop, each of which is a commit of its own", async () => {
    const { living, bury } = await startWithMissed(nextUrl());
    const { commits } = watchWrites();
    await bury();
    await expectAll(living);
    const deliveries = commits.map(({ deliveries }) => deliveries);
    expect(deliveries.reduce((sum, one) => sum + one)).toBe(count);
    expect(Math.max(...deliveries)).toBeLessThan(2_100);
  });

  it("[MQTT-532] gets each once, in order, also if its new broker is killed meanwhile", async () => {
    const url = nextUrl();
    const { living, redis, bury } = await startWithMissed(url);
    const adopting = await spawnMember(url);
    await bury();
    void connectWire(adopting, 5, kept("c")).catch(() => {});
    while ((await redis.hlen("backlot:mqtt:session:c")) < 100);
    await adopting.kill();
    await expectAll(living);
  });

  it("[MQTT-533] is written again when Redis is back, in a turn of its own, and committed in another one", async () => {
    const url = nextUrl();
    const broker = await startMember(url);
    for (const clientId of ["c", "d", "e"]) {
      const client = await connectWire(broker, 5, kept(clientId));
      await client.subscribe("q", { qos: 2 });
      await leave(client);
    }
    await publishAll(broker);
    const { commits, rewrites } = watchWrites();
    await (await openRedis(url)).call("CLIENT", "KILL", "TYPE", "pubsub");
    await expect.poll(() => broker.logs.filter((line) => line.includes("Redis is back")).length, { timeout: 20_000 }).toBe(1);
    const large = commits.filter(({ deliveries }) => deliveries > 2_000);
    expect(large.map(({ deliveries }) => deliveries)).toEqual([count, count, count]);
    const turns = [...rewrites, ...large.map(({ turn }) => turn)];
    expect(turns.length).toBe(6);
    expect(new Set(turns).size, String(turns)).toBe(6);
    await expectAll(broker);
  });
});
