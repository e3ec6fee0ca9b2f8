import { describe, expect, it } from "vitest";
import { type Broker, connectWire, seen, startBroker, type Version, versions, type WireClient } from "./harness.ts";

const kept = (version: Version, clientId: string) => ({
  clientId,
  cleanStart: false,
  ...(version === 5 && { properties: { sessionExpiryInterval: 600 } }),
});

async function leave(client: WireClient, broker: Broker, clientId: string) {
  client.send({ type: "disconnect", reason: 0 });
  await client.expectClose();
  await expect.poll(async () => (await broker.act("client.read", { clientId }))?.connected ?? false).toBe(false);
}

describe("sessions", () => {
  it.each(versions)("[MQTT-20] keeps subscriptions and queued messages of an absent client, version %s", async (version) => {
    const broker = await startBroker();
    const first = await connectWire(broker, version, kept(version, "s"));
    await first.subscribe("q/#", { qos: 2 });
    await leave(first, broker, "s");
    const publisher = await connectWire(broker, version);
    publisher.publish("q/0", "zero").publish("q/1", "one", { qos: 1, packetId: 1 }).publish("q/2", "two", { qos: 2, packetId: 2 });
    await publisher.expect("puback");
    await publisher.expect("pubrec");
    const second = await connectWire(broker, version, kept(version, "s"));
    expect(second.connack.sessionPresent).toBe(true);
    expect(seen(await second.expect("publish"))).toEqual({ topic: "q/1", payload: "one", qos: 1, retain: false, dup: false });
    expect(seen(await second.expect("publish"))).toEqual({ topic: "q/2", payload: "two", qos: 2, retain: false, dup: false });
    await second.expectNothing();
  });

  it.each(versions)("[MQTT-21] a clean start ends the old session, version %s", async (version) => {
    const broker = await startBroker();
    const first = await connectWire(broker, version, kept(version, "s"));
    await first.subscribe("t", { qos: 1 });
    await leave(first, broker, "s");
    const second = await connectWire(broker, version, { ...kept(version, "s"), cleanStart: true });
    expect(second.connack.sessionPresent).toBe(false);
    expect(await broker.act("client.read", { clientId: "s" })).toMatchObject({ subscriptionCount: 0 });
  });

  it("[MQTT-22] a session without expiry ends with its connection", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "s", cleanStart: false });
    await client.subscribe("t");
    client.destroy();
    await expect.poll(() => broker.act("client.read", { clientId: "s" })).toBeNull();
    expect((await connectWire(broker, 5, { clientId: "s", cleanStart: false })).connack.sessionPresent).toBe(false);
  });

  it("[MQTT-22] a session ends when it expires", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "s", properties: { sessionExpiryInterval: 1 } });
    await leave(client, broker, "s");
    expect(await broker.act("client.read", { clientId: "s" })).not.toBeNull();
    await expect.poll(() => broker.act("client.read", { clientId: "s" })).toBeNull();
  });

  it("[MQTT-23] DISCONNECT changes the expiry, also to 0", async () => {
    const broker = await startBroker();
    const longer = await connectWire(broker, 5, { clientId: "longer", properties: { sessionExpiryInterval: 1 } });
    longer.send({ type: "disconnect", reason: 0, properties: { sessionExpiryInterval: 500 } });
    await longer.expectClose();
    await expect.poll(async () => (await broker.act("client.read", { clientId: "longer" }))?.sessionExpirySeconds).toBe(500);
    const none = await connectWire(broker, 5, { clientId: "none", properties: { sessionExpiryInterval: 500 } });
    none.send({ type: "disconnect", reason: 0, properties: { sessionExpiryInterval: 0 } });
    await none.expectClose();
    await expect.poll(() => broker.act("client.read", { clientId: "none" })).toBeNull();
  });

  it("[MQTT-23] an expiry of 0 cannot be raised by DISCONNECT", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.send({ type: "disconnect", reason: 0, properties: { sessionExpiryInterval: 5 } });
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x82 });
  });

  it.each(versions)("[MQTT-24] a second connection takes over the session, version %s", async (version) => {
    const broker = await startBroker();
    const first = await connectWire(broker, version, kept(version, "s"));
    await first.subscribe("t", { qos: 1 });
    const second = await connectWire(broker, version, kept(version, "s"));
    expect(second.connack.sessionPresent).toBe(true);
    const last = await first.expectClose();
    if (version === 5) expect(last).toMatchObject({ type: "disconnect", reason: 0x8e });
    second.publish("t", "still there", { qos: 1, packetId: 1 });
    expect(seen(await second.expect("publish"))).toMatchObject({ payload: "still there" });
  });

  it.each(versions)("[MQTT-25] resends what was not acknowledged: PUBLISH with DUP, then PUBREL, version %s", async (version) => {
    const broker = await startBroker();
    const first = await connectWire(broker, version, kept(version, "s"));
    await first.subscribe("t", { qos: 2 });
    const publisher = await connectWire(broker, version);
    publisher.publish("t", "one", { qos: 1, packetId: 1 }).publish("t", "two", { qos: 2, packetId: 2 });
    const one = await first.expect("publish");
    const two = await first.expect("publish");
    first.send({ type: "pubrec", packetId: two.packetId, reason: 0 });
    await first.expect("pubrel");
    first.destroy();
    const second = await connectWire(broker, version, kept(version, "s"));
    expect(await second.expect("publish")).toMatchObject({ dup: true, qos: 1, packetId: one.packetId });
    expect(await second.expect("pubrel")).toMatchObject({ packetId: two.packetId });
    second.send({ type: "puback", packetId: one.packetId, reason: 0 }).send({ type: "pubcomp", packetId: two.packetId, reason: 0 });
    await second.expectNothing();
    expect(await broker.act("client.read", { clientId: "s" })).toMatchObject({ inflight: 0 });
  });

  it.each(versions)("[MQTT-25] and resends nothing during a connection, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version, kept(version, "s"));
    await client.subscribe("t", { qos: 2 });
    for (const qos of [1, 2] as const) await broker.act("publish", { topic: "t", qos });
    await client.expect("publish");
    await client.expect("publish");
    // Past several sweeps, which is when what takes time happens.
    await new Promise((resolve) => setTimeout(resolve, 600));
    await client.expectNothing();
  });

  it.each(versions)("[MQTT-26] a QoS 2 message sent again after a reconnect is routed once, version %s", async (version) => {
    const broker = await startBroker();
    const subscriber = await connectWire(broker, version);
    await subscriber.subscribe("t");
    const first = await connectWire(broker, version, kept(version, "p"));
    first.publish("t", "once", { qos: 2, packetId: 9 });
    await first.expect("pubrec");
    first.destroy();
    const second = await connectWire(broker, version, kept(version, "p"));
    second.publish("t", "once", { qos: 2, packetId: 9, dup: true });
    await second.expect("pubrec");
    second.send({ type: "pubrel", packetId: 9, reason: 0 });
    await second.expect("pubcomp");
    second.publish("t", "next", { qos: 2, packetId: 9 });
    await second.expect("pubrec");
    expect(seen(await subscriber.expect("publish")).payload).toBe("once");
    expect(seen(await subscriber.expect("publish")).payload).toBe("next");
  });
});
