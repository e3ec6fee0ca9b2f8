import { expect, it } from "vitest";
import { type Broker, connectMqttJs, connectWire, seen } from "../harness.ts";
import { describeCluster, Inbox, publishAcknowledged, startMember, startPair } from "./cluster-harness.ts";

/** What a new subscriber gets of it. */
async function retainedAt(broker: Broker, filter: string): Promise<string[]> {
  const client = await connectWire(broker, 5);
  const inbox = new Inbox(client);
  client.send({
    type: "subscribe",
    packetId: 1,
    subscriptions: [{ filter, qos: 1, noLocal: false, retainAsPublished: true, retainHandling: 0 }],
    properties: undefined,
  });
  client.send({ type: "pingreq" });
  await expect.poll(() => client.received.some(({ type }) => type === "pingresp")).toBe(true);
  client.destroy();
  return inbox.messages.filter(({ retain }) => retain).map(({ topic, payload }) => `${topic} ${payload}`);
}

describeCluster("messages over a cluster", (nextUrl) => {
  it("[MQTT-200] a client of one broker receives messages published at the other, each QoS, in order and once", async () => {
    const [one, other] = await startPair(nextUrl());
    const subscriber = await connectWire(one, 5);
    await subscriber.subscribe("t/#", { qos: 2 });
    const inbox = new Inbox(subscriber);
    const publisher = await connectWire(other, 5);
    const sent: unknown[] = [];
    for (let round = 0; round < 30; round++) {
      const qos = (round % 3) as 0 | 1 | 2;
      await publishAcknowledged(publisher, "t/1", String(round), { qos });
      sent.push({ topic: "t/1", payload: String(round), qos, retain: false, dup: false });
    }
    await expect.poll(() => inbox.messages.map(seen)).toEqual(sent);
  });

  it("[MQTT-200] works both ways between MQTT.js clients of both versions", async () => {
    const [one, other] = await startPair(nextUrl());
    const clients = await Promise.all([
      connectMqttJs(one.urls.MQTT ?? "", { protocolVersion: 5 }),
      connectMqttJs(other.urls.MQTT ?? "", { protocolVersion: 4 }),
    ]);
    const got: string[] = [];
    for (const [index, client] of clients.entries()) {
      client.on("message", (topic, payload) => got.push(`${index} ${topic} ${payload}`));
      await client.subscribeAsync("chat/#", { qos: 1 });
    }
    for (const [index, client] of clients.entries()) await client.publishAsync(`chat/${index}`, "hello", { qos: 1 });
    await expect.poll(() => got.sort()).toEqual(["0 chat/0 hello", "0 chat/1 hello", "1 chat/0 hello", "1 chat/1 hello"]);
  });

  it("[MQTT-200] a message of a megabyte passes, and thousands at a time", async () => {
    const [one, other] = await startPair(nextUrl(), { packetBytes: 2 << 20, receiveMaximum: 65_535 });
    const subscriber = await connectWire(one, 5);
    await subscriber.subscribe("t", { qos: 1 });
    const inbox = new Inbox(subscriber);
    const publisher = await connectWire(other, 5);
    const payloads = ["x".repeat(1 << 20), ...Array.from({ length: 3_000 }, (_, index) => String(index))];
    for (const [index, payload] of payloads.entries()) publisher.publish("t", payload, { qos: 1, packetId: index + 1 });
    await expect.poll(() => inbox.messages.length).toBe(payloads.length);
    expect(inbox.payloads).toEqual(payloads);
  });

  it.each([0, 1, 2] as const)(
    "[MQTT-241] many large messages come to all subscribers of both brokers, in order and once, QoS %s",
    async (qos) => {
      const brokers = await startPair(nextUrl());
      const subscribers = await Promise.all(Array.from({ length: 40 }, (_, index) => connectWire(brokers[index % 2] as Broker, 5)));
      await Promise.all(subscribers.map((subscriber) => subscriber.subscribe("large", { qos })));
      const inboxes = subscribers.map((subscriber) => new Inbox(subscriber));
      const publisher = await connectWire(brokers[0], 5);
      const numbers = Array.from({ length: 8 }, (_, index) => index + 1);
      for (const packetId of numbers) await publishAcknowledged(publisher, "large", `${packetId}${"x".repeat(100_000)}`, { qos, packetId });
      const arrived = () => inboxes.map(({ messages }) => messages.map(({ payload }) => Number(payload.toString("latin1", 0, 1))));
      await expect.poll(arrived, { timeout: 20_000 }).toEqual(inboxes.map(() => numbers));
    },
  );

  it("[MQTT-305] large packets that many clients send at once disconnect no broker from Redis", async () => {
    const [one, other] = await startPair(nextUrl());
    const subscriber = await connectWire(other, 5);
    await subscriber.subscribe("large/#", { qos: 1 });
    const inbox = new Inbox(subscriber);
    const publishers = await Promise.all(Array.from({ length: 48 }, () => connectWire(one, 5)));
    const payload = "x".repeat(1_000_000);
    for (const [index, publisher] of publishers.entries()) publisher.publish(`large/${index}`, payload, { qos: 1, packetId: 1 });
    await expect.poll(() => inbox.messages.length, { timeout: 20_000 }).toBe(publishers.length);
    expect([...one.logs, ...other.logs].filter((text) => text.includes("Redis is lost"))).toEqual([]);
  });

  it("[MQTT-306] packets that Redis may not hold for a reader are refused, and CONNACK says so", async () => {
    const broker = await startMember(nextUrl(), { packetBytes: 64 << 20 });
    const client = await connectWire(broker, 5);
    expect(client.connack.properties?.maximumPacketSize).toBe(8 << 20);
    client.publish("large", "x".repeat(8 << 20));
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x95 });
  });

  it("[MQTT-201] properties arrive unaltered and in order, with the remaining expiry and the receiver's identifiers", async () => {
    const [one, other] = await startPair(nextUrl());
    const subscriber = await connectWire(one, 5);
    await subscriber.subscribe("p/#", { qos: 1 }, { subscriptionIdentifiers: [7] });
    await subscriber.subscribe("p/+", { qos: 1 }, { subscriptionIdentifiers: [9] }, 2);
    const publisher = await connectWire(other, 5);
    const properties = {
      payloadFormatIndicator: 1,
      contentType: "text/plain",
      responseTopic: "back/here",
      correlationData: Buffer.from([0, 1, 255]),
      userProperties: [
        ["b", "1"],
        ["a", "2"],
        ["b", "1"],
      ] as [string, string][],
    };
    await publishAcknowledged(publisher, "p/x", "hé", { properties: { ...properties, messageExpiryInterval: 100 } });
    const message = await subscriber.expect("publish");
    expect(message.properties).toMatchObject({ ...properties, subscriptionIdentifiers: expect.arrayContaining([7, 9]) });
    expect(message.properties?.messageExpiryInterval).toBeGreaterThan(90);
    expect(message.properties?.messageExpiryInterval).toBeLessThanOrEqual(100);
  });

  it("[MQTT-202] PUBACK does not report missing subscribers, since another broker may have one", async () => {
    const [one] = await startPair(nextUrl());
    const publisher = await connectWire(one, 5);
    publisher.publish("nobody/here", "x", { qos: 1, packetId: 1 });
    expect(await publisher.expect("puback")).toMatchObject({ reason: 0 });
  });

  it("[MQTT-203] a message is answered once, by reply rule and device, at the broker where it was published, without loops", async () => {
    const [one, other] = await startPair(nextUrl(), { demoDevice: true });
    for (const broker of [one, other]) {
      const rule = { filter: "ask", topic: "answer", payload: "{payload}!", qos: 1, retain: false, delayMs: 0, enabled: true } as const;
      await broker.act("reply.save", rule);
    }
    const watcher = await connectWire(other, 5);
    for (const filter of ["ask", "answer", "commands/#", "end"]) await watcher.subscribe(filter, { qos: 1 });
    const inbox = new Inbox(watcher);
    const client = await connectWire(one, 5);
    for (const topic of ["ask", "commands/lamp/on", "end"]) await publishAcknowledged(client, topic, topic);
    await expect.poll(() => inbox.messages.some(({ topic }) => topic === "end")).toBe(true);
    const topics = inbox.messages.map(({ topic }) => topic);
    expect(topics.sort()).toEqual(["answer", "ask", "commands/lamp/on", "commands/lamp/on/result", "end"]);
  });

  it("[MQTT-204] each broker has its own $SYS, which is not in Redis", async () => {
    const [one, other] = await startPair(nextUrl(), { sysIntervalSeconds: 3_600 });
    const [client, watcher] = [await connectWire(one, 5), await connectWire(other, 5)];
    await watcher.subscribe("$SYS/broker/mine");
    await one.act("publish", { topic: "$SYS/broker/mine", payload: "x" });
    await publishAcknowledged(client, "r", "shared", { retain: true });
    await expect.poll(() => retainedAt(other, "#")).toEqual(["r shared"]);
    await watcher.expectNothing();
    expect((await retainedAt(one, "$SYS/broker/version")).length).toBe(1);
    expect(await one.act("retained.clear", { filter: "$SYS/#" })).not.toEqual({ cleared: 0 });
    expect((await retainedAt(other, "$SYS/broker/version")).length).toBe(1);
  });
});

