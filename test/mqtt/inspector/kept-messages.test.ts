import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { MqttHistoryPage } from "../../../contract/services/mqtt.ts";
import type { TrafficSink } from "../../../servers/core/service/service.ts";
import { resultOf } from "../../../servers/core/turns/work-connection.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { historyHandlers } from "../../../servers/mqtt/inspector/history-actions.ts";
import { KeptMessages } from "../../../servers/mqtt/inspector/kept-messages.ts";
import { MessageRecord } from "../../../servers/mqtt/inspector/message-record.ts";
import { MessageRecorder, recorderLimits } from "../../../servers/mqtt/inspector/message-recorder.ts";
import { compareNatural } from "../../../servers/mqtt/inspector/natural-order.ts";
import type { TopicTree } from "../../../servers/mqtt/inspector/topic-tree.ts";
import { mqttConfig } from "../../../servers/mqtt/mqtt-config.ts";
import { createRecorded, type Row, recordOf } from "../../support/records.ts";
import { recordContext } from "./record-context.ts";

const limits = {
  recordedMessages: 1,
  recordedBytes: 1 << 20,
  recordedTopicMessages: 10,
  recordedTopicBytes: 1 << 20,
  topics: 100,
  topicTreeBytes: 1 << 20,
};
const recorded = createRecorded();
/** As it is now, with all that it has written so far. */
function written(record: MessageRecord) {
  recorded.add({ records: recordOf(record) });
  return { row: recorded.rows.get(record.id) as Row, detail: recorded.detail(record.id) };
}

function publishTo(kept: KeptMessages, id: number, topic: string, payload: Buffer): MessageRecord {
  const message = new Message({ topic, payload, qos: 1, retain: true });
  const node = kept.tree.count(message, 0);
  const record = new MessageRecord(id, topic, message, undefined, recordContext);
  kept.keep(record, node);
  return record;
}

const historyOf = (kept: KeptMessages, filter: string) =>
  resultOf(kept.history({ filter, text: "" }, { before: undefined, limit: 10, length: 1_000 })).records.map(({ id }) => id);

it("[MQTT-124] a message that has left the history uses little more memory than its row", () => {
  const kept = new KeptMessages(limits);
  const record = publishTo(kept, 1, "t", Buffer.alloc(100_000, "x"));
  for (let client = 0; client < 100; client++) record.delivered(`c${client}`, 1);
  expect(record.heldBytes).toBeGreaterThan(100_000);
  const { bytesIn, preview } = written(record).row;
  publishTo(kept, 2, "u", Buffer.alloc(0));
  publishTo(kept, 3, "v", Buffer.alloc(0));
  expect(kept.find(1)).toBeUndefined();
  expect(record.heldBytes).toBeLessThan(2_500);
  expect(written(record).row).toMatchObject({ bytesIn, preview });
  expect(written(record).detail).toMatchObject({ bytes: 100_000, delivered: 100, deliveries: expect.objectContaining({ length: 10 }) });
  for (let client = 0; client < 100; client++) record.delivered(`d${client}`, 1);
  expect(record.heldBytes).toBeLessThan(2_500);
});

it("[MQTT-124] a topic without a place in the tree is counted with its record", () => {
  const kept = new KeptMessages({ ...limits, topics: 1, recordedMessages: 10 }, () => true);
  const topic = "t".repeat(10_000);
  expect(publishTo(kept, 1, topic, Buffer.alloc(0)).countedBytes).toBeLessThan(1_000);
  expect(publishTo(kept, 2, `${topic}t`, Buffer.alloc(0)).countedBytes).toBeGreaterThan(10_000);
});

it("[MQTT-474] long identifiers of clients that have published or received a message count with its record, and its row has the start of one", () => {
  const kept = new KeptMessages({ ...limits, recordedMessages: 1_000 });
  const publishFrom = (number: number) => {
    const message = new Message({
      topic: "t",
      payload: Buffer.alloc(0),
      qos: 1,
      retain: false,
      publisherId: `${number}${"x".repeat(16_000)}`,
    });
    const record = new MessageRecord(number, "t", message, undefined, recordContext);
    kept.keep(record, kept.tree.count(message, 0));
    return record;
  };
  const first = publishFrom(1);
  expect(first.countedBytes).toBeGreaterThan(16_000);
  expect(written(first).row.client).toHaveLength(200);
  const { countedBytes } = first;
  for (let client = 0; client < 10; client++) first.delivered(`${client}${"y".repeat(16_000)}`, 1);
  kept.countAgain(first);
  expect(first.countedBytes - countedBytes).toBeGreaterThan(160_000);
  for (let number = 2; number < 500; number++) publishFrom(number);
  expect(kept.size).toBeLessThan(limits.recordedBytes / 16_000);
});

