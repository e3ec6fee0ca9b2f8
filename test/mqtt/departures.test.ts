import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import type { Will } from "../../servers/mqtt/codec/packet.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { SharedGroup, type Subscriber, Subscription } from "../../servers/mqtt/engine/routing/subscription.ts";
import { RankedHeap } from "../../servers/mqtt/engine/session/ranked-heap.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { isOverForMost, MemoryClient, startEngine } from "./memory-client.ts";

const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
const willOf = (payload: string, willDelayInterval = 0): Will => ({
  topic: "wills",
  payload: Buffer.from(payload),
  qos: 0,
  retain: false,
  properties: { willDelayInterval },
});

const published = ({ received }: MemoryClient): string[] =>
  received.flatMap((packet) => (packet.type === "publish" ? packet.payload.toString() : []));

/** Takes as long as a recorder with much to do. */
function slowly(): void {
  const until = performance.now() + 0.1;
  while (performance.now() < until);
}

describe("many that leave together", () => {
  it.each([
    ["are cut off", 0, 0],
    ["were cut off, and their delays end together", 1, 600],
    ["were cut off, and their sessions end together", 600, 1],
  ])(
    "[MQTT-243] wills of clients that %s are published over several turns, in order",
    async (_, willDelayInterval, sessionExpiryInterval) => {
      const { engine, bystander } = await startEngine({ observer: { published: slowly } });
      const watcher = new MemoryClient(engine, "watcher");
      watcher.subscribe("wills");
      const texts = Array.from({ length: 1_000 }, (_unused, index) => String(index));
      const clients = texts.map(
        (text) => new MemoryClient(engine, text, { properties: { sessionExpiryInterval }, will: willOf(text, willDelayInterval) }),
      );
      await expect.poll(() => clients.every(({ received }) => received.length === 1)).toBe(true);
      for (const { connection } of clients) connection.cutOff("The connection was lost.");
      await expect.poll(() => published(watcher).length, { interval: 1, timeout: 5_000 }).toBeGreaterThan(0);
      bystander.send({ type: "pingreq" });
      await expect.poll(() => bystander.received.at(-1)?.type, { interval: 1 }).toBe("pingresp");
      expect(published(watcher).length).toBeLessThan(texts.length);
      await expect.poll(() => published(watcher).length, { timeout: 5_000 }).toBe(texts.length);
      expect(published(watcher)).toEqual(texts);
    },
  );

  it.each([0, 600])(
    "[MQTT-314] nothing is done for each shared subscription of a client that leaves; its messages go on to who is connected, session expiry %s",
    async (sessionExpiryInterval) => {
      const { engine } = await startEngine();
      const names = Array.from({ length: 100 }, (_, index) => `leaves ${index}`);
      const clients = names.map((name) => new MemoryClient(engine, name, { properties: { sessionExpiryInterval } }));
      const stays = new MemoryClient(engine, "stays");
      await expect.poll(() => engine.clients.size).toBe(102);
      for (const client of clients) client.subscribe("$share/group/jobs");
      stays.subscribe("$share/group/jobs");
      await expect.poll(() => engine.groups.get("$share/group/jobs")?.counts()).toEqual({ connected: 101, away: 0 });
      const group = engine.groups.get("$share/group/jobs");
      const moved = vi.spyOn(SharedGroup.prototype, "moved");
      const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
      for (const { connection } of clients) connection.cutOff("The connection was lost.");
      expect(moved).not.toHaveBeenCalled();
      expect(engine.sessions.size).toBe(102);
      const payloads = ["one", "two", "three"];
      for (const payload of payloads)
        engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from(payload), qos: 0, retain: false }));
      turn.mockRestore();
      await expect.poll(() => published(stays)).toEqual(payloads);
      const away = sessionExpiryInterval > 0 ? 100 : 0;
      await expect.poll(() => group?.counts()).toEqual({ connected: 1, away });
      moved.mockRestore();
    },
  );

  it("[MQTT-314] a message looks at all connected members of its group, also while others are found gone", () => {
    const group = new SharedGroup("$share/group/jobs", "jobs");
    const members = Array.from("abcde", (clientId) => ({ clientId, recipient: {} as object | undefined, rank: 4 }));
    const options = { qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0, identifier: 0 } as const;
    for (const member of members) {
      const session = Object.assign(member, { expirySeconds: 1, hasEnded: false, readiness: () => member.rank, deliver: () => {} });
      group.add(new Subscription(session, group.name, options, group));
    }
    const message = new Message({ topic: "jobs", payload: Buffer.from("one"), qos: 1, retain: false });
    const picked = () => group.pick(message)?.session.clientId;
    expect([picked(), picked(), picked(), picked()]).toEqual(["a", "b", "c", "d"]);
    const [, b, c, d, e] = members as [unknown, ...((typeof members)[number] & Subscriber)[]];
    group.remove(d as Subscriber);
    group.remove(e as Subscriber);
    Object.assign(b as Subscriber, { rank: 1 });
    Object.assign(c as Subscriber, { recipient: undefined });
    expect(picked()).toBe("a");
    expect(group.counts()).toEqual({ connected: 2, away: 1 });
  });

  it("[MQTT-304] a stop disconnects all clients and publishes their wills over several turns of the event loop", async () => {
    const { engine } = await startEngine({ observer: { published: slowly } });
    const watcher = new MemoryClient(engine, "watcher", kept);
    watcher.subscribe("wills", 1);
    const texts = Array.from({ length: 1_000 }, (_unused, index) => String(index));
    for (const text of texts) new MemoryClient(engine, text, { will: { ...willOf(text), qos: 1 } });
    await expect.poll(() => engine.clients.size).toBe(texts.length + 2);
    const waiting: number[] = [];
    let isStopped = false;
    const stopped = engine.stop().then(() => {
      isStopped = true;
    });
    while (!isStopped) {
      waiting.push(engine.sessions.get("watcher")?.queue.length ?? 0);
      await setImmediate();
    }
    await stopped;
    expect(engine.clients.size).toBe(0);
    expect(waiting.filter((count) => count > 0 && count < texts.length).length).toBeGreaterThan(3);
    const queued = [...(engine.sessions.get("watcher")?.deliveries() ?? [])];
    expect(queued.map(({ message }) => message.payload.toString()).toSorted()).toEqual(texts.toSorted());
  });

  it("[MQTT-243] a will that waits for its turn is published before its client's new session begins", async () => {
    const { engine, bystander } = await startEngine();
    bystander.subscribe("wills");
    const clients = Array.from(
      { length: 3 },
      (_, index) => new MemoryClient(engine, `client ${index}`, { ...kept, will: willOf(`${index}`) }),
    );
    await expect.poll(() => engine.clients.size).toBe(4);
    // As long as others have the turn.
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    for (const { connection } of clients) connection.cutOff("The connection was lost.");
    turn.mockReturnValueOnce(false).mockReturnValueOnce(false);
    const back = new MemoryClient(engine, "client 2", { ...kept, will: willOf("again") });
    expect(engine.sessions.get("client 2")?.will?.message.payload.toString()).toBe("again");
    turn.mockRestore();
    await expect.poll(() => back.received[0]).toMatchObject({ type: "connack", sessionPresent: true });
    await expect.poll(() => published(bystander)).toEqual(["2", "0", "1"]);
  });

  it("has the least in front, whatever is added, changed and removed, and of equals the one that came first", () => {
    const random = seededRandom(5);
    const heap = new RankedHeap<{ rank: number; order: number; place: number; name: number }>();
    const items = Array.from({ length: 200 }, (_, name) => ({ rank: 0, order: 0, place: -1, name }));
    for (let step = 0; step < 5_000; step++) {
      const item = items[random.below(items.length)];
      if (!item) continue;
      if (random.chance(0.3)) heap.remove(item);
      else heap.put(item, random.below(20));
      const inside = items.filter(({ place }) => place >= 0);
      const [least] = inside.sort((one, other) => one.rank - other.rank || one.order - other.order);
      expect([heap.size, heap.first]).toEqual([inside.length, least]);
    }
  });
});

