import { expect, it, vi } from "vitest";
import { limitsOfConfig } from "../../servers/mqtt/engine/engine-limits.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { countAnswer } from "../../servers/mqtt/engine/routing/route-message.ts";
import { Overlap, Subscription } from "../../servers/mqtt/engine/routing/subscription.ts";
import { mostBytesOf, ownBytesOf, SubscriptionTrie } from "../../servers/mqtt/engine/routing/subscription-trie.ts";
import { mqttConfig } from "../../servers/mqtt/mqtt-config.ts";
import { publishPacket } from "./harness.ts";
import { isOverForMost, MemoryClient, startEngine } from "./memory-client.ts";

const session = { clientId: "c", recipient: undefined, expirySeconds: 0, hasEnded: false, readiness: () => 0, deliver: () => {} };
const options = { qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0, identifier: 0 } as const;

it("[MQTT-315] many overlapping subscriptions of a session are merged once for a topic, until one that may match it changes", () => {
  const trie = new SubscriptionTrie();
  const sessions = ["one", "other"].map((clientId) => ({ ...session, clientId }));
  const filters = Array.from({ length: 256 }, (_, bits) =>
    Array.from({ length: 8 }, (_unused, bit) => ((bits >> bit) & 1 ? "a" : "+")).join("/"),
  );
  for (const subscriber of sessions) {
    for (const [index, filter] of filters.entries()) {
      const own = { ...options, qos: index === 9 ? 2 : 1, noLocal: index % 2 === 0, identifier: index } as const;
      trie.add(filter, subscriber, new Subscription(subscriber, filter, own, undefined));
    }
  }
  const topic = "a/a/a/a/a/a/a/a";
  const first = trie.match(topic);
  expect(trie.visited).toBeGreaterThan(512);
  expect(first.subscriptions.map((found) => [found.session.clientId, found.options.qos, found.identifiers?.length])).toEqual([
    ["one", 2, 255],
    ["other", 2, 255],
  ]);
  const [found] = first.subscriptions;
  const own = found instanceof Overlap ? found.ofItself() : undefined;
  expect(own?.options).toEqual({ qos: 2, noLocal: false, retainAsPublished: false });
  expect(own?.identifiers?.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 128 }, (_, index) => 2 * index + 1));
  trie.add("b", session, new Subscription(session, "b", options, undefined));
  trie.remove("b", session);
  expect(trie.match(topic) === first).toBe(true);
  expect(trie.visited).toBe(0);
  trie.add(topic, session, new Subscription(session, topic, options, undefined));
  expect(trie.match(topic).subscriptions).toHaveLength(3);
  trie.remove("+/a/a/a/a/a/a/a", sessions[0] as typeof session);
  const changed = trie.match(topic).subscriptions.find((one) => one.session === sessions[0]);
  expect(changed?.identifiers).toHaveLength(254);
});

it("[MQTT-267] keeps what matches a topic of any length, until a subscription changes or the kept ones are too large", () => {
  const trie = new SubscriptionTrie();
  const add = (filter: string) => trie.add(filter, session, new Subscription(session, filter, options, undefined));
  add("a/#");
  const long = `a/${"x".repeat(60_000)}`;
  const first = trie.match(long);
  expect(first.subscriptions).toHaveLength(1);
  expect(trie.match(long) === first).toBe(true);
  add("b/+");
  const second = trie.match(long);
  expect(second === first).toBe(false);
  for (let index = 0; index < 300; index++) trie.match(`${long}${index}`);
  const third = trie.match(long);
  expect(third === second).toBe(false);
  expect(third.subscriptions).toHaveLength(1);
});

