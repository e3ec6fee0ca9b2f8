import { describe, expect, it } from "vitest";
import { connectWire, seen, startBroker, versions } from "./harness.ts";

describe("topics", () => {
  it.each([
    [65_535, `a${"/".repeat(65_534)}`, `+${"/".repeat(65_533)}#`],
    [301, `a${"/b".repeat(300)}`, `+${"/b".repeat(299)}/+`],
  ])("[MQTT-54] a topic may have %s levels, and so may a filter", async (_levels, topic, filter) => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    for (const [index, wanted] of [topic, filter, "#"].entries()) {
      await client.subscribe(wanted, { qos: 1 }, { subscriptionIdentifiers: [index + 1] }, index + 1);
    }
    client.publish(topic, "deep", { qos: 1, packetId: 9, retain: true });
    const message = await client.expect("publish");
    expect(seen(message)).toMatchObject({ topic, payload: "deep" });
    expect(new Set(message.properties?.subscriptionIdentifiers)).toEqual(new Set([1, 2, 3]));
    expect(await client.expect("puback")).toMatchObject({ reason: 0 });
    const later = await connectWire(broker, 5);
    await later.subscribe(filter);
    expect(seen(await later.expect("publish"))).toMatchObject({ topic, retain: true });
    later.send({ type: "unsubscribe", packetId: 1, filters: [filter] });
    expect(await later.expect("unsuback")).toMatchObject({ reasons: [0] });
    client.publish(topic, "", { qos: 1, packetId: 10, retain: true });
    expect((await client.expect("publish")).payload.length).toBe(0);
    await later.subscribe("#");
    await later.expectNothing();
  });

  it("[MQTT-54] refuses a topic or filter of more levels than configured with 0x90", async () => {
    const broker = await startBroker({ topicLevels: 100 });
    const client = await connectWire(broker, 5, { clientId: "deep" });
    const levels = (count: number) => "/".repeat(count - 1);
    for (const [count, reason] of [
      [100, 0x10],
      [101, 0x90],
      [30_000, 0x90],
    ] as const) {
      client.publish(levels(count), "", { qos: 1, packetId: 1 });
      expect(await client.expect("puback")).toMatchObject({ reason });
      expect((await client.subscribe(levels(count))).reasons).toEqual([reason === 0x90 ? 0x8f : 0]);
    }
    const old = await connectWire(broker, 4, { clientId: "old" });
    // 3.1.1 cannot be told: the log has it.
    old.publish(levels(101), "", { qos: 1, packetId: 1 });
    await old.expect("puback");
    await expect
      .poll(() => broker.logs.filter((line) => line.endsWith(": A topic may have at most 100 levels.")))
      .toEqual([
        expect.stringMatching(/^2 messages of deep were refused, the last on \//),
        expect.stringMatching(/^A message of old on \/.* was refused/),
      ]);
  });

  it("[MQTT-54] and 65,535 bytes", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    const topic = "t".repeat(65_535);
    await client.subscribe(topic);
    client.publish(topic, "long");
    expect(seen(await client.expect("publish"))).toMatchObject({ topic, payload: "long" });
  });

  it.each(versions)("[MQTT-86] a topic is its exact bytes: a BOM is kept, nothing is normalized, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    const topics = ["a", "\ufeffa", "a\ufeff", "A", "\u00e9", "e\u0301", "\ud840\udc00", " ", "a ", "/"];
    for (const [index, topic] of topics.entries()) await client.subscribe(topic, {}, undefined, index + 1);
    for (const topic of topics) client.publish(topic, topic);
    for (const topic of topics) expect(seen(await client.expect("publish"))).toMatchObject({ topic, payload: topic });
    await client.expectNothing();
    await client.subscribe("+");
    for (const topic of topics) client.publish(topic, topic, { retain: true });
    const later = await connectWire(broker, version);
    await later.subscribe("\ufeffa");
    expect(seen(await later.expect("publish"))).toMatchObject({ topic: "\ufeffa", retain: true });
    await later.expectNothing();
  });

  it("[MQTT-86] and so is a client identifier", async () => {
    const broker = await startBroker();
    for (const clientId of ["a", "\ufeffa", "A"]) await connectWire(broker, 5, { clientId });
    expect((await broker.act("client.list", { connected: true })).matching).toBe(3);
  });
});
