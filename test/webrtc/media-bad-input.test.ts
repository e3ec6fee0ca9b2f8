import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { type MediaUnderTest, startMediaServices } from "./media-harness.ts";
import { h264, offerOf, opus, playerOffer } from "./media-offers.ts";
import { MediaPeer } from "./media-peer.ts";

const errorsOf = ({ webrtc, rtsp }: MediaUnderTest) => [...webrtc.logs, ...rtsp.logs].filter(({ level }) => level === "error");

async function more(peer: MediaPeer): Promise<void> {
  const before = peer.video.packets;
  await until(() => peer.video.packets >= before + 20);
}

const randomBytes = (random: SeededRandom, length: number): Buffer => Buffer.from(Array.from({ length }, () => random.below(256)));

/** A few bytes are others, or the end is missing. */
function damaged(random: SeededRandom, bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  if (random.chance(0.2)) return changed.subarray(0, random.below(bytes.length));
  const first = random.below(bytes.length);
  for (let at = first; at < bytes.length && at < first + 1 + random.below(4); at++)
    changed[at] = (changed[at] as number) ^ (1 + random.below(255));
  return changed;
}

describe("offers", () => {
  it("[WEBRTC-348] a body that is too large gets 413, one with too many lines, tracks or payload types 400", async () => {
    const services = await startMediaServices({ webrtc: { bodyBytes: 200_000 } });
    const bystander = await MediaPeer.play(services, "stream");
    const long = `a=tool:${"x".repeat(120)}\r\n`;
    expect((await services.offer("/whep/stream", playerOffer() + long.repeat(2_000))).status).toBe(413);
    const reasonOf = async (sdp: string) => {
      const answer = await services.offer("/whep/stream", sdp);
      return [answer.status, ((await answer.json()) as { readonly detail: string }).detail];
    };
    expect(await reasonOf(playerOffer() + "a=x\r\n".repeat(3_000))).toEqual([400, "The offer is not usable: it has more than 2000 lines."]);
    const video = { kind: "video", direction: "recvonly", codecs: [h264] } as const;
    expect(await reasonOf(offerOf(Array(17).fill(video)))).toEqual([400, "The offer is not usable: it has more than 16 m= lines."]);
    const types = offerOf([video], (sdp) => sdp.replace("SAVPF 102", `SAVPF${" 102".repeat(40_000)}`));
    expect(await reasonOf(types)).toEqual([400, "The offer is not usable: an m= line has more than 128 payload types."]);
    // The path is looked up first.
    expect((await services.offer("/whep/unknown", "no offer")).status).toBe(404);
    const path = "a/".repeat(600);
    expect((await services.offer(`/whep/${path}`, playerOffer())).status).toBe(404);
    expect((await services.offer("/whep/stream", playerOffer(), { authorization: `Bearer ${"x".repeat(5_000)}` })).status).toBe(400);
    await more(bystander);
    expect(errorsOf(services)).toEqual([]);
  });

  it("[WEBRTC-348] whatever an offer says, it is answered or refused, and others play on", async () => {
    const services = await startMediaServices({ webrtc: { viewers: 1_000, publishers: 1_000, mediaConnectSeconds: 15 } });
    const bystander = await MediaPeer.play(services, "stream");
    const random = seededRandom(8_348);
    const seen = new Set<number>();
    for (let round = 0; round < 150; round++) {
      const isPublisher = random.chance(0.3);
      const direction = isPublisher ? "sendonly" : "recvonly";
      const lines = offerOf([
        { kind: "audio", direction, codecs: [opus] },
        { kind: "video", direction, codecs: [h264] },
      ]).split("\r\n");
      const offer = lines.flatMap((line) => {
        if (random.chance(0.04)) return [];
        if (random.chance(0.04)) return [line, line];
        if (random.chance(0.04)) return [damaged(random, Buffer.from(line)).toString("latin1")];
        return [random.chance(0.05) ? line.replace(/\d+/, () => String(random.below(1 << 30))) : line];
      });
      const response = await services.offer(isPublisher ? `/whip/fuzz-${round}` : "/whep/stream", offer.join("\r\n"));
      await response.arrayBuffer();
      seen.add(response.status);
    }
    expect([...seen].sort()).toEqual([201, 400, 422]);
    await more(bystander);
    await until(() => services.webrtc.views.get("media")?.sessions.length === 1);
    expect(errorsOf(services)).toEqual([]);
  });
});

