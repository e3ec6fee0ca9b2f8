import { randomInt } from "node:crypto";
import type { WebTrack } from "../../../../contract/services/rtsp-media.ts";
import { type ReportBlock, type RtcpPacket, writeRtcp } from "../../../core/rtp/rtcp.ts";
import { rtpHeaderBytes } from "../../../core/rtp/rtp-packet.ts";
import type { PeerTransport } from "../transport/peer-transport.ts";
import type { FeedPacket, MediaClock } from "./path-feed.ts";

/** For retransmission; a browser asks for what is younger than a second. */
const historyPackets = 1_024;
/** Sent in one step: a fraction of a millisecond. */
const packetsAtOnce = 8;
/** A second request within this time is for the same loss. */
const leastRetransmitMs = 20;
/** Of one packet: who asks more often gets more than it can receive. */
const mostRepeats = 10;
const rtpVersion2 = 0x80;
const ntpEpochSeconds = 2_208_988_800;

/** One track to one viewer: packets of the feed with numbers of its own. */
export class RtpTrackSender {
  readonly track: WebTrack;
  readonly ssrc = randomInt(1, 2 ** 32);
  packets = 0;
  payloadBytes = 0;
  retransmitted = 0;
  /** Of its last report. */
  lost = 0;
  lossFraction: number | undefined;
  jitterMs: number | undefined;
  rttMs: number | undefined;
  readonly #payloadType: number;
  readonly #transport: Pick<PeerTransport, "sendRtp">;
  readonly #now: () => number;
  readonly #head = Buffer.alloc(rtpHeaderBytes);
  /** What was sent last, by the remainder of its sequence number. Viewers share the packets: thousands of objects for each would cost more than they do. */
  readonly #history: (FeedPacket | undefined)[] = new Array(historyPackets);
  readonly #sequences = new Int32Array(historyPackets).fill(-1);
  readonly #sentMs = new Float64Array(historyPackets);
  readonly #repeats = new Uint8Array(historyPackets);
  /** To be sent again. */
  readonly #wanted = new Set<number>();
  #sequence = randomInt(2 ** 16);

  constructor(track: WebTrack, payloadType: number, transport: Pick<PeerTransport, "sendRtp">, now = () => performance.now()) {
    this.#now = now;
    this.track = track;
    this.#payloadType = payloadType;
    this.#transport = transport;
    this.#head[0] = rtpVersion2;
    this.#head.writeUInt32BE(this.ssrc, 8);
  }

  /** In steps. */
  *send(packets: readonly FeedPacket[]): Generator<void, void> {
    let nowMs = this.#now();
    for (const [index, packet] of packets.entries()) {
      if (index > 0 && index % packetsAtOnce === 0) {
        yield;
        nowMs = this.#now();
      }
      const sequence = this.#sequence;
      const slot = sequence % historyPackets;
      this.#sequence = (sequence + 1) & 0xffff;
      this.#history[slot] = packet;
      this.#sequences[slot] = sequence;
      this.#sentMs[slot] = nowMs;
      this.#repeats[slot] = 0;
      this.packets++;
      this.payloadBytes += packet.payload.length;
      this.#transmit(sequence, packet);
    }
  }

  #transmit(sequence: number, { isMarked, timestamp, payload }: FeedPacket): void {
    const head = this.#head;
    head[1] = this.#payloadType | (isMarked ? 0x80 : 0);
    head.writeUInt16BE(sequence, 2);
    head.writeUInt32BE(timestamp, 4);
    this.#transport.sendRtp(head, payload);
  }

  /** What of these is due is sent again by `retransmit`. True for the first of them. */
  isWantedAgain(sequences: readonly number[]): boolean {
    const isFirst = this.#wanted.size === 0;
    const nowMs = this.#now();
    for (const sequence of sequences) if (this.#isDue(sequence, nowMs)) this.#wanted.add(sequence);
    return isFirst && this.#wanted.size > 0;
  }

  #isDue(sequence: number, nowMs: number): boolean {
    const slot = sequence % historyPackets;
    if (this.#sequences[slot] !== sequence) return false;
    return nowMs - (this.#sentMs[slot] as number) >= leastRetransmitMs && (this.#repeats[slot] as number) < mostRepeats;
  }

  /** Also what is asked for meanwhile. In steps. */
  *retransmit(): Generator<void, void> {
    let sent = 0;
    for (const sequence of this.#wanted) {
      if (sent > 0 && sent % packetsAtOnce === 0) yield;
      this.#wanted.delete(sequence);
      const slot = sequence % historyPackets;
      const packet = this.#history[slot];
      // Newer ones may have taken its place.
      if (!packet || this.#sequences[slot] !== sequence) continue;
      this.#sentMs[slot] = this.#now();
      this.#repeats[slot] = (this.#repeats[slot] as number) + 1;
      this.retransmitted++;
      sent++;
      this.#transmit(sequence, packet);
    }
  }

  /** What the viewer says of its reception (RFC 3550 §6.4.1). */
  report({ fractionLost, lost, jitter, lastReport, delaySinceLastReport }: ReportBlock): void {
    this.lost = Math.max(0, lost);
    this.lossFraction = fractionLost / 256;
    this.jitterMs = (jitter * 1_000) / this.track.clockRate;
    if (lastReport === 0) return;
    const passed = (ntpMiddle(Date.now()) - lastReport - delaySinceLastReport) | 0;
    if (passed >= 0) this.rttMs = (passed * 1_000) / 65_536;
  }

  senderReport(clock: MediaClock, timestamp: number, cname: string): Buffer {
    const now = Date.now();
    const report: RtcpPacket = {
      type: "sender-report",
      ssrc: this.ssrc,
      ntpMs: now,
      timestamp: (timestamp + Math.round(((now - clock.atMs) * this.track.clockRate) / 1_000)) >>> 0,
      packets: this.packets,
      payloadBytes: this.payloadBytes,
      reports: [],
    };
    return writeRtcp([report, { type: "source-description", chunks: [{ ssrc: this.ssrc, cname }] }]);
  }
}

/** The middle 32 bits of NTP's format. */
const ntpMiddle = (ms: number): number => Math.round((ms / 1_000 + ntpEpochSeconds) * 65_536) % 2 ** 32;
