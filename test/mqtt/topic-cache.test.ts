import { expect, it } from "vitest";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import { PacketDecoder } from "../../servers/mqtt/codec/packet-decoder.ts";
import { PacketError } from "../../servers/mqtt/codec/reason-code.ts";
import { TopicCache } from "../../servers/mqtt/codec/topic-cache.ts";

/** More than the cache has room for, of every length around its limit, some beyond ASCII. */
const topics = Array.from({ length: 20_000 }, (_, index) => `${"x".repeat(index % 70)}/${index % 7 === 0 ? "höhe" : "height"}/${index}`);

it("returns the topic of exactly these bytes or none, whatever shares its slot", () => {
  const cache = new TopicCache();
  let found = 0;
  for (const topic of [...topics, ...topics.toReversed()]) {
    const bytes = Buffer.from(`..${topic}..`);
    const length = bytes.length - 4;
    const known = cache.find(bytes, 2, length);
    if (known !== undefined) {
      expect(known).toBe(topic);
      found++;
    }
    cache.add(bytes, 2, length, topic);
    expect(cache.find(bytes, 2, length)).toBe(length > 64 ? undefined : topic);
  }
  expect(found).toBeGreaterThan(0);
});

it("a decoder with many cached topics still refuses an invalid one", () => {
  const decoder = new PacketDecoder(1_000);
  decoder.version = 4;
  const publish = (topic: string) =>
    encodePacket(
      { type: "publish", dup: false, qos: 0, retain: false, topic, packetId: 0, payload: Buffer.from("x"), properties: undefined },
      4,
    );
  for (const topic of ["a/b", "a/c", "a/b"]) {
    decoder.append(publish(topic));
    expect(decoder.next()).toMatchObject({ topic, payload: Buffer.from("x") });
    decoder.next();
  }
  for (const wrong of ["a/#", "a/+", "", "a/\u0000"]) {
    // Twice: what was refused is not remembered either.
    for (const again of [false, true]) {
      const other = new PacketDecoder(1_000);
      other.version = 4;
      other.append(publish(wrong));
      expect(() => other.next(), `${wrong}${again ? ", again" : ""}`).toThrow(PacketError);
    }
  }
});

it("a topic longer than its packet is malformed, cached or not", () => {
  for (const length of [3, 4, 0xffff]) {
    const decoder = new PacketDecoder(1_000);
    decoder.version = 4;
    decoder.append(Buffer.from([0x30, 5, length >> 8, length & 0xff, ...Buffer.from("a/b")]));
    if (length === 3) expect(decoder.next()).toMatchObject({ topic: "a/b" });
    else expect(() => decoder.next()).toThrow(PacketError);
  }
});
