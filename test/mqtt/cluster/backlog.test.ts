import { expect, it } from "vitest";
import { Backlog } from "../../../servers/mqtt/cluster/backlog.ts";
import { decodeFrame } from "../../../servers/mqtt/cluster/frame.ts";
import { Outgoing } from "../../../servers/mqtt/cluster/outgoing.ts";
import { Pace } from "../../../servers/mqtt/cluster/pace.ts";
import { RedisSessionStore } from "../../../servers/mqtt/cluster/redis-session-store.ts";
import { Delivery } from "../../../servers/mqtt/engine/delivery/delivery.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { connectWire } from "../harness.ts";
import { describeCluster, kept, leave, openRedis, spawnMember, startMember } from "./cluster-harness.ts";

/** Of one broker that has nothing to send, but for what the test says. */
const openBacklog = (parts: Partial<ConstructorParameters<typeof Backlog>[0]>): Backlog =>
  new Backlog({
    sentBytes: () => 0,
    untakenBytes: () => 0,
    brokers: () => 1,
    isConnected: () => true,
    sentEntries: () => 0,
    mark: () => {},
    places: () => Promise.resolve([]),
    ...parts,
  });

it("[MQTT-248] publishers wait until every broker has read so much that there is room, and no longer than Redis is there", async () => {
  let positions = ["0-0", "0-0"];
  let connected = true;
  let sent = 0;
  const backlog = openBacklog({
    sentBytes: () => sent,
    brokers: () => 2,
    isConnected: () => connected,
    places: () => Promise.resolve(positions.map((id) => ({ id, room: undefined }))),
  });
  const resumed: string[] = [];
  for (let number = 1; number <= 6; number++) backlog.received(number % 2 === 0 ? `${number}-0` : "", 500_000, 1);
  expect(backlog.isAbove).toBe(false);
  sent = 1_000_000;
  expect(backlog.isAbove).toBe(true);
  backlog.whenBelow(() => resumed.push("first"));
  positions = ["9-0", "1-0"];
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect([resumed, backlog.isAbove]).toEqual([[], true]);
  positions = ["9-0", "2-0"];
  await expect.poll(() => resumed).toEqual(["first"]);
  expect(backlog.isAbove).toBe(false);
  sent = 4_000_000;
  backlog.whenBelow(() => resumed.push("second"));
  expect(resumed).toEqual(["first"]);
  connected = false;
  backlog.clear();
  expect([resumed, backlog.isAbove]).toEqual([["first", "second"], false]);
});

/** A broker that applies frames only when the test says so. */
function openAhead(brokers = 3) {
  let at = { id: "0-0", room: 100 as number | undefined };
  let sent = 0;
  const marks: string[] = [];
  const backlog = openBacklog({
    sentEntries: () => sent,
    brokers: () => brokers,
    mark: () => marks.push("mark"),
    places: () => Promise.resolve([{ id: "999-0", room: 5_000 }, at]),
  });
  let number = 0;
  /** Frames of one entry come back. */
  const receive = (count: number, isInJournal = true) => {
    for (let frame = 0; frame < count; frame++) backlog.received(isInJournal ? `${++number}-0` : "", 100, 1);
  };
  return {
    backlog,
    marks,
    receive,
    send: (entries: number) => {
      sent = entries;
    },
    apply: (id: string, room?: number) => {
      at = { id, room };
    },
    /** Until it has asked where the others are. */
    look: () => new Promise((resolve) => setTimeout(resolve, 40)),
    /** How many more may be sent. */
    left: () => {
      const before = sent;
      while (!backlog.isAbove && sent < 5_000) sent++;
      const left = sent - before;
      sent = before;
      return left;
    },
  };
}

it("[MQTT-521] publishers wait while there are more messages than each of the other brokers, as it says, has room for, all brokers together", async () => {
  const { backlog, receive, apply, look, left } = openAhead();
  const first = left();
  expect([first > 4, first < 100]).toEqual([true, true]);
  receive(first);
  expect(backlog.isAbove).toBe(true);
  let resumed = 0;
  backlog.whenBelow(() => resumed++);
  apply("0-0", 20);
  await look();
  expect([resumed, left()]).toEqual([0, 0]);
  // It applies few in the same time, and has applied all but 6.
  apply(`${first - 6}-0`, 20);
  await expect.poll(() => resumed).toBe(1);
  expect(left()).toBe(4);
  // Quick ones.
  backlog.whenBelow(() => resumed++);
  receive(4);
  apply(`${first + 4}-0`, 1_000);
  backlog.whenBelow(() => resumed++);
  await expect.poll(left).toBe(500);
  await expect.poll(() => resumed).toBe(3);
  backlog.clear();
});

