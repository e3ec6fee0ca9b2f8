import { describe, expect, it } from "vitest";
import { type Broker, connectWire, seen, startBroker, type WireClient } from "./harness.ts";

const clientId = "s";
const kept = (receiveMaximum: number) => ({
  clientId,
  cleanStart: false,
  properties: { sessionExpiryInterval: 600, receiveMaximum },
});

async function lose(client: WireClient, broker: Broker) {
  client.destroy();
  await expect.poll(async () => (await broker.act("client.read", { clientId }))?.connected).toBe(false);
}

/** A client that holds three messages with QoS 2, of which it acknowledged the third and then the first with PUBREC. */
async function withReleased(broker: Broker) {
  const client = await connectWire(broker, 5, kept(10));
  await client.subscribe("t", { qos: 2 });
  const ids: number[] = [];
  for (const payload of ["1", "2", "3"]) {
    await broker.act("publish", { topic: "t", qos: 2, payload });
    ids.push((await client.expect("publish")).packetId);
  }
  const [one, two, three] = ids as [number, number, number];
  for (const packetId of [three, one]) {
    client.send({ type: "pubrec", packetId, reason: 0 });
    await client.expect("pubrel");
  }
  await lose(client, broker);
  return { one, two, three };
}

describe("sending again", () => {
  it("[MQTT-27] PUBRELs are sent in the order of the PUBRECs, regardless of the receive maximum", async () => {
    const broker = await startBroker();
    const { one, two, three } = await withReleased(broker);
    const back = await connectWire(broker, 5, kept(1));
    expect(await back.expect("publish")).toMatchObject({ packetId: two, dup: true });
    expect(await back.expect("pubrel")).toMatchObject({ packetId: three });
    expect(await back.expect("pubrel")).toMatchObject({ packetId: one });
    await back.expectNothing();
  });

  it.each([1, 2] as const)("[MQTT-28] a message sent with QoS %s is sent again even if it expired meanwhile", async (qos) => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, kept(1));
    await client.subscribe("t", { qos: 2 });
    for (const payload of ["sent", "waits"]) await broker.act("publish", { topic: "t", qos, payload, messageExpiryInterval: 1 });
    const first = await client.expect("publish");
    await lose(client, broker);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const back = await connectWire(broker, 5, kept(1));
    const again = await back.expect("publish");
    expect(seen(again)).toMatchObject({ payload: "sent", dup: true });
    expect(again).toMatchObject({ packetId: first.packetId, properties: { messageExpiryInterval: 0 } });
    const { packetId } = again;
    if (qos === 1) back.send({ type: "puback", packetId, reason: 0 });
    else {
      back.send({ type: "pubrec", packetId, reason: 0 });
      await back.expect("pubrel");
      back.send({ type: "pubcomp", packetId, reason: 0 });
    }
    // The one that had not been sent is gone.
    await back.expectNothing();
    expect(await broker.act("client.read", { clientId })).toMatchObject({ dropped: 1, inflight: 0 });
  });

  it("[MQTT-28] a client's QoS 2 exchange continues although its message expired", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.publish("t", "", { qos: 2, packetId: 1, properties: { messageExpiryInterval: 1 } });
    await client.expect("pubrec");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    client.send({ type: "pubrel", packetId: 1, reason: 0 });
    expect(await client.expect("pubcomp")).toMatchObject({ packetId: 1, reason: 0 });
  });

  it("[MQTT-28] an acknowledgement received before the redelivery ends it", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, kept(2));
    await client.subscribe("t", { qos: 1 });
    for (const payload of ["1", "2"]) await broker.act("publish", { topic: "t", qos: 1, payload });
    const one = await client.expect("publish");
    const two = await client.expect("publish");
    await lose(client, broker);
    const back = await connectWire(broker, 5, kept(1));
    await back.expect("publish");
    back.send({ type: "puback", packetId: two.packetId, reason: 0 }).send({ type: "puback", packetId: one.packetId, reason: 0 });
    await back.expectNothing();
    expect(await broker.act("client.read", { clientId })).toMatchObject({ inflight: 0 });
  });

  it("[MQTT-29] exchanges left open by an earlier connection do not count against the receive maximum", async () => {
    const broker = await startBroker({ receiveMaximum: 2 });
    const first = await connectWire(broker, 5, kept(10));
    for (const packetId of [1, 2]) {
      first.publish("t", "", { qos: 2, packetId });
      await first.expect("pubrec");
    }
    await lose(first, broker);
    const back = await connectWire(broker, 5, kept(10));
    for (const packetId of [3, 4]) {
      back.publish("t", "", { qos: 2, packetId });
      await back.expect("pubrec");
    }
    for (const packetId of [1, 2]) {
      back.send({ type: "pubrel", packetId, reason: 0 });
      expect(await back.expect("pubcomp")).toMatchObject({ packetId, reason: 0 });
    }
    back.publish("t", "", { qos: 1, packetId: 5 });
    expect(await back.expectClose()).toMatchObject({ type: "disconnect", reason: 0x93 });
  });
});
