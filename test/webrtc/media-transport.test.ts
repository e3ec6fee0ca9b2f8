import { randomBytes } from "node:crypto";
import { createSocket, type RemoteInfo } from "node:dgram";
import { describe, expect, it } from "vitest";
import type { WebTrack } from "../../contract/services/rtsp-media.ts";
import { createLog } from "../../servers/core/service/log.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { createDtlsCertificate } from "../../servers/webrtc/media/dtls/dtls-certificate.ts";
import { parseOffer } from "../../servers/webrtc/media/sdp/offer.ts";
import { LossTracker } from "../../servers/webrtc/media/sessions/loss-tracker.ts";
import { RtpTrackSender } from "../../servers/webrtc/media/sessions/rtp-track-sender.ts";
import { MediaPort } from "../../servers/webrtc/media/transport/media-port.ts";
import { PeerTransport } from "../../servers/webrtc/media/transport/peer-transport.ts";
import { SrtpReceiver, SrtpSender } from "../../servers/webrtc/media/transport/srtp-context.ts";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { attributeOf, magicCookie, parseStun } from "../../servers/webrtc/stun/stun-message.ts";
import { decodeXorAddress } from "../../servers/webrtc/stun/transport-address.ts";
import { uint32, type WrittenAttribute, writeStun } from "../../servers/webrtc/stun/write-stun.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { playerOffer } from "./media-offers.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

describe("SRTP", () => {
  const head = hex("800f1234 decafbad cafebabe");
  const payload = Buffer.alloc(16, 0xab);
  const keys = { key: hex("e1f97a0d3e018be0d64fa32c06de4139"), salt: hex("0ec675ad498afeebb6960b3aabe6") };

  it("[WEBRTC-330] protects as RFC 3711, with the key derivation of its appendix B.3", () => {
    // The keystream of a packet of zeros with this key was made by libsrtp's test driver, as in its srtp_validate.
    const key = { key: hex("e1f97a0d3e018be0d64fa32c06de4139"), salt: hex("0ec675ad498afeebb6960b3aabe6") };
    const bytes = new SrtpSender(1, key).protectRtp(head, payload);
    expect(bytes.toString("hex")).toBe("800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb");
    expect(new SrtpReceiver(1, key).unprotectRtp(bytes, 12)).toEqual(Buffer.concat([head, payload]));
  });

  it.each([
    ["AES-CM with HMAC-SHA1", 1, keys],
    ["AES-GCM", 7, { key: keys.key, salt: keys.salt.subarray(0, 12) }],
  ] as const)("[WEBRTC-331] %s: what was sent is received once; forged, cut and repeated packets are not", (_, profile, own) => {
    const [sender, receiver] = [new SrtpSender(profile, own), new SrtpReceiver(profile, own)];
    const packet = (sequence: number) => {
      const own = Buffer.from(head);
      own.writeUInt16BE(sequence & 0xffff, 2);
      return own;
    };
    // Over the end of the sequence numbers, out of order, and again.
    for (const sequence of [0xfffe, 0x10000, 0xffff, 0x10001]) {
      const bytes = sender.protectRtp(packet(sequence), payload);
      expect(receiver.unprotectRtp(bytes, 12)).toEqual(Buffer.concat([packet(sequence), payload]));
      expect(receiver.unprotectRtp(bytes, 12)).toBeUndefined();
    }
    const next = sender.protectRtp(packet(0x10002), payload);
    for (let at = 0; at < next.length; at++) {
      const forged = Buffer.from(next);
      forged[at] = (forged[at] as number) ^ 1;
      expect(receiver.unprotectRtp(forged, 12)).toBeUndefined();
      expect(receiver.unprotectRtp(next.subarray(0, at), 12)).toBeUndefined();
    }
    expect(receiver.unprotectRtp(next, 12)).toBeDefined();
    const report = hex("81c90007 cafebabe 00000001 00000000 00000000 00000000 00000000 00000000");
    const secret = sender.protectRtcp(report);
    expect(receiver.unprotectRtcp(secret)).toEqual(report);
    expect(receiver.unprotectRtcp(secret)).toBeUndefined();
    const later = sender.protectRtcp(report);
    for (let at = 0; at < later.length; at++) {
      const forged = Buffer.from(later);
      forged[at] = (forged[at] as number) ^ 0x80;
      expect(receiver.unprotectRtcp(forged)).toBeUndefined();
    }
    expect(receiver.unprotectRtcp(later)).toEqual(report);
  });
});

