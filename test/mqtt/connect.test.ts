import { describe, expect, it } from "vitest";
import { connectPacket, connectWire, openWire, startBroker, versionName, versions } from "./harness.ts";

describe("connecting", () => {
  it.each(versions)("[MQTT-5] accepts a CONNECT of version %s and answers pings", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    expect(client.connack).toMatchObject({ sessionPresent: false, reason: 0 });
    client.send({ type: "pingreq" });
    await client.expect("pingresp");
  });

  it("[MQTT-5] accepts MQTT 3.1 like 3.1.1", async () => {
    const broker = await startBroker();
    const client = await openWire(broker, 4);
    client.hex("10 0f 0006 4d5149736470 03 02 003c 0001 63");
    expect(await client.expect("connack")).toMatchObject({ reason: 0 });
  });

  it("[MQTT-6] answers an unknown level with return code 1, and one above 5 with 0x84", async () => {
    const broker = await startBroker();
    const old = await openWire(broker, 4);
    old.hex("10 0d 0004 4d515454 02 02 003c 0001 63");
    expect(await old.expect("connack")).toMatchObject({ reason: 1 });
    expect(await old.next()).toBeUndefined();
    const future = await openWire(broker, 5);
    future.hex("10 0e 0004 4d515454 06 02 003c 00 0001 63");
    expect(await future.expect("connack")).toMatchObject({ reason: 0x84 });
    expect(await future.next()).toBeUndefined();
  });

  it.each(versions)("[MQTT-7] closes on a second CONNECT, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    client.send(connectPacket(version, "again"));
    const last = await client.expectClose();
    if (version === 5) expect(last).toMatchObject({ type: "disconnect", reason: 0x82 });
    else expect(last).toBeUndefined();
  });

  it("[MQTT-8] assigns an identifier if it is empty, and returns it in 5.0", async () => {
    const broker = await startBroker();
    const five = await connectWire(broker, 5, { clientId: "" });
    expect(five.connack.properties?.assignedClientIdentifier).toMatch(/^auto-/);
    const three = await connectWire(broker, 4, { clientId: "" });
    expect(three.connack.reason).toBe(0);
  });

  it("[MQTT-8] refuses an empty identifier without a clean session in 3.1.1", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 4, { clientId: "", cleanStart: false });
    expect(client.connack.reason).toBe(2);
    expect(await client.next()).toBeUndefined();
  });

  it.each(["constructor", "__proto__", "$SYS/x", "a/b#+", "ä🦊"])("[MQTT-8] accepts %s as an identifier", async (clientId) => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId });
    expect(client.connack.reason).toBe(0);
    expect(await broker.act("client.read", { clientId })).toMatchObject({ clientId, connected: true });
  });

  it("[MQTT-9] states its limits in the CONNACK", async () => {
    const broker = await startBroker({
      receiveMaximum: 7,
      topicAliasMaximum: 3,
      packetBytes: 1_000,
      keepAliveSeconds: 30,
      sessionExpirySeconds: 100,
    });
    const client = await connectWire(broker, 5, { keepAliveSeconds: 600, properties: { sessionExpiryInterval: 1_000 } });
    expect(client.connack.properties).toEqual({
      receiveMaximum: 7,
      topicAliasMaximum: 3,
      maximumPacketSize: 1_000,
      serverKeepAlive: 30,
      sessionExpiryInterval: 100,
    });
  });

  it("[MQTT-10] sends response information only to clients that ask for it", async () => {
    const broker = await startBroker();
    for (const clientId of ["asking", "$&"]) {
      const asking = await connectWire(broker, 5, { clientId, properties: { requestResponseInformation: 1 } });
      expect(asking.connack.properties?.responseInformation).toBe(`replies/${clientId}`);
    }
    const other = await connectWire(broker, 5);
    expect(other.connack.properties?.responseInformation).toBeUndefined();
  });

  it("[MQTT-11] omits reason strings from acknowledgements for clients that do not want them", async () => {
    const broker = await startBroker();
    const wanting = await connectWire(broker, 5);
    wanting.publish("$SYS/x", "", { qos: 1, packetId: 1 });
    expect(await wanting.expect("puback")).toMatchObject({ reason: 0x87, properties: { reasonString: expect.any(String) } });
    const quiet = await connectWire(broker, 5, { properties: { requestProblemInformation: 0 } });
    quiet.publish("$SYS/x", "", { qos: 1, packetId: 1 });
    expect(await quiet.expect("puback")).toEqual({ type: "puback", packetId: 1, reason: 0x87 });
  });

  it("[MQTT-11] and from every packet that would be too large for the client with it", async () => {
    const broker = await startBroker({ topicRules: ["* readwrite allowed"] });
    const properties = { maximumPacketSize: 20 };
    const client = await connectWire(broker, 5, { properties });
    client.publish("denied", "", { qos: 1, packetId: 1 });
    expect(await client.expect("puback")).toEqual({ type: "puback", packetId: 1, reason: 0x87 });
    client.publish("denied", "", { qos: 2, packetId: 2 });
    expect(await client.expect("pubrec")).toEqual({ type: "pubrec", packetId: 2, reason: 0x87 });
    expect(await client.subscribe("denied")).toMatchObject({ reasons: [0x87], properties: undefined });
    client.send(connectPacket(5, "again"));
    const last = await client.expectClose();
    expect(last).toEqual({ type: "disconnect", reason: 0x82, properties: undefined });
    const refused = await connectWire(broker, 5, { properties: { ...properties, authenticationMethod: "K" } });
    expect(refused.connack).toMatchObject({ reason: 0x8c, properties: undefined });
  });

  it("[MQTT-12] uses the server's keep alive if it sent one", async () => {
    const broker = await startBroker({ keepAliveSeconds: 1 });
    const client = await connectWire(broker, 5, { keepAliveSeconds: 600 });
    expect(client.connack.properties?.serverKeepAlive).toBe(1);
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8d });
  });

  it.each(versions)("[MQTT-12] disconnects a client that is silent for 1.5 times the keep alive, version %s", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version, { keepAliveSeconds: 1 });
    const last = await client.expectClose();
    if (version === 5) expect(last).toMatchObject({ type: "disconnect", reason: 0x8d });
  });

  it("[MQTT-13] closes a connection without a CONNECT", async () => {
    const broker = await startBroker({ connectTimeoutMs: 100 });
    const client = await openWire(broker);
    client.hex("10 20 0004");
    expect(await client.next()).toBeUndefined();
  });

  it("[MQTT-14] sends 0x8B when it shuts down", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await broker.stop();
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8b });
  });

  it("[MQTT-15] accepts no more clients than configured", async () => {
    const broker = await startBroker({ clients: 1 });
    await connectWire(broker, 5);
    expect((await connectWire(broker, 5)).connack.reason).toBe(0x97);
    expect((await connectWire(broker, 4)).connack.reason).toBe(3);
  });

  it.each(versions)("[MQTT-16] %s: a client that disconnects gets no answer", async (version) => {
    const broker = await startBroker();
    const client = await connectWire(broker, version);
    client.send({ type: "disconnect", reason: 0 });
    expect(await client.next(), versionName[version]).toBeUndefined();
  });
});
