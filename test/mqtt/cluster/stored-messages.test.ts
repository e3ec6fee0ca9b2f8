import type { Redis } from "ioredis";
import { expect, it } from "vitest";
import { ClusterScripts } from "../../../servers/mqtt/cluster/cluster-scripts.ts";
import { FrameWriter } from "../../../servers/mqtt/cluster/frame-writer.ts";
import { putMessage } from "../../../servers/mqtt/cluster/message-fields.ts";
import { packOperations, type RedisOperation, valuesOf } from "../../../servers/mqtt/cluster/redis-operation.ts";
import { RedisSessionStore } from "../../../servers/mqtt/cluster/redis-session-store.ts";
import { readSession } from "../../../servers/mqtt/cluster/session-fields.ts";
import { Delivery } from "../../../servers/mqtt/engine/delivery/delivery.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { Subscription } from "../../../servers/mqtt/engine/routing/subscription.ts";
import { type Broker, connectWire, seen } from "../harness.ts";
import {
  describeCluster,
  Inbox,
  kept,
  leave,
  openRedis,
  publishAcknowledged,
  type SpawnedMember,
  spawnMember,
  startMember,
  startPair,
} from "./cluster-harness.ts";

const messagesKey = "backlot:mqtt:messages";
const usesKey = "backlot:mqtt:message-uses";

function openStore() {
  const ignored = () => {};
  const callbacks = { noted: ignored, commit: ignored, retainedChanged: ignored, retainedRemoved: ignored, retainedExpired: ignored };
  const store = new RedisSessionStore(callbacks);
  const take = () => {
    const operations = store.take("0-0");
    const values = operations.flatMap((operation) => valuesOf(operation));
    return { operations, bytes: values.reduce<number>((sum, value) => sum + (typeof value === "number" ? 0 : value.length), 0) };
  };
  return { store, take };
}
const sessionOf = (clientId: string) => ({ clientId, storedId: 0 });
const messageOf = (payload: string) => new Message({ topic: "t", payload: Buffer.from(payload), qos: 1, retain: false });

it("[MQTT-432] a commit has a message once, however many sessions it waits for, and later commits only its name", () => {
  const { store, take } = openStore();
  const message = messageOf("x".repeat(100_000));
  const deliveries = Array.from({ length: 500 }, () => new Delivery(message, 1, false, undefined, undefined));
  for (const [index, delivery] of deliveries.entries()) store.queued(sessionOf(`client ${index}`), delivery);
  expect(take().bytes).toBeLessThan(150_000);
  const later = new Delivery(message, 1, false, undefined, undefined);
  store.queued(sessionOf("later"), later);
  expect(take().bytes).toBeLessThan(200);
  // What did not reach Redis is written with the next delivery that names it.
  store.drop();
  store.queued(sessionOf("last"), new Delivery(message, 1, false, undefined, undefined));
  expect(take().bytes).toBeGreaterThan(100_000);
});

it("[MQTT-432] a message that is acknowledged before the commit is not written, and none is kept in memory after its last delivery", () => {
  const { store, take } = openStore();
  const [at, other] = [sessionOf("a"), sessionOf("b")];
  const delivery = new Delivery(messageOf("x".repeat(10_000)), 1, false, undefined, undefined);
  store.queued(at, delivery);
  store.removed(at, delivery);
  expect(take().bytes).toBeLessThan(100);
  const shared = messageOf("y");
  const deliveries = [at, other].map((session) => {
    const one = new Delivery(shared, 1, false, undefined, undefined);
    store.queued(session, one);
    return one;
  });
  take();
  store.removed(at, deliveries[0] as Delivery);
  expect(store.messages.size).toBe(1);
  store.handedOver(deliveries);
  expect(store.messages.size).toBe(0);
});

it("[MQTT-433] the filter of a shared subscription is stored once, not with each of its deliveries", () => {
  const { store, take } = openStore();
  const session = sessionOf("a");
  const filter = `$share/g/${"x".repeat(10_000)}`;
  const options = { qos: 1 as const, noLocal: false, retainAsPublished: false, retainHandling: 0 as const, identifier: 0 };
  const member = new Subscription({} as never, filter, options, undefined);
  for (let number = 0; number < 50; number++) store.queued(session, new Delivery(messageOf("x"), 1, false, undefined, member));
  expect(take().bytes).toBeLessThan(20_000);
});