describe("a client with thousands of topic filters", () => {
  const options = { qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
  const filters = Array.from({ length: 5_000 }, (_, index) => `f/${index}`);
  const subscribe = { type: "subscribe", packetId: 7, subscriptions: filters.map((filter) => ({ filter, ...options })) } as const;

  /** While `busy` is true, clients have had their time in each turn. */
  async function startBusyEngine() {
    const { engine, bystander } = await startEngine();
    const turn = vi.spyOn(engine.scheduler, "isTurnOver");
    const publish = (topic: string, payload: string, retain = false) => {
      const message = new Message({ topic, payload: Buffer.from(payload), qos: 1, retain });
      engine.publishInternal(message);
      return message.matched;
    };
    const busy = (isBusy: boolean) => {
      // Except for one large packet, or one CONNECT.
      let spare = 1;
      if (isBusy) turn.mockImplementation((parts) => isOverForMost(parts) && spare-- <= 0);
      else turn.mockReset();
    };
    return { engine, bystander, publish, busy };
  }

  it("[MQTT-321] subscribes and unsubscribes over several turns of the event loop; what is retained meanwhile comes once", async () => {
    const { engine, publish, busy } = await startBusyEngine();
    const client = new MemoryClient(engine, "many", kept);
    await expect.poll(() => client.received.length).toBe(1);
    const subscribed = () => engine.counters.subscriptions - 1;
    publish("f/1", "before", true);
    publish("f/4998", "before", true);
    busy(true);
    client.send(subscribe);
    client.send({ type: "pingreq" });
    expect(subscribed()).toBeGreaterThan(0);
    expect(subscribed()).toBeLessThan(500);
    publish("f/1", "after", true);
    publish("f/4999", "between", true);
    busy(false);
    await expect.poll(() => client.received.at(-1)?.type).toBe("pingresp");
    await expect.poll(() => published(client).toSorted()).toEqual(["after", "before", "between"]);
    expect(client.received.find(({ type }) => type === "suback")).toMatchObject({ packetId: 7, reasons: filters.map(() => 1) });
    expect(subscribed()).toBe(filters.length);
    busy(true);
    client.send({ type: "unsubscribe", packetId: 8, filters });
    expect(subscribed()).toBeLessThan(5_000);
    expect(subscribed()).toBeGreaterThan(4_500);
    busy(false);
    await expect.poll(() => client.received.at(-1)).toMatchObject({ type: "unsuback", packetId: 8, reasons: filters.map(() => 0) });
    expect(subscribed()).toBe(0);
  });

  it("[MQTT-350] small packets with filters of thousands of clients take turns, of which few have begun at a time, and pings come before them", async () => {
    const { engine, bystander, busy } = await startBusyEngine();
    const clients = Array.from({ length: 300 }, (_, index) => new MemoryClient(engine, `small ${index}`));
    await expect.poll(() => clients.every(({ received }) => received.length === 1)).toBe(true);
    const few = { ...subscribe, subscriptions: subscribe.subscriptions.slice(0, 200) };
    const begun = () => clients.filter(({ connection }) => (connection.session?.subscriptions.size ?? 0) > 0).length;
    const answered = () => clients.filter(({ received }) => received.at(-1)?.type === "suback").length;
    let most = 0;
    busy(true);
    for (const client of clients) client.send(few);
    expect(begun()).toBe(1);
    bystander.send({ type: "pingreq" });
    engine.scheduler.flush();
    expect(bystander.received.at(-1)?.type).toBe("pingresp");
    while (answered() < clients.length) {
      engine.scheduler.flush();
      most = Math.max(most, begun() - answered());
    }
    busy(false);
    expect(most).toBeLessThan(100);
    expect(engine.scheduler.works).toBe(0);
  });

  it("[MQTT-321] they are removed over several turns when its session ends, and bring nothing to nobody meanwhile", async () => {
    const { engine, publish, busy } = await startBusyEngine();
    const client = new MemoryClient(engine, "many", kept);
    client.send({ ...subscribe, subscriptions: [...subscribe.subscriptions, { filter: "$share/group/f/1", ...options }] });
    await expect.poll(() => client.received.at(-1)?.type).toBe("suback");
    expect(publish("f/4999", "one")).toBe(1);
    client.connection.cutOff("The connection was lost.");
    expect(publish("f/4999", "waits")).toBe(1);
    busy(true);
    const back = new MemoryClient(engine, "many");
    engine.scheduler.flush();
    expect(back.received[0]).toMatchObject({ type: "connack", sessionPresent: false });
    expect(engine.counters.subscriptions).toBeGreaterThan(4_000);
    expect(publish("f/4999", "none")).toBe(0);
    expect(publish("f/1", "none")).toBe(0);
    busy(true);
    back.subscribe("f/4999");
    expect(publish("f/4999", "new")).toBe(1);
    busy(false);
    await expect.poll(() => engine.counters.subscriptions).toBe(2);
    expect([engine.groups.size, publish("f/4999", "last")]).toEqual([0, 1]);
    await expect.poll(() => published(back)).toEqual(["new", "last"]);
  });
});

describe("sessions of clients that left", () => {
  it("[MQTT-244] those of the address that has most give way, the oldest first, and others keep theirs", async () => {
    const { engine } = await startEngine({ limits: { sessions: 20 } });
    const leave = async (name: string, address: string) => {
      const client = new MemoryClient(engine, name, kept, `${address}:5000`);
      await expect.poll(() => client.received[0]).toMatchObject({ type: "connack", reason: 0 });
      client.connection.cutOff("The connection was lost.");
    };
    await leave("first of all", "10.0.0.1");
    for (let index = 0; index < 40; index++) await leave(`many ${index}`, "10.0.0.2");
    await leave("late", "10.0.0.1");
    const many = Array.from({ length: 17 }, (_, index) => `many ${index + 23}`);
    expect([...engine.sessions.keys()].sort()).toEqual(["bystander", "first of all", "late", ...many].sort());
  });

  it("[MQTT-245] wills count with their bytes: of the address that has most sessions give way, and who has little is not refused", async () => {
    const { engine } = await startEngine({ limits: { memoryBytes: 1 << 20 } });
    // Otherwise the CONNECTs of 50 kB wait for their turn.
    vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValue(false);
    const bound = engine.limits.allSessionBytes;
    const connect = (name: string, address: string, bytes: number) =>
      new MemoryClient(engine, name, { ...kept, ...(bytes > 0 && { will: willOf("x".repeat(bytes), 600) }) }, `${address}:5000`);
    const answered = async (client: MemoryClient) => {
      await expect.poll(() => client.received.length).toBeGreaterThan(0);
      return client.received[0]?.type === "connack" ? client.received[0].reason : undefined;
    };
    connect("one", "10.0.0.1", 0).connection.cutOff("The connection was lost.");
    for (let index = 0; index < 20; index++) {
      connect(`many ${index}`, "10.0.0.2", 50_000).connection.cutOff("The connection was lost.");
      expect(engine.counters.sessionBytes).toBeLessThanOrEqual(bound);
    }
    expect([...engine.sessions.keys()]).toEqual(["bystander", "one", ...[15, 16, 17, 18, 19].map((index) => `many ${index}`)]);
    // Connected clients keep theirs.
    const reasons: (number | undefined)[] = [];
    for (let index = 0; index < 8; index++) reasons.push(await answered(connect(`here ${index}`, "10.0.0.3", 50_000)));
    expect(reasons).toEqual([0, 0, 0, 0, 0x97, 0x97, 0x97, 0x97]);
    expect(await answered(connect("small", "10.0.0.4", 0))).toBe(0);
    expect(engine.sessions.has("one")).toBe(true);
    for (const client of [...engine.connections]) client.cutOff("The connection was lost.");
    for (const session of [...engine.sessions.values()]) engine.endSession(session);
    expect(engine.counters.sessionBytes).toBe(0);
  });
});