describeCluster("the page of a broker in a cluster", (nextUrl) => {
  it("[MQTT-224] shows what is published at the others, and says so", async () => {
    const [one, other] = await startPair(nextUrl());
    await publishAcknowledged(await connectWire(one, 5, { clientId: "p" }), "t/1", "x");
    await one.act("publish", { topic: "t/1", payload: "from the page" });
    const historyAt = async (broker: Broker) => {
      const { messages } = await broker.act("topic.history", { filter: "t/#", text: "", limit: 10 });
      return messages.map(({ publisher, internalSource, cluster }) => ({ publisher, internalSource, cluster }));
    };
    const both = (cluster: string) => [
      { publisher: "", internalSource: "dashboard", cluster },
      { publisher: "p", internalSource: undefined, cluster },
    ];
    await expect.poll(() => historyAt(other)).toEqual(both("elsewhere"));
    expect(await historyAt(one)).toEqual(both("here"));
    await expect.poll(() => other.rows.filter(({ peer }) => peer === "another broker").length).toBe(2);
    expect(other.rows.find(({ target }) => target === "t/1")).toMatchObject({ outcome: "no subscriber here" });
    await expect.poll(() => other.views.get("figures")).toMatchObject({ messagesIn: 2 });
  });
});

describeCluster("wills on the page of another broker", (nextUrl) => {
  it("[MQTT-225] wills are recorded as wills, other messages of the client are not", async () => {
    const [one, other] = await startPair(nextUrl());
    const will = { topic: "w/1", payload: Buffer.from("gone"), qos: 1, retain: true } as const;
    const client = await connectWire(one, 5, { clientId: "lost", will: { ...will, properties: undefined } });
    await publishAcknowledged(client, "w/2", "here");
    client.destroy();
    const history = async () => (await other.act("topic.history", { filter: "w/#" })).messages;
    await expect.poll(history).toMatchObject([
      { topic: "w/1", publisher: "lost", will: true, retain: true, qos: 1, cluster: "elsewhere" },
      { topic: "w/2", publisher: "lost", cluster: "elsewhere" },
    ]);
    expect((await history())[1]).not.toHaveProperty("will");
  });
});

