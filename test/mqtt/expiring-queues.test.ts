import { expect, it, vi } from "vitest";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { steadyNow } from "../../servers/mqtt/engine/steady-clock.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { type Broker, type Connected, connectWire, publishPacket, startBroker } from "./harness.ts";
import { isOverForMost, MemoryClient, startEngine } from "./memory-client.ts";

const kept = (clientId: string) => ({ clientId, cleanStart: false, properties: { sessionExpiryInterval: 600 } });

async function leave(client: Connected): Promise<void> {
  client.send({ type: "disconnect", reason: 0 });
  await client.expectClose();
}

/** What the row of the message on the topic says, as far as it was told. */
const outcomeOf = (broker: Broker, topic: string) =>
  broker.rows.findLast(({ target, kind }) => kind === "mqtt-message" && target === topic)?.outcome;

async function publish(broker: Broker, topic: string, messageExpiryInterval: number): Promise<void> {
  const client = await connectWire(broker, 5);
  client.send({ ...publishPacket(topic, "x"), qos: 1, packetId: 1, properties: { messageExpiryInterval } });
  await client.expect("puback");
}

const newest = async (broker: Broker, filter: string) => (await broker.act("topic.history", { filter, limit: 1 })).messages[0];

it("[MQTT-509] a message whose time is over leaves the queue of a client that is away, and its row says so; others stay", async () => {
  const broker = await startBroker();
  const client = await connectWire(broker, 5, kept("s"));
  await client.subscribe("t/+", { qos: 1 });
  await leave(client);
  await publish(broker, "t/long", 600);
  await publish(broker, "t/short", 1);
  await publish(broker, "t/later", 2);
  await expect.poll(() => outcomeOf(broker, "t/short")).toBe("queued");
  await expect.poll(() => outcomeOf(broker, "t/short"), { timeout: 5_000 }).toBe("expired for 1");
  expect(await newest(broker, "t/short")).toMatchObject({ matched: 1, delivered: 0, dropped: 1, expired: 1 });
  expect(await newest(broker, "t/short")).not.toHaveProperty("queued");
  await expect.poll(() => outcomeOf(broker, "t/later"), { timeout: 5_000 }).toBe("expired for 1");
  expect(outcomeOf(broker, "t/long")).toBe("queued");
  await expect.poll(() => broker.views.get("figures")?.dropped.expired).toBe(2);
  const back = await connectWire(broker, 5, kept("s"));
  expect((await back.expect("publish")).topic).toBe("t/long");
  await back.expectNothing();
});

it("[MQTT-509] it leaves the queue of a client that takes no more as well", async () => {
  const broker = await startBroker();
  const client = await connectWire(broker, 5, { clientId: "slow", properties: { receiveMaximum: 1 } });
  await client.subscribe("t/+", { qos: 1 });
  await publish(broker, "t/first", 600);
  const { packetId } = await client.expect("publish");
  await publish(broker, "t/short", 1);
  await expect.poll(() => outcomeOf(broker, "t/short"), { timeout: 5_000 }).toBe("expired for 1");
  client.send({ type: "puback", packetId, reason: 0 });
  await client.expectNothing();
});

it("[MQTT-509] one that expires while its broker is stopped is dropped after the start", async () => {
  const dataDir = temporaryDir();
  const first = await startBroker({ persistence: true }, dataDir);
  const client = await connectWire(first, 5, kept("s"));
  await client.subscribe("t", { qos: 1 });
  await leave(client);
  await publish(first, "t", 1);
  await first.stop();
  const second = await startBroker({ persistence: true }, dataDir);
  await expect.poll(() => second.views.get("figures")?.dropped.expired, { timeout: 5_000 }).toBe(1);
});

it("[MQTT-509] thousands that expire together are dropped over several turns of the event loop", async () => {
  const { engine, bystander } = await startEngine();
  const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
  const clients = names.map((name) => new MemoryClient(engine, name, kept(name)));
  for (const client of clients) client.subscribe("jobs", 1);
  await expect.poll(() => clients.every(({ received }) => received.length === 2)).toBe(true);
  for (const { connection } of clients) connection.cutOff("The connection was lost.");
  const expiresAt = steadyNow() + 300;
  for (let count = 0; count < 500; count++)
    engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from(String(count)), qos: 1, retain: false, expiresAt }));
  engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from("stays"), qos: 1, retain: false }));
  await expect.poll(() => engine.load.waiting).toBe(501 * names.length);
  const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
  await expect.poll(() => engine.counters.dropped.expired, { interval: 1, timeout: 5_000 }).toBeGreaterThan(0);
  const first = engine.counters.dropped.expired;
  expect(first).toBeLessThan(500 * names.length);
  bystander.send({ type: "pingreq" });
  await expect.poll(() => bystander.received.at(-1)?.type, { interval: 1 }).toBe("pingresp");
  turn.mockRestore();
  await expect.poll(() => engine.counters.dropped.expired, { timeout: 10_000 }).toBe(500 * names.length);
  expect(engine.load).toMatchObject({ waiting: names.length, holders: names.length });
  // The session of one that is over is not looked at again.
  for (const name of names) engine.endSession(engine.sessions.get(name) as never);
  await expect.poll(() => engine.load).toMatchObject({ waiting: 0, bytes: 0, holders: 0 });
});

it("[MQTT-509] places of a queue that is made shorter while it is gone through come again, so that none is missed", async () => {
  const { engine } = await startEngine();
  const client = new MemoryClient(engine, "c", kept("c"));
  client.subscribe("jobs", 1);
  await expect.poll(() => client.received.length).toBe(2);
  client.connection.cutOff("The connection was lost.");
  for (let count = 0; count < 6; count++)
    engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from(String(count)), qos: 1, retain: false }));
  const { queue } = engine.sessions.get("c") ?? {};
  if (!queue) throw new Error("there is no session");
  const met = new Set<string>();
  const { first } = queue;
  for (let place = first; place < queue.end; place++) {
    const delivery = queue.at(place);
    if (delivery) met.add(delivery.message.payload.toString());
    if (place !== first + 2 || met.size > 3) continue;
    queue.remove(first);
    queue.remove(first + 1);
    queue.compact();
  }
  expect([...met]).toEqual(["0", "1", "2", "3", "4", "5"]);
  expect(queue.length).toBe(4);
});

it("[MQTT-509] absent members of a shared subscription whose messages have expired are not looked at again with each message", async () => {
  const { engine } = await startEngine();
  const clients = ["a", "b", "c"].map((name) => new MemoryClient(engine, name, kept(name)));
  for (const client of clients) client.subscribe("$share/g/jobs", 1);
  await expect.poll(() => clients.every(({ received }) => received.length === 2)).toBe(true);
  for (const { connection } of clients) connection.cutOff("The connection was lost.");
  const expiresAt = steadyNow() + 100;
  for (let count = 0; count < 6; count++)
    engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from(String(count)), qos: 1, retain: false, expiresAt }));
  const group = engine.groups.get("$share/g/jobs");
  expect(group?.isHeld).toBe(true);
  await expect.poll(() => engine.counters.dropped.expired, { timeout: 5_000 }).toBe(6);
  const worker = new MemoryClient(engine, "worker", kept("worker"));
  worker.subscribe("$share/g/jobs", 1);
  await expect.poll(() => worker.received.length).toBe(2);
  engine.gatherShared(engine.sessions.get("worker") as never);
  await expect.poll(() => group?.isHeld).toBe(false);
  // They hold what comes later.
  worker.connection.cutOff("The connection was lost.");
  engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from("later"), qos: 1, retain: false }));
  expect(group?.isHeld).toBe(true);
});
