import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { RetainedTree } from "../../servers/mqtt/engine/retained/retained-tree.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { SubscriptionTrie } from "../../servers/mqtt/engine/routing/subscription-trie.ts";
import { TopicTree } from "../../servers/mqtt/inspector/topic-tree.ts";

it("[MQTT-352] a level of a topic that is kept does not keep the whole topic, of which it was a part", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const held = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const retained = new RetainedTree();
  const trie = new SubscriptionTrie();
  const topics = new TopicTree({ topics: 10_000, topicTreeBytes: 2_000_000 }, { isRetained: () => false, onEvicted: () => {} });
  const received = (topic: string) => Buffer.from(topic).toString("latin1");
  const messageOn = (topic: string) => new Message({ topic: received(topic), payload: Buffer.from("x"), qos: 0, retain: true });
  const before = held();
  for (let number = 0; number < 2_000; number++) {
    const level = `level of number ${number}`;
    const long = messageOn(`${level}/${"x".repeat(16_000)}`);
    retained.set(long);
    retained.set(messageOn(`${level}/short`));
    retained.delete(long.topic);
    const filter = received(`${level}/${"x".repeat(16_000)}/+`);
    trie.add(filter, "one", {} as never);
    trie.add(received(`${level}/+`), "one", {} as never);
    trie.remove(filter, "one");
    topics.count(messageOn(long.topic), 0);
    topics.count(messageOn(`${level}/short`), 0);
    topics.settle();
  }
  // 32 MB of long topics for each of the three.
  expect(held() - before).toBeLessThan(16 << 20);
  expect([retained.count, trie.heldBytes > 0, topics.size > 0]).toEqual([2_000, true, true]);
});
