/** Each row of what MQTT 5.0 means (docs/mqtt-conformance.md), with a client that others wrote and use. */
import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import mqtt, { type IClientOptions, type IConnackPacket, type IPublishPacket, type MqttClient, type Packet } from "mqtt";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Broker, connectWire, startBroker } from "./harness.ts";

interface Member {
  readonly client: MqttClient;
  readonly connack: IConnackPacket;
  readonly messages: IPublishPacket[];
  /** Every packet that came. */
  readonly packets: Packet[];
}

async function join(broker: Broker, { properties, ...options }: IClientOptions = {}): Promise<Member> {
  const client = mqtt.connect(broker.urls.MQTT ?? "", { protocolVersion: 5, reconnectPeriod: 0, ...options, properties: properties ?? {} });
  onTestFinished(() => client.endAsync(true));
  const messages: IPublishPacket[] = [];
  const packets: Packet[] = [];
  // With the topic that an alias stands for.
  client.on("message", (topic, _payload, packet) => messages.push({ ...packet, topic }));
  client.on("packetreceive", (packet) => packets.push(packet));
  const connack = await new Promise<IConnackPacket>((resolve, reject) => client.once("connect", resolve).once("error", reject));
  client.on("error", () => {});
  return { client, connack, messages, packets };
}

const texts = ({ messages }: Member) => messages.map(({ payload }) => payload.toString());
const arrived = (member: Member, count: number) => expect.poll(() => member.messages.length).toBe(count);
const gone = (broker: Broker, clientId: string) =>
  expect.poll(async () => (await broker.act("client.read", { clientId }))?.connected ?? false).toBe(false);
const kept = (clientId: string, sessionExpiryInterval = 600) => ({ clientId, clean: false, properties: { sessionExpiryInterval } });
const disconnectReason = ({ packets }: Member) =>
  packets.flatMap((packet) => (packet.cmd === "disconnect" ? [packet.reasonCode] : [])).at(-1);

