import { createHash } from "node:crypto";
import { SocketAddress } from "node:net";
import { expect, it } from "vitest";
import { describeStun } from "../../servers/webrtc/stun/describe-stun.ts";
import { hasIntegrity } from "../../servers/webrtc/stun/message-integrity.ts";
import { stunAttributes } from "../../servers/webrtc/stun/stun-attributes.ts";
import { attributeOf, parseStun, type StunMessage } from "../../servers/webrtc/stun/stun-message.ts";
import { addressBytes, addressText, decodeXorAddress, encodeXorAddress } from "../../servers/webrtc/stun/transport-address.ts";
import { writeStun } from "../../servers/webrtc/stun/write-stun.ts";
import { StreamFraming } from "../../servers/webrtc/turn/stream-framing.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** RFC 5769 §2 */
const hex = (text: string) => Buffer.from(text.replaceAll(/\s+/g, ""), "hex");
const vectors = {
  request: hex(`000100582112a442b7e7a701bc34d686fa87dfae 802200105354554e207465737420636c69656e74 002400046e0001ff
    80290008932ff9b151263b36 000600096576746a3a68367659202020 000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2 80280004e57a3bcf`),
  ipv4: hex(`0101003c2112a442b7e7a701bc34d686fa87dfae 8022000b7465737420766563746f7220 002000080001a147e112a643
    000800142b91f599fd9e90c38c7489f92af9ba53f06be7d7 80280004c07d4c96`),
  ipv6: hex(`010100482112a442b7e7a701bc34d686fa87dfae 8022000b7465737420766563746f7220
    002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9 00080014a382954e4be67bf11784c97c8292c275bfe3ed41 80280004c8fb0b4c`),
  longTerm: hex(`000100602112a44278ad3433c6ad72c029da412e 00060012e3839ee38388e383aae38383e382afe382b90000
    0015001c662f2f3439396b39353464364f4c33346f4c39465354767936347341 0014000b6578616d706c652e6f726700 00080014f67024656dd64a3e02b8e0712e85c9a28ca89666`),
};
const password = Buffer.from("VOkJxbRl1RmTxUk/WvJxBt");

function parsed(bytes: Buffer): StunMessage {
  const message = parseStun(bytes);
  if (!message) throw new Error("not a message");
  return message;
}

it("[WEBRTC-2] the sample request of RFC 5769 is read, with its integrity and fingerprint", () => {
  const request = parsed(vectors.request);
  expect(request).toMatchObject({ messageClass: "request", method: 1, isClassic: false });
  expect(attributeOf(request, stunAttributes.software)?.toString()).toBe("STUN test client");
  expect(attributeOf(request, stunAttributes.username)?.toString()).toBe("evtj:h6vY");
  expect(hasIntegrity("sha1", password, request)).toBe(true);
  expect(hasIntegrity("sha1", Buffer.from("wrong"), request)).toBe(false);
});

it.each([
  ["IPv4", vectors.ipv4, "192.0.2.1"],
  ["IPv6", vectors.ipv6, "2001:db8:1234:5678:11:2233:4455:6677"],
] as const)("[WEBRTC-2] the sample response of RFC 5769 with %s is read", (family, bytes, address) => {
  const response = parsed(bytes);
  expect(response).toMatchObject({ messageClass: "success", method: 1 });
  const mapped = attributeOf(response, stunAttributes.xorMappedAddress) as Buffer;
  expect(decodeXorAddress(mapped, response.transaction)).toEqual({ family, address, port: 32_853 });
  expect(encodeXorAddress(address, 32_853, response.transaction)).toEqual(mapped);
  expect(hasIntegrity("sha1", password, response)).toBe(true);
  // The sample pads with spaces, which the checks cover; the rest is the same.
  const attributes = response.attributes.slice(0, 2).map(({ type, value }) => [type, value] as const);
  const written = writeStun({
    ...{ messageClass: "success", method: 1, transaction: response.transaction, attributes, fingerprint: true },
    integrity: { hash: "sha1", key: password },
  });
  expect(written.length).toBe(bytes.length);
  expect(hasIntegrity("sha1", password, parsed(written))).toBe(true);
});

it("[WEBRTC-2] the sample request of RFC 5769 with long-term credentials is read", () => {
  const request = parsed(vectors.longTerm);
  const key = createHash("md5").update("\u30de\u30c8\u30ea\u30c3\u30af\u30b9:example.org:TheMatrIX").digest();
  expect(hasIntegrity("sha1", key, request)).toBe(true);
});

it("[WEBRTC-2] a message with MESSAGE-INTEGRITY-SHA256, also shortened, is written and read", () => {
  const transaction = vectors.request.subarray(4, 20);
  const key = Buffer.from("key");
  const bytes = writeStun({
    ...{ messageClass: "request", method: 1, transaction, attributes: [], fingerprint: true },
    integrity: { hash: "sha256", key },
  });
  expect(hasIntegrity("sha256", key, parsed(bytes))).toBe(true);
  expect(hasIntegrity("sha256", Buffer.from("wrong"), parsed(bytes))).toBe(false);
  expect(hasIntegrity("sha1", key, parsed(bytes))).toBe(false);
});

