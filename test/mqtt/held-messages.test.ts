import { expect, it, vi } from "vitest";
import { Delivery } from "../../servers/mqtt/engine/delivery/delivery.ts";
import { HeldMessages } from "../../servers/mqtt/engine/delivery/held-messages.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { InflightTable } from "../../servers/mqtt/engine/session/inflight-table.ts";
import { ReceivedIds } from "../../servers/mqtt/engine/session/received-ids.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { isOverForMost, MemoryClient, startEngine } from "./memory-client.ts";

const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
const messageOf = (topic: string, payload: string | Buffer) => new Message({ topic, payload: Buffer.from(payload), qos: 1, retain: false });

it("[MQTT-322] messages in flight to all clients are bounded together: who has more than its share gets the next after an acknowledgement", async () => {
  const { engine, bystander, expectUndisturbed } = await startEngine({ limits: { memoryBytes: 1 << 20 } });
  const bound = engine.limits.allQueueBytes;
  const clients = Array.from({ length: 20 }, (_, index) => new MemoryClient(engine, `greedy ${index}`, kept));
  await expect.poll(() => engine.clients.size).toBe(21);
  for (const [index, client] of clients.entries()) client.subscribe(`own/${index}`, 1);
  await expect.poll(() => engine.counters.subscriptions).toBe(21);
  for (let count = 0; count < 20; count++) {
    for (const index of clients.keys()) engine.publishInternal(messageOf(`own/${index}`, Buffer.alloc(10_000)));
  }
  expect(engine.load.bytes).toBeGreaterThan(bound / 2);
  expect(engine.load.bytes).toBeLessThan(2 * bound);
  expect(engine.counters.dropped["queue full"]).toBeGreaterThan(300);
  bystander.subscribe("small", 1);
  await expect.poll(() => bystander.received.filter(({ type }) => type === "suback").length).toBe(2);
  engine.publishInternal(messageOf("small", "x"));
  await expect.poll(() => bystander.received.filter(({ type }) => type === "publish").length).toBe(1);
  await expectUndisturbed();
  const [first] = clients as [MemoryClient];
  const publishes = () => first.received.filter((packet) => packet.type === "publish");
  const before = publishes().length;
  for (const { packetId } of publishes()) first.send({ type: "puback", packetId, reason: 0 });
  engine.publishInternal(messageOf("own/0", "next"));
  await expect.poll(() => publishes().length).toBe(before + 1);
  for (const client of [...engine.connections]) client.cutOff("The connection was lost.");
  for (const session of [...engine.sessions.values()]) engine.endSession(session);
  await expect.poll(() => engine.load).toEqual({ waiting: 0, bytes: 0, holders: 0, inChunks: 0 });
});

it("[MQTT-322] a message counts once however many hold it", () => {
  const all = { waiting: 0, bytes: 0, holders: 0, inChunks: 0 };
  const message = messageOf("topic", Buffer.alloc(100_000));
  const sessions = Array.from({ length: 50 }, () => new HeldMessages(all));
  const delivery = new Delivery(message, 1, false, undefined, undefined);
  for (const held of sessions) held.add(delivery);
  expect([all.holders, all.bytes]).toEqual([50, 50 * 200 + 700 + message.bytes]);
  for (const held of sessions) held.remove(delivery);
  expect([all.holders, all.bytes]).toEqual([0, 0]);
});

it("[MQTT-351] the user name of a client counts with its session, for as long as it is connected, and so do its topics with two bytes a character", async () => {
  const { engine } = await startEngine();
  const before = engine.counters.sessionBytes;
  const username = "u".repeat(60_000);
  const client = new MemoryClient(engine, "named", { ...kept, username, password: Buffer.from("p") });
  await expect.poll(() => client.received[0]).toMatchObject({ type: "connack", reason: 0 });
  const of = () => engine.counters.sessionBytes - before;
  expect(of()).toBeGreaterThan(2 * username.length);
  client.connection.cutOff("The connection was lost.");
  await expect.poll(of).toBeLessThan(2_000);
  expect(of()).toBeGreaterThan(0);
  expect(messageOf("€".repeat(1_000), "x").bytes).toBeGreaterThan(2_000);
});