it("[MQTT-473] a session that gets a message of the journal before all have it has its place there", () => {
  const ignored = () => {};
  const callbacks = { noted: ignored, commit: ignored, retainedChanged: ignored, retainedRemoved: ignored, retainedExpired: ignored };
  const store = new RedisSessionStore(callbacks);
  const placesOf = (position: string) =>
    store.take(position).flatMap((operation) => {
      const values = operation.type === "call" ? operation.values : [];
      return values.includes("ahead") ? values[values.indexOf("ahead") + 1] : [];
    });
  const queue = (clientId: string, id: string) => {
    const message = Object.assign(messageOf(id), { journalPlace: { id, index: 1 } });
    store.queued(sessionOf(clientId), new Delivery(message, 1, false, undefined, undefined));
  };
  queue("a", "2-0");
  expect(placesOf("1-0")).toEqual(["2-0 1"]);
  queue("a", "2-0");
  expect(placesOf("2-0")).toEqual([]);
});

it("[MQTT-445] a commit has a message once that waits for thousands of groups", () => {
  const { store, take } = openStore();
  const message = messageOf("x".repeat(100_000));
  for (let group = 0; group < 1_000; group++) store.waitIn(`waiting:${group}`, message, 10);
  expect(store.messages.size).toBe(1);
  expect(take().bytes).toBeLessThan(150_000);
  // Only the lists in Redis name it.
  expect(store.messages.size).toBe(0);
});

it("[MQTT-464] the thousands of fields of a session are read in short steps", () => {
  const fields = [["session", '{"v5":true,"expirySeconds":60,"disconnectedAt":1,"address":""}']];
  for (let index = 1; index <= 10_000; index++) fields.push([`r${index}`, ""], [`ff${index}`, "1 0 0 0 0 0"], [`d${index}`, "1 0 m 0 "]);
  const steps = readSession(
    "a",
    fields.flat().map((text) => Buffer.from(text)),
  );
  let count = 1;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  expect(count).toBeGreaterThan(200);
  const { session, deliveries, broken } = step.value ?? expect.unreachable();
  expect([[...session.subscriptions].length, session.received.length, deliveries.length, broken]).toEqual([10_000, 10_000, 10_000, 0]);
});

