import { expect, it } from "vitest";
import { Overlap, Subscription } from "../../servers/mqtt/engine/routing/subscription.ts";
import { SubscriptionTrie } from "../../servers/mqtt/engine/routing/subscription-trie.ts";

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
