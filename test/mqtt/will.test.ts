import { describe, expect, it } from "vitest";
import { connectWire, seen, startBroker, versions } from "./harness.ts";

const will = { topic: "w", payload: Buffer.from("gone"), qos: 1 as const, retain: false };

async function start() {
  const broker = await startBroker();
  const watcher = await connectWire(broker, 5);
  await watcher.subscribe("w", { qos: 1, retainAsPublished: true });
  return { broker, watcher };
}

describe("wills", () => {
  it.each(versions)("[MQTT-30] publishes the will of a client that is lost, version %s", async (version) => {
    const { broker, watcher } = await start();
    const client = await connectWire(broker, version, { will: { ...will, retain: true } });
    client.destroy();
    expect(seen(await watcher.expect("publish"))).toEqual({ topic: "w", payload: "gone", qos: 1, retain: true, dup: false });
  });

  it("[MQTT-122] the history shows a will, and who got the message later as retained", async () => {
    const broker = await startBroker();
    (await connectWire(broker, 5, { clientId: "lost", will: { ...will, retain: true } })).destroy();
    const read = async () => {
      const { messages } = await broker.act("topic.history", { filter: "w" });
      return messages[0] && (await broker.act("message.read", { id: messages[0].id }));
    };
    await expect.poll(read).toMatchObject({ publisher: "lost", will: true, sentAsRetained: 0 });
    const later = await connectWire(broker, 5, { clientId: "later" });
    await later.subscribe("w", { qos: 1 });
    later.send({ type: "puback", packetId: (await later.expect("publish")).packetId, reason: 0 });
    await later.expectNothing();
    await (await connectWire(broker, 4, { clientId: "another" })).subscribe("w");
    expect(await read()).toMatchObject({
      delivered: 0,
      acknowledgeable: 0,
      acknowledged: 0,
      sentAsRetained: 2,
      deliveries: [
        { clientId: "later", qos: 1, asRetained: true, acknowledgedAfterMs: expect.any(Number) },
        { clientId: "another", qos: 0, asRetained: true },
      ],
    });
    const live = await broker.act("publish", { topic: "w" });
    expect(live.matched).toBe(2);
    expect(await read()).not.toHaveProperty("will");
  });

  it.each([0, 1] as const)(
    "[MQTT-346] a will is not delivered to its own client, whose session ends with the connection, QoS %s",
    async (qos) => {
      const broker = await startBroker();
      const client = await connectWire(broker, 5, { clientId: "own", will: { ...will, qos } });
      await client.subscribe("#", { qos });
      client.destroy();
      const read = async () => {
        const { messages } = await broker.act("topic.history", { filter: "w" });
        return messages[0] && (await broker.act("message.read", { id: messages[0].id }));
      };
      await expect.poll(read).toMatchObject({ publisher: "own", will: true, matched: 0, delivered: 0 });
    },
  );

  it.each([true, false])("[MQTT-30] a will with the retain flag %s is retained accordingly", async (retain) => {
    const { broker, watcher } = await start();
    (await connectWire(broker, 5, { will: { ...will, retain } })).destroy();
    await watcher.expect("publish");
    const later = await connectWire(broker, 5);
    await later.subscribe("w");
    if (retain) expect(seen(await later.expect("publish"))).toMatchObject({ payload: "gone", retain: true });
    await later.expectNothing();
  });

  it.each(versions)("[MQTT-30] publishes the will of a client whose session another connection takes over, version %s", async (version) => {
    const { broker, watcher } = await start();
    const options = { clientId: "taken", cleanStart: false, ...(version === 5 && { properties: { sessionExpiryInterval: 60 } }) };
    await connectWire(broker, version, { ...options, will });
    const second = await connectWire(broker, version, options);
    expect(second.connack.sessionPresent).toBe(true);
    expect(seen(await watcher.expect("publish")).payload).toBe("gone");
    second.destroy();
    await expect.poll(async () => (await broker.act("client.read", { clientId: "taken" }))?.connected).toBe(false);
    await watcher.expectNothing();
  });

  it.each(versions)("[MQTT-31] deletes the will of a client that disconnects, version %s", async (version) => {
    const { broker, watcher } = await start();
    const client = await connectWire(broker, version, { will });
    client.send({ type: "disconnect", reason: 0 });
    await client.expectClose();
    await watcher.expectNothing();
  });

  it("[MQTT-31] DISCONNECT with 0x04 publishes the will", async () => {
    const { broker, watcher } = await start();
    const client = await connectWire(broker, 5, { will });
    client.send({ type: "disconnect", reason: 0x04 });
    expect(seen(await watcher.expect("publish")).payload).toBe("gone");
  });

  it("[MQTT-32] forwards the will's properties, but not its delay", async () => {
    const { broker, watcher } = await start();
    const properties = {
      willDelayInterval: 1,
      contentType: "text/plain",
      userProperties: [
        ["k", "1"],
        ["k", "2"],
      ] as [string, string][],
    };
    const client = await connectWire(broker, 5, { will: { ...will, properties }, properties: { sessionExpiryInterval: 60 } });
    client.destroy();
    const message = await watcher.expect("publish");
    expect(message.properties).toMatchObject({ contentType: "text/plain", userProperties: properties.userProperties });
    expect(message.properties?.willDelayInterval).toBeUndefined();
  });

  it("[MQTT-33] no will is published for a client that returns before the delay is over", async () => {
    const { broker, watcher } = await start();
    const options = {
      clientId: "back",
      cleanStart: false,
      will: { ...will, properties: { willDelayInterval: 60 } },
      properties: { sessionExpiryInterval: 60 },
    };
    (await connectWire(broker, 5, options)).destroy();
    await expect.poll(async () => (await broker.act("client.read", { clientId: "back" }))?.connected).toBe(false);
    const again = await connectWire(broker, 5, { ...options, will: undefined });
    again.send({ type: "disconnect", reason: 0 });
    await again.expectClose();
    await watcher.expectNothing();
  });

  it("[MQTT-33] the end of the session ends the delay", async () => {
    const { broker, watcher } = await start();
    const options = {
      clientId: "clean",
      will: { ...will, properties: { willDelayInterval: 600 } },
      properties: { sessionExpiryInterval: 600 },
    };
    (await connectWire(broker, 5, options)).destroy();
    await expect.poll(async () => (await broker.act("client.read", { clientId: "clean" }))?.connected).toBe(false);
    await connectWire(broker, 5, { clientId: "clean", cleanStart: true });
    expect(seen(await watcher.expect("publish")).payload).toBe("gone");
  });

  it("[MQTT-34] refuses a will topic with wildcards, and an empty one", async () => {
    const { broker } = await start();
    expect((await connectWire(broker, 5, { will: { ...will, topic: "a/#" } })).connack.reason).toBe(0x81);
    expect((await connectWire(broker, 5, { will: { ...will, topic: "" } })).connack.reason).toBe(0x82);
  });

  it("[MQTT-34] a will may be on another $ topic", async () => {
    const { broker } = await start();
    const watcher = await connectWire(broker, 5);
    await watcher.subscribe("$SYSTEM/x");
    (await connectWire(broker, 5, { will: { ...will, topic: "$SYSTEM/x" } })).destroy();
    expect(seen(await watcher.expect("publish"))).toMatchObject({ topic: "$SYSTEM/x", payload: "gone" });
  });

  it("[MQTT-34] publishes no will on $SYS", async () => {
    const { broker } = await start();
    const watcher = await connectWire(broker, 5);
    await watcher.subscribe("$SYS/#");
    const client = await connectWire(broker, 5, { clientId: "lost", will: { ...will, topic: "$SYS/broker/uptime" } });
    client.destroy();
    await expect.poll(() => broker.act("client.read", { clientId: "lost" })).toBeNull();
    await watcher.expectNothing();
  });
});