describeCluster("messages of sessions in Redis", (nextUrl) => {
  /** Sessions without a client, subscribed. */
  async function leaveSessions(broker: Pick<Broker, "port">, names: readonly string[], filter = "q/#"): Promise<void> {
    for (const name of names) {
      const client = await connectWire(broker, 5, kept(name));
      await client.subscribe(filter, { qos: 1 });
      await leave(client);
    }
  }
  const counts = async (redis: Redis) => {
    const uses = await redis.hvals(usesKey);
    return [await redis.hlen(messagesKey), uses.map(Number).toSorted((one, other) => one - other)];
  };
  const nothing = [0, []];
  const payloads = Array.from({ length: 10 }, (_, index) => `${index} ${"x".repeat(20_000)}`);
  const publishAll = async (broker: Pick<Broker, "port">) => {
    const publisher = await connectWire(broker, 5);
    for (const payload of payloads) await publishAcknowledged(publisher, "q/1", payload);
  };

  it("[MQTT-432] a message is in Redis once for all sessions, and goes with the last of them that takes it or ends", async () => {
    const url = nextUrl();
    const broker = await startMember(url);
    const redis = await openRedis(url);
    const names = ["a", "b", "c", "d"];
    await leaveSessions(broker, names);
    await publishAll(broker);
    expect(await counts(redis)).toEqual([10, Array.from({ length: 10 }, () => 4)]);
    expect((await redis.hvals("backlot:mqtt:session:a")).join("").length).toBeLessThan(2_000);
    for (const name of ["a", "b"]) {
      const inbox = new Inbox(await connectWire(broker, 5, kept(name)));
      await expect.poll(() => inbox.payloads).toEqual(payloads);
    }
    await expect.poll(() => counts(redis)).toEqual([10, Array.from({ length: 10 }, () => 2)]);
    await connectWire(broker, 5, kept("c", { cleanStart: true }));
    await expect.poll(() => counts(redis)).toEqual([10, Array.from({ length: 10 }, () => 1)]);
    await connectWire(broker, 5, { clientId: "d", cleanStart: true });
    await expect.poll(() => counts(redis)).toEqual(nothing);
  });

  it("[MQTT-432] sessions that move between brokers take their messages along, in order, and leave none behind", async () => {
    const url = nextUrl();
    const [one, other] = await startPair(url);
    const redis = await openRedis(url);
    const names = ["a", "b", "c"];
    await leaveSessions(one, names);
    await publishAll(one);
    // Back and forth, one of them without taking anything.
    for (const broker of [other, one, other]) await leave(await connectWire(broker, 5, kept("a")));
    await publishAcknowledged(await connectWire(one, 5), "q/1", "last");
    for (const name of names) {
      const inbox = new Inbox(await connectWire(other, 5, kept(name)));
      await expect.poll(() => inbox.payloads).toEqual([...payloads, "last"]);
    }
    await expect.poll(() => counts(redis)).toEqual(nothing);
  });

  it("[MQTT-464] a session that moves is not written anew: Redis keeps what it has, and each broker counts on from the numbers of the others", async () => {
    const url = nextUrl();
    const [one, other] = await startPair(url);
    const redis = await openRedis(url);
    const key = "backlot:mqtt:session:a";
    await leaveSessions(one, ["a"]);
    const publishers = [await connectWire(one, 5), await connectWire(other, 5)];
    for (const payload of ["1", "2", "3", "4"]) await publishAcknowledged(publishers[0] as (typeof publishers)[0], "q/1", payload);
    await redis.hset(key, "r7", "", "x", "stays only if the hash is not written anew");
    const options = kept("a", { properties: { sessionExpiryInterval: 600, receiveMaximum: 1 } });
    const expected = ["1", "2", "3", "4"];
    for (const [index, broker] of [other, one, other, one].entries()) {
      const client = await connectWire(broker, 5, options);
      const { packetId, payload } = await client.expect("publish");
      expect(payload.toString()).toBe(expected.shift());
      client.send({ type: "puback", packetId, reason: 0 });
      // In flight from here, and not acknowledged.
      expect((await client.expect("publish")).payload.toString()).toBe(expected[0]);
      await leave(client);
      await publishAcknowledged(publishers[index % 2] as (typeof publishers)[0], "q/1", `later ${index}`);
      expected.push(`later ${index}`);
    }
    expect(await redis.hmget(key, "r7", "x", "at")).toEqual(["", "stays only if the hash is not written anew", null]);
    const inbox = new Inbox(await connectWire(other, 5, kept("a")));
    await expect.poll(() => inbox.payloads).toEqual(expected);
    await expect.poll(() => counts(redis)).toEqual(nothing);
  });

  it("[MQTT-432] a broker that takes over the sessions of a dead one gets each message once, and the last use of it removes it", async () => {
    const url = nextUrl();
    const [dying, living]: [SpawnedMember, Broker] = [await spawnMember(url), await startMember(url)];
    const redis = await openRedis(url);
    const names = Array.from({ length: 20 }, (_, index) => `client ${index}`);
    await leaveSessions(dying, names);
    await publishAll(dying);
    // One takes half of what it has, and its broker dies.
    const half = await connectWire(dying, 5, kept("client 0", { properties: { sessionExpiryInterval: 600, receiveMaximum: 5 } }));
    for (let taken = 0; taken < 5; taken++) {
      const { packetId } = await half.expect("publish");
      half.send({ type: "puback", packetId, reason: 0 });
    }
    await expect.poll(async () => (await counts(redis))[1]).toEqual([...Array(5).fill(19), ...Array(5).fill(20)]);
    const sentBytes = async () => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info("stats"))?.[1]);
    const before = await sentBytes();
    await dying.kill();
    for (const name of names) await expect.poll(() => living.act("client.read", { clientId: name })).not.toBeNull();
    expect((await sentBytes()) - before).toBeLessThan(2_000_000);
    for (const name of names) {
      const inbox = new Inbox(await connectWire(living, 5, kept(name)));
      await expect.poll(() => inbox.payloads).toEqual(name === "client 0" ? payloads.slice(5) : payloads);
    }
    await expect.poll(() => counts(redis)).toEqual(nothing);
  });

  it("[MQTT-445] a message that waits for groups is in Redis once, and goes with the last list that has it", async () => {
    const redis = await openRedis(nextUrl());
    const { store } = openStore();
    const scripts = new ClusterScripts(redis);
    await scripts.load();
    await scripts.run("join", "me", [10_000, scripts.term]);
    const commit = (...operations: RedisOperation[]) =>
      scripts.run("commit", "me", ["0-0", 1, 1_000, scripts.term, packOperations([...store.take("0-0"), ...operations]).argument]);
    const [first, second] = [messageOf("first"), messageOf("second")];
    for (const list of ["one", "other"]) for (const message of [first, second, first]) store.waitIn(list, message, 2);
    await commit();
    // Each list has the last two.
    expect([await redis.llen("one"), await counts(redis)]).toEqual([2, [2, [2, 2]]]);
    // An earlier version put messages there.
    await redis.lpush("one", Buffer.from([1, 0, 0]));
    await commit({ type: "wait no more", key: "one", count: 2 });
    expect([await redis.llen("one"), await counts(redis)]).toEqual([1, [2, [1, 2]]]);
    await commit({ type: "wait no more", key: "one", count: 9 }, { type: "wait no more", key: "other", count: 9 });
    expect(await counts(redis)).toEqual(nothing);
  });

  it("[MQTT-434] messages that Redis has lost are written again with all sessions, as soon as a delivery needs one or Redis is known to be emptied", async () => {
    const url = nextUrl();
    const broker = await startMember(url);
    const redis = await openRedis(url);
    await leaveSessions(broker, ["a", "b"]);
    await publishAll(broker);
    const publisher = await connectWire(broker, 5);
    await publishAcknowledged(publisher, "r/1", "retained", { retain: true });
    const takers = [await connectWire(broker, 5, kept("c")), await connectWire(broker, 5, kept("d"))] as const;
    await takers[0].subscribe("r/#", { qos: 1 });
    await takers[0].expect("publish");
    await redis.del(messagesKey);
    await takers[1].subscribe("r/#", { qos: 1 });
    await takers[1].expect("publish");
    await expect.poll(() => broker.logs.join("\n")).toContain("messages of sessions are missing in it");
    const whole = [11, [...Array(11).fill(2)]];
    await expect.poll(() => counts(redis)).toEqual(whole);
    await redis.flushdb();
    await expect.poll(() => counts(redis)).toEqual(whole);
    await broker.stop();
    const next = await startMember(url);
    for (const name of ["a", "b"]) {
      const inbox = new Inbox(await connectWire(next, 5, kept(name)));
      await expect.poll(() => inbox.payloads).toEqual(payloads);
    }
  });

  it("[MQTT-435] deliveries that contain their message, as an earlier version wrote them, are read and stored in the present form", async () => {
    const url = nextUrl();
    const redis = await openRedis(url);
    const former = (payload: string) => {
      const writer = new FrameWriter();
      writer.byte(1).byte(0).string("").fourBytes(1).fourBytes(7);
      putMessage(writer, messageOf(payload));
      return writer.take();
    };
    const head = { v5: true, expirySeconds: 600, disconnectedAt: Date.now(), address: "" };
    await redis.hset("backlot:mqtt:session:c", {
      session: JSON.stringify(head),
      "ft/#": "1 0 0 0 0",
      d1: former("one"),
      d2: former("two"),
    });
    const broker = await startMember(url);
    const client = await connectWire(broker, 5, kept("c", { properties: { sessionExpiryInterval: 600, receiveMaximum: 1 } }));
    const first = await client.expect("publish");
    expect([seen(first).payload, first.properties?.subscriptionIdentifiers]).toEqual(["one", [7]]);
    await expect.poll(() => counts(redis)).toEqual([2, [1, 1]]);
    client.send({ type: "puback", packetId: first.packetId, reason: 0 });
    const second = await client.expect("publish");
    expect(seen(second).payload).toBe("two");
    client.send({ type: "puback", packetId: second.packetId, reason: 0 });
    await expect.poll(() => counts(redis)).toEqual(nothing);
  });
});
