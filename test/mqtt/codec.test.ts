import { describe, expect, it } from "vitest";
import { putVariable, variableLength } from "../../servers/mqtt/codec/byte-writer.ts";
import { decodedItems } from "../../servers/mqtt/codec/decode-packet.ts";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import type { Packet, ProtocolVersion } from "../../servers/mqtt/codec/packet.ts";
import { PacketDecoder } from "../../servers/mqtt/codec/packet-decoder.ts";
import { PacketError } from "../../servers/mqtt/codec/reason-code.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";
import { publishPacket } from "./harness.ts";

const bytes = (hex: string) => Buffer.from(hex.replaceAll(/\s/g, ""), "hex");
const text = (value: string) => Buffer.from(value);

/** Packets as the standard's tables spell them, byte by byte. */
const vectors: readonly [name: string, version: ProtocolVersion, hex: string, packet: Packet][] = [
  [
    "CONNECT 3.1.1 with will, user name and password",
    4,
    "10 23 0004 4d515454 04 ce 000a 0001 63 0003 772f74 0004 676f6e65 0003 616c65 0004 73686821",
    {
      type: "connect",
      version: 4,
      cleanStart: true,
      keepAliveSeconds: 10,
      properties: undefined,
      clientId: "c",
      will: { topic: "w/t", payload: text("gone"), qos: 1, retain: false, properties: undefined },
      username: "ale",
      password: text("shh!"),
    },
  ],
  [
    "CONNECT 5.0 with properties, and a will with its own",
    5,
    "10 2b 0004 4d515454 05 06 003c 0b 11 0000000a 21 0014 22 0005 0001 63 0a 02 00000007 18 00000005 0001 77 0002 6869",
    {
      type: "connect",
      version: 5,
      cleanStart: true,
      keepAliveSeconds: 60,
      properties: { sessionExpiryInterval: 10, receiveMaximum: 20, topicAliasMaximum: 5 },
      clientId: "c",
      will: { topic: "w", payload: text("hi"), qos: 0, retain: false, properties: { willDelayInterval: 5, messageExpiryInterval: 7 } },
      username: undefined,
      password: undefined,
    },
  ],
  ["CONNACK 3.1.1", 4, "20 02 01 00", { type: "connack", sessionPresent: true, reason: 0, properties: undefined }],
  [
    "CONNACK 5.0",
    5,
    "20 08 00 00 05 12 0002 6162",
    { type: "connack", sessionPresent: false, reason: 0, properties: { assignedClientIdentifier: "ab" } },
  ],
  [
    "PUBLISH 3.1.1, QoS 0",
    4,
    "30 07 0003 612f62 6869",
    { type: "publish", dup: false, qos: 0, retain: false, topic: "a/b", packetId: 0, properties: undefined, payload: text("hi") },
  ],
  [
    "PUBLISH 5.0, QoS 2, DUP, retained, repeated user properties",
    5,
    "3d 1a 0001 61 000a 13 01 01 23 0001 26 0001 6b 0001 31 26 0001 6b 0001 32 ff",
    {
      type: "publish",
      dup: true,
      qos: 2,
      retain: true,
      topic: "a",
      packetId: 10,
      properties: {
        payloadFormatIndicator: 1,
        userProperties: [
          ["k", "1"],
          ["k", "2"],
        ],
        topicAlias: 1,
        forwarded: bytes("01 01 26 0001 6b 0001 31 26 0001 6b 0001 32"),
      },
      payload: bytes("ff"),
    },
  ],
  ["PUBACK 3.1.1", 4, "40 02 1234", { type: "puback", packetId: 0x1234, reason: 0 }],
  [
    "PUBREC 5.0 with reason and string",
    5,
    "50 08 0001 87 04 1f 0001 6e",
    { type: "pubrec", packetId: 1, reason: 0x87, properties: { reasonString: "n" } },
  ],
  ["PUBREL", 5, "62 02 0001", { type: "pubrel", packetId: 1, reason: 0 }],
  ["PUBCOMP 5.0", 5, "70 03 0001 92", { type: "pubcomp", packetId: 1, reason: 0x92, properties: undefined }],
  [
    "SUBSCRIBE 3.1.1",
    4,
    "82 0a 000a 0001 61 01 0001 62 02",
    {
      type: "subscribe",
      packetId: 10,
      properties: undefined,
      subscriptions: [
        { filter: "a", qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 },
        { filter: "b", qos: 2, noLocal: false, retainAsPublished: false, retainHandling: 0 },
      ],
    },
  ],
  [
    "SUBSCRIBE 5.0 with options and identifier",
    5,
    "82 0a 000a 03 0b 8001 0001 2b 2e",
    {
      type: "subscribe",
      packetId: 10,
      properties: { subscriptionIdentifiers: [128] },
      subscriptions: [{ filter: "+", qos: 2, noLocal: true, retainAsPublished: true, retainHandling: 2 }],
    },
  ],
  ["SUBACK 5.0", 5, "90 05 000a 00 02 87", { type: "suback", packetId: 10, properties: undefined, reasons: [2, 0x87] }],
  ["UNSUBSCRIBE 3.1.1", 4, "a2 05 000a 0001 61", { type: "unsubscribe", packetId: 10, properties: undefined, filters: ["a"] }],
  ["UNSUBACK 3.1.1", 4, "b0 02 000a", { type: "unsuback", packetId: 10, properties: undefined, reasons: [] }],
  ["UNSUBACK 5.0", 5, "b0 04 000a 00 11", { type: "unsuback", packetId: 10, properties: undefined, reasons: [0x11] }],
  ["PINGREQ", 4, "c0 00", { type: "pingreq" }],
  ["PINGRESP", 5, "d0 00", { type: "pingresp" }],
  ["DISCONNECT 3.1.1", 4, "e0 00", { type: "disconnect", reason: 0 }],
  ["DISCONNECT 5.0", 5, "e0 07 04 05 11 00000001", { type: "disconnect", reason: 4, properties: { sessionExpiryInterval: 1 } }],
  [
    "AUTH 5.0",
    5,
    "f0 0c 18 0a 15 0001 6d 16 0003 010203",
    { type: "auth", reason: 0x18, properties: { authenticationMethod: "m", authenticationData: bytes("010203") } },
  ],
];

