import { describe, expect, it } from "vitest";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import { connectWire, publishPacket, seen, startBroker, versions } from "./harness.ts";

describe("packet identifiers", () => {
  it("[MQTT-55] an identifier in use by a QoS 2 message is refused for other packets with 0x91", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    client.publish("t", "two", { qos: 2, packetId: 7 });
    await client.expect("pubrec");
    client.publish("t", "one", { qos: 1, packetId: 7 });
    expect(await client.expect("puback")).toMatchObject({ packetId: 7, reason: 0x91 });
    expect((await client.subscribe("t", {}, undefined, 7)).reasons).toEqual([0x91]);
    client.send({ type: "unsubscribe", packetId: 7, filters: ["t", "u"] });
    expect(await client.expect("unsuback")).toMatchObject({ packetId: 7, reasons: [0x91, 0x91] });
    expect(await broker.act("client.read", { clientId: "c" })).toMatchObject({ subscriptionCount: 0 });
    client.send({ type: "pubrel", packetId: 7, reason: 0 });
    expect(await client.expect("pubcomp")).toMatchObject({ packetId: 7, reason: 0 });
    expect((await client.subscribe("t", {}, undefined, 7)).reasons).toEqual([0]);
  });

  it.each(versions)(
    "[MQTT-58] an identifier is free again after PUBACK and PUBCOMP, whatever the DUP flag, version %s",
    async (version) => {
      const broker = await startBroker();
      const client = await connectWire(broker, version);
      await client.subscribe("t");
      for (const dup of [false, true]) {
        client.publish("t", "one", { qos: 1, packetId: 7, dup });
        expect(seen(await client.expect("publish"))).toMatchObject({ payload: "one", dup: false });
        await client.expect("puback");
        client.publish("t", "two", { qos: 2, packetId: 7, dup });
        expect(seen(await client.expect("publish"))).toMatchObject({ payload: "two", dup: false });
        await client.expect("pubrec");
        client.send({ type: "pubrel", packetId: 7, reason: 0 });
        await client.expect("pubcomp");
      }
    },
  );

  it("[MQTT-59] the broker's own identifiers wrap after 65,535, and skip 0 and those in use", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("t", { qos: 1 });
    const publisher = await connectWire(broker, 5);
    const batch = 434;
    const message = encodePacket({ ...publishPacket("t", ""), qos: 1, packetId: 1 }, 5);
    publisher.write(message);
    const held = (await client.expect("publish")).packetId;
    const given: number[] = [];
    while ((given.at(-1) ?? 0) >= (given.at(-1 - batch) ?? 0)) {
      publisher.write(Buffer.concat(Array.from({ length: batch }, () => message)));
      const acks: Buffer[] = [];
      while (acks.length < batch) {
        const { packetId } = await client.expect("publish");
        given.push(packetId);
        acks.push(encodePacket({ type: "puback", packetId, reason: 0 }, 5));
      }
      client.write(Buffer.concat(acks));
    }
    expect(held).toBe(1);
    expect(given.filter((packetId) => packetId < 2 || packetId > 0xffff)).toEqual([]);
    expect([Math.max(...given), Math.min(...given.slice(-batch))]).toEqual([0xffff, 2]);
  });

  it("[MQTT-58] and after a PUBREC that refuses", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.publish("$SYS/x", "refused", { qos: 2, packetId: 7 });
    expect(await client.expect("pubrec")).toMatchObject({ reason: 0x87 });
    await client.subscribe("t", {}, undefined, 7);
    client.publish("t", "new", { qos: 2, packetId: 7 });
    expect(seen(await client.expect("publish")).payload).toBe("new");
  });
});
