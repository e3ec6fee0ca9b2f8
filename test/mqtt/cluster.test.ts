import { expect, it } from "vitest";
import {
  describeCluster,
  Inbox,
  kept,
  leave,
  openRedis,
  publishAcknowledged,
  Receiver,
  startMember,
  startPair,
} from "./cluster-harness.ts";
import { type Broker, connectMqttJs, connectWire, seen, versions } from "./harness.ts";

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
  it("[MQTT-200] a client of one broker receives what is published at the other, each QoS, in order and once", async () => {
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

  it("[MQTT-201] properties arrive unaltered and in order, with what is left of the expiry and the receiver's identifiers", async () => {
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

  it("[MQTT-202] PUBACK does not say that nobody subscribed, since another broker's client may have", async () => {
    const [one] = await startPair(nextUrl());
    const publisher = await connectWire(one, 5);
    publisher.publish("nobody/here", "x", { qos: 1, packetId: 1 });
    expect(await publisher.expect("puback")).toMatchObject({ reason: 0 });
  });

  it("[MQTT-203] a message is answered where it was published, by reply rule and device, once; and goes round nowhere", async () => {
    const [one, other] = await startPair(nextUrl());
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

  it("[MQTT-204] $SYS is each broker's own, and is not in Redis", async () => {
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

describeCluster("retained messages of a cluster", (nextUrl) => {
  it("[MQTT-205] one that is set at one broker is there at the other; cleared there, it is gone at the first", async () => {
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

  it("[MQTT-205] both brokers and whoever comes later agree on the last one, however they overlap", async () => {
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

  it("[MQTT-205] they are there after all brokers were stopped, with expiry and properties", async () => {
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

describeCluster("sessions of a cluster", (nextUrl) => {
  it.each(versions)(
    "[MQTT-206] a session moves with its client and has what both brokers published meanwhile, version %s",
    async (version) => {
      const [one, other] = await startPair(nextUrl());
      const options = version === 5 ? kept("mover") : { clientId: "mover", cleanStart: false };
      const client = await connectWire(one, version, options);
      expect(client.connack.sessionPresent).toBe(false);
      await client.subscribe("q/#", { qos: 2 }, version === 5 ? { subscriptionIdentifiers: [5] } : undefined);
      await leave(client);
      const publishers = [await connectWire(one, 5), await connectWire(other, 5)];
      const sent: string[] = [];
      for (let round = 0; round < 8; round++) {
        sent.push(String(round));
        await publishAcknowledged(publishers[round % 2] as never, "q/1", String(round), { qos: round % 4 < 2 ? 1 : 2 });
      }
      const back = await connectWire(other, version, options);
      expect(back.connack.sessionPresent).toBe(true);
      const inbox = new Inbox(back);
      await expect.poll(() => inbox.payloads).toEqual(sent);
      if (version === 5) expect(inbox.messages[0]?.properties?.subscriptionIdentifiers).toEqual([5]);
      // Its subscription came along.
      await publishAcknowledged(publishers[0] as never, "q/2", "live");
      await expect.poll(() => inbox.payloads.at(-1)).toBe("live");
      expect(await one.act("client.read", { clientId: "mover" })).toBeNull();
    },
  );

  it("[MQTT-207] what was in flight is sent again at the other broker: with DUP, or PUBREL; and a QoS 2 message that comes again is routed once", async () => {
    const [one, other] = await startPair(nextUrl());
    const watcher = await connectWire(one, 5);
    await watcher.subscribe("out", { qos: 2 });
    const inbox = new Inbox(watcher);
    const client = await connectWire(one, 5, kept("mover"));
    await client.subscribe("in", { qos: 2 });
    for (const payload of ["done", "open", "half"]) await one.act("publish", { topic: "in", qos: payload === "half" ? 2 : 1, payload });
    const [done, open, half] = [await client.expect("publish"), await client.expect("publish"), await client.expect("publish")];
    client.send({ type: "puback", packetId: done.packetId, reason: 0 }).send({ type: "pubrec", packetId: half.packetId, reason: 0 });
    await client.expect("pubrel");
    client.publish("out", "once", { qos: 2, packetId: 77 });
    await client.expect("pubrec");
    client.destroy();
    const back = await connectWire(other, 5, kept("mover"));
    expect(await back.expect("publish")).toMatchObject({ packetId: open.packetId, dup: true });
    expect(await back.expect("pubrel")).toMatchObject({ packetId: half.packetId });
    back.publish("out", "once", { qos: 2, packetId: 77, dup: true });
    await back.expect("pubrec");
    back.send({ type: "pubrel", packetId: 77, reason: 0 });
    expect(await back.expect("pubcomp")).toMatchObject({ reason: 0 });
    await back.expectNothing();
    await publishAcknowledged(back, "out", "end", { qos: 2 });
    await expect.poll(() => inbox.payloads).toEqual(["once", "end"]);
  });

  it("[MQTT-207] moved to and fro under load it has each QoS 2 message once, in order", async () => {
    const [one, other] = await startPair(nextUrl());
    const receiver = new Receiver();
    const publishers = [await connectWire(one, 5), await connectWire(other, 5)];
    const first = await connectWire(one, 5, kept("mover"));
    await first.subscribe("load", { qos: 2 });
    first.destroy();
    let sent = 0;
    let moving = true;
    const load = publishers.map(async (publisher, index) => {
      for (; moving; sent++) await publishAcknowledged(publisher, "load", `${index} ${sent}`, { qos: 2 });
    });
    for (let move = 0; move < 30; move++) {
      const client = await connectWire(move % 2 === 0 ? other : one, 5, kept("mover"));
      expect(client.connack.sessionPresent).toBe(true);
      const taken = receiver.take(client);
      const target = receiver.received.length + 5;
      await expect.poll(() => receiver.received.length, { interval: 1 }).toBeGreaterThan(target);
      // Every other time it is taken over.
      if (move % 2 === 0) client.destroy();
      else void taken;
    }
    moving = false;
    await Promise.all(load);
    const last = await connectWire(one, 5, kept("mover"));
    void receiver.take(last);
    await expect.poll(() => receiver.received.length).toBe(sent);
    for (const index of ["0", "1"]) {
      const numbers = receiver.received.filter((payload) => payload.startsWith(index)).map((payload) => Number(payload.slice(2)));
      expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
      expect(new Set(numbers).size).toBe(numbers.length);
    }
  });

  it("[MQTT-208] a second connection at another broker takes the session over: 0x8E, whether it is kept or not", async () => {
    const [one, other] = await startPair(nextUrl());
    for (const options of [kept("kept"), { clientId: "not kept" }]) {
      const first = await connectWire(one, 5, options);
      await first.subscribe("t", { qos: 1 });
      const second = await connectWire(other, 5, options);
      expect(await first.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8e });
      expect(second.connack.sessionPresent).toBe(options.clientId === "kept");
      const third = await connectWire(one, 5, options);
      expect(await second.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8e });
      await third.expectNothing();
    }
  });

  it("[MQTT-208] of many connections with one identifier at two brokers one is left", async () => {
    const [one, other] = await startPair(nextUrl());
    const clients = await Promise.all(
      Array.from({ length: 12 }, (_, index) => connectWire(index % 2 === 0 ? one : other, 5, kept("same"))),
    );
    await expect.poll(() => clients.filter(({ closed }) => !closed).length).toBe(1);
    const left = clients.find(({ closed }) => !closed);
    await left?.expectNothing();
  });

  it("[MQTT-209] a clean start at another broker ends the session", async () => {
    const [one, other] = await startPair(nextUrl());
    const client = await connectWire(one, 5, kept("c"));
    await client.subscribe("t", { qos: 1 });
    await leave(client);
    const publisher = await connectWire(one, 5);
    await publishAcknowledged(publisher, "t", "waits");
    const clean = await connectWire(other, 5, kept("c", { cleanStart: true }));
    expect(clean.connack.sessionPresent).toBe(false);
    await publishAcknowledged(publisher, "t", "nobody's");
    await clean.expectNothing();
    expect(await one.act("client.read", { clientId: "c" })).toBeNull();
  });

  it("[MQTT-209] a session whose expiry is over is present nowhere, and leaves nothing in Redis", async () => {
    const url = nextUrl();
    const [one, other] = await startPair(url);
    const options = kept("c", { properties: { sessionExpiryInterval: 1 } });
    const client = await connectWire(one, 5, options);
    await client.subscribe("t", { qos: 1 });
    await leave(client);
    await expect.poll(() => one.act("client.read", { clientId: "c" })).toBeNull();
    const back = await connectWire(other, 5, options);
    expect(back.connack.sessionPresent).toBe(false);
    await leave(back);
    await expect.poll(() => other.act("client.read", { clientId: "c" })).toBeNull();
    await leave(await connectWire(other, 5, { will: { topic: "w", payload: Buffer.alloc(0), qos: 0, retain: false } }));
    const redis = await openRedis(url);
    await expect.poll(() => redis.hlen("backlot:mqtt:owners")).toBe(0);
    expect(await redis.keys("backlot:mqtt:session:*")).toEqual([]);
  });

  it("[MQTT-210] sessions wait in Redis while no broker runs", async () => {
    const url = nextUrl();
    const [one, other] = await startPair(url);
    const client = await connectWire(one, 5, kept("c"));
    await client.subscribe("t", { qos: 2 });
    await leave(client);
    await publishAcknowledged(await connectWire(other, 5), "t", "waits", { qos: 2 });
    await one.stop();
    await other.stop();
    const third = await startMember(url);
    const back = await connectWire(third, 5, kept("c"));
    expect(back.connack.sessionPresent).toBe(true);
    expect(seen(await back.expect("publish"))).toMatchObject({ payload: "waits", qos: 2 });
  });
});

describeCluster("wills in a cluster", (nextUrl) => {
  const will = { topic: "w", payload: Buffer.from("gone"), qos: 1 as const, retain: false };

  it("[MQTT-211] a delayed will is not published when the client is back at another broker in time, and is when it is not", async () => {
    const [one, other] = await startPair(nextUrl());
    const watcher = await connectWire(other, 5);
    await watcher.subscribe("w", { qos: 1 });
    const inbox = new Inbox(watcher);
    const withWill = (broker: Broker, clientId: string) =>
      connectWire(broker, 5, kept(clientId, { will: { ...will, payload: Buffer.from(clientId), properties: { willDelayInterval: 1 } } }));
    (await withWill(one, "late")).destroy();
    (await withWill(one, "in time")).destroy();
    const back = await withWill(other, "in time");
    expect(back.connack.sessionPresent).toBe(true);
    await expect.poll(() => inbox.payloads).toEqual(["late"]);
    // Longer than any will waits.
    (await withWill(one, "last")).destroy();
    await expect.poll(() => inbox.payloads).toEqual(["late", "last"]);
  });
});
