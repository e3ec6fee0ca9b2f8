import { expect, it } from "vitest";
import type { MqttHistoryPage } from "../../contract/services/mqtt.ts";
import type { PublishPacket } from "../../servers/mqtt/codec/packet.ts";
import { mostLongNames } from "../../servers/mqtt/codec/topic.ts";
import { connectPacket, connectWire, openWire, publishPacket, startBroker } from "./harness.ts";

/** They begin alike, and have the same length. */
const longName = (number: number) => `${"x".repeat(20_000)}${String(number).padStart(5, "0")}`;
const more = mostLongNames + 3;
const numbers = Array.from({ length: more }, (_, index) => index);

it("[MQTT-312] of topics and filters that cannot be looked up quickly only some are held, whoever asks for more", async () => {
  const broker = await startBroker();
  const client = await connectWire(broker, 5);
  const reasons: number[] = [];
  for (const number of numbers) reasons.push(...(await client.subscribe(longName(number))).reasons);
  expect(reasons).toEqual(numbers.map((number) => (number < mostLongNames ? 0 : 0x97)));
  client.send({ type: "unsubscribe", packetId: 1, filters: [longName(0)] });
  await client.expect("unsuback");
  expect((await client.subscribe(longName(more))).reasons).toEqual([0]);
  const publisher = await connectWire(broker, 5);
  const retain = async (number: number, payload: string) => {
    publisher.publish(longName(number), payload, { qos: 1, retain: true, packetId: 1 });
    return (await publisher.expect("puback")).reason;
  };
  const answers: number[] = [];
  for (const number of numbers) answers.push(await retain(number, "kept"));
  expect(answers.filter((reason) => reason === 0x97)).toHaveLength(more - mostLongNames);
  await retain(1, "");
  expect(await retain(more, "kept")).not.toBe(0x97);
  // Pages of long topics end early (MQTT-484).
  let [recorded, before, hasOlder] = [0, Number.MAX_SAFE_INTEGER, true];
  while (hasOlder) {
    const page: MqttHistoryPage = await broker.act("topic.history", { filter: "#", before });
    recorded += page.messages.length;
    before = page.messages.at(-1)?.id ?? 0;
    hasOlder = page.hasOlder;
  }
  expect(recorded).toBeGreaterThan(mostLongNames);
});

it("[MQTT-312] so it is with client identifiers", async () => {
  const broker = await startBroker();
  const reasons: number[] = [];
  for (const number of numbers) {
    const client = await openWire(broker, 5);
    client.send(connectPacket(5, longName(number)));
    reasons.push((await client.expect("connack")).reason);
  }
  expect(reasons).toEqual(numbers.map((number) => (number < mostLongNames ? 0 : 0x97)));
});

it("[MQTT-312] and the topics of aliases count as what clients have sent: who has most of it goes", async () => {
  const broker = await startBroker({ memoryBytes: 4 << 20 });
  const bystander = await connectWire(broker, 5);
  const client = await connectWire(broker, 5);
  const aliased = (topicAlias: number): PublishPacket => ({ ...publishPacket(longName(topicAlias), ""), properties: { topicAlias } });
  for (let topicAlias = 1; topicAlias <= 80; topicAlias++) client.send(aliased(topicAlias));
  expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x97 });
  await bystander.expectNothing();
});