it("[MQTT-121] all levels below the 63rd share one row", () => {
  const { tree } = new KeptMessages(limits);
  const above = Array.from({ length: 63 }, (_, level) => String(level));
  for (const rest of ["a", "a/b", "/"]) {
    const topic = [...above, rest].join("/");
    expect(tree.count(new Message({ topic, payload: Buffer.alloc(0), qos: 0, retain: false }), 0)).toMatchObject({ name: rest, topic });
  }
});

it("[MQTT-155] a long topic is held once, and not again as bytes", () => {
  const fields = { payload: Buffer.alloc(0), qos: 0, retain: true } as const;
  const options = {
    v5: true,
    qos: 0,
    retain: true,
    subscriptionIds: undefined,
    expirySeconds: -1,
    topicAlias: 0,
    withTopic: true,
  } as const;
  for (const [topic, isHeld] of [
    ["t".repeat(65_535), false],
    ["t", true],
  ] as const) {
    const message = new Message({ ...fields, topic });
    message.topicBytes = Buffer.from(topic);
    message.routed();
    const bytes = Buffer.alloc(message.encodedLength(options));
    message.encodeInto(bytes, 0, options, 0, false);
    expect(bytes.includes(topic)).toBe(true);
    expect(message.topicBytes !== undefined).toBe(isHeld);
  }
});

it("[MQTT-236] a full tree drops the topic that was silent longest, unless it is retained; its messages are kept", () => {
  const kept = new KeptMessages({ ...limits, topics: 3, recordedMessages: 100 }, (topic) => topic === "a/retained");
  const topics = () =>
    resultOf(kept.tree.search("", { offset: 0, limit: 10 }, () => false)).nodes.map(({ topic, count }) => [topic, count]);
  let id = 0;
  const publish = (topic: string) => publishTo(kept, ++id, topic, Buffer.alloc(0));
  for (const topic of ["a/retained", "a/b", "c", "a/b", "d/e/f"]) publish(topic);
  expect(topics()).toEqual([
    ["a/b", 2],
    ["a/retained", 1],
    ["d/e/f", 1],
  ]);
  expect(kept.tree.uncounted).toBe(1);
  publish("c");
  expect(topics()).toEqual([
    ["a/retained", 1],
    ["c", 1],
    ["d/e/f", 1],
  ]);
  expect(kept.tree.children(undefined, { offset: 0, limit: 10 }, () => false).nodes.map(({ name, count }) => [name, count])).toEqual([
    ["a", 1],
    ["c", 1],
    ["d", 1],
  ]);
  expect(historyOf(kept, "c")).toEqual([6, 3]);
  expect(historyOf(kept, "a/b")).toEqual([4, 2]);
  expect(kept.tree.uncounted).toBe(3);
});

it("[MQTT-236] however many topics come and go, the tree stays within its bound and sorted", () => {
  const kept = new KeptMessages({ ...limits, topics: 50, topicTreeBytes: 30_000 });
  const page = { offset: 0, limit: 100 };
  for (let index = 0; index < 20_000; index++) {
    publishTo(kept, index + 1, `${index % 7}/${index % 13}/${index % 10_007}`, Buffer.alloc(0));
    if (index % 500 === 0) resultOf(kept.tree.search("", page, () => false));
  }
  expect(kept.tree.bytes).toBeLessThanOrEqual(30_000);
  const found = resultOf(kept.tree.search("", page, () => false)).nodes.map(({ topic }) => topic);
  expect(found).toEqual([...found].sort(compareNatural));
  expect(found).toHaveLength(kept.tree.size);
  const { nodes } = kept.tree.children(undefined, page, () => false);
  expect(nodes.reduce((sum, { count }) => sum + count, 0) + kept.tree.uncounted).toBe(20_000);
});

it("[MQTT-236] a very long topic is recorded but not in the tree", () => {
  const kept = new KeptMessages({ ...limits, recordedMessages: 10 });
  const topic = "t".repeat(20_000);
  publishTo(kept, 1, topic, Buffer.alloc(0));
  expect([kept.tree.size, kept.tree.uncounted]).toEqual([0, 1]);
  expect(historyOf(kept, topic)).toEqual([1]);
});

it("[MQTT-326] a search of the tree of topics looks at some of them in each step", () => {
  const kept = new KeptMessages({ ...limits, topics: 5_000, topicTreeBytes: 8 << 20 });
  for (let index = 0; index < 3_000; index++) publishTo(kept, index + 1, `some/${"long/".repeat(20)}${index}`, Buffer.alloc(0));
  const search = kept.tree.search("LONG/29", { offset: 0, limit: 10 }, () => false);
  let steps = 0;
  let step = search.next();
  for (; !step.done; step = search.next()) steps++;
  expect(steps).toBeGreaterThan(5);
  expect(step.value.matching).toBeGreaterThan(5);
});