it("[MQTT-340] filters with more than 100 levels are compared with topics of as many levels only", () => {
  const trie = new SubscriptionTrie();
  const add = (filter: string) => trie.add(filter, session, new Subscription(session, filter, options, undefined));
  const levels = (count: number, level: string) => Array.from({ length: count }, () => level).join("/");
  for (let index = 0; index < 100; index++) add(`${levels(100, "+")}/${index}`);
  add(`${levels(100, "+")}/#`);
  trie.match(levels(99, "a"));
  expect(trie.visited).toBe(0);
  // `#` also matches the parent level.
  expect(trie.match(levels(100, "a")).subscriptions).toHaveLength(1);
  expect(trie.visited).toBeGreaterThanOrEqual(101 * 101);
  for (let index = 0; index < 100; index++) trie.remove(`${levels(100, "+")}/${index}`, session);
  expect(trie.match(`${levels(100, "a")}/7`).subscriptions).toHaveLength(1);
  expect(trie.visited).toBeLessThan(2 * 101);
});

it("[MQTT-340] what there is room for is compared with a topic in one step", () => {
  const { allSubscriptionBytes } = limitsOfConfig(mqttConfig.parse({}), Number.POSITIVE_INFINITY, { info: () => {} });
  for (const levels of [101, 8_191, 32_768]) {
    const filter = `${"+/".repeat(levels - 1)}k`;
    const filters = Math.floor(allSubscriptionBytes / ownBytesOf(filter));
    // About 10 ns each.
    expect(filters * levels).toBeLessThan(3_000_000);
    expect(mostBytesOf(filter)).toBe(ownBytesOf(filter));
  }
});

it("[MQTT-355] thousands of subscriptions that match a message are found over several turns, its client's next packets wait, and others do not", async () => {
  const { engine, bystander } = await startEngine();
  const levels = 13;
  const filters = Array.from({ length: 2 ** levels }, (_, bits) =>
    Array.from({ length: levels }, (_unused, bit) => ((bits >> bit) & 1 ? "a" : "+")).join("/"),
  );
  const readers = ["reader", "other reader"].map((name) => new MemoryClient(engine, name));
  const publisher = new MemoryClient(engine, "publisher");
  const subscriptions = filters.map((filter) => ({ filter, qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 }) as const);
  await expect.poll(() => engine.clients.size).toBe(4);
  for (const reader of readers) reader.send({ type: "subscribe", packetId: 1, subscriptions });
  await expect.poll(() => readers.every(({ received }) => received.at(-1)?.type === "suback")).toBe(true);
  const topic = Array.from({ length: levels }, () => "a").join("/");
  const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
  for (const packetId of [1, 2]) publisher.send({ ...publishPacket(topic, String(packetId)), qos: 1, packetId });
  bystander.send({ type: "pingreq" });
  engine.scheduler.flush();
  expect(bystander.received.at(-1)?.type).toBe("pingresp");
  expect(publisher.received.map(({ type }) => type)).toEqual(["connack"]);
  turn.mockRestore();
  await expect.poll(() => publisher.received.slice(1)).toMatchObject([1, 2].map((packetId) => ({ type: "puback", packetId, reason: 0 })));
  const payloads = ({ received }: MemoryClient) =>
    received.flatMap((packet) => (packet.type === "publish" ? packet.payload.toString() : []));
  await expect
    .poll(() => readers.map(payloads))
    .toEqual([
      ["1", "2"],
      ["1", "2"],
    ]);
});

it("[MQTT-355] what was found is for the next message, and is kept unless subscriptions have changed", () => {
  const trie = new SubscriptionTrie();
  for (let index = 0; index < 5_000; index++) {
    const subscriber = { ...session, clientId: `c${index}` };
    trie.add("+/b", subscriber, new Subscription(subscriber, "+/b", options, undefined));
  }
  expect([trie.isQuick("a/b"), trie.isQuick("c")]).toEqual([false, false]);
  const search = trie.prepare("a/b");
  for (let steps = 0; steps < 10; steps++) expect(search.next().done).toBe(false);
  trie.add("a/+", session, new Subscription(session, "a/+", options, undefined));
  while (!search.next().done);
  expect(trie.match("a/b").subscriptions).toHaveLength(5_000);
  expect(trie.isQuick("a/b")).toBe(false);
  expect(trie.match("a/b").subscriptions).toHaveLength(5_001);
  expect(trie.isQuick("a/b")).toBe(true);
});

