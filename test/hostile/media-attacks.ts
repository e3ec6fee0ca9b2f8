import { randomBytes as bytesOfChance } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type GenericNack, writeRtcp } from "../../servers/core/rtp/rtcp.ts";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { magicCookie } from "../../servers/webrtc/stun/stun-message.ts";
import { uint32, writeStun } from "../../servers/webrtc/stun/write-stun.ts";
import { type MediaServer, playerOffer } from "../webrtc/media-offers.ts";
import { MediaPeer } from "../webrtc/media-peer.ts";
import { type Attack, httpRequest, randomBytes, type Target, throwAt } from "./hostile-service.ts";
import { asPlayers, datagramsAtOnce, dtlsBytes, looksLike, withServer } from "./media-players.ts";
import { list } from "./signalling-attacks.ts";

async function openUdp(): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.on("error", () => {});
  socket.on("message", () => {});
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return socket;
}

const rtpBytes = [128, 191] as const;
const channelBytes = [64, 79] as const;

/** A datagram of DTLS, RTP, RTCP, ChannelData or nothing of this, for ports on which something else is due. */
export function strayDatagram(target: Target): Buffer {
  const { random } = target;
  const kind = random.below(4);
  const bytes = looksLike(target, [dtlsBytes, rtpBytes, channelBytes, [0, 255] as const][kind] ?? rtpBytes, random.below(200));
  if (kind === 0 && bytes.length > 13) {
    bytes.writeUInt16BE(0xfefd, 1);
    bytes.writeUInt16BE(bytes.length - 13, 11);
  }
  if (kind === 2 && bytes.length > 4) bytes.writeUInt16BE(random.chance(0.5) ? bytes.length - 4 : random.below(65_536), 2);
  return bytes;
}

/** A check of ICE by somebody who does not know the password. */
const forgedCheck = (ufrag: string): Buffer =>
  writeStun({
    messageClass: "request",
    method: stunMethods.binding,
    transaction: Buffer.concat([uint32(magicCookie), bytesOfChance(12)]),
    attributes: [[stunAttributes.username, Buffer.from(`${ufrag}:abcd`)]],
    integrity: { hash: "sha1", key: Buffer.from("wrong") },
    fingerprint: true,
  });

const playersAtOnce = 150;
/** Requests for each packet that there can be, each for 128 of them. */
const everyPacket = (mediaSsrc: number): GenericNack[] =>
  list(65_536 / 128, (group) => ({ type: "nack", ssrc: 1, mediaSsrc, sequences: list(128, (index) => group * 128 + index) }));

async function playersOf(server: MediaServer, count: number): Promise<MediaPeer[]> {
  const peers: MediaPeer[] = [];
  while (peers.length < count) peers.push(...(await Promise.all(list(10, () => MediaPeer.play(server, "stream")))));
  return peers;
}

