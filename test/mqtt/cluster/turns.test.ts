import { expect, it } from "vitest";
import { Arrears } from "../../../servers/mqtt/cluster/arrears.ts";
import { decodeFrame, type Entry, encodeFrame } from "../../../servers/mqtt/cluster/frame.ts";
import { Incoming } from "../../../servers/mqtt/cluster/incoming.ts";
import { MissedMessages } from "../../../servers/mqtt/cluster/missed-messages.ts";
import { Outgoing } from "../../../servers/mqtt/cluster/outgoing.ts";
import type { ReadSession } from "../../../servers/mqtt/cluster/session-fields.ts";
import { SharedTurns } from "../../../servers/mqtt/cluster/shared-turns.ts";
import type { Qos } from "../../../servers/mqtt/codec/packet.ts";
import { FlushScheduler } from "../../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { EngineCounters } from "../../../servers/mqtt/engine/engine-counters.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";

const entryOf = (topic: string, qos: Qos = 1) => ({
  type: "message" as const,
  message: new Message({ topic, payload: Buffer.alloc(0), qos, retain: false }),
  routed: true,
  kept: false,
});
const framesOf = (from: string, topics: readonly string[]) =>
  topics.map((topic, index) => ({ id: `${index + 1}-0`, frame: { from, seq: index + 1, entries: [entryOf(topic)], broken: 0 } }));

/** Each turn is over at once. */
function incomingInTurns(
  onEntry: (entry: Entry) => void,
  waitsForRedis = () => false,
  broadcasts = { isIdle: true, whenIdle: (act: () => void) => act() },
  arrears: ConstructorParameters<typeof Incoming>[0]["arrears"] = new Arrears({ brokers: () => 2, say: () => {} }),
) {
  let waiting: (() => void)[] = [];
  const incoming = new Incoming({
    onEntry,
    onFrame: () => {},
    onBroken: () => {},
    onFault: (error) => expect.unreachable(String(error)),
    kept: () => 0,
    waitsForRedis,
    scheduler: () => ({ isTurnOver: () => true, whenWritten: (resume) => void waiting.push(resume) }),
    broadcasts: () => broadcasts,
    arrears,
  });
  /** False if nothing waits. */
  const turn = () => {
    const resumed = waiting;
    waiting = [];
    for (const resume of resumed) resume();
    return resumed.length > 0;
  };
  return { incoming, turn };
}

it("[MQTT-307] frames of other brokers are applied in the turns of the clients, in order, and the position is that of the last one", () => {
  const taken: string[] = [];
  const { incoming, turn } = incomingInTurns((entry) => entry.type === "message" && taken.push(entry.message.topic));
  const frames = framesOf("other", ["1", "2", "3", "4"]).map(({ id, frame }) => ({ id, bytes: encodeFrame(frame) }));
  for (const { id, bytes } of frames) incoming.receive(id, bytes);
  expect(taken).toEqual([]);
  incoming.release();
  const states = [[taken.length, incoming.position]];
  while (turn()) states.push([taken.length, incoming.position]);
  expect(states).toEqual([1, 2, 3, 4].map((count) => [count, `${count}-0`]));
  expect(taken).toEqual(["1", "2", "3", "4"]);
});

it("[MQTT-520] frames that one read from Redis brings, and those that its answers let go on, wait for a turn that has time", () => {
  const taken: string[] = [];
  let isBehind = false;
  const onEntry = (entry: Entry) => entry.type === "message" && taken.push(entry.message.topic);
  const { incoming, turn } = incomingInTurns(onEntry, () => isBehind);
  const frames = framesOf("other", ["1", "2", "3", "4", "5"]).map(({ id, frame }) => ({ id, bytes: encodeFrame(frame) }));
  incoming.release();
  for (const { id, bytes } of frames.slice(0, 3)) incoming.receive(id, bytes);
  const states = [taken.length];
  while (turn()) states.push(taken.length);
  expect([states, incoming.position]).toEqual([[0, 1, 2, 3], "3-0"]);
  isBehind = true;
  for (const { id, bytes } of frames.slice(3)) incoming.receive(id, bytes);
  while (turn());
  isBehind = false;
  incoming.taken();
  expect(taken.length).toBe(3);
  while (turn());
  expect(taken).toEqual(["1", "2", "3", "4", "5"]);
});