describe("the media port", () => {
  it("[WEBRTC-349] bytes of strangers and of a connected client end nobody's session, and others play on", async () => {
    const services = await startMediaServices();
    const [bystander, client] = [await MediaPeer.play(services, "stream"), await MediaPeer.play(services, "stream")];
    await Promise.all([more(bystander), more(client)]);
    const { port } = client;
    const stranger = createSocket("udp4");
    onEnd(() => stranger.close());
    stranger.bind(0, "127.0.0.1");
    await once(stranger, "listening");
    const random = seededRandom(9_349);
    const sent: Buffer[] = [];
    const sendAsIs = client.send.bind(client);
    client.send = (datagram) => void sent.push(datagram);
    client.check();
    client.sendRtcp({ type: "picture-loss", ssrc: 1, mediaSsrc: client.video.ssrc });
    client.close();
    client.send = sendAsIs;
    const [check, report, alert] = sent as [Buffer, Buffer, Buffer];
    /** A record of the first epoch, whose message has the number that is next. */
    function plainRecord(): Buffer {
      const body = randomBytes(random, 12 + random.below(100));
      body[0] = [1, 11, 16, 20][random.below(4)] as number;
      body.writeUIntBE(body.length - 12, 1, 3);
      body.writeUInt16BE(random.below(10), 4);
      body.writeUIntBE(0, 6, 3);
      body.writeUIntBE(body.length - 12, 9, 3);
      const head = Buffer.from([20 + random.below(4), 0xfe, 0xfd, 0, random.below(2), 0, 0, 0, 0, 0, random.below(256), 0, body.length]);
      return Buffer.concat([head, body]);
    }
    const kinds = [
      () => damaged(random, check),
      () => damaged(random, report),
      () => damaged(random, alert),
      plainRecord,
      // A fatal alert that anybody can send.
      () => Buffer.from([21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]),
      () => Buffer.concat([Buffer.from([0x80 + random.below(64), random.below(256)]), randomBytes(random, random.below(200))]),
      () => randomBytes(random, random.below(300)),
    ];
    for (let round = 0; round < 40; round++) {
      for (let datagram = 0; datagram < 50; datagram++) {
        const bytes = kinds[random.below(kinds.length)]?.() as Buffer;
        if (random.chance(0.5)) client.send(bytes);
        else stranger.send(bytes, port, "127.0.0.1");
        // Genuine, and without sense.
        if (random.chance(0.2)) {
          const head = Buffer.from([0x80 + random.below(64), 200 + random.below(8), 0, random.below(12), 0, 0, 0, 1]);
          client.sendRtcpBytes(Buffer.concat([head, randomBytes(random, random.below(80))]));
        }
      }
      await new Promise(setImmediate);
    }
    await Promise.all([more(bystander), more(client)]);
    await more(await MediaPeer.play(services, "stream"));
    expect(services.webrtc.rows().filter(({ kind, tone }) => kind === "webrtc-media" && tone !== "pending")).toEqual([]);
    expect(errorsOf(services)).toEqual([]);
  });

  it("[WEBRTC-336] a packet that is asked for again and again is sent ten times more, and no other one", async () => {
    const services = await startMediaServices();
    const peer = await MediaPeer.play(services, "stream");
    const sequences = new Map<number, number>();
    peer.socket.on("message", (datagram) => {
      if ((datagram[0] as number) < 128 || ((datagram[1] as number) & 0x7f) !== 102) return;
      const sequence = datagram.readUInt16BE(2);
      sequences.set(sequence, (sequences.get(sequence) ?? 0) + 1);
    });
    await more(peer);
    const [wanted] = [...sequences.keys()] as [number];
    for (let request = 0; request < 30; request++) {
      peer.sendRtcp({ type: "nack", ssrc: 1, mediaSsrc: peer.video.ssrc, sequences: [wanted, (wanted + 30_000) & 0xffff] });
      // A request so soon after the one before is for the same loss.
      peer.sendRtcp({ type: "nack", ssrc: 1, mediaSsrc: peer.video.ssrc, sequences: [wanted] });
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await more(peer);
    expect(sequences.get(wanted)).toBe(11);
    expect([...sequences].filter(([sequence, count]) => sequence !== wanted && count > 1)).toEqual([]);
  });
});