describeCluster("retained messages of a cluster", (nextUrl) => {
  it("[MQTT-205] a message set at one broker is retained at the other; cleared there, it is removed at the first", async () => {
    const [one, other] = await startPair(nextUrl());
    const [here, there] = [await connectWire(one, 5), await connectWire(other, 5)];
    await publishAcknowledged(here, "r/1", "first", { retain: true });
    await publishAcknowledged(here, "r/2", "second", { retain: true, qos: 0 });
    await expect.poll(() => retainedAt(other, "r/#")).toEqual(["r/1 first", "r/2 second"]);
    await publishAcknowledged(there, "r/1", "", { retain: true });
    await expect.poll(() => retainedAt(one, "r/#")).toEqual(["r/2 second"]);
    expect(await one.act("retained.clear", { filter: "r/#" })).toEqual({ cleared: 1 });
    await expect.poll(() => retainedAt(other, "r/#")).toEqual([]);
  });

  it("[MQTT-205] both brokers and later ones agree on the last one, however the writes overlap", async () => {
    const url = nextUrl();
    const [one, other] = await startPair(url);
    const [here, there] = [await connectWire(one, 5), await connectWire(other, 5)];
    for (let round = 0; round < 50; round++) {
      for (const [index, client] of [here, there].entries()) {
        client.publish(`r/${round}`, `${index}`, { qos: round % 2 === 0 ? 1 : 0, packetId: round % 2 === 0 ? round + 1 : 0, retain: true });
      }
    }
    for (const client of [here, there]) await publishAcknowledged(client, "end", "", { packetId: 1_000, qos: 1 }).catch(() => {});
    const third = await startMember(url);
    await expect.poll(async () => (await retainedAt(third, "r/#")).length).toBe(50);
    const agreed = (await retainedAt(third, "r/#")).sort();
    await expect.poll(async () => (await retainedAt(one, "r/#")).sort()).toEqual(agreed);
    await expect.poll(async () => (await retainedAt(other, "r/#")).sort()).toEqual(agreed);
  });

  it("[MQTT-205] retained messages survive a stop of all brokers, with expiry and properties", async () => {
    const url = nextUrl();
    const [one, other] = await startPair(url);
    const publisher = await connectWire(one, 5);
    const userProperties: [string, string][] = [["k", "v"]];
    await publishAcknowledged(publisher, "r/1", "kept", { retain: true, properties: { messageExpiryInterval: 500, userProperties } });
    await one.stop();
    await other.stop();
    const third = await startMember(url);
    const reader = await connectWire(third, 5);
    await reader.subscribe("r/+", { qos: 1 });
    const message = await reader.expect("publish");
    expect(seen(message)).toMatchObject({ topic: "r/1", payload: "kept", retain: true, qos: 1 });
    expect(message.properties).toMatchObject({ userProperties });
    expect(message.properties?.messageExpiryInterval).toBeLessThanOrEqual(500);
  });
});
