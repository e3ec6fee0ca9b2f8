import { describe, expect, it } from "vitest";
import type { Qos } from "../../servers/mqtt/codec/packet.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { connectMqttJs, connectWire, seen, startBroker, versions } from "./harness.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

const pairs = versions.flatMap((version) =>
  ([0, 1, 2] as const).flatMap((sent) => ([0, 1, 2] as const).map((granted) => [version, sent, granted] as const)),
);

describe("publishing", () => {
  it.each(pairs)(
    "[MQTT-40] version %s: QoS %s to a subscription of QoS %s is delivered with the lower one",
    async (version, sent, granted) => {
      const broker = await startBroker();
      const subscriber = await connectMqttJs(broker.urls.MQTT ?? "", { protocolVersion: version });
      const [grant] = await subscriber.subscribeAsync("a/b", { qos: granted });
      expect(grant?.qos).toBe(granted);
      const received = new Promise<[string, string, Qos]>((resolve) => {
        subscriber.once("message", (topic, payload, packet) => resolve([topic, payload.toString(), packet.qos as Qos]));
      });
      const publisher = await connectMqttJs(broker.urls.MQTT ?? "", { protocolVersion: version });
      await publisher.publishAsync("a/b", "hello", { qos: sent });
      expect(await received).toEqual(["a/b", "hello", Math.min(sent, granted)]);
    },
  );

  it("[MQTT-41] returns 0x10 without a subscriber, and 0 with one", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.publish("t", "", { qos: 1, packetId: 1 }).publish("t", "", { qos: 2, packetId: 2 });
    expect(await client.expect("puback")).toMatchObject({ packetId: 1, reason: 0x10 });
    expect(await client.expect("pubrec")).toMatchObject({ packetId: 2, reason: 0x10 });
    await client.subscribe("t");
    client.publish("t", "", { qos: 1, packetId: 3 });
    await client.expect("publish");
    expect(await client.expect("puback")).toMatchObject({ packetId: 3, reason: 0 });
  });

  it.each(versions)("[MQTT-42] a QoS 2 identifier that is in use is answered and not routed again, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    await client.subscribe("t");
    client.publish("t", "a", { qos: 2, packetId: 1 }).publish("t", "a", { qos: 2, packetId: 1, dup: true });
    expect(seen(await client.expect("publish")).payload).toBe("a");
    await client.expect("pubrec");
    await client.expect("pubrec");
    client.send({ type: "pubrel", packetId: 1, reason: 0 });
    await client.expect("pubcomp");
    await client.expectNothing();
  });

  it("[MQTT-43] returns 0x92 for unknown identifiers", async () => {
    const broker = await startBroker();
    const five = await connectWire(broker, 5);
    five.send({ type: "pubrel", packetId: 7, reason: 0 });
    expect(await five.expect("pubcomp")).toMatchObject({ packetId: 7, reason: 0x92 });
    five.send({ type: "pubrec", packetId: 7, reason: 0 });
    expect(await five.expect("pubrel")).toMatchObject({ packetId: 7, reason: 0x92 });
    five.send({ type: "puback", packetId: 7, reason: 0 }).send({ type: "pubcomp", packetId: 7, reason: 0 });
    five.send({ type: "pubrec", packetId: 7, reason: 0x83 });
    await five.expectNothing();
    const three = await connectWire(broker, 4);
    three.send({ type: "pubrel", packetId: 7, reason: 0 });
    expect(await three.expect("pubcomp")).toMatchObject({ packetId: 7 });
  });

  it.each([
    ["PUBREC", 1, { type: "pubrec", reason: 0 }],
    ["PUBCOMP", 1, { type: "pubcomp", reason: 0 }],
    ["PUBACK", 2, { type: "puback", reason: 0 }],
    ["PUBCOMP", 2, { type: "pubcomp", reason: 0 }],
  ] as const)("[MQTT-44] %s for a message with QoS %s is a protocol error", async (_name, qos, answer) => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("t", { qos });
    await broker.act("publish", { topic: "t", qos });
    const { packetId } = await client.expect("publish");
    client.send({ ...answer, packetId });
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x82 });
  });

  it("[MQTT-44] an error in PUBREC ends the exchange", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t", { qos: 2 });
    await broker.act("publish", { topic: "t", qos: 2 });
    const { packetId } = await client.expect("publish");
    client.send({ type: "pubrec", packetId, reason: 0x83 });
    await client.expectNothing();
    expect(await broker.act("client.read", { clientId: "c" })).toMatchObject({ inflight: 0 });
  });

  it("[MQTT-45] forwards properties unchanged, user properties in order and repeated", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("t");
    const properties = {
      payloadFormatIndicator: 1,
      contentType: "text/plain; charset=utf-8",
      responseTopic: "answer/here",
      correlationData: Buffer.from([0, 255, 1]),
      userProperties: [
        ["b", "1"],
        ["a", "2"],
        ["b", "1"],
        ["", ""],
      ] as [string, string][],
    };
    client.publish("t", "x", { properties });
    const { forwarded, ...received } = (await client.expect("publish")).properties ?? {};
    expect(received).toEqual(properties);
    expect(forwarded?.length).toBeGreaterThan(0);
  });

  it("[MQTT-45] omits the properties for a 3.1.1 subscriber", async () => {
    const broker = await startBroker();
    const three = await connectWire(broker, 4);
    await three.subscribe("t");
    await broker.act("publish", { topic: "t", payload: "x", contentType: "text/plain", userProperties: [["k", "v"]] });
    expect(await three.expect("publish")).toMatchObject({ topic: "t", payload: Buffer.from("x") });
  });

  it("[MQTT-46] sends the remaining expiry, and no expired message", async () => {
    const broker = await startBroker();
    const options = { clientId: "s", cleanStart: false, properties: { sessionExpiryInterval: 600 } };
    const first = await connectWire(broker, 5, options);
    await first.subscribe("t", { qos: 1 });
    first.send({ type: "disconnect", reason: 0 });
    await first.expectClose();
    await broker.act("publish", { topic: "t", qos: 1, payload: "short", messageExpiryInterval: 1 });
    await broker.act("publish", { topic: "t", qos: 1, payload: "long", messageExpiryInterval: 1_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const second = await connectWire(broker, 5, options);
    const message = await second.expect("publish");
    expect(seen(message).payload).toBe("long");
    expect(message.properties?.messageExpiryInterval).toBeLessThan(1_000);
    expect(message.properties?.messageExpiryInterval).toBeGreaterThan(990);
    expect(await broker.act("client.read", { clientId: "s" })).toMatchObject({ dropped: 1 });
  });

  it("[MQTT-47] topic aliases sent to the broker: set, used, replaced", async () => {
    const broker = await startBroker({ topicAliasMaximum: 5 });
    const client = await connectWire(broker, 5);
    await client.subscribe("#");
    const alias = { topicAlias: 5 };
    client.publish("one", "1", { properties: alias }).publish("", "2", { properties: alias });
    client.publish("two", "3", { properties: alias }).publish("", "4", { properties: alias });
    const topics = [];
    for (let count = 0; count < 4; count++) topics.push(seen(await client.expect("publish")).topic);
    expect(topics).toEqual(["one", "one", "two", "two"]);
  });

  it.each([
    ["0", "one", 0, 0x94],
    ["above the maximum", "one", 6, 0x94],
    ["never set", "", 3, 0x82],
  ])("[MQTT-47] refuses a topic alias that is %s", async (_name, topic, topicAlias, reason) => {
    const broker = await startBroker({ topicAliasMaximum: 5 });
    const client = await connectWire(broker, 5);
    client.publish(topic, "x", { properties: { topicAlias } });
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason });
  });

  it("[MQTT-47] topic aliases end with the connection, although the session continues", async () => {
    const broker = await startBroker({ topicAliasMaximum: 5 });
    const options = { clientId: "s", cleanStart: false, properties: { sessionExpiryInterval: 60, topicAliasMaximum: 5 } };
    const first = await connectWire(broker, 5, options);
    await first.subscribe("one");
    first.publish("one", "1", { properties: { topicAlias: 1 } }).publish("one", "2");
    const got = [await first.expect("publish"), await first.expect("publish")];
    expect(got.map(({ topic, properties }) => [topic, properties?.topicAlias])).toEqual([
      ["one", 1],
      ["", 1],
    ]);
    const second = await connectWire(broker, 5, options);
    await broker.act("publish", { topic: "one", payload: "3" });
    expect(await second.expect("publish")).toMatchObject({ topic: "one", properties: { topicAlias: 1 } });
    second.publish("", "4", { properties: { topicAlias: 1 } });
    expect(await second.expectClose()).toMatchObject({ type: "disconnect", reason: 0x82 });
  });

  it("[MQTT-48] topic aliases sent to a client that allows them", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { properties: { topicAliasMaximum: 1 } });
    await client.subscribe("#");
    client.publish("first", "1").publish("first", "2").publish("second", "3");
    const got = [];
    for (let count = 0; count < 3; count++) {
      const { topic, properties } = await client.expect("publish");
      got.push([topic, properties?.topicAlias]);
    }
    expect(got).toEqual([
      ["first", 1],
      ["", 1],
      ["second", undefined],
    ]);
  });

  it("[MQTT-343] topic aliases are sent while there is memory for their topics", async () => {
    const { engine } = await startEngine({ limits: { memoryBytes: 1 << 20 } });
    const connect = (clientId: string) => {
      const client = new MemoryClient(engine, clientId, { properties: { topicAliasMaximum: 100 } });
      client.subscribe("#");
      return client;
    };
    const given = ({ received }: MemoryClient) =>
      received.filter((packet) => packet.type === "publish" && packet.topic !== "" && packet.properties?.topicAlias !== undefined).length;
    const publish = () => {
      for (let index = 0; index < 20; index++)
        engine.publishInternal(new Message({ topic: `${index}/`.padEnd(1_000, "x"), payload: Buffer.from("x"), qos: 0, retain: false }));
    };
    const clients = Array.from({ length: 20 }, (_, index) => connect(String(index)));
    await expect.poll(() => clients.every(({ received }) => received.length === 2)).toBe(true);
    publish();
    publish();
    await expect.poll(() => clients.every(({ received }) => received.length === 42)).toBe(true);
    // 16 KiB of each client, 64 KiB of all.
    expect(Math.max(...clients.map(given))).toBeLessThan(9);
    const all = clients.reduce((sum, client) => sum + given(client), 0);
    expect(all).toBeGreaterThan(20);
    expect(all).toBeLessThan(33);
    for (const { connection } of clients) connection.cutOff("The connection was lost.");
    const next = connect("next");
    await expect.poll(() => next.received.length).toBe(2);
    publish();
    await expect.poll(() => given(next)).toBe(7);
  });

  it("[MQTT-49] never sends more unacknowledged messages than the client's receive maximum", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c", properties: { receiveMaximum: 2 } });
    await client.subscribe("t", { qos: 2 });
    for (const payload of ["1", "2", "3", "4"]) await broker.act("publish", { topic: "t", qos: 1, payload });
    const first = await client.expect("publish");
    await client.expect("publish");
    await client.expectNothing();
    expect(await broker.act("client.read", { clientId: "c" })).toMatchObject({ queued: 2, inflight: 2 });
    client.send({ type: "puback", packetId: first.packetId, reason: 0 });
    expect(seen(await client.expect("publish")).payload).toBe("3");
    await client.expectNothing();
  });

  it("[MQTT-50] disconnects a client that exceeds the broker's receive maximum with 0x93", async () => {
    const broker = await startBroker({ receiveMaximum: 3 });
    const client = await connectWire(broker, 5);
    for (let packetId = 1; packetId <= 4; packetId++) client.publish("t", "", { qos: 2, packetId });
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x93 });
  });

  it("[MQTT-51] refuses packets above its maximum with 0x95", async () => {
    const broker = await startBroker({ packetBytes: 300 });
    const client = await connectWire(broker, 5);
    client.publish("t", "x".repeat(400));
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x95 });
  });

  it("[MQTT-52] skips a message larger than the client accepts, and continues", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c", properties: { maximumPacketSize: 60 } });
    await client.subscribe("t", { qos: 1 });
    await broker.act("publish", { topic: "t", qos: 1, payload: "x".repeat(100) });
    await broker.act("publish", { topic: "t", qos: 1, payload: "small" });
    expect(seen(await client.expect("publish")).payload).toBe("small");
    expect(await broker.act("client.read", { clientId: "c" })).toMatchObject({ dropped: 1, inflight: 1 });
  });

  it.each(versions)("[MQTT-53] clients may not publish on $SYS and $share, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    await client.subscribe("$SYS/#");
    for (const topic of ["$SYS/broker/uptime", "$share/g/t"]) {
      client.publish(topic, "mine", { qos: 1, packetId: 1 });
      const ack = await client.expect("puback");
      if (version === 5) expect(ack.reason).toBe(0x87);
    }
    client.publish("$other", "fine", { qos: 2, packetId: 1 });
    expect((await client.expect("pubrec")).reason).toBe(version === 5 ? 0x10 : 0);
  });

  it("[MQTT-56] refuses a payload declared as UTF-8 that is not, with 0x99", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("t");
    const wrong = { payload: Buffer.from([0xc3, 0x28]), properties: { payloadFormatIndicator: 1 } };
    client.publish("t", "", { ...wrong, qos: 1, packetId: 1 });
    expect(await client.expect("puback")).toMatchObject({ reason: 0x99 });
    client.publish("t", "", { ...wrong, qos: 2, packetId: 2 });
    expect(await client.expect("pubrec")).toMatchObject({ reason: 0x99 });
    client.publish("t", "", { ...wrong, properties: { payloadFormatIndicator: 0 } });
    expect((await client.expect("publish")).payload).toEqual(wrong.payload);
    client.publish("t", "", wrong);
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x99 });
    const will = { topic: "w", qos: 0 as const, retain: false, ...wrong };
    expect((await connectWire(broker, 5, { will })).connack.reason).toBe(0x99);
  });

  it("[MQTT-57] a topic alias that would make the packet too large is not set", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { properties: { topicAliasMaximum: 5, maximumPacketSize: 30 } });
    await client.subscribe("t");
    for (const length of [24, 21, 25, 24, 22]) client.publish("t", "x".repeat(length));
    const got = [];
    for (let count = 0; count < 4; count++) {
      const { topic, payload, properties } = await client.expect("publish");
      got.push([payload.length, topic, properties?.topicAlias]);
    }
    // An alias of three bytes is no gain for a topic of one.
    expect(got).toEqual([
      [24, "t", undefined],
      [21, "t", 1],
      [24, "t", undefined],
      [22, "", 1],
    ]);
  });
});
