import type { ReportBlock } from "./rtcp.ts";
import { type RtpPacket, sequenceDistance } from "./rtp-packet.ts";

/** Of one source: loss and jitter as RFC 3550 §6.4.1 and appendices A.3 and A.8 count them. */
export class ReceiverStatistics {
  readonly #clockRate: number;
  #received = 0;
  #first: number | undefined;
  /** Continued beyond 2^16. */
  #highest = 0;
  #transit: number | undefined;
  #jitter = 0;
  #expectedBefore = 0;
  #receivedBefore = 0;
  #report: { ntpMiddle: number; atMs: number } | undefined;

  constructor(clockRate: number) {
    this.#clockRate = clockRate;
  }

  /** Another source. */
  begin(): void {
    this.#received = 0;
    this.#first = undefined;
    this.#transit = undefined;
    this.#jitter = 0;
    this.#expectedBefore = 0;
    this.#receivedBefore = 0;
    this.#report = undefined;
  }

  packet({ sequence, timestamp }: RtpPacket, nowMs: number): void {
    this.#received++;
    if (this.#first === undefined) {
      this.#first = sequence;
      this.#highest = sequence;
    } else {
      const ahead = sequenceDistance(sequence, this.#highest & 0xffff);
      if (ahead > 0) this.#highest += ahead;
    }
    const transit = Math.round((nowMs * this.#clockRate) / 1_000) - timestamp;
    if (this.#transit !== undefined) {
      // Both wrap at 2^32.
      const difference = Math.abs((transit - this.#transit) | 0);
      this.#jitter += (difference - this.#jitter) / 16;
    }
    this.#transit = transit;
  }

  senderReport(ntpMiddle: number, atMs: number): void {
    this.#report = { ntpMiddle, atMs };
  }

  /** Since the source began; packets that came twice count against it, as in appendix A.3. */
  get lost(): number {
    return this.#expected - this.#received;
  }

  get jitterSeconds(): number {
    return this.#jitter / this.#clockRate;
  }

  report(ssrc: number, nowMs: number): ReportBlock {
    const expected = this.#expected - this.#expectedBefore;
    const lost = expected - (this.#received - this.#receivedBefore);
    this.#expectedBefore = this.#expected;
    this.#receivedBefore = this.#received;
    return {
      ssrc,
      fractionLost: expected === 0 || lost <= 0 ? 0 : Math.min(255, Math.floor((lost * 256) / expected)),
      lost: Math.max(-0x80_0000, Math.min(0x7f_ffff, this.lost)),
      highestSequence: this.#highest >>> 0,
      jitter: Math.floor(this.#jitter),
      lastReport: this.#report?.ntpMiddle ?? 0,
      delaySinceLastReport: this.#report ? Math.round(((nowMs - this.#report.atMs) * 65_536) / 1_000) : 0,
    };
  }

  get #expected(): number {
    return this.#first === undefined ? 0 : this.#highest - this.#first + 1;
  }
}