describe("[MQTT-504] pages of the tree of topics", () => {
  const count = 60;
  const all = Array.from({ length: count }, (_, index) => String(index));
  const filled = (rest: string) => {
    const kept = new KeptMessages({ ...limits, topics: 1_000, topicTreeBytes: 32 << 20 });
    for (const name of all) publishTo(kept, Number(name) + 1, `top/${name} ${rest}`, Buffer.alloc(0));
    return kept.tree;
  };
  const waysToRead = {
    children: (tree: TopicTree, offset: number) => tree.children("top", { offset, limit: 1_000 }, () => true),
    search: (tree: TopicTree, offset: number) => resultOf(tree.search("top", { offset, limit: 1_000 }, () => true)),
    retained: (tree: TopicTree, offset: number) => resultOf(tree.search("top", { offset, limit: 1_000, retained: true }, () => true)),
  };

  it.each([
    ["children", "t".repeat(60_000)],
    ["search", "t".repeat(60_000)],
    ["retained", "\u20ac".repeat(16_000)],
    ["children", "\u0001".repeat(16_000)],
  ] as const)("have a bound of bytes, and go on behind their last topic: %s", (way, rest) => {
    const tree = filled(rest);
    const names: string[] = [];
    let pages = 0;
    for (let matching = 1; names.length < matching; pages++) {
      const page = waysToRead[way](tree, names.length);
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(600 << 10);
      names.push(...page.nodes.map(({ topic }) => topic.slice("top/".length).split(" ")[0] as string));
      ({ matching } = page);
    }
    expect(names).toEqual(all);
    expect(pages).toBeGreaterThan(5);
  });

  it("have at least one topic, and all that were asked for where they are short", () => {
    expect(waysToRead.children(filled("t".repeat(60_000)), count - 1).nodes).toHaveLength(1);
    expect(waysToRead.children(filled(""), 0).nodes).toHaveLength(count);
  });
});

