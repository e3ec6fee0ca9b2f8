import { ReceiverStatistics } from "../../core/rtp/receiver-statistics.ts";
import type { ReportBlock } from "../../core/rtp/rtcp.ts";
import { type RtpPacket, sequenceDistance } from "../../core/rtp/rtp-packet.ts";

/** A packet in its place in the sequence. */
export interface ReceivedPacket {
  readonly packet: RtpPacket;
  /** Some before it are missing and will not come. */
  readonly isAfterLoss: boolean;
  /** The first of another source: its timestamps and sequence numbers have nothing to do with the ones before. */
  readonly isNewSource: boolean;
}

export interface RtpReceiverOptions {
  readonly clockRate: number;
  /** How many packets wait for a missing one; 0 where the transport keeps their order. */
  readonly reorderPackets: number;
  /** How long they wait. */
  readonly reorderMs: number;
}

/** RFC 3550, appendix A.1: further ahead than this is another sequence. */
const mostDropout = 3_000;

/**
 * Puts the packets of one track into order, within bounds, and finds what is lost. Another SSRC, or a sequence number from elsewhere, is
 * taken over after two packets in a row (appendix A.1), so a stray packet changes nothing.
 */
export class RtpReceiver {
  readonly #options: RtpReceiverOptions;
  readonly #statistics: ReceiverStatistics;
  #ssrc: number | undefined;
  /** Of the sources before this one. */
  #lostBefore = 0;
  /** The sequence number that is next to be given on. */
  #next = 0;
  /** Ordered by sequence number. */
  #waiting: { packet: RtpPacket; arrivedMs: number }[] = [];
  #candidate: RtpPacket | undefined;
  /** Packets that were late, came twice, or are of no known source. */
  strays = 0;

  constructor(options: RtpReceiverOptions) {
    this.#options = options;
    this.#statistics = new ReceiverStatistics(options.clockRate);
  }

  get ssrc(): number | undefined {
    return this.#ssrc;
  }

  /** Of all sources. */
  get lost(): number {
    return this.#lostBefore + this.#statistics.lost;
  }

  get jitterSeconds(): number {
    return this.#statistics.jitterSeconds;
  }

  receive(packet: RtpPacket, nowMs: number): readonly ReceivedPacket[] {
    if (this.#ssrc === undefined) return this.#begin([packet], nowMs, false);
    const distance = sequenceDistance(packet.sequence, this.#next);
    if (packet.ssrc !== this.#ssrc || distance > mostDropout || distance < -mostDropout) return this.#consider(packet, nowMs);
    this.#candidate = undefined;
    if (distance < 0) {
      this.strays++;
      return [];
    }
    this.#statistics.packet(packet, nowMs);
    if (distance === 0 && this.#waiting.length === 0) {
      this.#next = (packet.sequence + 1) & 0xffff;
      return [{ packet, isAfterLoss: false, isNewSource: false }];
    }
    if (!this.#wait(packet, nowMs)) return [];
    return this.#release(nowMs);
  }

  /** What has waited too long; to be called now and then, and before the last packets are given up. */
  release(nowMs: number): readonly ReceivedPacket[] {
    return this.#waiting.length === 0 ? [] : this.#release(nowMs);
  }

  senderReport(ntpMiddle: number, nowMs: number): void {
    this.#statistics.senderReport(ntpMiddle, nowMs);
  }

  /** For a receiver report; undefined before the first packet. */
  report(nowMs: number): ReportBlock | undefined {
    return this.#ssrc === undefined ? undefined : this.#statistics.report(this.#ssrc, nowMs);
  }

  #consider(packet: RtpPacket, nowMs: number): readonly ReceivedPacket[] {
    const last = this.#candidate;
    this.#candidate = packet;
    if (last && last.ssrc === packet.ssrc && packet.sequence === ((last.sequence + 1) & 0xffff)) {
      return this.#begin([last, packet], nowMs, true);
    }
    this.strays++;
    return [];
  }

  #begin(packets: readonly RtpPacket[], nowMs: number, isNewSource: boolean): readonly ReceivedPacket[] {
    const [first] = packets;
    if (!first) return [];
    if (isNewSource) this.strays--;
    this.#lostBefore = this.lost;
    this.#ssrc = first.ssrc;
    this.#candidate = undefined;
    this.#waiting = [];
    this.#next = (first.sequence + packets.length) & 0xffff;
    this.#statistics.begin();
    for (const packet of packets) this.#statistics.packet(packet, nowMs);
    return packets.map((packet, index) => ({ packet, isAfterLoss: isNewSource && index === 0, isNewSource: isNewSource && index === 0 }));
  }

  /** Whether it was put among those that wait; false for one that came twice. */
  #wait(packet: RtpPacket, arrivedMs: number): boolean {
    let at = this.#waiting.length;
    while (at > 0) {
      const distance = sequenceDistance(packet.sequence, (this.#waiting[at - 1] as { packet: RtpPacket }).packet.sequence);
      if (distance === 0) {
        this.strays++;
        return false;
      }
      if (distance > 0) break;
      at--;
    }
    this.#waiting.splice(at, 0, { packet, arrivedMs });
    return true;
  }

  #release(nowMs: number): ReceivedPacket[] {
    const { reorderPackets, reorderMs } = this.#options;
    const released: ReceivedPacket[] = [];
    for (;;) {
      const first = this.#waiting[0];
      if (!first) break;
      const isNext = first.packet.sequence === this.#next;
      const isOverdue = this.#waiting.length > reorderPackets || this.#waiting.some(({ arrivedMs }) => nowMs - arrivedMs >= reorderMs);
      if (!isNext && !isOverdue) break;
      this.#waiting.shift();
      released.push({ packet: first.packet, isAfterLoss: !isNext, isNewSource: false });
      this.#next = (first.packet.sequence + 1) & 0xffff;
    }
    return released;
  }
}