it("[WEBRTC-2] attributes behind the integrity are ignored", () => {
  const bytes = Buffer.concat([vectors.longTerm, hex("00060004 65766521")]);
  bytes.writeUInt16BE(bytes.length - 20, 2);
  const request = parsed(bytes);
  expect(request.attributes.filter(({ type }) => type === stunAttributes.username).length).toBe(1);
});

it("[WEBRTC-5] wrong lengths, a wrong fingerprint and a damaged attribute are not a message", () => {
  for (let length = 0; length < vectors.request.length; length++) expect(parseStun(vectors.request.subarray(0, length))).toBeUndefined();
  expect(parseStun(Buffer.concat([vectors.request, Buffer.alloc(4)]))).toBeUndefined();
  const changed = (at: number, byte: number) => {
    const bytes = Buffer.from(vectors.request);
    bytes[at] = byte;
    return parseStun(bytes);
  };
  expect(changed(107, 0)).toBeUndefined();
  expect(changed(30, 0)).toBeUndefined();
  expect(changed(23, 0xff)).toBeUndefined();
  expect(changed(0, 0x80)).toBeUndefined();
});

it("[WEBRTC-6] no bytes make the codec fail, or accept a changed message", () => {
  const random = seededRandom(6);
  const samples = Object.values(vectors);
  for (let round = 0; round < 20_000; round++) {
    const sample = samples[random.below(samples.length)] as Buffer;
    const bytes = Buffer.from(sample.subarray(0, random.chance(0.7) ? sample.length : random.below(sample.length + 1)));
    for (let change = random.below(4); change > 0 && bytes.length > 0; change--) bytes[random.below(bytes.length)] = random.below(256);
    const message = parseStun(bytes);
    if (!message) continue;
    for (const { value } of message.attributes) decodeXorAddress(value, message.transaction);
    if (!bytes.equals(sample) && hasIntegrity("sha1", password, message)) {
      // Only bytes that the integrity does not cover may differ: the fingerprint that was there is gone or right.
      expect(bytes.subarray(0, message.integrityAt)).toEqual(sample.subarray(0, message.integrityAt));
    }
  }
});

it("[WEBRTC-1] addresses are written as the system writes them", () => {
  const random = seededRandom(1);
  for (let round = 0; round < 3_000; round++) {
    const bytes = Buffer.alloc(16);
    for (let group = 0; group < 8; group++)
      if (random.chance(0.5)) bytes.writeUInt16BE(random.below(random.chance(0.5) ? 16 : 65_536), 2 * group);
    if (random.chance(0.1)) bytes.fill(0, 0, 10).fill(0xff, 10, 12);
    const text = addressText(bytes);
    expect(new SocketAddress({ address: text, family: "ipv6" }).address).toBe(text);
    expect(addressBytes(text)).toEqual(bytes);
  }
  expect(addressBytes("fe80::1%eth0")).toEqual(addressBytes("fe80::1"));
  expect(addressText(addressBytes("::ffff:127.0.0.1"))).toBe("::ffff:127.0.0.1");
  expect(() => addressBytes("localhost")).toThrow(RangeError);
});

const channelData = hex("40000005 68656c6c6f000000 40010000 40020004 01020304");
const stream = Buffer.concat([vectors.request, channelData, vectors.ipv6, vectors.longTerm, Buffer.alloc(20)]);

function framesOf(chunks: readonly Buffer[]): { readonly frames: string[]; readonly isRight: boolean } {
  const framing = new StreamFraming();
  const frames: string[] = [];
  const isRight = chunks.every(
    (chunk) => framing.push(chunk, (bytes, start, end) => void frames.push(bytes.toString("hex", start, end))) !== undefined,
  );
  return { frames, isRight };
}

it("[WEBRTC-7] messages in a stream are found, wherever it is cut", () => {
  const whole = framesOf([stream]);
  expect(whole.isRight).toBe(true);
  expect(whole.frames.map((frame) => frame.length / 2)).toEqual([108, 12, 4, 8, 92, 116, 20]);
  expect(whole.frames.join("")).toBe(stream.toString("hex"));
  expect(framesOf([...stream].map((byte) => Buffer.from([byte])))).toEqual(whole);
  for (let at = 1; at < stream.length; at++) expect(framesOf([stream.subarray(0, at), stream.subarray(at)])).toEqual(whole);
  const random = seededRandom(7);
  for (let round = 0; round < 300; round++) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < stream.length; ) {
      const end = Math.min(stream.length, at + 1 + random.below(90));
      chunks.push(Buffer.from(stream.subarray(at, end)));
      at = end;
    }
    expect(framesOf(chunks)).toEqual(whole);
  }
});