it("[MQTT-463] messages of QoS 0 in one frame are applied in turns, each for all its receivers; the position and requests come after all of them", () => {
  const taken: string[] = [];
  const { incoming, turn } = incomingInTurns((entry) => taken.push(entry.type === "message" ? entry.message.topic : entry.type));
  const question = { type: "wanted" as const, to: "me", clientId: "c", cleanStart: false };
  const entries = [question, ...["1", "2", "3"].map((topic) => entryOf(topic, 0))];
  incoming.receive("1-0", encodeFrame({ from: "other", seq: 1, entries }));
  incoming.receive("2-0", encodeFrame({ from: "other", seq: 2, entries: ["4", "5"].map((topic) => entryOf(topic)) }));
  const states: (number | string)[][] = [];
  incoming.release();
  do states.push([taken.length, incoming.position]);
  while (turn());
  const [none, ...later] = states.map(([count, position]) => `${count} ${position}`);
  expect([none, later.at(-1)]).toEqual(["0 0-0", "6 2-0"]);
  expect(later).toEqual(["1 0-0", "2 0-0", "4 1-0", "6 2-0"]);
  expect(taken).toEqual(["1", "2", "3", "wanted", "4", "5"]);
});

it("[MQTT-463] a frame of which a part was applied when Redis was lost does not hold up those that come when it is back", () => {
  const taken: string[] = [];
  const { incoming, turn } = incomingInTurns((entry) => entry.type === "message" && taken.push(entry.message.topic));
  incoming.receive("1-0", encodeFrame({ from: "other", seq: 1, entries: ["1", "2"].map((topic) => entryOf(topic, 0)) }));
  incoming.release();
  incoming.lost();
  incoming.hold();
  incoming.receive("2-0", encodeFrame({ from: "other", seq: 2, entries: [entryOf("3")] }));
  incoming.release();
  while (turn());
  expect([taken, incoming.position]).toEqual([["1", "3"], "2-0"]);
});

it("[MQTT-470] frames of other brokers wait while Redis has not taken what sessions got of those before", () => {
  const taken: string[] = [];
  let isBehind = false;
  const onEntry = (entry: Entry) => {
    if (entry.type === "message") taken.push(entry.message.topic);
    isBehind = true;
  };
  const { incoming, turn } = incomingInTurns(onEntry, () => isBehind);
  const answer = () => {
    isBehind = false;
    incoming.taken();
    while (turn());
  };
  for (const { id, frame } of framesOf("other", ["1", "2", "3"])) incoming.receive(id, encodeFrame(frame));
  incoming.release();
  while (turn());
  const states = [[...taken]];
  for (let answers = 0; answers < 3; answers++) {
    answer();
    states.push([...taken]);
  }
  expect(states).toEqual([["1"], ["1", "2"], ["1", "2", "3"], ["1", "2", "3"]]);
  // Redis was lost, and is back.
  for (const { id, frame } of framesOf("third", ["4", "5"])) incoming.receive(`1${id}`, encodeFrame(frame));
  while (turn());
  incoming.lost();
  incoming.hold();
  isBehind = false;
  incoming.release();
  incoming.receive("20-0", encodeFrame({ from: "third", seq: 3, entries: [entryOf("6")] }));
  while (turn());
  expect(taken).toEqual(["1", "2", "3", "4", "6"]);
});

it("[MQTT-473] frames of other brokers wait while a message of one is delivered to thousands", () => {
  const taken: string[] = [];
  let waiting: (() => void)[] = [];
  const broadcasts = { isIdle: true, whenIdle: (act: () => void) => (broadcasts.isIdle ? act() : void waiting.push(act)) };
  const onEntry = (entry: Entry) => {
    taken.push(entry.type === "message" ? entry.message.topic : entry.type);
    broadcasts.isIdle = false;
  };
  const { incoming, turn } = incomingInTurns(onEntry, undefined, broadcasts);
  incoming.release();
  incoming.receive("", encodeFrame({ from: "other", seq: 1, entries: ["1", "2"].map((topic) => entryOf(topic, 0)) }));
  while (turn());
  incoming.receive("", encodeFrame({ from: "other", seq: 2, entries: [entryOf("3", 0)] }));
  while (turn());
  const states = [[...taken]];
  for (let count = 0; count < 3; count++) {
    broadcasts.isIdle = true;
    const acts = waiting;
    waiting = [];
    for (const act of acts) act();
    while (turn());
    states.push([...taken]);
  }
  expect(states).toEqual([["1"], ["1", "2"], ["1", "2", "3"], ["1", "2", "3"]]);
});

