import { describe, expect, it } from "vitest";
import type { Properties } from "../../servers/mqtt/codec/properties.ts";
import { type Broker, connectWire, seen, startBroker } from "./harness.ts";

async function join(broker: Broker, clientId: string, qos: 0 | 1 | 2, properties: Properties = {}) {
  const client = await connectWire(broker, 5, { clientId, properties: { sessionExpiryInterval: 60, ...properties } });
  await client.subscribe("$share/g/jobs", { qos }, { subscriptionIdentifiers: [7 + qos] });
  return client;
}

const gone = (broker: Broker, clientId: string) =>
  expect.poll(async () => (await broker.act("client.read", { clientId }))?.connected ?? false).toBe(false);

describe("members of a shared subscription", () => {
  it.each([
    [2, 1, 1],
    [1, 2, 2],
    [2, 0, 0],
  ] as const)("[MQTT-81] a message for a lost member with QoS %s goes to one with QoS %s with QoS %s", async (from, to, comes) => {
    const broker = await startBroker();
    const one = await join(broker, "one", from, { receiveMaximum: 1 });
    // The first occupies the window, so that the second waits, not sent.
    for (const payload of ["first", "second"]) await broker.act("publish", { topic: "jobs", qos: 2, payload });
    await one.expect("publish");
    const two = await join(broker, "two", to);
    one.destroy();
    await gone(broker, "one");
    const got = [await two.expect("publish"), ...(from === 1 ? [await two.expect("publish")] : [])];
    expect(got.map((packet) => packet.payload.toString())).toEqual(from === 1 ? ["first", "second"] : ["second"]);
    for (const packet of got) {
      expect(seen(packet)).toMatchObject({ qos: comes, dup: false });
      expect(packet.properties?.subscriptionIdentifiers).toEqual([7 + to]);
    }
  });

  it("[MQTT-82] a message too large for one member goes to one that accepts it", async () => {
    const broker = await startBroker();
    const small = await join(broker, "small", 1, { maximumPacketSize: 60 });
    const large = await join(broker, "large", 1);
    for (let count = 0; count < 4; count++) await broker.act("publish", { topic: "jobs", qos: 1, payload: "x".repeat(100) });
    for (let count = 0; count < 4; count++) expect((await large.expect("publish")).payload.length).toBe(100);
    await small.expectNothing();
    await broker.act("publish", { topic: "jobs", qos: 1, payload: "fits" });
    expect(seen(await small.expect("publish")).payload).toBe("fits");
  });

  it("[MQTT-82] and is dropped and counted if it is too large for all", async () => {
    const broker = await startBroker();
    const small = await join(broker, "small", 1, { maximumPacketSize: 60 });
    expect(await broker.act("publish", { topic: "jobs", qos: 1, payload: "x".repeat(100) })).toEqual({ matched: 1 });
    await small.expectNothing();
    expect(await broker.act("client.read", { clientId: "small" })).toMatchObject({ dropped: 1, inflight: 0 });
  });

  it.each([1, 2] as const)("[MQTT-83] a refusal by the member ends a message with QoS %s: no other member gets it", async (qos) => {
    const broker = await startBroker();
    const one = await join(broker, "one", qos);
    await broker.act("publish", { topic: "jobs", qos, payload: "x" });
    const { packetId } = await one.expect("publish");
    const two = await join(broker, "two", qos);
    one.send({ type: qos === 1 ? "puback" : "pubrec", packetId, reason: 0x83 });
    await one.expectNothing();
    one.destroy();
    await gone(broker, "one");
    await two.expectNothing();
  });

  it("[MQTT-84] a QoS 2 message in flight waits for its member, and ends with the member's session", async () => {
    const broker = await startBroker();
    const one = await join(broker, "one", 2);
    await broker.act("publish", { topic: "jobs", qos: 2, payload: "mine" });
    const { packetId } = await one.expect("publish");
    const two = await join(broker, "two", 2);
    one.destroy();
    await gone(broker, "one");
    await two.expectNothing();
    const back = await connectWire(broker, 5, { clientId: "one", cleanStart: false, properties: { sessionExpiryInterval: 60 } });
    expect(await back.expect("publish")).toMatchObject({ packetId, dup: true });
    back.send({ type: "disconnect", reason: 0, properties: { sessionExpiryInterval: 0 } });
    await back.expectClose();
    await expect.poll(() => broker.act("client.read", { clientId: "one" })).toBeNull();
    await two.expectNothing();
  });

  it("[MQTT-85] a client with a shared and a plain subscription to the same topic gets a copy for each", async () => {
    const broker = await startBroker();
    const one = await join(broker, "one", 1);
    await one.subscribe("jobs", { qos: 0 }, { subscriptionIdentifiers: [1] }, 2);
    await broker.act("publish", { topic: "jobs", qos: 1, payload: "x" });
    const got = [await one.expect("publish"), await one.expect("publish")];
    expect(got.map(({ qos, properties }) => [qos, properties?.subscriptionIdentifiers])).toEqual([
      [0, [1]],
      [1, [8]],
    ]);
    one.send({ type: "unsubscribe", packetId: 3, filters: ["jobs"] });
    expect(await one.expect("unsuback")).toMatchObject({ reasons: [0] });
    await broker.act("publish", { topic: "jobs", qos: 1, payload: "y" });
    expect((await one.expect("publish")).properties?.subscriptionIdentifiers).toEqual([8]);
    await one.expectNothing();
  });
});
