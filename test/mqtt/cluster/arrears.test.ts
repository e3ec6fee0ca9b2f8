import { expect, it, onTestFinished, vi } from "vitest";
import { Arrears, readSaying, saying } from "../../../servers/mqtt/cluster/arrears.ts";
import { Backlog } from "../../../servers/mqtt/cluster/backlog.ts";
import { type Entry, encodeFrame, senderOf } from "../../../servers/mqtt/cluster/frame.ts";
import { Incoming } from "../../../servers/mqtt/cluster/incoming.ts";
import type { Qos } from "../../../servers/mqtt/codec/packet.ts";
import { TurnShare } from "../../../servers/mqtt/engine/connection/turn-share.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { stepsOfRouting } from "../../../servers/mqtt/engine/routing/route-message.ts";
import { connectWire } from "../harness.ts";
import { describeCluster, Inbox, openRedis, startPair } from "./cluster-harness.ts";

/** What is said to the others, and when. */
function openArrears(brokers = 2) {
  const said: string[] = [];
  let now = 0;
  const arrears = new Arrears({
    brokers: () => brokers,
    say: (to, isBehind) => said.push(saying(to, isBehind)),
    now: () => now,
  });
  return {
    arrears,
    /** What was said meanwhile. */
    take: () => said.splice(0),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

it("[MQTT-521] a broker tells the one that sent them when its messages are for too many sessions here, again while they are, and when there is room", () => {
  const { arrears, take, pass } = openArrears();
  const receive = (count: number) => {
    for (let frame = 0; frame < count; frame++) arrears.received("one", 100);
  };
  const apply = (count: number) => {
    for (let frame = 0; frame < count; frame++) arrears.applied("one", 100, 999);
  };
  receive(10);
  apply(1);
  expect(take()).toEqual([]);
  receive(30);
  expect(take()).toEqual(["behind one"]);
  receive(30);
  pass(1_000);
  apply(1);
  expect(take()).toEqual(["behind one"]);
  pass(100);
  apply(30);
  expect(take()).toEqual([]);
  apply(35);
  expect(take()).toEqual(["ready one"]);
  apply(3);
  receive(15);
  expect(take()).toEqual([]);
  // Redis is lost.
  receive(1_000);
  arrears.clear();
  arrears.received("one", 100);
  expect(take()).toEqual(["behind one"]);
});

it("[MQTT-521] messages for one session are bounded by their bytes only, each of the others has its part of the work, and those that were gone are forgotten", () => {
  const { arrears, take } = openArrears(5);
  for (let frame = 0; frame < 50_000; frame++) arrears.received("ordinary", 60);
  for (let frame = 0; frame < 100; frame++) arrears.applied("ordinary", 60, 0);
  expect(take()).toEqual([]);
  for (const from of ["other", "third"]) {
    arrears.received(from, 100);
    arrears.applied(from, 100, 999);
    for (let frame = 0; frame < 10; frame++) arrears.received(from, 100);
  }
  expect(take()).toEqual(["behind other", "behind third"]);
  // A rare message for many among those for one.
  arrears.applied("ordinary", 60, 999);
  take();
  for (let frame = 0; frame < 200; frame++) arrears.applied("ordinary", 60, 0);
  expect(take()).toEqual(["ready ordinary"]);
  for (let broker = 0; broker < 10_000; broker++) {
    arrears.received(`gone ${broker}`, 100);
    arrears.applied(`gone ${broker}`, 100, 0);
  }
  expect((arrears as unknown as { accounts: Map<string, unknown> }).accounts.size).toBeLessThan(100);
});

it("[MQTT-521] what one broker says to another is known from anything else, and the sender of a frame is known before it is decoded", () => {
  for (const isBehind of [true, false]) expect(readSaying(saying("0a1b2c3d", isBehind))).toEqual({ broker: "0a1b2c3d", isBehind });
  for (const text of ["", "behind", "behind ", "other one", "behind one two"]) expect(readSaying(text)).toBeUndefined();
  expect(senderOf(encodeFrame({ from: "0a1b2c3d", seq: 7, entries: [] }))).toBe("0a1b2c3d");
  for (const bytes of [Buffer.alloc(0), Buffer.from([1, 0]), Buffer.from([1, 255, 255, 65])])
    expect(senderOf(bytes).length).toBeLessThan(2);
});

it("[MQTT-521] publishers wait while another broker is behind, no longer than it says so, and for some time less may be on the way", () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  let sent = 0;
  const backlog = new Backlog({
    sentBytes: () => sent,
    untakenBytes: () => 0,
    brokers: () => 2,
    isConnected: () => true,
    positions: () => Promise.resolve([]),
  });
  const resumed: string[] = [];
  sent = 500_000;
  expect(backlog.isAbove).toBe(false);
  sent = 0;
  backlog.told("other", true);
  backlog.told("third", true);
  backlog.whenBelow(() => resumed.push("first"));
  backlog.told("third", false);
  expect([backlog.isAbove, resumed]).toEqual([true, []]);
  backlog.told("other", false);
  expect([backlog.isAbove, resumed]).toEqual([false, ["first"]]);
  backlog.told("other", true);
  backlog.whenBelow(() => resumed.push("second"));
  vi.advanceTimersByTime(1_000);
  expect(resumed).toEqual(["first"]);
  backlog.told("other", true);
  vi.advanceTimersByTime(1_500);
  expect(backlog.isAbove).toBe(true);
  vi.advanceTimersByTime(1_000);
  expect(backlog.isAbove).toBe(false);
  sent = 500_000;
  expect(backlog.isAbove).toBe(true);
  sent = 10_000;
  expect(backlog.isAbove).toBe(false);
  sent = 500_000;
  vi.advanceTimersByTime(60_000);
  expect(backlog.isAbove).toBe(false);
  backlog.told("other", true);
  backlog.clear();
  sent = 0;
  expect(backlog.isAbove).toBe(false);
});

it("[MQTT-521] deliveries count message by message, while their frame is applied; all its bytes count once, also if it fails or was read from the journal", async () => {
  const counted: [from: string, bytes: number, deliveries: number][] = [];
  let received = 0;
  const waiting: (() => void)[] = [];
  const broadcasts = { isIdle: true, whenIdle: (act: () => void) => act() };
  const entryOf = (topic: string, qos: Qos = 0): Entry => {
    const message = new Message({ topic, payload: Buffer.alloc(0), qos, retain: false });
    return { type: "message", message, routed: true, kept: false };
  };
  const faults: string[] = [];
  const incoming = new Incoming({
    onEntry: (entry) => {
      if (entry.type !== "message") return;
      if (entry.message.topic.endsWith("bad")) throw new Error("bad");
      entry.message.matched = Number(entry.message.topic);
    },
    onFrame: () => {},
    onBroken: () => {},
    onFault: (error) => faults.push(String(error)),
    kept: () => 0,
    waitsForRedis: () => false,
    scheduler: () => ({ isTurnOver: () => true, whenWritten: (resume) => void waiting.push(resume) }),
    broadcasts: () => broadcasts,
    arrears: {
      received: (_from, bytes) => {
        received += bytes;
      },
      applied: (from, bytes, deliveries) => counted.push([from, bytes, deliveries]),
      clear: () => {},
    },
  });
  /** What counts in each of some turns: the bytes in parts of a quarter of the frame. */
  const turns = (count: number, quarter: number) =>
    Array.from({ length: count }, () => {
      for (const resume of waiting.splice(0)) resume();
      return counted.splice(0).map(([from, bytes, deliveries]) => [from, Math.round(bytes / quarter), deliveries]);
    });
  const frameOf = (seq: number, topics: readonly string[]) =>
    encodeFrame({ from: "one", seq, entries: topics.map((topic) => entryOf(topic.padStart(4, "0"))) });
  const frame = frameOf(1, ["1", "1000", "500", "1"]);
  const quarter = frame.length / 4;
  incoming.release();
  incoming.receive("", frame);
  expect(turns(4, quarter)).toEqual([
    [],
    [],
    [["one", 2, 999]],
    [
      ["one", 1, 499],
      ["one", 1, 0],
    ],
  ]);
  incoming.receive("", frameOf(2, ["10", "bad", "10", "10"]));
  expect([turns(3, quarter).flat(), faults]).toEqual([
    [
      ["one", 1, 9],
      ["one", 3, 0],
    ],
    ["Error: bad"],
  ]);
  incoming.hold();
  await incoming.take("7-0", frameOf(3, ["1", "1", "1", "100"]));
  expect([turns(1, quarter), received]).toEqual([
    [
      [
        ["one", 4, 99],
        ["one", 0, 0],
      ],
    ],
    3 * frame.length,
  ]);
});

it("[MQTT-522] the choice of a broker for each of thousands of shared groups counts as deliveries, after which the turn is asked", () => {
  let asked = 0;
  const scheduler = {
    isTurnOver: () => {
      asked++;
      return true;
    },
  };
  const parts = { scheduler, cluster: undefined, now: () => 0 };
  const endsWith = (groups: number, steps = 0) => {
    const message = new Message({ topic: "t", payload: Buffer.alloc(0), qos: 1, retain: false });
    message.groups = new Map(Array.from({ length: groups }, (_, group) => [`$share/${group}/t`, "other"]));
    const turn = new TurnShare(parts as never, {} as never);
    turn.routed(Object.assign(message, { answerSteps: steps }));
    return [turn.endsWithStep(), turn.didMuch, stepsOfRouting(message)];
  };
  expect(endsWith(50)).toEqual([false, false, 50]);
  expect(asked).toBe(0);
  expect(endsWith(50, 100)).toEqual([true, false, 50]);
  expect(endsWith(200)).toEqual([true, false, 200]);
  expect(endsWith(5_000)).toEqual([true, true, 5_000]);
  expect(asked).toBe(3);
});

describeCluster("messages for many sessions of another broker", (nextUrl) => {
  it("[MQTT-521] that broker says that it is behind, and later that it is not, and all come in order; of messages for one it says nothing", async () => {
    const url = nextUrl();
    const [one, two] = await startPair(url);
    const redis = await openRedis(url);
    const said: string[] = [];
    redis.on("pmessage", (_pattern: string, _channel: string, text: string) => said.push(text.split(" ")[0] as string));
    await redis.psubscribe(`backlot:mqtt:${new URL(url).pathname.slice(1)}:*`);
    const inboxes = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const client = await connectWire(two, 5);
        await client.subscribe("many", { qos: 0 });
        return new Inbox(client);
      }),
    );
    const subscriber = await connectWire(two, 5);
    await subscriber.subscribe("single", { qos: 0 });
    const single = new Inbox(subscriber);
    const publisher = await connectWire(one, 5);
    const numbers = Array.from({ length: 600 }, (_, number) => String(number));
    for (const number of numbers) publisher.publish("single", number);
    await expect.poll(() => single.messages.length).toBe(numbers.length);
    expect(said).toEqual([]);
    for (const number of numbers) publisher.publish("many", number);
    publisher.publish("single", "last");
    await expect.poll(() => single.messages.length, { timeout: 20_000 }).toBe(numbers.length + 1);
    await expect.poll(() => inboxes.every(({ messages }) => messages.length === numbers.length), { timeout: 20_000 }).toBe(true);
    for (const { payloads } of inboxes) expect(payloads).toEqual(numbers);
    await expect.poll(() => said.at(-1)).toBe("ready");
    expect(said[0]).toBe("behind");
  });
});
