import { describe, expect, it } from "vitest";
import { type Broker, connectWire, seen, startBroker, versions, type WireClient } from "./harness.ts";

/** Payloads that reach the client until a ping is answered. */
async function drain(client: WireClient): Promise<string[]> {
  client.send({ type: "pingreq" });
  const got: string[] = [];
  for (let packet = await client.next(); packet && packet.type !== "pingresp"; packet = await client.next()) {
    if (packet.type === "publish") got.push(packet.payload.toString());
  }
  return got;
}

const matches: readonly (readonly [filter: string, topic: string, matches: boolean])[] = [
  ["sport/tennis/player1/#", "sport/tennis/player1", true],
  ["sport/tennis/player1/#", "sport/tennis/player1/ranking", true],
  ["sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", true],
  ["sport/#", "sport", true],
  ["sport/tennis/+", "sport/tennis/player1", true],
  ["sport/tennis/+", "sport/tennis/player1/ranking", false],
  ["sport/+", "sport", false],
  ["sport/+", "sport/", true],
  ["+", "finance", true],
  ["+", "/finance", false],
  ["/+", "/finance", true],
  ["+/+", "/finance", true],
  ["+/tennis/#", "sport/tennis/x", true],
  ["sport/+/player1", "sport/tennis/player1", true],
  ["#", "anything/at/all", true],
  ["#", "$SYSTEM/x", false],
  ["+/monitor", "$SYSTEM/monitor", false],
  ["$SYSTEM/#", "$SYSTEM/x", true],
  ["$SYSTEM/monitor/+", "$SYSTEM/monitor/x", true],
  ["a//b", "a//b", true],
  ["a/+/b", "a//b", true],
  ["Accounts", "ACCOUNTS", false],
  ["/a", "a", false],
  ["a b/ü", "a b/ü", true],
];

describe("subscriptions", () => {
  it("[MQTT-70] filters match topics as in §4.7", async () => {
    const broker = await startBroker();
    for (const [filter, topic, expected] of matches) {
      const client = await connectWire(broker, 5);
      await client.subscribe(filter);
      client.publish(topic, "x");
      expect([filter, topic, (await drain(client)).length === 1]).toEqual([filter, topic, expected]);
      client.destroy();
    }
  });

  it.each(versions)("[MQTT-71] grants each filter of a SUBSCRIBE in order, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    const request = (filter: string, qos: 0 | 1 | 2) => ({
      filter,
      qos,
      noLocal: false,
      retainAsPublished: false,
      retainHandling: 0 as const,
    });
    client.send({ type: "subscribe", packetId: 5, subscriptions: [request("a", 2), request("b", 0), request("c", 1)] });
    expect(await client.expect("suback")).toMatchObject({ packetId: 5, reasons: [2, 0, 1] });
  });

  it.each(versions)("[MQTT-72] a second subscription to the same filter replaces the first, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    await client.subscribe("a", { qos: 0 });
    await client.subscribe("a", { qos: 1 });
    await broker.act("publish", { topic: "a", qos: 2, payload: "x" });
    expect(seen(await client.expect("publish")).qos).toBe(1);
    await client.expectNothing();
  });

  it.each(versions)("[MQTT-73] overlapping subscriptions get a message once, at the highest QoS, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    await client.subscribe("a/#", { qos: 0 });
    await client.subscribe("a/+", { qos: 2 });
    await client.subscribe("a/b", { qos: 1 });
    await broker.act("publish", { topic: "a/b", qos: 2, payload: "x" });
    expect(seen(await client.expect("publish")).qos).toBe(2);
    await client.expectNothing();
  });

  it("[MQTT-74] a message has the identifiers of all subscriptions that match", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("a/#", {}, { subscriptionIdentifiers: [7] });
    await client.subscribe("a/b", { qos: 1 }, { subscriptionIdentifiers: [268_435_455] });
    client.publish("a/b", "x").publish("a/c", "y");
    const both = await client.expect("publish");
    expect(new Set(both.properties?.subscriptionIdentifiers)).toEqual(new Set([7, 268_435_455]));
    expect((await client.expect("publish")).properties?.subscriptionIdentifiers).toEqual([7]);
  });

  it("[MQTT-74] a retained message has the identifier of its subscription", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.publish("a", "x", { retain: true });
    await client.subscribe("a", {}, { subscriptionIdentifiers: [3] });
    expect((await client.expect("publish")).properties?.subscriptionIdentifiers).toEqual([3]);
  });

  it("[MQTT-75] no local excludes a client's own messages", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("a", { noLocal: true });
    client.publish("a", "own", { qos: 1, packetId: 1 });
    expect(await client.expect("puback")).toMatchObject({ reason: 0x10 });
    await broker.act("publish", { topic: "a", payload: "other" });
    expect(seen(await client.expect("publish")).payload).toBe("other");
  });

  it("[MQTT-75] no local excludes the client's own retained messages", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.publish("a/own", "own", { retain: true });
    await broker.act("publish", { topic: "a/other", payload: "other", retain: true });
    await client.subscribe("a/#", { noLocal: true });
    expect(seen(await client.expect("publish"))).toMatchObject({ payload: "other", retain: true });
    await client.expectNothing();
    await client.subscribe("a/#");
    await client.expect("publish");
    await client.expect("publish");
  });

  it("[MQTT-76] UNSUBSCRIBE compares filters literally, and exchanges in progress are completed", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("a/+", { qos: 2 });
    for (const qos of [1, 2] as const) await broker.act("publish", { topic: "a/b", qos, payload: String(qos) });
    const one = await client.expect("publish");
    const two = await client.expect("publish");
    client.send({ type: "unsubscribe", packetId: 2, filters: ["a/b", "a/#", "a/+"] });
    expect(await client.expect("unsuback")).toMatchObject({ reasons: [0x11, 0x11, 0] });
    client.send({ type: "puback", packetId: one.packetId, reason: 0 });
    client.send({ type: "pubrec", packetId: two.packetId, reason: 0 });
    expect(await client.expect("pubrel")).toMatchObject({ packetId: two.packetId });
    client.send({ type: "pubcomp", packetId: two.packetId, reason: 0 });
    await broker.act("publish", { topic: "a/b", qos: 1 });
    await client.expectNothing();
    expect(await broker.act("client.read", { clientId: "c" })).toMatchObject({ inflight: 0 });
  });

  it("[MQTT-76] UNSUBSCRIBE ends a subscription and returns 0x11 if there was none", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("a");
    client.send({ type: "unsubscribe", packetId: 2, filters: ["a", "b", "$share/g/a"] });
    expect(await client.expect("unsuback")).toMatchObject({ packetId: 2, reasons: [0, 0x11, 0x11] });
    client.publish("a", "x");
    await client.expectNothing();
    const three = await connectWire(broker, 4);
    three.send({ type: "unsubscribe", packetId: 3, filters: ["a"] });
    expect(await three.expect("unsuback")).toMatchObject({ packetId: 3, reasons: [] });
  });
});

