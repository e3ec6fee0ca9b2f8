import { describe, expect, it } from "vitest";
import { type Broker, connectPacket, connectWire, openWire, seen, startBroker } from "./harness.ts";

const bridges = [
  ["3.1", "10 10 0006 4d5149736470 83 02 003c 0002 6272"],
  ["3.1.1", "10 0e 0004 4d515454 84 02 003c 0002 6272"],
] as const;

async function connectBytes(broker: Broker, bytes: string) {
  const client = await openWire(broker, 4);
  client.hex(bytes);
  return Object.assign(client, { connack: await client.expect("connack") });
}

describe("bridges and old clients", () => {
  it.each(bridges)("[MQTT-17] a mosquitto bridge of %s keeps the retain flag and does not get its own messages", async (_name, bytes) => {
    const broker = await startBroker();
    const bridge = await connectBytes(broker, bytes);
    expect(bridge.connack.reason).toBe(0);
    bridge.publish("t", "own, retained", { retain: true });
    await bridge.subscribe("#");
    bridge.publish("t", "own");
    await bridge.expectNothing();
    await broker.act("publish", { topic: "t", payload: "other", retain: true });
    expect(seen(await bridge.expect("publish"))).toMatchObject({ payload: "other", retain: true });
  });

  it("[MQTT-17] the bridge bit with another protocol level is an unknown version", async () => {
    const broker = await startBroker();
    const client = await openWire(broker, 5);
    client.hex("10 0e 0004 4d515454 85 02 003c 00 0001 63");
    expect(await client.expect("connack")).toMatchObject({ reason: 0x84 });
    expect(await client.next()).toBeUndefined();
  });

  it("[MQTT-18] a client of 3.1 may set bits without meaning there: flags of CONNECT, DUP of SUBSCRIBE, UNSUBSCRIBE and PUBREL", async () => {
    const broker = await startBroker();
    const client = await connectBytes(broker, "14 0f 0006 4d5149736470 03 03 003c 0001 63");
    expect(client.connack.reason).toBe(0);
    client.hex("8a 06 0001 0001 61 02");
    expect(await client.expect("suback")).toMatchObject({ reasons: [2] });
    client.hex("34 05 0001 61 0002");
    await client.expect("publish");
    await client.expect("pubrec");
    client.hex("6a 02 0002");
    await client.expect("pubcomp");
    client.hex("aa 05 0003 0001 61");
    await client.expect("unsuback");
    client.hex("84 06 0001 0001 61 02");
    expect(await client.next()).toBeUndefined();
  });

  it("[MQTT-18] and gets return code 2 without an identifier, clean session or not", async () => {
    const broker = await startBroker();
    const client = await connectBytes(broker, "10 0e 0006 4d5149736470 03 02 003c 0000");
    expect(client.connack.reason).toBe(2);
    expect(await client.next()).toBeUndefined();
  });

  it("[MQTT-19] packets after a CONNECT are accepted before the CONNACK, and ignored after a refused one", async () => {
    const broker = await startBroker({ anonymous: false, users: ["ada:secret"] });
    const connect = (password: string) => connectPacket(5, "x", { username: "ada", password: Buffer.from(password) });
    const watcher = await connectWire(broker, 5, { username: "ada", password: Buffer.from("secret") });
    await watcher.subscribe("t");
    const refused = await openWire(broker);
    refused.send(connect("wrong")).publish("t", "refused", { retain: true });
    expect(await refused.expect("connack")).toMatchObject({ reason: 0x86, sessionPresent: false });
    expect(await refused.next()).toBeUndefined();
    const early = await openWire(broker);
    early.send(connect("secret")).publish("t", "early");
    expect(await early.expect("connack")).toMatchObject({ reason: 0 });
    expect(seen(await watcher.expect("publish")).payload).toBe("early");
  });
});
