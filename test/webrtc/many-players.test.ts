import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { WebTrack } from "../../contract/services/rtsp-media.ts";
import { parseRtcp, writeRtcp } from "../../servers/core/rtp/rtcp.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { createDtlsCertificate } from "../../servers/webrtc/media/dtls/dtls-certificate.ts";
import type { FeedFrame, PathFeeds } from "../../servers/webrtc/media/sessions/path-feed.ts";
import { WhepSession } from "../../servers/webrtc/media/sessions/whep-session.ts";
import { PeerTransport } from "../../servers/webrtc/media/transport/peer-transport.ts";

const track = { kind: "video", codec: "h264", clockRate: 90_000, format: "" } as unknown as WebTrack;
const frame = (packets: number, isKey: boolean, timestamp: number): FeedFrame => ({
  track: 0,
  isKey,
  packets: Array.from({ length: packets }, () => ({ isMarked: false, timestamp, payload: Buffer.alloc(1) })),
  heldBytes: packets * 1_000,
});

function open(turns: WorkTurns, name: string, onSent: () => void) {
  const timestamps: number[] = [];
  const sendRtp = (head: Buffer) => {
    timestamps.push(head.readUInt32BE(4));
    onSent();
  };
  const feeds = { join: () => ({ kept: [], clock: undefined, requestKeyFrame() {} }), leave() {} } as unknown as PathFeeds;
  const session = new WhepSession({ sendRtp } as unknown as PeerTransport, {
    ...{ path: "a", feeds, tracks: [{ index: 0, track, payloadType: 102 }], leftOut: [] },
    ...{ work: turns.background(name), mostWaitingBytes: 100_000, onEnd() {} },
  });
  session.start();
  return { session, timestamps };
}

it("[WEBRTC-483] a large picture for many players is sent in turns; who is too far behind goes on with the next key frame", async () => {
  let nowMs = 0;
  let sent = 0;
  const turns = new WorkTurns(() => nowMs);
  const onSent = () => {
    nowMs += 0.015_625;
    sent++;
  };
  const players = Array.from({ length: 50 }, (_, index) => open(turns, `player ${index}`, onSent));
  const publish = (one: FeedFrame) => {
    for (const { session } of players) session.onFrame(one);
  };
  publish(frame(90, true, 1));
  // Less than a turn of all, which is 4 ms.
  expect(sent).toBeLessThan(300);
  publish(frame(90, false, 2));
  publish(frame(10, false, 3));
  publish(frame(10, true, 4));
  while (sent < 50 * 180) {
    const before = sent;
    await nextTurn();
    expect(sent - before).toBeLessThan(300);
    expect(sent).toBeGreaterThan(before);
  }
  publish(frame(10, false, 5));
  publish(frame(10, true, 6));
  while (sent < 50 * 190) await nextTurn();
  await nextTurn();
  const counts = (of: readonly number[]) => [1, 2, 3, 4, 5, 6].map((timestamp) => of.filter((one) => one === timestamp).length);
  // More than 100 KB waited at the third picture; the next key frame came too early, and what follows it is of no use.
  expect(counts(players[49]?.timestamps ?? [])).toEqual([90, 90, 0, 0, 0, 10]);
  for (const { session } of players) session.close();
});

it("[WEBRTC-484] of a compound packet of RTCP, 64 packets count and 512 pairs of those that ask for lost packets", () => {
  const sequences = Array.from({ length: 17 * 300 }, (_, index) => index);
  const compound = writeRtcp([1, 2, 3].map((mediaSsrc) => ({ type: "nack", ssrc: 1, mediaSsrc, sequences })));
  const asked = (parseRtcp(compound) ?? []).map((packet) => (packet.type === "nack" ? packet.sequences.length : 0));
  expect(asked).toEqual([17 * 300, 17 * 212, 0]);
  const losses = writeRtcp(Array.from({ length: 1_000 }, () => ({ type: "picture-loss", ssrc: 1, mediaSsrc: 2 })));
  expect(parseRtcp(losses)).toHaveLength(64);
});

it("[WEBRTC-484] datagrams of a peer are worked off in its turns; what comes faster is lost, as it would be on the way", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const certificate = await createDtlsCertificate();
  const peers = Array.from({ length: 100 }, (_, index) => {
    return new PeerTransport({
      ...{ certificate, fingerprints: [], isDtlsPassive: false, connectMs: 1_000, consentMs: 1_000 },
      ...{ work: turns.connection(`10.0.0.${index}`), onConnected() {}, onRtp() {}, onRtcp() {}, onEnd() {} },
    });
  });
  // Of no protocol that is due here: each is counted.
  const stray = Buffer.from([0x50, 96, 0, 1]);
  const rejected = () => peers.reduce((sum, one) => sum + one.rejected, 0);
  for (const peer of peers) {
    for (let count = 0; count < 2_000; count++) peer.receive(stray);
    nowMs += 0.5;
  }
  expect(rejected()).toBeLessThan(100 * 2_000);
  expect(peers.at(-1)?.dropped).toBeGreaterThan(0);
  for (let before = -1; before !== rejected(); ) {
    before = rejected();
    await nextTurn();
  }
  expect(rejected() + peers.reduce((sum, one) => sum + one.dropped, 0)).toBe(100 * 2_000);
  // Media before the handshake takes no turn.
  const [one] = peers as [PeerTransport];
  const lost = [one.rejected, one.dropped] as const;
  for (let count = 0; count < 20_000; count++) {
    nowMs += 0.5;
    one.receive(Buffer.from([0x80, 96, 0, 1]));
  }
  expect([one.rejected, one.dropped]).toEqual([lost[0] + 20_000, lost[1]]);
});