it("[MQTT-473] the position is that of a frame all of whose messages are delivered, and one of which a part was goes on where it was when Redis is back", async () => {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const broadcasts = { isIdle: true, whenIdle: (act: () => void) => (broadcasts.isIdle ? act() : void waiting.push(act)) };
  const onEntry = (entry: Entry) => {
    taken.push(entry.type === "message" ? entry.message.topic : entry.type);
    broadcasts.isIdle = false;
  };
  const { incoming, turn } = incomingInTurns(onEntry, undefined, broadcasts);
  const deliver = () => {
    broadcasts.isIdle = true;
    for (const act of waiting.splice(0)) act();
    while (turn());
  };
  incoming.release();
  const bytes = encodeFrame({ from: "other", seq: 1, entries: ["1", "2"].map((topic) => entryOf(topic)) });
  const between: string[] = [];
  incoming.receive("1-0", bytes);
  while (turn());
  void incoming.betweenFrames(() => between.push(incoming.position));
  expect([taken, incoming.position, between]).toEqual([["1"], "0-0", []]);
  deliver();
  expect([taken, incoming.position, between]).toEqual([["1", "2"], "0-0", []]);
  deliver();
  expect([incoming.position, between]).toEqual(["1-0", ["1-0"]]);

  const later = encodeFrame({ from: "other", seq: 2, entries: ["3", "4"].map((topic) => entryOf(topic)) });
  incoming.receive("2-0", later);
  while (turn());
  incoming.lost();
  incoming.hold();
  const read = incoming.take("2-0", later);
  expect([taken.at(-1), incoming.position]).toEqual(["3", "1-0"]);
  deliver();
  await expect.poll(() => taken.at(-1)).toBe("4");
  deliver();
  await read;
  expect([taken, incoming.position]).toEqual([["1", "2", "3", "4"], "2-0"]);
});

it("[MQTT-463] a frame has few messages that sessions keep, since it is applied at once with them, and many of QoS 0", () => {
  const outgoing = new Outgoing(() => {});
  const framesOfEntries = (qos: (index: number) => Qos) => {
    for (const index of Array.from({ length: 128 }).keys()) outgoing.add(entryOf(String(index), qos(index)));
    const frames = outgoing.seal("one", true).map(({ entries }) => entries);
    const topics = frames.flat().map((entry) => entry.type === "message" && entry.message.topic);
    expect(topics).toEqual(Array.from({ length: 128 }, (_, index) => String(index)));
    return frames;
  };
  expect(framesOfEntries(() => 0).length).toBe(2);
  for (const qos of [(): Qos => 1, (index: number): Qos => (index < 63 ? 0 : 2), (index: number) => (index % 2) as Qos]) {
    const kept = framesOfEntries(qos).filter((entries) => entries.some((entry) => entry.type === "message" && entry.message.qos > 0));
    expect(Math.max(...kept.map(({ length }) => length))).toBe(2);
  }
});

it("[MQTT-307] the messages of a tick are sent in frames that take little time each", () => {
  const outgoing = new Outgoing(() => {});
  for (const index of Array.from({ length: 1_000 }).keys()) outgoing.add(entryOf(String(index)));
  const frames = outgoing.seal("one", true);
  expect(frames.length).toBeGreaterThan(10);
  expect(frames.flatMap(({ entries }) => entries.map((entry) => entry.type === "message" && entry.message.topic))).toEqual(
    Array.from({ length: 1_000 }, (_, index) => String(index)),
  );
});

const queue = { queueMessages: 100, queueBytes: 1_000_000, queuePolicy: "drop newest" as const };
const stepsOf = (steps: Iterator<undefined>) => {
  let count = 0;
  while (!steps.next().done) count++;
  return count;
};
/** Sessions with these filters, and the places at which their states are. */
function missedOf(
  limits: ConstructorParameters<typeof MissedMessages>[0],
  sessions: Record<string, readonly [filter: string, at: string, qos?: Qos]>,
) {
  const missed = new MissedMessages(limits);
  for (const [clientId, [filter, id, qos = 1]] of Object.entries(sessions)) {
    const options = { qos, noLocal: false, retainAsPublished: false, retainHandling: 0 as const, identifier: 0 };
    const session = { clientId, subscriptions: [{ filter, options, storedId: 0 }] } as unknown as ReadSession["session"];
    stepsOf(missed.add({ session, at: { id, from: "mine", seq: 1 }, ahead: undefined }));
  }
  const topicsOf = (clientId: string) => missed.takeOf(clientId, []).messages.map(({ message }) => message.topic);
  return { missed, topicsOf };
}

