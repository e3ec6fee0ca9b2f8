import { describe, expect, it } from "vitest";
import { type Broker, connectWire, seen, startBroker } from "../harness.ts";

const state = (broker: Broker) => broker.views.get("try");
const received = async (broker: Broker) => (await broker.act("try.received", {})).messages;

describe("the client of the Try tab", () => {
  it("[MQTT-136] subscribes like any client, with every option of 5.0, and shows the received messages", async () => {
    const broker = await startBroker();
    await broker.act("publish", { topic: "t/kept", payload: "kept", retain: true });
    expect(await broker.act("try.connect", {})).toMatchObject({ ok: true, packet: "CONNACK", reason: 0, meaning: "success" });
    expect(
      await broker.act("try.subscribe", {
        filter: "t/#",
        qos: 1,
        noLocal: true,
        retainAsPublished: true,
        retainHandling: 1,
        identifier: 7,
      }),
    ).toMatchObject({ ok: true, packet: "SUBACK", reason: 1, meaning: "QoS 1 granted" });
    expect((await broker.act("client.list", {})).clients).toMatchObject([
      {
        clientId: "dashboard",
        version: 5,
        transport: "tcp",
        subscriptions: [{ filter: "t/#", qos: 1, noLocal: true, retainAsPublished: true, retainHandling: 1, identifier: 7 }],
      },
    ]);
    const other = await connectWire(broker, 5);
    other.publish("t/a", "hello", { qos: 2, packetId: 9, properties: { userProperties: [["k", "1"]], contentType: "text/plain" } });
    await expect.poll(() => received(broker)).toHaveLength(2);
    expect(await received(broker)).toMatchObject([
      {
        place: 2,
        topic: "t/a",
        qos: 1,
        retain: false,
        bytes: 5,
        payload: btoa("hello"),
        properties: { userProperties: [["k", "1"]], contentType: "text/plain" },
        subscriptionIdentifiers: [7],
      },
      { place: 1, topic: "t/kept", retain: true },
    ]);
    const newest = async () => (await broker.act("topic.history", { filter: "t/a" })).messages[0];
    await expect.poll(newest).toMatchObject({ delivered: 1, acknowledged: 1 });
    await expect
      .poll(() => state(broker))
      .toMatchObject({ state: "connected", received: 2, subscriptions: [{ filter: "t/#", identifier: 7 }] });
    // No local: what it publishes itself does not come back.
    await broker.act("try.publish", { topic: "t/own", qos: 1 });
    expect(await broker.act("try.unsubscribe", { filter: "t/#" })).toMatchObject({ ok: true, packet: "UNSUBACK", reason: 0 });
    expect(await broker.act("try.unsubscribe", { filter: "t/#" })).toMatchObject({ reason: 0x11 });
    expect((await received(broker)).map(({ topic }) => topic)).toEqual(["t/a", "t/kept"]);
    await broker.act("try.clear", {});
    expect(await broker.act("try.received", {})).toEqual({ messages: [], received: 0 });
  });

  it.each([4, 5] as const)("[MQTT-137] gets the broker's answer to each QoS, level %i", async (version) => {
    const broker = await startBroker();
    expect(await broker.act("try.publish", { topic: "t", qos: 1 })).toMatchObject({ ok: false, meaning: "not connected" });
    await broker.act("try.connect", { version });
    const answers = await Promise.all(([0, 1, 2] as const).map((qos) => broker.act("try.publish", { topic: "t", qos, payload: "x" })));
    const none = version === 5 ? { reason: 0x10, meaning: "no matching subscribers" } : { reason: 0 };
    expect(answers).toMatchObject([{ ok: true }, { ok: true, packet: "PUBACK", ...none }, { ok: true, packet: "PUBCOMP", reason: 0 }]);
    const other = await connectWire(broker, 5);
    await other.subscribe("t", { qos: 2 });
    const sent = { topic: "t", qos: 1, payload: "AQI=", encoding: "base64", contentType: "x", correlationData: "Aw==" } as const;
    expect(await broker.act("try.publish", { ...sent, userProperties: [["k", "v"]] })).toMatchObject({ ok: true, reason: 0 });
    const got = await other.expect("publish");
    expect(got).toMatchObject({ topic: "t", qos: 1, payload: Buffer.from([1, 2]) });
    expect(got.properties?.correlationData).toEqual(version === 5 ? Buffer.from([3]) : undefined);
    expect(got.properties?.userProperties).toEqual(version === 5 ? [["k", "v"]] : undefined);
  });

  it("[MQTT-137] is refused like any client, and shows the reason", async () => {
    const broker = await startBroker({ anonymous: false, users: ["ada:secret"], topicRules: ["ada read in/#", "ada write out/#"] });
    expect(await broker.act("try.connect", {})).toMatchObject({ ok: false, packet: "CONNACK", reason: 0x87, meaning: "not authorized" });
    expect(await broker.act("try.connect", { version: 4, username: "ada", password: "wrong" })).toMatchObject({ ok: false, reason: 5 });
    await expect
      .poll(() => state(broker))
      .toMatchObject({ state: "away", ended: { packet: "CONNACK", reason: 5, meaning: "not authorized" } });
    expect(await broker.act("try.connect", { username: "ada", password: "secret" })).toMatchObject({ ok: true });
    expect(await broker.act("try.subscribe", { filter: "out/#" })).toMatchObject({ ok: false, packet: "SUBACK", reason: 0x87 });
    expect(await broker.act("try.publish", { topic: "in/a", qos: 2 })).toMatchObject({
      ok: false,
      packet: "PUBREC",
      reason: 0x87,
      text: "The topic rules do not allow it.",
    });
    await broker.act("client.disconnect", { clientId: "dashboard", text: "Go away." });
    await expect
      .poll(() => state(broker))
      .toMatchObject({ state: "away", ended: { packet: "DISCONNECT", reason: 0x98, meaning: "administrative action", text: "Go away." } });
  });

  it("[MQTT-138] has a will, and returns to its session", async () => {
    const broker = await startBroker();
    const other = await connectWire(broker, 5);
    await other.subscribe("will");
    const options = { clientId: "tester", sessionExpirySeconds: 600, will: { topic: "will", payload: "gone" } } as const;
    await broker.act("try.connect", options);
    await broker.act("try.subscribe", { filter: "t", qos: 1 });
    await broker.act("try.disconnect", { how: "cut" });
    expect(seen(await other.expect("publish")).payload).toBe("gone");
    other.publish("t", "meanwhile", { qos: 1, packetId: 1 });
    await other.expect("puback");
    await broker.act("try.connect", { ...options, cleanStart: false });
    await expect.poll(async () => (await received(broker)).map(({ payload }) => atob(payload))).toEqual(["meanwhile"]);
    await expect.poll(() => state(broker)).toMatchObject({ clientId: "tester", subscriptions: [{ filter: "t" }] });
    await broker.act("try.disconnect", { how: "with will" });
    expect(seen(await other.expect("publish")).payload).toBe("gone");
    await broker.act("try.connect", { ...options, cleanStart: true });
    await expect.poll(() => state(broker)?.subscriptions).toEqual([]);
    await broker.act("try.disconnect", {});
    await other.expectNothing();
  });
});

it("[MQTT-546] the client of the Try tab is disconnected when no page is open any more, and says so", async () => {
  const broker = await startBroker();
  broker.service.pagesLeft();
  await broker.act("try.connect", {});
  broker.service.pagesLeft();
  const meaning = "disconnected: no page of Backlot is open any more";
  await expect.poll(() => state(broker)).toMatchObject({ state: "away", ended: { ok: false, meaning } });
  await expect.poll(async () => (await broker.act("client.list", {})).clients).toEqual([]);
});
