/** Streams of bytes for a broker: sessions as the standard has them, most of them broken somewhere. The same seed makes the same stream. */
import { encodePacket } from "../../../servers/mqtt/codec/encode-packet.ts";
import type { Packet, Qos } from "../../../servers/mqtt/codec/packet.ts";
import type { Properties } from "../../../servers/mqtt/codec/properties.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import { connectPacket, publishPacket, type Version } from "../harness.ts";

export interface FuzzStream {
  readonly version: Version;
  readonly transport: "tcp" | "websocket" | "raw websocket port";
  /** As they are written, one after the other. */
  readonly chunks: readonly Buffer[];
  /** What the client does after the last one. */
  readonly ending: "waits" | "closes" | "resets";
}

const names = ["a", "b/c", "", "sensors/x/temperature", "/", "é/ü", "$x", "a//b", "deep/1/2/3/4/5/6/7/8/9", "x".repeat(300)];
const filters = ["#", "+", "a/#", "+/c", "b/+", "sensors/+/temperature", "$share/g/a", "$share/g/#", "$SYS/#", "a//b", "é/ü"];

export function fuzzStream(random: SeededRandom): FuzzStream {
  const version: Version = random.chance(0.5) ? 5 : 4;
  const whole = random.chance(0.05) ? noise(random, 2_000) : session(random, version);
  const bytes = random.chance(0.1) ? whole : mutate(whole, random);
  return {
    version,
    transport: random.chance(0.6) ? "tcp" : random.chance(0.9) ? "websocket" : "raw websocket port",
    chunks: cut(bytes, random),
    ending: random.chance(0.3) ? "waits" : random.chance(0.5) ? "closes" : "resets",
  };
}

const pick = <Item>(items: readonly Item[], random: SeededRandom): Item => items[random.below(items.length)] as Item;
const maybe = <Value>(part: number, random: SeededRandom, value: () => Value): Value | undefined =>
  random.chance(part) ? value() : undefined;
const noise = (random: SeededRandom, longest: number) =>
  Buffer.from(Array.from({ length: random.below(longest) }, () => random.below(256)));
const qosOf = (random: SeededRandom) => random.below(3) as Qos;

/** A few sessions only, so that streams meet, resume and take over. */
function session(random: SeededRandom, version: Version): Buffer {
  const packets: Packet[] = [
    connectPacket(version, `fuzz-${random.below(40)}`, {
      cleanStart: random.chance(0.5),
      keepAliveSeconds: random.below(3),
      properties: version === 5 ? connectProperties(random) : undefined,
      will: maybe(0.2, random, () => ({
        topic: pick(names, random) || "will",
        payload: noise(random, 50),
        qos: qosOf(random),
        retain: random.chance(0.3),
        properties: version === 5 ? { willDelayInterval: random.below(2), ...publishProperties(random) } : undefined,
      })),
      username: maybe(0.2, random, () => "user"),
    }),
  ];
  const steps = random.below(30);
  for (let step = 0; step < steps; step++) packets.push(randomPacket(random, version));
  if (random.chance(0.3)) packets.push({ type: "disconnect", reason: version === 5 && random.chance(0.3) ? 4 : 0 });
  return Buffer.concat(packets.map((packet) => encodePacket(packet, version)));
}

function connectProperties(random: SeededRandom): Properties {
  return {
    sessionExpiryInterval: maybe(0.5, random, () => random.below(4)),
    receiveMaximum: maybe(0.3, random, () => 1 + random.below(20)),
    maximumPacketSize: maybe(0.2, random, () => 20 + random.below(1_000)),
    topicAliasMaximum: maybe(0.3, random, () => random.below(10)),
    requestProblemInformation: maybe(0.2, random, () => random.below(2)),
    requestResponseInformation: maybe(0.2, random, () => random.below(2)),
    authenticationMethod: maybe(0.1, random, () => pick(["SCRAM-SHA-256", "OTHER"], random)),
    userProperties: maybe(0.2, random, () => [["k", "v"]]),
  };
}