it("[MQTT-345] the subscription identifiers of waiting deliveries count: overlapping subscriptions may have thousands", async () => {
  const { engine } = await startEngine({ limits: { memoryBytes: 1 << 20 } });
  const client = new MemoryClient(engine, "overlapping", kept);
  const filters = Array.from({ length: 64 }, (_, bits) =>
    Array.from({ length: 7 }, (_unused, bit) => (bit < 6 && (bits >> bit) & 1 ? "a" : "+")).join("/"),
  );
  const options = { qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
  for (const [index, filter] of filters.entries()) {
    const properties = { subscriptionIdentifiers: [index + 1] };
    client.send({ type: "subscribe", packetId: 1, subscriptions: [{ filter, ...options }], properties });
  }
  await expect.poll(() => engine.counters.subscriptions).toBe(65);
  client.connection.cutOff("The connection was lost.");
  for (let count = 0; count < 1_000; count++) engine.publishInternal(messageOf(`${"a/".repeat(6)}${count}`, "x"));
  const session = engine.sessions.get("overlapping");
  expect(session?.queue.length).toBeGreaterThan(100);
  expect(session?.queue.length).toBeLessThan(400);
  if (session) engine.endSession(session);
  await expect.poll(() => engine.load).toEqual({ waiting: 0, bytes: 0, holders: 0, inChunks: 0 });
});

it("[MQTT-322] small messages in flight to many clients do not keep the chunks in memory with which they came", () => {
  const all = { waiting: 0, bytes: 0, holders: 0, inChunks: 0 };
  const kept = new Set<ArrayBufferLike>();
  for (let client = 0; client < 100; client++) {
    const table = new InflightTable(new HeldMessages(all));
    for (let index = 0; index < 100; index++) {
      const message = new Message({ topic: "a", payload: Buffer.alloc(60_000).subarray(0, 10), qos: 1, retain: false });
      const delivery = new Delivery(message, 1, false, undefined, undefined);
      delivery.packetId = table.nextPacketId();
      table.add(delivery);
      kept.add(message.payload.buffer);
    }
  }
  expect([...kept].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(150e6);
});

it("[MQTT-322] one message that is never acknowledged makes no large table of those in flight", () => {
  const table = new InflightTable(new HeldMessages({ waiting: 0, bytes: 0, holders: 0, inChunks: 0 }));
  const add = () => {
    const delivery = new Delivery(messageOf("a", "x"), 1, false, undefined, undefined);
    delivery.packetId = table.nextPacketId();
    table.add(delivery);
    return delivery.packetId;
  };
  const never = add();
  for (let count = 0; count < 70_000; count++) table.delete(add());
  expect(table.has(never)).toBe(true);
  expect(table.inOrder().length).toBe(1);
  expect((table as unknown as { readonly slots: readonly unknown[] }).slots.length).toBe(16);
});

it("[MQTT-323] unreleased identifiers are those that were added and not released, in little memory", () => {
  const random = seededRandom(3);
  const [ids, expected] = [new ReceivedIds(), new Set<number>()];
  for (let step = 0; step < 20_000; step++) {
    const packetId = 1 + random.below(0xffff);
    if (random.chance(0.7)) {
      ids.add(packetId);
      expected.add(packetId);
    } else expect(ids.release(packetId)).toBe(expected.delete(packetId));
  }
  expect([ids.size, [...ids.all()]]).toEqual([expected.size, [...expected].sort((a, b) => a - b)]);
  const copy = ids.copy();
  for (const packetId of expected) expect(ids.release(packetId)).toBe(true);
  expect([ids.size, ids.heldBytes, copy.size]).toEqual([0, 0, expected.size]);
});

it("[MQTT-323] identifiers that a client never releases count with its session: above its share it is disconnected, and others are not", async () => {
  const { engine, expectUndisturbed } = await startEngine({ limits: { memoryBytes: 1 << 20, receiveMaximum: 65_535 } });
  const publish = (client: MemoryClient, packetId: number) =>
    client.send({
      ...{ type: "publish", topic: "a", payload: Buffer.alloc(0), qos: 2 },
      packetId,
      retain: false,
      dup: false,
      properties: undefined,
    } as const);
  const quiet = new MemoryClient(engine, "quiet", kept);
  const greedy = new MemoryClient(engine, "greedy", kept);
  await expect.poll(() => engine.clients.size).toBe(3);
  vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValue(false);
  for (let packetId = 1; packetId <= 0xffff && !greedy.ended; packetId++) publish(greedy, packetId);
  expect(greedy.received.at(-1)).toMatchObject({ type: "disconnect", reason: 0x97 });
  expect(engine.counters.sessionBytes).toBeLessThan(engine.limits.allSessionBytes + 10_000);
  publish(quiet, 1);
  await expect.poll(() => quiet.received.at(-1)).toMatchObject({ type: "pubrec" });
  await expectUndisturbed();
  for (const client of [...engine.connections]) client.cutOff("The connection was lost.");
  for (const session of [...engine.sessions.values()]) engine.endSession(session);
  expect(engine.counters.sessionBytes).toBe(0);
});

it("[MQTT-324] clients that connect together are accepted over several turns of the event loop, in order", async () => {
  const { engine, expectUndisturbed } = await startEngine();
  const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
  const clients = Array.from({ length: 50 }, () => new MemoryClient(engine, "same"));
  const accepted = () => clients.filter(({ received }) => received.some(({ type }) => type === "connack")).length;
  expect([accepted(), engine.sessions.size]).toEqual([0, 1]);
  turn.mockRestore();
  await expect.poll(accepted).toBe(50);
  expect(clients.map(({ ended }) => ended)).toEqual(clients.map((_, index) => index < 49));
  await expectUndisturbed();
});