async function group(broker: Broker, size: number, qos: 0 | 1 | 2 = 1) {
  const members: WireClient[] = [];
  for (let index = 0; index < size; index++) {
    const member = await connectWire(broker, 5, {
      clientId: `member-${index}`,
      properties: { sessionExpiryInterval: 60, receiveMaximum: 3 },
    });
    await member.subscribe("$share/g/jobs/+", { qos });
    members.push(member);
  }
  return members;
}

describe("shared subscriptions", () => {
  it.each(versions)("[MQTT-77] each message goes to one member, in turn, version %s", async (version) => {
    const broker = await startBroker();
    const members = [await connectWire(broker, version), await connectWire(broker, version), await connectWire(broker, version)];
    for (const member of members) await member.subscribe("$share/g/jobs/+");
    const other = await connectWire(broker, version);
    await other.subscribe("$share/other/jobs/#");
    const all = Array.from({ length: 9 }, (_, index) => String(index));
    for (const payload of all) await broker.act("publish", { topic: "jobs/x", payload });
    const got = await Promise.all(members.map(drain));
    expect(got.map((payloads) => payloads.length)).toEqual([3, 3, 3]);
    expect(got.flat().sort()).toEqual(all);
    expect(await drain(other)).toEqual(all);
  });

  it("[MQTT-78] messages that a lost member did not acknowledge go to another", async () => {
    const broker = await startBroker();
    const [one, two] = (await group(broker, 2)) as [WireClient, WireClient];
    for (const payload of ["a", "b", "c", "d"]) await broker.act("publish", { topic: "jobs/x", qos: 1, payload });
    expect(await drain(one)).toEqual(["a", "c"]);
    const before = await drain(two);
    one.destroy();
    await expect.poll(async () => (await broker.act("client.read", { clientId: "member-0" }))?.connected).toBe(false);
    for (let packetId = 1; packetId <= before.length; packetId++) two.send({ type: "puback", packetId, reason: 0 });
    expect([...before, ...(await drain(two))].sort()).toEqual(["a", "b", "c", "d"]);
    expect(await broker.act("client.read", { clientId: "member-0" })).toMatchObject({ inflight: 0, queued: 0 });
  });

  it("[MQTT-79] with all members away a message waits for the first to return", async () => {
    const broker = await startBroker();
    const [one] = (await group(broker, 1)) as [WireClient];
    one.destroy();
    await expect.poll(async () => (await broker.act("client.read", { clientId: "member-0" }))?.connected).toBe(false);
    await broker.act("publish", { topic: "jobs/x", qos: 1, payload: "waiting" });
    const back = await connectWire(broker, 5, { clientId: "member-0", cleanStart: false, properties: { sessionExpiryInterval: 60 } });
    expect(seen(await back.expect("publish")).payload).toBe("waiting");
  });

  it.each(["$share/g", "$share/g/", "$share//x", "$share/+/x", "$share/g#/x"])("[MQTT-80] refuses the shared filter %s", async (filter) => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.send({
      type: "subscribe",
      packetId: 1,
      subscriptions: [{ filter, qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 }],
    });
    const last = await client.expectClose();
    expect(last?.type === "disconnect" && [0x81, 0x82].includes(last.reason)).toBe(true);
  });

  it("[MQTT-80] no local on a shared subscription is a protocol error", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.send({
      type: "subscribe",
      packetId: 1,
      subscriptions: [{ filter: "$share/g/x", qos: 0, noLocal: true, retainAsPublished: false, retainHandling: 0 }],
    });
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x82 });
  });
});