it("[WEBRTC-6] no bytes make the framing fail, or keep more than one message", () => {
  const random = seededRandom(8);
  for (let round = 0; round < 5_000; round++) {
    const bytes = Buffer.from(stream);
    for (let change = random.below(6); change >= 0; change--) bytes[random.below(bytes.length)] = random.below(256);
    const framing = new StreamFraming();
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + 1 + random.below(200));
      const isRight = framing.push(bytes.subarray(at, end), (frame, start, stop) => {
        expect(stop).toBeLessThanOrEqual(frame.length);
        expect(stop - start).toBeLessThan(65_560);
      });
      expect(framing.waiting).toBeLessThan(65_560);
      if (!isRight) break;
      at = end;
    }
  }
});

it("[WEBRTC-470] the framing stops between two messages, and goes on with the rest", () => {
  const binding = Buffer.concat([Buffer.from("000100002112a442", "hex"), Buffer.alloc(12)]);
  const chunk = Buffer.concat(Array.from({ length: 5 }, () => binding));
  const framing = new StreamFraming();
  let frames = 0;
  const count = () => void frames++;
  let rest = framing.push(chunk.subarray(0, 75), count, () => frames === 2);
  expect([frames, rest?.length]).toEqual([2, 35]);
  rest = framing.push(rest ?? chunk, count);
  expect([frames, rest?.length, framing.waiting]).toEqual([3, 0, 15]);
  rest = framing.push(chunk.subarray(75), count, () => frames === 4);
  expect([frames, rest?.length]).toEqual([4, 20]);
  expect(framing.push(rest ?? chunk, count)).toHaveLength(0);
  expect(frames).toBe(5);
});

it("[WEBRTC-521] attributes are named and told in words, in order; what checks the integrity has no value", () => {
  const told = (bytes: Buffer) => describeStun(bytes).attributes.map(({ name, text, bytes: length }) => [name, text || length]);
  expect(told(vectors.request)).toEqual([
    ["SOFTWARE", "STUN test client"],
    ["PRIORITY", "1845494271"],
    ["ICE-CONTROLLED", "932ff9b151263b36"],
    ["USERNAME", "evtj:h6vY"],
    ["MESSAGE-INTEGRITY", 20],
    ["FINGERPRINT", "e57a3bcf"],
  ]);
  expect(told(vectors.ipv4)[1]).toEqual(["XOR-MAPPED-ADDRESS", "192.0.2.1:32853"]);
  expect(told(vectors.ipv6)[1]).toEqual(["XOR-MAPPED-ADDRESS", "[2001:db8:1234:5678:11:2233:4455:6677]:32853"]);
  const { transaction } = parsed(vectors.request);
  const attributes = [
    [stunAttributes.requestedTransport, Buffer.from([17, 0, 0, 0])],
    [stunAttributes.requestedAddressFamily, Buffer.from([2, 0, 0, 0])],
    [stunAttributes.evenPort, Buffer.from([0x80])],
    [stunAttributes.dontFragment, Buffer.alloc(0)],
    [stunAttributes.lifetime, Buffer.from([0, 0, 2, 88])],
    [stunAttributes.channelNumber, Buffer.from([0x40, 1, 0, 0])],
    [stunAttributes.errorCode, Buffer.from([0, 0, 4, 38, 0x53])],
    [stunAttributes.unknownAttributes, Buffer.from([0x7f, 0xff, 0, 0x1a])],
    [stunAttributes.passwordAlgorithms, Buffer.from([0, 2, 0, 0, 0, 1, 0, 0])],
    [stunAttributes.xorPeerAddress, Buffer.from([1, 2, 3])],
    [0x7ffe, Buffer.from([1, 2])],
  ] as const;
  const message = writeStun({ messageClass: "request", method: 3, transaction, attributes, fingerprint: false });
  expect(told(message)).toEqual([
    ["REQUESTED-TRANSPORT", "UDP"],
    ["REQUESTED-ADDRESS-FAMILY", "IPv6"],
    ["EVEN-PORT", "and the next one is reserved"],
    ["DONT-FRAGMENT", 0],
    ["LIFETIME", "600 s"],
    ["CHANNEL-NUMBER", "0x4001"],
    ["ERROR-CODE", "438 S"],
    ["UNKNOWN-ATTRIBUTES", "0x7fff, DONT-FRAGMENT"],
    ["PASSWORD-ALGORITHMS", "SHA-256, MD5"],
    ["XOR-PEER-ADDRESS", "010203"],
    ["0x7ffe", "0102"],
  ]);
  expect(describeStun(message).bytes).toBe(message.length);
});

it("[WEBRTC-521] any bytes are described without an error", () => {
  const random = seededRandom(521);
  const types = Object.values(stunAttributes);
  for (let round = 0; round < 5_000; round++) {
    const bytes = Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
    for (let at = 20; at + 4 <= bytes.length; at += 4 + random.below(24))
      bytes.writeUInt16BE(types[random.below(types.length)] as number, at);
    describeStun(bytes);
  }
});