describe("[MQTT-482] the messages of a history", () => {
  const count = 3_000;
  const fill = (topicOf: (index: number) => string) => {
    const most = { recordedMessages: count, recordedBytes: 64 << 20, recordedTopicMessages: count, recordedTopicBytes: 64 << 20 };
    const kept = new KeptMessages({ ...limits, ...most });
    for (let id = 1; id <= count; id++) publishTo(kept, id, topicOf(id), Buffer.from(`payload ${id}`));
    return kept;
  };

  it.each(["one/topic", "one/+", "other"])("are searched in steps: %s", (filter) => {
    const kept = fill(() => "one/topic");
    const search = kept.history({ filter, text: "payload 1" }, { before: 10, limit: 5, length: 1_000 });
    let steps = 0;
    let step = search.next();
    for (; !step.done; step = search.next()) steps++;
    expect(steps).toBeGreaterThan(3);
    expect(step.value.records.map(({ id }) => id)).toEqual(filter === "other" ? [] : [1]);
  });

  it.each(["one/topic", "#"])("are not found when they have left it between two steps, nor those that have come: %s", (filter) => {
    const kept = fill(() => "one/topic");
    const search = kept.history({ filter, text: "payload" }, { before: undefined, limit: count, length: 1 << 20 });
    search.next();
    for (let id = count + 1; id <= count + 1_000; id++) publishTo(kept, id, "one/topic", Buffer.from("payload"));
    const ids = resultOf(search).records.map(({ id }) => id);
    expect([ids[0], ids.at(-1), ids.length]).toEqual([count, 1_001, count - 1_000]);
  });

  it("are exported in steps, the oldest first", () => {
    const kept = fill((id) => `topic/${id % 7}`);
    const found = [...kept.between({ filter: "topic/3", text: "9" }, { from: 100, to: 2_000 })];
    expect(found.filter((record) => !record).length).toBeGreaterThan(3);
    const expected = Array.from({ length: 1_900 }, (_, index) => index + 101).filter((id) => id % 7 === 3 && String(id).includes("9"));
    expect(found.flatMap((record) => record?.id ?? [])).toEqual(expected);
  });

  /** What the page asks of a recorder that has got these. */
  function answersOf(messages: readonly Message[]) {
    const recorder = new MessageRecorder(
      { touch() {}, nextId: () => ++lastId } as unknown as TrafficSink,
      recorderLimits(mqttConfig.parse({})),
    );
    onTestFinished(() => recorder.close());
    for (const message of messages) recorder.published(message, undefined, undefined);
    let steps = 0;
    const inTurns = <Result>(work: Iterator<unknown, Result>) => {
      steps = 0;
      for (;;) {
        const { done, value } = work.next();
        if (done) return value;
        steps++;
      }
    };
    return { handlers: historyHandlers(recorder, () => false, inTurns), steps: () => steps };
  }

  it("are answered to the page over several turns of the event loop", async () => {
    const payload = Buffer.alloc(20_000, "x");
    const { handlers, steps } = answersOf(
      Array.from({ length: 100 }, () => new Message({ topic: "long", payload, qos: 0, retain: false })),
    );
    const page = await handlers["topic.history"]({ filter: "#", text: "y", withoutSample: false, limit: 100 });
    expect([page.messages, page.hasOlder, steps() > 20]).toEqual([[], false, true]);
    const part = await handlers["history.export"]({ filter: "#", text: "", withoutSample: false });
    expect([part.total, part.items, steps() > 5]).toEqual([100, 20, true]);
  });

  it("[MQTT-235] show what became of them in time, also where the clock is set back", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const touched: MessageRecord[] = [];
    const recorder = new MessageRecorder(
      { touch: (record: MessageRecord) => touched.push(record), nextId: () => ++lastId } as unknown as TrafficSink,
      recorderLimits(mqttConfig.parse({})),
    );
    onTestFinished(() => recorder.close());
    const message = new Message({ topic: "t", payload: Buffer.from("x"), qos: 1, retain: false });
    recorder.published(message, undefined, undefined);
    message.trace?.delivered("client", 1);
    recorder.routed(message);
    const record = message.trace as MessageRecord;
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(4_000);
    expect(record.open).toBe(true);
    vi.advanceTimersByTime(2_000);
    expect([record.open, touched.at(-1)]).toEqual([false, record]);
  });

  it("[MQTT-505] are put before newer ones in steps, and what comes meanwhile is behind both", async () => {
    let numbers = 0;
    const recorder = new MessageRecorder(
      { touch() {}, nextId: () => ++numbers } as unknown as TrafficSink,
      recorderLimits(mqttConfig.parse({ recordedPerSecond: 100_000 })),
    );
    onTestFinished(() => recorder.close());
    const sent: MessageRecord[] = [];
    const publish = (count: number) => {
      for (let left = count; left > 0; left--) {
        const message = new Message({ topic: `t/${sent.length % 700}`, payload: Buffer.from("x"), qos: 1, retain: false });
        recorder.published(message, undefined, undefined);
        sent.push(message.trace as MessageRecord);
      }
    };
    publish(3_000);
    const handlers = historyHandlers(recorder, () => false);
    expect(await handlers["history.clear"]({})).toEqual({ cleared: 3_000 });
    publish(3_000);
    let steps = 0;
    let asked: unknown;
    const restored = recorder.restore(async (work) => {
      for (let step = work.next(); ; step = work.next()) {
        if (step.done) return step.value;
        steps++;
        publish(1);
        for (const record of [sent[3_000], sent[5_999], sent.at(-1)]) {
          record?.delivered("client", 1);
          expect(recorder.find(record?.id ?? 0)).toBe(record);
        }
        asked ??= handlers["topic.history"]({ filter: "#", text: "", withoutSample: false, limit: 10 });
        await new Promise(setImmediate);
      }
    });
    expect(await restored).toBe(true);
    expect(steps).toBeGreaterThan(3);
    expect([recorder.kept, sent.length]).toEqual([6_000 + steps, 6_000 + steps]);
    expect([...recorder.history.between({ filter: "#", text: "" }, { from: 0, to: numbers })].filter((record) => record)).toEqual(sent);
    const { nodes } = await handlers["topic.children"]({ offset: 0, limit: 10 });
    expect(nodes).toMatchObject([{ name: "t", count: sent.length }]);
    const { messages } = (await asked) as MqttHistoryPage;
    expect(messages.map(({ id }) => id)).toEqual(
      sent
        .slice(-10)
        .map(({ id }) => id)
        .reverse(),
    );
    expect(sent[5_999]?.deliveredCount).toBe(steps);
  });

  it.each([
    ["topics", { topic: "t".repeat(60_000), publisherId: "client" }],
    ["identifiers", { topic: "topic", publisherId: "c".repeat(60_000) }],
  ])("[MQTT-484] are answered in pages that are shorter than asked for where their %s are long", async (_what, names) => {
    const { handlers } = answersOf(
      Array.from({ length: 100 }, () => new Message({ ...names, payload: Buffer.alloc(10), qos: 0, retain: false })),
    );
    const ids: number[] = [];
    let pages = 0;
    for (let hasOlder = true; hasOlder; pages++) {
      const before = ids.at(-1);
      const query = { filter: names.topic, text: "", withoutSample: false, limit: 1_000, ...(before !== undefined && { before }) };
      const page = await handlers["topic.history"](query);
      expect(JSON.stringify(page).length).toBeLessThan(700 << 10);
      ids.push(...page.messages.map(({ id }) => id));
      ({ hasOlder } = page);
    }
    expect([ids.length, new Set(ids).size, pages]).toEqual([100, 100, 12]);
  });
});
let lastId = 0;