function decodeAll(chunks: readonly Buffer[], version: ProtocolVersion | undefined): Packet[] {
  const decoder = new PacketDecoder(1 << 28);
  decoder.version = version;
  const packets: Packet[] = [];
  for (const chunk of chunks) {
    decoder.append(chunk);
    for (let packet = decoder.next(); packet; packet = decoder.next()) packets.push(packet);
  }
  return packets;
}

describe("codec", () => {
  it.each(vectors)("[MQTT-1] reads and writes %s", (_name, version, hex, packet) => {
    const wire = bytes(hex);
    expect(decodeAll([wire], version)).toEqual([packet]);
    expect(encodePacket(packet, version).toString("hex")).toBe(wire.toString("hex"));
  });

  it.each(vectors)("[MQTT-2] reads %s in pieces, cut at every byte", (_name, version, hex, packet) => {
    const wire = bytes(hex);
    for (let cut = 1; cut < wire.length; cut++) expect(decodeAll([wire.subarray(0, cut), wire.subarray(cut)], version)).toEqual([packet]);
    const single = [...wire].map((byte) => Buffer.from([byte]));
    expect(decodeAll(single, version)).toEqual([packet]);
    expect(decodeAll([Buffer.concat([wire, wire, wire])], version)).toEqual([packet, packet, packet]);
  });

  it("[MQTT-2] keeps the raw bytes of a packet", () => {
    const decoder = new PacketDecoder(1_000);
    decoder.version = 4;
    decoder.append(bytes("c000 3007 0003 612f62 6869 c000"));
    decoder.next();
    decoder.next();
    expect(decoder.raw().toString("hex")).toBe("30070003612f626869");
  });

  it("[MQTT-342] the begin of a packet does not keep the packet before it in memory", () => {
    const decoder = new PacketDecoder(1 << 20);
    decoder.version = 4;
    const message = encodePacket(publishPacket("t", "x".repeat(500_000)), 4);
    decoder.append(Buffer.concat([message, message.subarray(0, 1_500)]));
    expect(decoder.next()?.type).toBe("publish");
    expect(decoder.next()).toBeUndefined();
    expect(decoder.heldBytes).toBe(1_500);
    decoder.append(message.subarray(1_500));
    expect(decoder.next()?.type).toBe("publish");
    // It can be asked for.
    expect(decoder.heldBytes).toBeGreaterThanOrEqual(message.length);
    expect(decoder.unreadBytes).toBe(0);
    expect(decoder.next()).toBeUndefined();
    expect(decoder.heldBytes).toBe(0);
  });

  it("[MQTT-342] a packet that comes byte by byte takes about its own bytes", () => {
    const decoder = new PacketDecoder(1 << 20);
    decoder.version = 4;
    const message = encodePacket(publishPacket("t", "x".repeat(300_000)), 4);
    const wire = Buffer.concat([message, Buffer.of(0xc0, 0)]);
    for (let at = 0; at < message.length - 1; at++) {
      // As TLS gives it: in memory of its own.
      const piece = Buffer.allocUnsafeSlow(1);
      piece[0] = wire[at] as number;
      decoder.append(piece);
      if (at > 10) continue;
      expect(decoder.next()).toBeUndefined();
    }
    expect(decoder.heldBytes).toBeLessThan(2 * message.length);
    decoder.append(wire.subarray(message.length - 1));
    expect(decoder.next()).toMatchObject({ type: "publish", payload: Buffer.alloc(300_000, "x") });
    expect(decoder.next()?.type).toBe("pingreq");
    expect(decoder.next()).toBeUndefined();
  });

  it("[MQTT-342] what arrives behind packets that wait is copied once, in order", () => {
    const packets = Array.from({ length: 200 }, (_, index) => publishPacket("t", "x".repeat(index)));
    const wire = Buffer.concat(packets.map((packet) => encodePacket(packet, 4)));
    for (const pieceBytes of [1, 7, 1_000, wire.length]) {
      const decoder = new PacketDecoder(1 << 20);
      decoder.version = 4;
      const decoded: Packet[] = [];
      for (let at = 0; at < wire.length; at += pieceBytes) {
        decoder.append(wire.subarray(at, at + pieceBytes));
        if (at % 3 === 0) continue;
        const packet = decoder.next();
        if (packet) decoded.push(packet);
      }
      for (let packet = decoder.next(); packet; packet = decoder.next()) decoded.push(packet);
      expect(decoded).toEqual(packets.map((packet) => ({ ...packet, properties: undefined })));
      expect(decoder.heldBytes).toBe(0);
    }
  });

  it("[MQTT-441] user properties of messages and acknowledgements are checked without being read, and forwarded as they came", () => {
    const decode = (wire: Buffer, skips: boolean) => {
      const decoder = new PacketDecoder(1 << 20, 100, skips);
      decoder.version = 5;
      decoder.append(wire);
      const packet = decoder.next();
      return { items: decoder.items, properties: packet?.type === "publish" ? packet.properties : undefined };
    };
    const pair = (key: string, value: string) => {
      const [name, text] = [key, value].map((one) => Buffer.concat([Buffer.of(0, Buffer.byteLength(one)), Buffer.from(one)]));
      return Buffer.concat([Buffer.of(0x26), name as Buffer, text as Buffer]);
    };
    const alias = Buffer.of(0x23, 0, 1);
    const forwarded = [pair("a", "ü"), pair("", ""), Buffer.of(1, 1), pair("b", "2")];
    const [first, second, third, fourth] = forwarded as [Buffer, Buffer, Buffer, Buffer];
    const publishOf = (...properties: readonly Buffer[]) => {
      const all = Buffer.concat(properties);
      const body = Buffer.concat([Buffer.from("0001740001", "hex"), Buffer.of(all.length), all, Buffer.from("payload")]);
      return Buffer.concat([Buffer.of(0x32, body.length), body]);
    };
    for (const order of [
      [first, second, third, fourth],
      [alias, first, second, third, fourth],
      [first, alias, second, third, fourth],
    ]) {
      const { items, properties } = decode(publishOf(...order), true);
      expect(properties).toEqual({ ...decode(publishOf(...order), false).properties, userProperties: undefined });
      expect([properties?.forwarded, items]).toEqual([Buffer.concat(forwarded), 3]);
    }
    for (const wrong of [Buffer.of(0x26, 0, 1, 0xff, 0, 0), Buffer.of(0x26, 0, 1, 1, 0, 0), Buffer.of(0x26, 0, 9, 65, 0, 0)])
      expect(() => decode(publishOf(first, wrong), true)).toThrow(PacketError);
    const many = publishOf(...Array.from({ length: 20 }, () => second));
    expect(decode(many, true).items).toBe(20);
  });

  it("[MQTT-465] a message of a client with subscription identifiers is refused at the first one", () => {
    const properties = { subscriptionIdentifiers: Array.from({ length: 1_000 }, (_, index) => index + 1) };
    const message = encodePacket({ ...publishPacket("t", "x"), properties }, 5);
    const [ofBroker, ofClient] = [false, true].map((isOfClient) => {
      const decoder = new PacketDecoder(1 << 20, 5_000, isOfClient);
      decoder.version = 5;
      decoder.append(message);
      return decoder;
    });
    expect(ofBroker?.next()).toMatchObject({ properties });
    expect(decodedItems()).toBe(1_000);
    expect(() => ofClient?.next()).toThrow(expect.objectContaining({ reason: 0x82 }));
    expect(decodedItems()).toBe(1);
  });

  it("[MQTT-465] what is forwarded of a message is gathered in linear time, whatever is between", () => {
    const variable = (value: number) => {
      const encoded = Buffer.alloc(variableLength(value));
      putVariable(encoded, 0, value);
      return encoded;
    };
    const cpuOf = (runs: number) => {
      const body = Buffer.concat([
        Buffer.from("000174", "hex"),
        variable(7 * runs),
        Buffer.alloc(7 * runs, Buffer.of(0x26, 0, 0, 0, 0, 0x0b, 1)),
      ]);
      const decoder = new PacketDecoder(1 << 20);
      decoder.version = 5;
      decoder.append(Buffer.concat([Buffer.of(0x30), variable(body.length), body]));
      let packet: Packet | undefined;
      const cpu = threadCpuMs(() => {
        packet = decoder.next();
      });
      const forwarded = packet?.type === "publish" ? packet.properties?.forwarded : undefined;
      expect(forwarded?.equals(Buffer.alloc(5 * runs, Buffer.of(0x26, 0, 0, 0, 0)))).toBe(true);
      return cpu;
    };
    // 200 million references if all of them are copied for each one.
    expect(cpuOf(20_000)).toBeLessThan(500);
  });

  it("[MQTT-1] refuses a packet above the maximum before it has arrived", () => {
    const decoder = new PacketDecoder(100);
    decoder.version = 5;
    decoder.append(bytes("30 ff01"));
    expect(() => decoder.next()).toThrow(expect.objectContaining({ reason: 0x95 }));
  });

  it("[MQTT-4] seeded fuzz: any bytes are decoded or refused with a reason, and what was decoded can be encoded again", () => {
    const random = seededRandom(20_240_611);
    const reasons = new Set<number>();
    let decoded = 0;
    for (let round = 0; round < 40_000; round++) {
      const [, version, hex] = vectors[random.below(vectors.length)] as (typeof vectors)[number];
      const wire = mutate(bytes(hex), random);
      const decoder = new PacketDecoder(1 << 20);
      decoder.version = random.chance(0.1) ? undefined : version;
      try {
        decoder.append(wire);
        for (let packet = decoder.next(); packet; packet = decoder.next()) {
          decoded++;
          const known = packet.type === "connect" ? packet.version : (decoder.version ?? version);
          const again = decodeAll([encodePacket(packet, known)], known);
          expect(again[0]?.type).toBe(packet.type);
        }
      } catch (error) {
        if (!(error instanceof PacketError)) throw error;
        reasons.add(error.reason);
      }
    }
    expect(decoded).toBeGreaterThan(1_000);
    expect([...reasons].sort()).toEqual(expect.arrayContaining([0x81, 0x82]));
  });
});

function mutate(wire: Buffer, random: SeededRandom): Buffer {
  const copy = Buffer.from(wire);
  const changes = 1 + random.below(3);
  for (let change = 0; change < changes; change++) copy[random.below(copy.length)] = random.below(256);
  if (random.chance(0.2)) return copy.subarray(0, random.below(copy.length));
  if (random.chance(0.2)) return Buffer.concat([copy, Buffer.from([random.below(256)])]);
  // A wrong length mostly only waits for more: half of the time it is made right.
  if (random.chance(0.5) && copy.length < 130) copy[1] = copy.length - 2;
  return copy;
}