/** What reaches SRTP, ICE and the media port. */
export const mediaAttacks: Readonly<Record<string, Attack>> = {
  "RTP and RTCP before DTLS": (target) =>
    asPlayers(target, () => list(2_000, () => looksLike(target, rtpBytes, target.random.below(1_400)))),
  "a player that asks for everything again, and reports without end": (target) =>
    withServer(target, async (server) => {
      const peer = await MediaPeer.play(server, "stream");
      const { ssrc } = peer.video;
      // Pairs of a number and a mask that together name every packet there can be, many times.
      const everything = Buffer.alloc(12 + 60_000);
      everything.set([0x81, 205]);
      everything.writeUInt16BE(everything.length / 4 - 1, 2);
      everything.writeUInt32BE(ssrc, 8);
      for (let at = 12, first = 0; at < everything.length; at += 4, first += 17) {
        everything.writeUInt16BE(first & 0xffff, at);
        everything.writeUInt16BE(0xffff, at + 2);
      }
      const loss = writeRtcp([{ type: "picture-loss", ssrc: 1, mediaSsrc: ssrc }]);
      const report = writeRtcp([{ type: "receiver-report", ssrc: 1, reports: [] }]);
      for (let round = 0; round < 20; round++) {
        peer.sendRtcpBytes(Buffer.concat([report, everything]));
        peer.sendRtcpBytes(Buffer.concat([report, ...list(5_000, () => loss)]));
        await delay(target.holdMs / 20);
      }
      await peer.end();
    }),
  "150 players of one path": (target) =>
    withServer(target, async (server) => {
      const peers = await playersOf(server, playersAtOnce);
      await delay(3 * target.holdMs);
      await Promise.all(peers.map((peer) => peer.end()));
    }),
  "150 players that ask for everything again at once": (target) =>
    withServer(target, async (server) => {
      const peers = await playersOf(server, playersAtOnce);
      await delay(3 * target.holdMs);
      for (let round = 0; round < 10; round++) {
        for (const peer of peers) peer.sendRtcp(...everyPacket(peer.video.ssrc));
        await delay(100);
      }
      await Promise.all(peers.map((peer) => peer.end()));
    }),
  "a publisher whose sequence numbers jump": (target) =>
    withServer(target, async (server) => {
      const peer = await MediaPeer.publish(server, `hostile ${target.random.below(2 ** 32)}`);
      for (let packet = 0; packet < 500; packet++) {
        peer.skip(target.random.below(3_000));
        peer.sendRtp(102, packet * 3_000, randomBytes(target, 20));
        if (packet % datagramsAtOnce === 0) await delay(1);
      }
      await peer.end();
    }),
  "20,000 forged checks of ICE a second": (target) =>
    withServer(target, async (server) => {
      const peer = await MediaPeer.reach(server, "/whep/stream", playerOffer());
      const socket = await openUdp();
      const checks = list(200, (index) => forgedCheck(index % 2 === 0 ? peer.credentials.ufrag : "nobody"));
      for (let sent = 0; sent < 20 * target.holdMs; sent += checks.length) {
        for (const check of checks) socket.send(check, peer.port, "127.0.0.1");
        await delay(10);
      }
      await new Promise<void>((resolve) => socket.close(() => resolve()));
      await peer.end();
    }),
  "checks of ICE from 200 ports": (target) =>
    withServer(target, async (server) => {
      const peer = await MediaPeer.reach(server, "/whep/stream", playerOffer());
      for (let port = 0; port < 200; port++) await peer.moveToNewPort();
      await peer.end();
    }),
  "restarts of ICE and candidates without end": (target) =>
    withServer(target, async (server) => {
      const peer = await MediaPeer.reach(server, "/whep/stream", playerOffer());
      const fragment = Buffer.from(
        ["a=ice-ufrag:abcd", `a=ice-pwd:${"x".repeat(24)}`, "m=audio 9 UDP/TLS/RTP/SAVPF 0", "a=mid:0"].join("\r\n") +
          list(1_900, (index) => `\r\na=candidate:${index} 1 udp 1 127.0.0.1 9 typ host`).join(""),
      );
      const headers = "Content-Type: application/trickle-ice-sdpfrag\r\nIf-Match: *\r\n";
      const patch = httpRequest("PATCH", new URL(peer.url).pathname, { headers, body: fragment });
      await throwAt(target, 2, Buffer.concat(list(100, () => patch)), "all");
      await peer.end();
    }),
  "offers that never connect": (target) =>
    withServer(target, async (server) => {
      const opened = await Promise.all(list(150, () => server.offer("/whep/stream", playerOffer())));
      await delay(target.holdMs);
      for (const { headers, status } of opened)
        if (status === 201) await fetch(`${server.url}${headers.get("location")}`, { method: "DELETE" });
    }),
  "anything to the media port": (target) =>
    withServer(target, async (server) => {
      const { port } = await MediaPeer.reach(server, "/whep/stream", playerOffer());
      const socket = await openUdp();
      for (let sent = 0; sent < 2_000; sent++) {
        socket.send(strayDatagram(target), port, "127.0.0.1");
        if (sent % datagramsAtOnce === 0) await delay(1);
      }
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    }),
};