describe("bytes of the network", () => {
  const fingerprints = [{ algorithm: "sha-256", value: "AB" }];

  function listenedPort(): Promise<MediaPort> {
    const releases: (() => void | Promise<void>)[] = [];
    onEnd(async () => {
      for (const release of releases.reverse()) await release();
    });
    const log = createLog({ level: () => "error", write: () => {} });
    return MediaPort.listen({
      port: 0,
      openToLan: false,
      publicAddress: "",
      requestsPerSecond: 1_000,
      turns: { isUsedUp: () => false },
      onStop: (release) => void releases.push(release),
      log,
    });
  }

  async function waitingTransport(): Promise<PeerTransport> {
    const transport = new PeerTransport({
      work: new WorkTurns().connection("127.0.0.1"),
      certificate: await createDtlsCertificate(),
      fingerprints,
      isDtlsPassive: false,
      connectMs: 1_000,
      consentMs: 1_000,
      onConnected() {},
      onRtp() {},
      onRtcp() {},
      onEnd() {},
    });
    onEnd(() => transport.close());
    return transport;
  }

  it("[WEBRTC-341] of the credentials of ICE restarts those are kept that the client uses, and the newest", async () => {
    const port = await listenedPort();
    const transport = await waitingTransport();
    port.add(transport);
    const [first] = transport.credentials;
    const restarted = Array.from({ length: 50 }, () => port.restartIce(transport));
    expect([port.users, transport.credentials]).toEqual([2, [first, restarted.at(-1)]]);
    port.remove(transport);
    expect(port.users).toBe(0);
  });

  it("[WEBRTC-333] the media port answers checks with the right password alone, and asks the peer to control", async () => {
    const port = await listenedPort();
    const transport = await waitingTransport();
    port.add(transport);
    const socket = createSocket("udp4");
    onEnd(() => socket.close());
    const answers: (readonly [Buffer, RemoteInfo])[] = [];
    socket.on("message", (bytes, from) => void answers.push([bytes, from]));
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    const [credentials] = transport.credentials;
    const check = (pwd: string, attributes: readonly WrittenAttribute[] = []) => {
      const cookie = uint32(magicCookie);
      const bytes = writeStun({
        messageClass: "request",
        method: stunMethods.binding,
        transaction: Buffer.concat([cookie, randomBytes(12)]),
        attributes: [[stunAttributes.username, Buffer.from(`${credentials?.ufrag}:peer`)], ...attributes],
        integrity: { hash: "sha1", key: Buffer.from(pwd) },
        fingerprint: true,
      });
      socket.send(bytes, port.port, "127.0.0.1");
    };
    check("wrong password of this session");
    socket.send(randomBytes(40), port.port, "127.0.0.1");
    await until(() => port.foreign >= 2);
    expect([answers.length, transport.checks]).toEqual([0, 0]);
    check(credentials?.pwd ?? "", [[0x8029, Buffer.alloc(8)]]);
    await until(() => answers.length === 1);
    expect(parseStun(answers[0]?.[0] as Buffer)).toMatchObject({ messageClass: "error" });
    check(credentials?.pwd ?? "");
    await until(() => answers.length === 2);
    const answer = parseStun(answers[1]?.[0] as Buffer);
    const mapped = answer && attributeOf(answer, stunAttributes.xorMappedAddress);
    expect(answer && mapped && decodeXorAddress(mapped, answer.transaction)).toMatchObject({ port: socket.address().port });
    expect([transport.checks, transport.state]).toEqual([1, "handshake"]);
    transport.tick(performance.now() + 2_000);
    expect(transport.state).toBe("ended");
  });

  it("[WEBRTC-351] a payload type that is named many times is one codec, and what an offer says of it is bounded", () => {
    const lines = [
      "a=rtpmap:102 VP8/90000",
      ...Array<string>(1_000).fill("a=rtcp-fb:102 nack pli"),
      ...Array<string>(800).fill("a=rtcp-fb:* x"),
    ];
    const many = playerOffer().replace(/(m=video \d+ \S+)[^\r]*/, `$1${" 102".repeat(128)}`);
    const offer = `${many}${lines.join("\r\n")}\r\n`;
    const [codec, ...more] = parseOffer(offer).media.find(({ kind }) => kind === "video")?.codecs ?? [];
    expect(more).toEqual([]);
    expect(codec).toMatchObject({ payloadType: 102, name: "H264", parameters: { "packetization-mode": "1" } });
    expect(codec?.feedback.length).toBeLessThanOrEqual(64);
  });

  it("[WEBRTC-334] no text makes the reader of offers fail in another way than with what is wrong", () => {
    const random = seededRandom(4_334);
    const lines = playerOffer().split("\r\n");
    for (let round = 0; round < 2_000; round++) {
      const changed = lines.flatMap((line) => {
        if (random.chance(0.05)) return [];
        if (random.chance(0.05)) return [line, line];
        if (random.chance(0.1)) return [line.slice(0, random.below(line.length + 1))];
        return [line.replace(/\d/, () => String(random.below(99_999)))];
      });
      try {
        parseOffer(changed.join("\r\n"));
      } catch (error) {
        expect((error as Error).constructor.name).toBe("SdpError");
      }
    }
  });
});

