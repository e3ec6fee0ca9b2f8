import { expect, it } from "vitest";
import type { PublishPacket } from "../../../servers/mqtt/codec/packet.ts";
import type { Properties } from "../../../servers/mqtt/codec/properties.ts";
import { createReceivedMessages } from "../../../servers/mqtt/try/received-messages.ts";

const packet = (properties: Properties, payload = "x", topic = "a/b"): PublishPacket => ({
  type: "publish",
  dup: false,
  qos: 0,
  retain: false,
  topic,
  packetId: 0,
  properties,
  payload: Buffer.from(payload),
});
const all = { after: 0, limit: 500 };
const long = "\u0001".repeat(65_535);
const pairs = (count: number, value: string) => Array.from({ length: count }, (_, index) => [`k${index}`, value] as const);

it("[MQTT-547] cuts user properties as those of a packet, and says how many it left", () => {
  const received = createReceivedMessages();
  received.add(packet({ userProperties: pairs(9_990, "v") }));
  received.add(packet({ userProperties: pairs(20, long) }));
  received.add(packet({ userProperties: pairs(3, "v") }));
  const [few, longOnes, many] = received.newest(all);
  expect(few?.properties.userProperties).toEqual(pairs(3, "v"));
  expect(few?.leftUserProperties).toBeUndefined();
  expect(longOnes?.properties.userProperties).toHaveLength(16);
  expect(longOnes?.properties.userProperties?.[0]).toEqual(["k0", `${long.slice(0, 1_000)}… (65535 characters)`]);
  expect(longOnes?.leftUserProperties).toBe(4);
  expect(many?.properties.userProperties).toEqual(pairs(100, "v"));
  expect(many?.leftUserProperties).toBe(9_890);
});

it.each<[string, Properties, string?, string?]>([
  ["long user properties", { userProperties: pairs(16, long) }],
  ["many user properties", { userProperties: pairs(9_990, "v".repeat(90)) }],
  ["empty user properties", { userProperties: pairs(9_990, "") }],
  ["texts of 64 KB", { contentType: long, responseTopic: long, correlationData: Buffer.alloc(65_535) }],
  ["long topics", {}, "x", "t".repeat(65_535)],
  ["long payloads", {}, "x".repeat(1 << 20)],
])("[MQTT-547] an answer with messages with %s has at most 2 MiB, and begins with the newest", (_, properties, payload, topic) => {
  const received = createReceivedMessages();
  for (let index = 0; index < 500; index++) received.add(packet(properties, payload, topic));
  const messages = received.newest(all);
  expect(messages[0]?.place).toBe(500);
  expect(Buffer.byteLength(JSON.stringify(messages))).toBeLessThan(2 << 20);
  expect(received.count).toBe(500);
});
