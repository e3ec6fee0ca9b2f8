import { expect, it } from "vitest";
import { type Broker, connectWire, seen, versions } from "../harness.ts";
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

describeCluster("sessions of a cluster", (nextUrl) => {
  it.each(versions)(
    "[MQTT-206] a session moves with its client and has the messages both brokers published meanwhile, version %s",
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
      await expect.poll(() => inbox.payloads.length).toBe(sent.length);
      // In order from each of the two.
      for (const odd of [0, 1]) {
        const ofOne = (payloads: readonly string[]) => payloads.filter((payload) => Number(payload) % 2 === odd);
        expect(ofOne(inbox.payloads)).toEqual(ofOne(sent));
      }
      if (version === 5) expect(inbox.messages[0]?.properties?.subscriptionIdentifiers).toEqual([5]);
      // Its subscription came along.
      await publishAcknowledged(publishers[0] as never, "q/2", "live");
      await expect.poll(() => inbox.payloads.at(-1)).toBe("live");
      expect(await one.act("client.read", { clientId: "mover" })).toBeNull();
    },
  );

  it("[MQTT-502] what a session takes along to another broker is neither queued nor awaited here: rows and messages say that it moved", async () => {
    const [one, other] = await startPair(nextUrl());
    const client = await connectWire(one, 5, kept("mover"));
    await client.subscribe("m/#", { qos: 1 });
    await one.act("publish", { topic: "m/sent", qos: 1, payload: "sent" });
    await client.expect("publish");
    await leave(client);
    await one.act("publish", { topic: "m/waits", qos: 1, payload: "waits" });
    const outcomes = () => ["m/sent", "m/waits"].map((topic) => one.rows.findLast(({ target }) => target === topic)?.outcome);
    await expect.poll(() => outcomes()[1]).toBe("queued");
    const back = await connectWire(other, 5, kept("mover"));
    expect((await back.expect("publish")).topic).toBe("m/sent");
    expect((await back.expect("publish")).topic).toBe("m/waits");
    await expect.poll(outcomes).toEqual(["0 of 1 acknowledged, moved for 1", "moved for 1"]);
    const { messages } = await one.act("topic.history", { filter: "m/waits", limit: 1 });
    const message = await one.act("message.read", { id: messages[0]?.id ?? 0 });
    expect(message).toMatchObject({ matched: 1, delivered: 0, dropped: 0, moved: 1, deliveries: [{ clientId: "mover", moved: true }] });
    expect(message).not.toHaveProperty("queued");
  });

  it("[MQTT-207] messages in flight are sent again by the other broker, with DUP or as PUBREL; a repeated QoS 2 message is routed once", async () => {
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

  it("[MQTT-207] a session moved back and forth under load gets each QoS 2 message once, in order", async () => {
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

  it("[MQTT-208] a second connection at another broker takes over the session with 0x8E, persistent or not", async () => {
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

  it("[MQTT-208] the same for a session that was restarted at its first broker", async () => {
    const [one, other] = await startPair(nextUrl());
    for (const options of [kept("kept", { cleanStart: true }), { clientId: "not kept" }]) {
      await connectWire(one, 5, options);
      const again = await connectWire(one, 5, options);
      await connectWire(other, 5, options);
      expect(await again.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8e });
    }
  });

  it("[MQTT-208] of many connections with one identifier at two brokers one remains", async () => {
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

  it("[MQTT-490] messages that wait count as dropped at a clean start at another broker, not where the session moves on", async () => {
    const [one, other] = await startPair(nextUrl());
    const publisher = await connectWire(one, 5);
    for (const clientId of ["moves", "ends"]) {
      const client = await connectWire(one, 5, kept(clientId));
      await client.subscribe(clientId, { qos: 1 });
      await leave(client);
      await publishAcknowledged(publisher, clientId, "waits");
      const back = await connectWire(other, 5, kept(clientId, { cleanStart: clientId === "ends" }));
      expect(back.connack.sessionPresent).toBe(clientId === "moves");
      if (clientId === "moves") expect(seen(await back.expect("publish")).payload).toBe("waits");
    }
    const readDropped = async (filter: string) => (await one.act("topic.history", { filter, limit: 1 })).messages[0]?.dropped;
    expect([await readDropped("moves"), await readDropped("ends")]).toEqual([0, 1]);
    await expect.poll(() => one.logs.filter((line) => line.includes("dropped"))).toEqual(["1 message dropped for ends: session ended"]);
    expect(other.views.get("figures")?.dropped["session ended"] ?? 0).toBe(0);
  });

  it("[MQTT-209] an expired session is not present at any broker, and leaves nothing in Redis", async () => {
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

  it("[MQTT-210] sessions are kept in Redis while no broker runs", async () => {
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

  it("[MQTT-360] the names of a client's topic filters do not clash with what else Redis has of its session", async () => {
    const url = nextUrl();
    const filters = ["ession", "session", "t", "at", "1", "d1"];
    const first = await startMember(url);
    const client = await connectWire(first, 5, kept("c"));
    for (const filter of filters) await client.subscribe(filter, { qos: 1 });
    await leave(client);
    await first.stop();
    const second = await startMember(url);
    const back = await connectWire(second, 5, kept("c"));
    expect(back.connack.sessionPresent).toBe(true);
    const { subscriptions } = (await second.act("client.read", { clientId: "c" })) ?? {};
    expect(subscriptions?.map(({ filter }) => filter).sort()).toEqual(filters.sort());
    expect(second.logs.join("\n")).not.toContain("cannot be read");
  });

  it("[MQTT-360] a session whose filters are stored under their former names keeps them", async () => {
    const url = nextUrl();
    const redis = await openRedis(url);
    const head = { v5: true, expirySeconds: 600, disconnectedAt: Date.now(), address: "" };
    await redis.hset("backlot:mqtt:session:c", { session: JSON.stringify(head), "st/#": "1 0 0 0 0" });
    const client = await connectWire(await startMember(url), 5, kept("c"));
    client.publish("t/1", "x");
    expect(seen(await client.expect("publish")).payload).toBe("x");
    expect(await redis.hkeys("backlot:mqtt:session:c")).toContain("ft/#");
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