it("[WEBRTC-335] packets that are missing are asked for again, and given up after a time", () => {
  const losses = new LossTracker();
  for (const sequence of [65_534, 65_535, 1, 4]) losses.received(sequence);
  expect(losses.due(0)).toEqual([0, 2, 3]);
  expect(losses.due(10)).toEqual([]);
  losses.received(2);
  expect([losses.recovered, losses.due(100)]).toEqual([1, [0, 3]]);
  for (let at = 200; at < 2_000; at += 100) losses.due(at);
  expect([losses.givenUp, losses.due(3_000)]).toEqual([2, []]);
  // Of one step that is too large nothing is asked for.
  losses.received(305);
  expect([losses.givenUp, losses.due(4_000)]).toEqual([2, Array.from({ length: 300 }, (_, index) => 5 + index)]);
  losses.received(307);
  expect([losses.givenUp, losses.due(5_000)]).toEqual([303, []]);
});

it("[WEBRTC-336] packets that a player asks for are sent in steps, each once, however often it asks meanwhile", () => {
  let nowMs = 0;
  const sent: number[] = [];
  const transport = { sendRtp: (head: Buffer) => void sent.push(head.readUInt16BE(2)) } as unknown as PeerTransport;
  const track = { kind: "video", codec: "h264", clockRate: 90_000, format: "" } as unknown as WebTrack;
  const sender = new RtpTrackSender(track, 102, transport, () => nowMs);
  const packets = Array.from({ length: 400 }, () => ({ isMarked: false, timestamp: 0, payload: Buffer.alloc(1) }));
  const sending = sender.send(packets);
  let steps = 1;
  while (!sending.next().done) steps++;
  const sequences = sent.splice(0);
  expect([steps, sequences.length]).toEqual([50, 400]);
  expect(sender.isWantedAgain(sequences)).toBe(false);
  nowMs = 1_000;
  expect(sender.isWantedAgain([...sequences, ...sequences])).toBe(true);
  const again = sender.retransmit();
  again.next();
  expect(sent).toEqual(sequences.slice(0, 8));
  expect(sender.isWantedAgain(sequences)).toBe(false);
  while (!again.next().done) {}
  expect(sent).toEqual(sequences);
  expect(sender.isWantedAgain(sequences)).toBe(false);
});