it("[MQTT-521] a broker that joins has no room to tell of, and no more go on than there is room for", async () => {
  const { backlog, receive, apply, look, left, send } = openAhead(5);
  receive(left());
  apply("0-0", undefined);
  const resumed: number[] = [];
  backlog.whenBelow(() => resumed.push(0));
  await expect.poll(() => resumed.length).toBe(1);
  expect(left()).toBeGreaterThan(500);
  apply("999-0", 12);
  send(10_000);
  for (let number = 1; number <= 20; number++) backlog.whenBelow(() => resumed.push(number));
  await look();
  expect([resumed.length, left()]).toEqual([1, 0]);
  send(0);
  await expect.poll(() => resumed.length).toBeGreaterThan(1);
  expect(resumed.slice(0, 4)).toEqual([0, 1, 2, 3]);
  expect(left()).toBe(3);
  backlog.clear();
});

it("[MQTT-521] what is not in the journal is followed by a mark that is, once, before publishers wait for it", async () => {
  const { backlog, marks, receive, apply, look, left } = openAhead();
  const first = left();
  receive(first, false);
  apply("0-0", 60);
  await look();
  expect([marks.length, backlog.isAbove]).toEqual([1, true]);
  backlog.received("1-0", 20, 0);
  apply("1-0", 60);
  await expect.poll(left).toBe(30);
  expect(marks.length).toBe(1);
  backlog.clear();

  const outgoing = new Outgoing(() => {});
  const message = new Message({ topic: "t", payload: Buffer.alloc(0), qos: 0, retain: false });
  const add = () => outgoing.add({ type: "message", message, routed: true, kept: false });
  const sealed = () =>
    outgoing.seal("one", true).map(({ entries, durable, bytes }) => [entries.length, durable, decodeFrame(bytes).entries.length]);
  add();
  expect([outgoing.sentEntries, sealed(), outgoing.sentEntries]).toEqual([1, [[1, false, 1]], 1]);
  outgoing.mark();
  add();
  expect([sealed(), outgoing.sentEntries]).toEqual([
    [
      [1, false, 1],
      [0, true, 0],
    ],
    2,
  ]);
  expect(sealed()).toEqual([]);
  outgoing.mark();
  outgoing.add({ type: "dead", broker: "other" });
  expect(sealed()).toEqual([[1, true, 1]]);
  outgoing.echoed(9);
  expect(outgoing.sentEntries).toBe(0);
});

it("[MQTT-521] a broker has room for as much as it applies in a moment: soon for little when it takes long, and step by step for more", () => {
  let now = 0;
  const pace = new Pace(() => now);
  const apply = (frames: number, ms: number, entries = 1) => {
    for (let frame = 0; frame < frames; frame++) {
      now += ms;
      pace.applied(entries);
    }
    return pace.room;
  };
  const first = pace.room;
  // Time in which nothing is to be applied does not count.
  now += 10_000;
  pace.begin();
  expect(apply(Math.ceil(first / 64), 0.1, 64)).toBe(first * 2);
  apply(1_000, 0.1, 64);
  const most = pace.room;
  expect(most).toBeLessThan(5_000);
  // With the last quick ones.
  apply(1, 30);
  expect([apply(1, 30), apply(1, 30)]).toEqual([most / 4, most / 16]);
  const slow = apply(40, 10);
  expect([slow > 5, slow < 50]).toEqual([true, true]);
  const slowest = apply(10, 1_000);
  expect([slowest > 1, slowest < slow]).toEqual([true, true]);
  // What this broker has published is delivered already.
  expect(apply(1_000, 50, 0)).toBe(slowest);
  expect(apply(slowest, 0.1)).toBe(slowest * 2);
});