/** 128 filters with 12,000 nodes, which all match the topic. */
const deepTree = () => {
  const end = Array.from({ length: 90 }, () => "+").join("/");
  const begins = Array.from({ length: 128 }, (_, bits) => Array.from({ length: 7 }, (_unused, bit) => ((bits >> bit) & 1 ? "a" : "+")));
  return { filters: begins.map((begin) => `${begin.join("/")}/${end}`), topic: Array.from({ length: 97 }, () => "a").join("/") };
};

it("[MQTT-355] few filters of many levels are thousands of nodes of the tree, for a topic of as many levels", () => {
  const trie = new SubscriptionTrie();
  const { filters, topic } = deepTree();
  for (const filter of filters) trie.add(filter, session, new Subscription(session, filter, options, undefined));
  expect([trie.isQuick(topic), trie.isQuick("a/b"), trie.isQuick(topic.slice(0, 21)), trie.isQuick(topic.slice(0, 23))]).toEqual([
    false,
    true,
    true,
    false,
  ]);
  let steps = 0;
  for (const _ of trie.prepare(topic)) steps++;
  expect(steps).toBeGreaterThan(100);
  expect(trie.match(topic).subscriptions).toHaveLength(1);
  expect(trie.visited).toBeGreaterThan(11_000);
  for (const filter of filters.slice(1)) trie.remove(filter, session);
  expect(trie.isQuick(topic.replace("a", "b"))).toBe(true);
});

it("[MQTT-355] subscriptions that match a message of the broker itself are found over several turns, in its order, and who causes it waits", async () => {
  const { engine, bystander } = await startEngine();
  const { filters, topic } = deepTree();
  const reader = new MemoryClient(engine, "reader");
  const asking = new MemoryClient(engine, "asking");
  const subscriptions = filters.map((filter) => ({ filter, qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 }) as const);
  reader.send({ type: "subscribe", packetId: 1, subscriptions });
  await expect.poll(() => reader.received.at(-1)?.type).toBe("suback");
  await expect.poll(() => engine.clients.size).toBe(3);
  const messageOf = (payload: string) => new Message({ topic, payload: Buffer.from(payload), qos: 0, retain: false });
  const payloads = () => reader.received.flatMap((packet) => (packet.type === "publish" ? packet.payload.toString() : []));
  const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValue(true);
  const messages = ["1", "2"].map(messageOf);
  for (const message of messages) engine.publishInternal(message);
  engine.scheduler.flush();
  expect([messages[0]?.isRouted, engine.departures.isIdle]).toEqual([false, false]);
  turn.mockRestore();
  await expect.poll(payloads).toEqual(["1", "2"]);
  expect(messages.map(({ matched, isRouted }) => [matched, isRouted])).toEqual([
    [1, true],
    [1, true],
  ]);
  let largest = 0;
  let waiting = 0;
  engine.observer.routed = ({ topic: routed }) => {
    if (routed === topic) waiting--;
  };
  engine.bus.onMessage((message) => {
    if (message.topic !== "ask") return;
    // So that what was found for the one before is not kept.
    engine.trie.add("+/x", session, new Subscription(session, "+/x", options, undefined));
    const answer = messageOf(message.payload.toString());
    largest = Math.max(largest, ++waiting);
    engine.publishInternal(answer);
    countAnswer(message, answer);
  });
  const numbers = Array.from({ length: 20 }, (_, index) => String(index + 3));
  for (const number of numbers) asking.send(publishPacket("ask", number));
  bystander.send({ type: "pingreq" });
  await expect.poll(payloads).toEqual(["1", "2", ...numbers]);
  expect(largest).toBe(1);
  expect(bystander.received.at(-1)?.type).toBe("pingresp");
});