describe("with MQTT.js", () => {
  it("[MQTT-116] session expiry, also changed by DISCONNECT", async () => {
    const broker = await startBroker();
    const first = await join(broker, kept("s"));
    await first.client.subscribeAsync("t", { qos: 1 });
    await first.client.endAsync();
    await broker.act("publish", { topic: "t", qos: 1, payload: "waited" });
    const second = await join(broker, kept("s"));
    expect(second.connack.sessionPresent).toBe(true);
    await arrived(second, 1);
    await second.client.endAsync(false, { properties: { sessionExpiryInterval: 0 } });
    await gone(broker, "s");
    expect((await join(broker, kept("s"))).connack.sessionPresent).toBe(false);
  });

  it("[MQTT-116] assigned client identifier", async () => {
    const broker = await startBroker();
    const { connack } = await join(broker, { clientId: "" });
    const clientId = connack.properties?.assignedClientIdentifier ?? "";
    expect(clientId).toMatch(/^auto-/);
    expect(await broker.act("client.read", { clientId })).toMatchObject({ connected: true });
  });

  it("[MQTT-116] server keep alive", async () => {
    const broker = await startBroker({ keepAliveSeconds: 20 });
    const { connack } = await join(broker, { clientId: "k", keepalive: 300 });
    expect(connack.properties?.serverKeepAlive).toBe(20);
    expect(await broker.act("client.read", { clientId: "k" })).toMatchObject({ keepAliveSeconds: 20 });
  });

  it("[MQTT-116] message expiry, of queued and of retained messages, the rest of it sent on", async () => {
    const broker = await startBroker();
    const publisher = await join(broker);
    const first = await join(broker, kept("s"));
    await first.client.subscribeAsync("t/+", { qos: 1, rh: 2 });
    await first.client.endAsync();
    for (const [topic, messageExpiryInterval] of [
      ["t/short", 1],
      ["t/long", 100],
    ] as const) {
      await publisher.client.publishAsync(topic, topic, { qos: 1, retain: true, properties: { messageExpiryInterval } });
    }
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const second = await join(broker, kept("s"));
    const late = await join(broker);
    await late.client.subscribeAsync("t/+");
    for (const member of [second, late]) {
      await arrived(member, 1);
      expect(texts(member)).toEqual(["t/long"]);
      expect(member.messages[0]?.properties?.messageExpiryInterval).toBeLessThan(100);
    }
  });

  it("[MQTT-116] payload format, content type, response topic, correlation data", async () => {
    const broker = await startBroker();
    const member = await join(broker);
    await member.client.subscribeAsync("t");
    const properties = {
      payloadFormatIndicator: true,
      contentType: "text/plain",
      responseTopic: "answers",
      correlationData: Buffer.from([0, 255]),
    };
    await member.client.publishAsync("t", "x", { properties });
    await arrived(member, 1);
    expect(member.messages[0]?.properties).toEqual(properties);
  });

  it("[MQTT-116] user properties in order, repeated keys too", async () => {
    const broker = await startBroker();
    const member = await join(broker);
    await member.client.subscribeAsync("t");
    await member.client.publishAsync("t", "x", { properties: { userProperties: { b: ["2", "1"], a: "3" } } });
    await arrived(member, 1);
    expect(member.messages[0]?.properties?.userProperties).toEqual({ b: ["2", "1"], a: "3" });
  });

  it("[MQTT-116] topic alias both ways", async () => {
    const broker = await startBroker();
    const member = await join(broker, { properties: { topicAliasMaximum: 5 }, autoAssignTopicAlias: true });
    const onWire: [string, number | undefined][] = [];
    member.client.on("packetsend", (packet) => {
      if (packet.cmd === "publish") onWire.push([packet.topic, packet.properties?.topicAlias]);
    });
    await member.client.subscribeAsync("a/long/topic");
    for (let count = 0; count < 3; count++) await member.client.publishAsync("a/long/topic", String(count));
    await arrived(member, 3);
    expect(member.messages.map(({ topic }) => topic)).toEqual(["a/long/topic", "a/long/topic", "a/long/topic"]);
    expect(member.messages.map(({ properties }) => properties?.topicAlias)).toEqual([1, 1, 1]);
    expect(onWire).toEqual([
      ["a/long/topic", 1],
      ["", 1],
      ["", 1],
    ]);
  });

  it("[MQTT-116] subscription identifiers, all that match in one message", async () => {
    const broker = await startBroker();
    const member = await join(broker);
    await member.client.subscribeAsync("a/#", { qos: 0, properties: { subscriptionIdentifier: 1 } });
    await member.client.subscribeAsync("a/b", { qos: 0, properties: { subscriptionIdentifier: 2 } });
    await member.client.publishAsync("a/b", "x", { qos: 1 });
    await arrived(member, 1);
    expect(member.messages[0]?.properties?.subscriptionIdentifier).toEqual(expect.arrayContaining([1, 2]));
  });

  it("[MQTT-116] overlapping subscriptions once, at the highest QoS", async () => {
    const broker = await startBroker();
    const member = await join(broker);
    await member.client.subscribeAsync({ "a/#": { qos: 0 }, "a/+": { qos: 2 }, "a/b": { qos: 1 } });
    await member.client.publishAsync("a/b", "x", { qos: 2 });
    await member.client.publishAsync("a/b", "y", { qos: 2 });
    await arrived(member, 2);
    expect(member.messages.map(({ qos }) => qos)).toEqual([2, 2]);
  });

  it("[MQTT-116] no local", async () => {
    const broker = await startBroker();
    const member = await join(broker);
    await member.client.subscribeAsync("a", { qos: 1, nl: true });
    await member.client.publishAsync("a", "own", { qos: 1 });
    await broker.act("publish", { topic: "a", payload: "other" });
    await arrived(member, 1);
    expect(texts(member)).toEqual(["other"]);
  });

  it("[MQTT-116] retain as published", async () => {
    const broker = await startBroker();
    const [keeps, drops] = [await join(broker), await join(broker)];
    await keeps.client.subscribeAsync("a", { qos: 0, rap: true });
    await drops.client.subscribeAsync("a", { qos: 0, rap: false });
    await keeps.client.publishAsync("a", "x", { retain: true });
    await arrived(keeps, 1);
    await arrived(drops, 1);
    expect([keeps.messages[0]?.retain, drops.messages[0]?.retain]).toEqual([true, false]);
  });

  it("[MQTT-116] retain handling 0, 1 and 2", async () => {
    const broker = await startBroker();
    await broker.act("publish", { topic: "a", payload: "kept", retain: true });
    for (const [rh, first, again] of [
      [0, 1, 2],
      [1, 1, 1],
      [2, 0, 0],
    ] as const) {
      const member = await join(broker);
      for (const count of [first, again]) {
        await member.client.subscribeAsync("a", { qos: 0, rh });
        // Retained messages come before the answer to this.
        await member.client.unsubscribeAsync("none");
        expect([rh, member.messages.length]).toEqual([rh, count]);
      }
    }
  });

  it("[MQTT-116] shared subscriptions", async () => {
    const broker = await startBroker();
    const members = [await join(broker), await join(broker), await join(broker)];
    for (const { client } of members) await client.subscribeAsync("$share/workers/jobs/+", { qos: 1 });
    for (let count = 0; count < 9; count++) await broker.act("publish", { topic: "jobs/x", qos: 1, payload: String(count) });
    await expect.poll(() => members.map(({ messages }) => messages.length)).toEqual([3, 3, 3]);
  });

  it("[MQTT-116] what a lost member did not acknowledge goes to another", async () => {
    const broker = await startBroker();
    const lost = await join(broker, {
      clientId: "lost",
      // It never acknowledges.
      customHandleAcks: () => {},
    });
    await lost.client.subscribeAsync("$share/workers/jobs/+", { qos: 1 });
    await broker.act("publish", { topic: "jobs/x", qos: 1, payload: "job" });
    await expect.poll(() => lost.packets.some(({ cmd }) => cmd === "publish")).toBe(true);
    const other = await join(broker);
    await other.client.subscribeAsync("$share/workers/jobs/+", { qos: 1 });
    lost.client.stream.destroy();
    await arrived(other, 1);
    expect(texts(other)).toEqual(["job"]);
  });

  it("[MQTT-116] reason codes and reason strings on every acknowledgement", async () => {
    const broker = await startBroker({ topicRules: ["* readwrite open/#"] });
    const { client, packets } = await join(broker);
    await client.publishAsync("open/x", "", { qos: 1 });
    expect(packets.at(-1)).toMatchObject({ cmd: "puback", reasonCode: 0x10 });
    await expect(client.publishAsync("shut", "", { qos: 1 })).rejects.toMatchObject({ code: 0x87 });
    await expect(client.publishAsync("shut", "", { qos: 2 })).rejects.toMatchObject({ code: 0x87 });
    const before = packets.length;
    await client.subscribeAsync("shut").catch(() => {});
    await client.unsubscribeAsync("open/none").catch(() => {});
    expect(packets.slice(before)).toMatchObject([
      { cmd: "suback", granted: [0x87], properties: { reasonString: expect.any(String) } },
      { cmd: "unsuback", granted: [0x11] },
    ]);
  });

  it("[MQTT-116] receive maximum both ways", async () => {
    const broker = await startBroker({ receiveMaximum: 20 });
    const held: (() => void)[] = [];
    const slow = await join(broker, {
      clientId: "slow",
      properties: { receiveMaximum: 2 },
      customHandleAcks: (_topic, _message, _packet, done) => void held.push(() => done(0)),
    });
    expect(slow.connack.properties?.receiveMaximum).toBe(20);
    await slow.client.subscribeAsync("t", { qos: 1 });
    for (let count = 0; count < 6; count++) await broker.act("publish", { topic: "t", qos: 1, payload: String(count) });
    expect(await broker.act("client.read", { clientId: "slow" })).toMatchObject({ inflight: 2, queued: 4 });
    for (let acknowledged = 0; acknowledged < 6; acknowledged++) {
      await expect.poll(() => held.length).toBe(acknowledged + 1);
      held[acknowledged]?.();
    }
    await expect.poll(() => broker.act("client.read", { clientId: "slow" })).toMatchObject({ inflight: 0, queued: 0 });
    // MQTT.js keeps to the broker's; who does not is disconnected.
    const rude = await connectWire(broker, 5);
    for (let packetId = 1; packetId <= 21; packetId++) rude.publish("t", "", { qos: 2, packetId });
    expect(await rude.expectClose()).toMatchObject({ type: "disconnect", reason: 0x93 });
  });

  it("[MQTT-116] maximum packet size both ways", async () => {
    const broker = await startBroker({ packetBytes: 2_000 });
    const member = await join(broker, { properties: { maximumPacketSize: 200 } });
    expect(member.connack.properties?.maximumPacketSize).toBe(2_000);
    await member.client.subscribeAsync("t", { qos: 1 });
    for (const length of [300, 100]) await broker.act("publish", { topic: "t", qos: 1, payload: "x".repeat(length) });
    await arrived(member, 1);
    expect(member.messages[0]?.payload.length).toBe(100);
    member.client.publish("t", "x".repeat(3_000));
    await expect.poll(() => disconnectReason(member)).toBe(0x95);
  });

  it("[MQTT-116] will with properties and delay", async () => {
    const broker = await startBroker();
    const watcher = await join(broker);
    await watcher.client.subscribeAsync("w", { qos: 1 });
    const will = {
      topic: "w",
      payload: Buffer.from("gone"),
      qos: 1 as const,
      retain: false,
      properties: { willDelayInterval: 1, contentType: "text/plain", userProperties: { k: "v" } },
    };
    const lost = await join(broker, { ...kept("lost"), will });
    lost.client.stream.destroy();
    await gone(broker, "lost");
    expect(watcher.messages).toEqual([]);
    await arrived(watcher, 1);
    expect(watcher.messages[0]).toMatchObject({ qos: 1, properties: { contentType: "text/plain", userProperties: { k: "v" } } });
    expect(watcher.messages[0]?.properties).not.toHaveProperty("willDelayInterval");
  });

  it("[MQTT-116] DISCONNECT by the server with its reason", async () => {
    const broker = await startBroker();
    const first = await join(broker, { clientId: "taken" });
    await join(broker, { clientId: "taken" });
    await expect.poll(() => disconnectReason(first)).toBe(0x8e);
    const kicked = await join(broker, { clientId: "kicked" });
    await broker.act("client.disconnect", { clientId: "kicked", reason: "administrative action", text: "out", abrupt: false });
    await expect.poll(() => disconnectReason(kicked)).toBe(0x98);
    const [malformed, wrong] = [await join(broker), await join(broker)];
    malformed.client.stream.write(Buffer.from("0000", "hex"));
    await expect.poll(() => disconnectReason(malformed)).toBe(0x81);
    wrong.client.stream.write(Buffer.from("d000", "hex"));
    await expect.poll(() => disconnectReason(wrong)).toBe(0x82);
    const last = await join(broker);
    await broker.stop();
    await expect.poll(() => disconnectReason(last)).toBe(0x8b);
  });

  it("[MQTT-116] DISCONNECT after silence", async () => {
    const broker = await startBroker();
    const silent = await join(broker, { keepalive: 1 });
    silent.client.keepaliveManager?.destroy();
    await expect.poll(() => disconnectReason(silent)).toBe(0x8d);
  });

  it("[MQTT-116] enhanced authentication: SCRAM-SHA-256", async () => {
    const broker = await startBroker({ anonymous: false, users: ["ada:secret"] });
    const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();
    const authenticationMethod = "SCRAM-SHA-256";
    const bare = "n=ada,r=abcdef";
    const client = mqtt.connect(broker.urls.MQTT ?? "", {
      protocolVersion: 5,
      reconnectPeriod: 0,
      clientId: "scram",
      properties: { authenticationMethod, authenticationData: Buffer.from(`n,,${bare}`) },
    });
    onTestFinished(() => client.endAsync(true));
    client.handleAuth = (packet, callback) => {
      const reply = packet.properties?.authenticationData?.toString() ?? "";
      const [, nonce = "", salt = "", count = ""] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(reply) ?? [];
      const clientKey = hmac(pbkdf2Sync("secret", Buffer.from(salt, "base64"), Number(count), 32, "sha256"), "Client Key");
      const signature = hmac(createHash("sha256").update(clientKey).digest(), `${bare},${reply},c=biws,r=${nonce}`);
      const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0))).toString("base64");
      const authenticationData = Buffer.from(`c=biws,r=${nonce},p=${proof}`);
      callback(undefined, { cmd: "auth", reasonCode: 0x18, properties: { authenticationMethod, authenticationData } });
    };
    const connack = await new Promise<IConnackPacket>((resolve, reject) => client.once("connect", resolve).once("error", reject));
    expect(connack).toMatchObject({ reasonCode: 0, properties: { authenticationMethod } });
    expect(await broker.act("client.read", { clientId: "scram" })).toMatchObject({ username: "ada" });
  });

  it("[MQTT-116] or a clean 0x8C", async () => {
    const broker = await startBroker();
    await expect(join(broker, { properties: { authenticationMethod: "OTHER" } })).rejects.toMatchObject({ code: 0x8c });
  });

  it("[MQTT-116] request problem information and request response information", async () => {
    const broker = await startBroker({ topicRules: ["* readwrite open/#"] });
    const asking = await join(broker, { clientId: "asking", properties: { requestResponseInformation: true } });
    expect(asking.connack.properties?.responseInformation).toBe("replies/asking");
    const quiet = await join(broker, { properties: { requestProblemInformation: false } });
    expect(quiet.connack.properties?.responseInformation).toBeUndefined();
    for (const [member, says] of [
      [asking, true],
      [quiet, false],
    ] as const) {
      await member.client.publishAsync("shut", "", { qos: 1 }).catch(() => {});
      const puback = member.packets.find((packet) => packet.cmd === "puback");
      expect(puback).toMatchObject({ reasonCode: 0x87 });
      expect(puback?.properties?.reasonString !== undefined).toBe(says);
    }
  });
});
