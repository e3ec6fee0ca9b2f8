import { expect, it } from "vitest";
import { Subscription } from "../../servers/mqtt/engine/routing/subscription.ts";
import { SubscriptionTrie } from "../../servers/mqtt/engine/routing/subscription-trie.ts";

const session = { clientId: "c", recipient: undefined, expirySeconds: 0, readiness: () => 0, deliver: () => {} };
const options = { qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0, identifier: 0 } as const;

it("[MQTT-267] keeps what matches a topic of any length, until a subscription changes or the kept ones are too large", () => {
  const trie = new SubscriptionTrie();
  const add = (filter: string) => trie.add(filter, session, new Subscription(session, filter, options, undefined));
  add("a/#");
  const long = `a/${"x".repeat(60_000)}`;
  const first = trie.match(long);
  expect(first.subscriptions).toHaveLength(1);
  expect(trie.match(long) === first).toBe(true);
  add("b");
  const second = trie.match(long);
  expect(second === first).toBe(false);
  for (let index = 0; index < 300; index++) trie.match(`${long}${index}`);
  const third = trie.match(long);
  expect(third === second).toBe(false);
  expect(third.subscriptions).toHaveLength(1);
});
