import { describe, expect, it } from "vitest";
import type { Qos } from "../../servers/mqtt/codec/packet.ts";
import { connectWire, startBroker, type Version, versions, type WireClient } from "./harness.ts";

const count = 300;

/** Acknowledges what comes until each number came; gives the numbers by QoS, in the order of coming. */
async function takeAll(client: WireClient, seen: number[][], until: number): Promise<void> {
  while (seen.flat().length < until) {
    const packet = await client.next();
    if (!packet) throw new Error("closed");
    if (packet.type === "pubrel") client.send({ type: "pubcomp", packetId: packet.packetId, reason: 0 });
    if (packet.type !== "publish") continue;
    (seen[packet.qos] as number[]).push(Number(packet.payload.toString()));
    if (packet.qos === 1) client.send({ type: "puback", packetId: packet.packetId, reason: 0 });
    if (packet.qos === 2) client.send({ type: "pubrec", packetId: packet.packetId, reason: 0 });
  }
}

async function publishMixed(client: WireClient, first: number): Promise<void> {
  for (let number = first; number < first + count; number++) {
    const qos = (number % 3) as Qos;
    client.publish("t", String(number), { qos, packetId: qos === 0 ? 0 : number + 1 });
    if (qos === 2) client.send({ type: "pubrel", packetId: number + 1, reason: 0 });
  }
  client.send({ type: "pingreq" });
  for (let packet = await client.next(); packet?.type !== "pingresp"; packet = await client.next());
}

const ofQos = (qos: number, first: number) =>
  Array.from({ length: count }, (_, index) => first + index).filter((number) => number % 3 === qos);

const kept = (version: Version) => ({
  clientId: "s",
  cleanStart: false,
  ...(version === 5 && { properties: { sessionExpiryInterval: 60, receiveMaximum: 7 } }),
});

describe("order", () => {
  it.each(versions)(
    "[MQTT-87] messages of one client on one topic with one QoS arrive in order, through a full window, version %s",
    async (version) => {
      const broker = await startBroker({ inflightMessages: 5 });
      const subscriber = await connectWire(broker, version);
      await subscriber.subscribe("t", { qos: 2 });
      const publisher = await connectWire(broker, version);
      const got: number[][] = [[], [], []];
      await Promise.all([publishMixed(publisher, 0), takeAll(subscriber, got, count)]);
      expect(got).toEqual([0, 1, 2].map((qos) => ofQos(qos, 0)));
    },
  );

  it.each(versions)("[MQTT-87] and after an absence, queued messages arrive before new ones, version %s", async (version) => {
    const broker = await startBroker({ inflightMessages: 5 });
    const first = await connectWire(broker, version, kept(version));
    await first.subscribe("t", { qos: 2 });
    first.send({ type: "disconnect", reason: 0 });
    await first.expectClose();
    const publisher = await connectWire(broker, version);
    await publishMixed(publisher, 0);
    const second = await connectWire(broker, version, kept(version));
    const got: number[][] = [[], [], []];
    const waited = (count * 2) / 3;
    await Promise.all([publishMixed(publisher, count), takeAll(second, got, waited + count)]);
    expect(got).toEqual([ofQos(0, count), [...ofQos(1, 0), ...ofQos(1, count)], [...ofQos(2, 0), ...ofQos(2, count)]]);
  });

  it("[MQTT-87] a retained message arrives before messages published after the subscription", async () => {
    const broker = await startBroker({ inflightMessages: 1 });
    const publisher = await connectWire(broker, 5);
    for (const topic of ["a", "b"]) publisher.publish(topic, "0", { retain: true, qos: 1, packetId: 1 });
    await publisher.expect("puback");
    await publisher.expect("puback");
    const subscriber = await connectWire(broker, 5);
    await subscriber.subscribe("#", { qos: 1 });
    for (const topic of ["a", "b"]) await broker.act("publish", { topic, qos: 1, payload: "1" });
    const got: string[] = [];
    for (let taken = 0; taken < 4; taken++) {
      const { topic, payload, packetId } = await subscriber.expect("publish");
      got.push(`${topic}${payload}`);
      subscriber.send({ type: "puback", packetId, reason: 0 });
    }
    expect(got).toEqual(["a0", "b0", "a1", "b1"]);
  });
});