it("[MQTT-307] what sessions missed is found in steps, each frame once, from where the state of each ends, with what is applied meanwhile", () => {
  const { missed, topicsOf } = missedOf(queue, { one: ["a/+", "1-0"], other: ["#", "3-0"], late: ["a/+", "4-0"], none: ["#", "1-0", 0] });
  expect(missed.places).toEqual({ earliest: "1-0", latest: "4-0" });
  const frames = framesOf("other", ["a/1", "a/2", "b/3", "a/4", "a/5", "a/6"]);
  const own = framesOf("mine", ["a/mine"]).map((frame) => ({ ...frame, id: "2-1" }));
  expect(stepsOf(missed.read(frames[0] as (typeof frames)[number]))).toBeGreaterThan(0);
  for (const frame of [...frames.slice(0, 2), ...own, ...frames.slice(1, 3)]) stepsOf(missed.read(frame));
  missed.applied(frames[4] as (typeof frames)[number]);
  stepsOf(missed.read(frames[3] as (typeof frames)[number]));
  expect(topicsOf("one")).toEqual(["a/2", "a/4", "a/5"]);
  missed.applied(frames[5] as (typeof frames)[number]);
  expect(["one", "other", "late", "none"].map(topicsOf)).toEqual([[], ["a/4", "a/5", "a/6"], ["a/5", "a/6"], []]);
});

it("[MQTT-473] of a message for thousands each session misses what it has not got, as its own place says; what comes back from the journal is not known by its number", () => {
  const missed = new MissedMessages(queue);
  const add = (clientId: string, ahead?: { id: string; index: number }) => {
    const options = { qos: 1 as const, noLocal: false, retainAsPublished: false, retainHandling: 0 as const, identifier: 0 };
    const session = { clientId, subscriptions: [{ filter: "#", options, storedId: 0 }] } as unknown as ReadSession["session"];
    stepsOf(missed.add({ session, at: { id: "1-0", from: "mine", seq: 9 }, ahead }));
  };
  add("none");
  add("first", { id: "2-0", index: 0 });
  add("both", { id: "2-0", index: 1 });
  add("later", { id: "3-0", index: 0 });
  const back = entryOf("mine, back");
  back.message.comesBack = true;
  const frames = [
    { id: "2-0", frame: { from: "other", seq: 1, entries: [entryOf("1"), entryOf("2")], broken: 0 } },
    { id: "3-0", frame: { from: "mine", seq: 8, entries: [back], broken: 0 } },
    { id: "4-0", frame: { from: "mine", seq: 9, entries: [entryOf("mine")], broken: 0 } },
  ];
  for (const frame of frames) stepsOf(missed.read(frame));
  const topicsOf = (clientId: string) => missed.takeOf(clientId, []).messages.map(({ message }) => message.topic);
  expect(["none", "first", "both", "later"].map(topicsOf)).toEqual([["1", "2", "mine, back"], ["2", "mine, back"], ["mine, back"], []]);
  expect(decodeFrame(encodeFrame({ from: "mine", seq: 1, entries: [back, entryOf("mine")] })).entries).toMatchObject([
    { message: { comesBack: true } },
    { message: { comesBack: false } },
  ]);
});

it("[MQTT-472] of what sessions missed no more is kept than their queues have room for, and the rest counts as dropped", () => {
  const frames = framesOf(
    "other",
    Array.from({ length: 50 }, (_, index) => String(index)),
  );
  const kept = (limits: Partial<typeof queue> | { queuePolicy: "drop oldest"; queueMessages: number }) => {
    const { missed } = missedOf({ ...queue, ...limits }, { a: ["#", "0-1"], b: ["+", "0-1"] });
    for (const frame of frames) stepsOf(missed.read(frame));
    const { messages, dropped } = missed.takeOf("a", []);
    expect(missed.takeOf("b", []).messages).toEqual(messages);
    return [messages.length, dropped, messages.at(0)?.message.topic, messages.at(-1)?.message.topic];
  };
  expect(kept({})).toEqual([50, 0, "0", "49"]);
  expect(kept({ queueMessages: 20 })).toEqual([20, 30, "0", "19"]);
  expect(kept({ queueMessages: 20, queuePolicy: "drop oldest" })).toEqual([20, 30, "30", "49"]);
  expect(kept({ queueMessages: 0, queuePolicy: "drop oldest" })).toEqual([0, 50, undefined, undefined]);
});