it("[MQTT-364] what sessions got counts until Redis has taken it, and its bytes end a turn of the event loop", () => {
  const ignored = () => {};
  const callbacks = { noted: ignored, commit: ignored, retainedChanged: ignored, retainedRemoved: ignored, retainedExpired: ignored };
  const store = new RedisSessionStore(callbacks);
  const queue = (clientId: string, message: Message) =>
    store.queued({ clientId, storedId: 0 }, new Delivery(message, 1, false, undefined, undefined));
  const large = () => new Message({ topic: "t", payload: Buffer.alloc(600_000), qos: 1, retain: false });
  const first = large();
  queue("a", first);
  queue("b", first);
  expect(store.hasMuchToCommit).toBe(false);
  queue("b", large());
  expect([store.hasMuchToCommit, store.heldBytes > 1_200_000]).toEqual([true, true]);
  expect([store.take("0-0").length, store.heldBytes, store.hasMuchToCommit]).toEqual([4, 0, false]);
  queue("a", large());
  queue("a", Object.assign(large(), { fromElsewhere: true }));
  queue("a", large());
  expect([Math.floor(store.heldBytes / 600_000), Math.floor(store.heldOfOthers / 600_000)]).toEqual([3, 1]);
  expect([store.take("0-0").length > 0, store.heldBytes, store.heldOfOthers]).toEqual([true, 0, 0]);

  let bytes = 200_000;
  const backlog = openBacklog({ untakenBytes: () => bytes });
  const resumed: string[] = [];
  backlog.whenBelow(() => resumed.push("one"));
  bytes = 0;
  backlog.taken();
  expect(resumed).toEqual(["one"]);
  backlog.clear();
});

it("[MQTT-470] those that have waited longest for Redis go on first, some at a time, so that it is known what they cause", async () => {
  let bytes = 1_000_000;
  const backlog = openBacklog({ untakenBytes: () => bytes });
  const resumed: number[] = [];
  for (let number = 0; number < 30; number++) backlog.whenBelow(() => resumed.push(number));
  bytes = 0;
  backlog.taken();
  const first = resumed.length;
  expect(first).toBeLessThan(15);
  bytes = 1_000_000;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(resumed.length).toBe(first);
  bytes = 0;
  backlog.taken();
  await expect.poll(() => resumed).toEqual(Array.from({ length: 30 }, (_, number) => number));
  backlog.clear();
});

describeCluster("a broker that takes long", (nextUrl) => {
  it("[MQTT-521] publishers are acknowledged few messages that it has not applied, of each QoS; then all come, in order", async () => {
    // A suspended broker must not count as dead.
    const config = { clusterTimeoutMs: 60_000 };
    const url = nextUrl();
    const [one, two] = [await startMember(url, config), await spawnMember(url, config)];
    const subscriber = await connectWire(two, 5);
    await subscriber.subscribe("many/#", { qos: 1 });
    const publisher = await connectWire(one, 5);
    const other = await connectWire(one, 5);
    const count = 1_000;
    two.child.kill("SIGSTOP");
    for (let number = 1; number <= count; number++) publisher.publish("many/1", String(number), { qos: 1, packetId: number });
    for (let number = 1; number <= count; number++) other.publish("many/0", String(number));
    other.send({ type: "pingreq" });
    await expect.poll(() => publisher.received.length).toBeGreaterThan(1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    // With the CONNACK.
    expect(publisher.received.length).toBeLessThan(100);
    expect(other.received.length).toBe(1);
    two.child.kill("SIGCONT");
    for (let number = 1; number <= count; number++) expect(await publisher.expect("puback")).toMatchObject({ packetId: number });
    await other.expect("pingresp");
    const came: Record<string, number> = { "many/0": 0, "many/1": 0 };
    for (let number = 0; number < 2 * count; number++) {
      const { topic, payload } = await subscriber.expect("publish");
      came[topic] = (came[topic] ?? 0) + 1;
      expect([topic, payload.toString()]).toEqual([topic, String(came[topic])]);
    }
    expect(came).toEqual({ "many/0": count, "many/1": count });
  });
});

describeCluster("sessions with large messages", (nextUrl) => {
  it("[MQTT-364] publishers wait while Redis has not taken what the sessions got", async () => {
    const url = nextUrl();
    const broker = await startMember(url, { clusterTimeoutMs: 20_000 });
    for (let number = 0; number < 20; number++) {
      const client = await connectWire(broker, 5, kept(`away ${number}`));
      await client.subscribe("t", { qos: 1 });
      await leave(client);
    }
    const redis = await openRedis(url);
    const publisher = await connectWire(broker, 5);
    await redis.client("PAUSE", 60_000, "WRITE");
    const payload = "x".repeat(900_000);
    for (let packetId = 1; packetId <= 12; packetId++) publisher.publish("t", payload, { qos: 1, packetId });
    const queued = async () => (await broker.act("client.read", { clientId: "away 0" }))?.queued ?? 0;
    await expect.poll(queued).toBeGreaterThan(0);
    for (let look = 0; look < 10; look++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await queued()).toBeLessThan(7);
    }
    await redis.client("UNPAUSE");
    for (let packetId = 1; packetId <= 12; packetId++) await publisher.expect("puback");
    expect(await queued()).toBe(12);
  });
});
