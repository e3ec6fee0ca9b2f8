import { randomInt } from "node:crypto";
import type { WebTrack } from "../../../../contract/services/rtsp-media.ts";
import { type ReportBlock, type RtcpPacket, writeRtcp } from "../../../core/rtp/rtcp.ts";
import { rtpHeaderBytes } from "../../../core/rtp/rtp-packet.ts";
import type { PeerTransport } from "../transport/peer-transport.ts";
import type { MediaClock } from "./path-feed.ts";

interface SentPacket {
  readonly head: Buffer;
  readonly payload: Buffer;
  sentMs: number;
  repeats: number;
}

/** For retransmission; a browser asks for what is younger than a second. */
const historyPackets = 1_024;
/** A second request within this time is for the same loss. */
const leastRetransmitMs = 20;
/** Of one packet: who asks more often gets more than it can receive. */
const mostRepeats = 10;
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
  readonly #transport: PeerTransport;
  readonly #history: (SentPacket | undefined)[] = new Array(historyPackets);
  #sequence = randomInt(2 ** 16);

  constructor(track: WebTrack, payloadType: number, transport: PeerTransport) {
    this.track = track;
    this.#payloadType = payloadType;
    this.#transport = transport;
  }

  /** An RTP packet of the feed, without contributing sources and extensions. */
  send(packet: Buffer): void {
    const head = Buffer.allocUnsafe(rtpHeaderBytes);
    packet.copy(head, 0, 0, rtpHeaderBytes);
    head[1] = ((head[1] as number) & 0x80) | this.#payloadType;
    head.writeUInt16BE(this.#sequence, 2);
    head.writeUInt32BE(this.ssrc, 8);
    const payload = packet.subarray(rtpHeaderBytes);
    this.#history[this.#sequence % historyPackets] = { head, payload, sentMs: performance.now(), repeats: 0 };
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.packets++;
    this.payloadBytes += payload.length;
    this.#transport.sendRtp(head, payload);
  }

  retransmit(sequences: readonly number[]): void {
    const now = performance.now();
    for (const sequence of sequences) {
      const sent = this.#history[sequence % historyPackets];
      if (sent?.head.readUInt16BE(2) !== sequence || now - sent.sentMs < leastRetransmitMs || sent.repeats === mostRepeats) continue;
      sent.sentMs = now;
      sent.repeats++;
      this.retransmitted++;
      this.#transport.sendRtp(sent.head, sent.payload);
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