it("[MQTT-356] without Redis few short messages are kept for other brokers, as their memory counts, and all that were are sent under a new name", () => {
  const outgoing = new Outgoing(() => {});
  let count = 0;
  while (outgoing.takeUnshared() === 0 && count < 100_000) {
    const message = new Message({ topic: String(count++), payload: Buffer.from("x"), qos: 1, retain: false });
    outgoing.add({ type: "message", message, routed: true, kept: false });
    outgoing.seal("one", false);
  }
  expect(count).toBeLessThan(40_000);
  outgoing.renew("new", 1_000);
  expect(outgoing.waiting.map(({ seq }) => seq)).toEqual(Array.from({ length: count - 1_001 }, (_, index) => index + 1));
  outgoing.echoed(count);
  expect([outgoing.waiting.length, outgoing.sentBytes]).toEqual([0, 0]);
});

it("[MQTT-445] a message that is handed on for many groups is sent once for each thousand of them", () => {
  const outgoing = new Outgoing(() => {});
  const messageOf = (topic: string) => new Message({ topic, payload: Buffer.alloc(10_000), qos: 1, retain: false });
  const [first, second] = [messageOf("first"), messageOf("second")];
  for (let group = 0; group < 2_500; group++) for (const to of ["one", "other"]) outgoing.handOn(to, `$share/${group}/t`, first);
  outgoing.handOn("one", "$share/1/t", second);
  outgoing.handOn("one", "$share/2/t", first);
  const frames = outgoing.seal("mine", true);
  expect(frames.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(200_000);
  const entries = frames.flatMap(({ bytes }) => decodeFrame(bytes).entries);
  const toOne = entries.flatMap((entry) => (entry.type === "handed on" && entry.to === "one" ? [entry] : []));
  expect(toOne.map(({ groups, message }) => [message.topic, groups.length])).toEqual([
    ["first", 1_000],
    ["first", 1_000],
    ["first", 500],
    ["second", 1],
    ["first", 1],
  ]);
  expect(toOne.flatMap(({ groups }) => groups).length).toBe(2_502);
});

it("[MQTT-356] without Redis messages that no member can take are kept as a queue keeps them, in messages and in bytes; others count as dropped", () => {
  const dropped: string[] = [];
  const counters = new EngineCounters();
  const handedOn: string[] = [];
  const parts = {
    isConnected: false,
    brokerId: "one",
    engine: {
      groups: new Map(),
      limits: { queueMessages: 30, queueBytes: 1_000_000 },
      counters,
      observer: { dropped: (group: string, why: string) => dropped.push(`${group} ${why}`) },
    },
    registry: { hasConnected: () => true, pick: () => "other" },
    outgoing: { handOn: (_to: string, group: string) => handedOn.push(group) },
  };
  const turns = new SharedTurns(parts as never, {} as never);
  const deliverAll = (bytes: number) => {
    const message = () => new Message({ topic: "t", payload: Buffer.alloc(bytes), qos: 1, retain: false });
    for (let group = 0; group < 100; group++) turns.deliver(`$share/${group}/t`, message());
    parts.isConnected = true;
    turns.deliverDeferred();
    parts.isConnected = false;
    return handedOn.splice(0).length;
  };
  expect([deliverAll(100_000), deliverAll(10), deliverAll(100_000)]).toEqual([10, 30, 10]);
  expect([counters.droppedInAll, dropped.length, dropped[0]]).toEqual([250, 250, "$share/10/t queue full"]);
});

it("[MQTT-446] long work of the broker itself, as for the sessions of a dead one, comes after clients that wait", async () => {
  const scheduler = new FlushScheduler();
  const order: string[] = [];
  const work = scheduler.nextTurn().then(() => order.push("work"));
  for (const client of ["one", "other"]) scheduler.whenWritten(() => order.push(client));
  await work;
  expect(order).toEqual(["one", "other", "work"]);
});