function publishProperties(random: SeededRandom): Properties {
  return {
    payloadFormatIndicator: maybe(0.2, random, () => random.below(2)),
    messageExpiryInterval: maybe(0.2, random, () => random.below(3)),
    contentType: maybe(0.2, random, () => "text/plain"),
    responseTopic: maybe(0.2, random, () => "replies/x"),
    correlationData: maybe(0.2, random, () => noise(random, 20)),
    userProperties: maybe(0.3, random, () => [
      ["k", "1"],
      ["k", "2"],
    ]),
  };
}

function randomPacket(random: SeededRandom, version: Version): Packet {
  const packetId = 1 + random.below(random.chance(0.9) ? 5 : 0xffff);
  const five = <Value>(value: () => Value) => (version === 5 ? value() : undefined);
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2: {
      const qos = qosOf(random);
      const alias = five(() => maybe(0.2, random, () => 1 + random.below(5)));
      return {
        ...publishPacket(alias !== undefined && random.chance(0.5) ? "" : pick(names, random) || "t", ""),
        payload: random.chance(0.05) ? Buffer.alloc(random.below(200_000), "x") : noise(random, 200),
        qos,
        dup: qos > 0 && random.chance(0.2),
        retain: random.chance(0.2),
        packetId: qos > 0 ? packetId : 0,
        properties: five(() => ({ ...publishProperties(random), topicAlias: alias })),
      };
    }
    case 3:
    case 4:
      return {
        type: "subscribe",
        packetId,
        properties: five(() => ({ subscriptionIdentifiers: maybe(0.3, random, () => [1 + random.below(300)]) })),
        subscriptions: Array.from({ length: 1 + random.below(4) }, () => ({
          filter: pick(filters, random),
          qos: qosOf(random),
          noLocal: version === 5 && random.chance(0.1),
          retainAsPublished: version === 5 && random.chance(0.3),
          retainHandling: (version === 5 ? random.below(3) : 0) as 0 | 1 | 2,
        })),
      };
    case 5:
      return { type: "unsubscribe", packetId, filters: [pick(filters, random)] };
    case 6:
      return { type: "pingreq" };
    case 7:
      return version === 5 && random.chance(0.2)
        ? {
            type: "auth",
            reason: pick([0x18, 0x19], random),
            properties: { authenticationMethod: "SCRAM-SHA-256", authenticationData: noise(random, 40) },
          }
        : { type: "pubrel", packetId, reason: 0 };
    default:
      return { type: pick(["puback", "pubrec", "pubcomp"] as const, random), packetId, reason: 0 };
  }
}

const telling = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x10, 0x30, 0x36, 0x82, 0xe0];

function mutate(wire: Buffer, random: SeededRandom): Buffer {
  let bytes: Buffer = Buffer.from(wire);
  for (let change = 1 + random.below(4); change > 0 && bytes.length > 0; change--) {
    // What stands in front decides most.
    const at = random.chance(0.3) ? random.below(Math.min(30, bytes.length)) : random.below(bytes.length);
    const length = 1 + random.below(random.chance(0.8) ? 4 : 200);
    switch (random.below(7)) {
      case 0:
        bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
        break;
      case 1:
        bytes[at] = random.below(256);
        break;
      case 2:
        bytes[at] = pick(telling, random);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), noise(random, length + 1), bytes.subarray(at)]);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
        break;
      case 5:
        // The same again: a second CONNECT, a message twice.
        bytes = Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
        break;
      default:
        bytes = bytes.subarray(0, at);
    }
  }
  return bytes;
}

function cut(bytes: Buffer, random: SeededRandom): Buffer[] {
  if (random.chance(0.4)) return [bytes];
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random.below(random.chance(0.5) ? 8 : 2_000);
    chunks.push(bytes.subarray(at, at + length));
    at += length;
    // Not more writes than are worth their while.
    if (chunks.length === 50) {
      chunks.push(bytes.subarray(at));
      break;
    }
  }
  return chunks;
}
