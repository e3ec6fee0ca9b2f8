import { expect, it } from "vitest";
import { Backlog } from "../../../servers/mqtt/cluster/backlog.ts";
import { RedisSessionStore } from "../../../servers/mqtt/cluster/redis-session-store.ts";
import { Delivery } from "../../../servers/mqtt/engine/delivery/delivery.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { connectWire } from "../harness.ts";
import { describeCluster, kept, leave, openRedis, startMember } from "./cluster-harness.ts";

/** Of one broker that has nothing to send, but for what the test says. */
const openBacklog = (parts: Partial<ConstructorParameters<typeof Backlog>[0]>): Backlog =>
  new Backlog({
    sentBytes: () => 0,
    untakenBytes: () => 0,
    brokers: () => 1,
    isConnected: () => true,
    positions: () => Promise.resolve([]),
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
    positions: () => Promise.resolve(positions),
  });
  const resumed: string[] = [];
  for (let number = 1; number <= 6; number++) backlog.received({ id: number % 2 === 0 ? `${number}-0` : "" }, 500_000);
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
  expect([store.take("0-0").length, store.heldBytes, store.hasMuchToCommit]).toEqual([3, 0, false]);
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
