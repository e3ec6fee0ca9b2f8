import { TimestampUnwrapper } from "../../core/rtp/rtp-packet.ts";

/**
 * Puts the tracks of one sender on one time line, in which pts of its first frame is 0. The sender reports say which RTP times are the same
 * moment; where the first frame of a track comes before its report, its arrival decides. It is decided once for each track, so no pts jumps.
 *
 * It knows too which pts a track has at a moment of our clock, for the sender reports to readers. That follows the sender's reports; what a
 * report corrects while somebody reads comes slowly, since readers make the times of their frames from it.
 */
export class PublishedClock {
  readonly #tracks: TrackClock[];
  readonly #isRead: () => boolean;
  #startMs: number | undefined;
  /** NTP time of the moment 0, once the first track with a report has begun. */
  #startNtpMs: number | undefined;
  /** From our clock to the sender's, once it has sent a report. */
  #senderAheadMs: number | undefined;
  /** Of tracks without a report: they stay together with the others. */
  #origin: Origin | undefined;

  /** `isRead`: whether somebody gets sender reports of these tracks. */
  constructor(clockRates: readonly number[], isRead: () => boolean) {
    this.#tracks = clockRates.map((clockRate) => ({
      clockRate,
      unwrapper: new TimestampUnwrapper(),
      report: undefined,
      offset: undefined,
      last: 0,
      lastTimestamp: 0,
      origin: undefined,
    }));
    this.#isRead = isRead;
  }

  /** One that comes before the first frame of the track counts from that frame on. */
  senderReport(track: number, ntpMs: number, timestamp: number, nowMs: number): void {
    const clock = this.#tracks[track];
    if (!clock) return;
    const aheadMs = ntpMs - nowMs;
    if (this.#senderAheadMs === undefined || Math.abs(aheadMs - this.#senderAheadMs) > mostSkewMs) this.#senderAheadMs = aheadMs;
    const report = { ntpMs, timestamp, atMs: ntpMs - this.#senderAheadMs };
    if (clock.offset === undefined) clock.report = report;
    else this.#follow(clock, report, nowMs, !this.#isRead());
  }

  /** The pts of a frame; for the first one, `nowMs` is when it came. */
  pts(track: number, timestamp: number, nowMs: number): number {
    const clock = this.#tracks[track];
    if (!clock) throw new RangeError(`There is no track ${track}.`);
    const isFirst = this.#origin === undefined;
    const { report } = clock;
    clock.report = undefined;
    const unwrapped = clock.unwrapper.unwrap(timestamp);
    clock.offset ??= this.#begin(clock, report, timestamp, nowMs) - unwrapped;
    clock.last = unwrapped + clock.offset;
    clock.lastTimestamp = timestamp;
    if (report) this.#follow(clock, report, nowMs, isFirst || !this.#isRead());
    return clock.last;
  }

  /** The pts of a track at a moment of our clock. Linear, but where the sender's own clock jumps. */
  ptsAt(track: number, atMs: number): number {
    const { origin, clockRate } = this.#tracks[track] as TrackClock;
    return ((atMs - originAt(origin ?? this.#origin ?? originOf(atMs), atMs)) * clockRate) / 1_000;
  }

  /** Another source sends the track: its next frame follows the last one. */
  restart(track: number, timestamp: number, frameDuration: number): void {
    const clock = this.#tracks[track];
    if (!clock || clock.offset === undefined) return;
    clock.unwrapper = new TimestampUnwrapper();
    clock.offset = clock.last + frameDuration - clock.unwrapper.unwrap(timestamp);
  }

  /** The pts of a track's first frame. */
  #begin({ clockRate }: TrackClock, report: Report | undefined, timestamp: number, nowMs: number): number {
    this.#startMs ??= nowMs;
    this.#origin ??= originOf(nowMs);
    const arrivedMs = nowMs - this.#startMs;
    if (!report) return Math.round((arrivedMs * clockRate) / 1_000);
    const ntpMs = report.ntpMs + (((timestamp - report.timestamp) | 0) * 1_000) / clockRate;
    this.#startNtpMs ??= ntpMs - arrivedMs;
    const ms = ntpMs - this.#startNtpMs;
    // A report that puts the tracks far apart is wrong.
    return Math.round(((Math.abs(ms - arrivedMs) > mostSkewMs ? arrivedMs : Math.max(0, ms)) * clockRate) / 1_000);
  }

  #follow(clock: TrackClock, report: Report, nowMs: number, isAtOnce: boolean): void {
    const msOf = (pts: number) => (pts * 1_000) / clock.clockRate;
    const isFar = (oneMs: number, otherMs: number) => Math.abs(oneMs - otherMs) > mostSkewMs;
    const targetMs = report.atMs - msOf(clock.last + ((report.timestamp - clock.lastTimestamp) | 0));
    const fromMs = originAt(clock.origin ?? this.#origin ?? originOf(targetMs), nowMs);
    const isJump = isFar(targetMs, fromMs);
    // The report is wrong, or that of another source.
    if (isJump && isFar(targetMs, nowMs - msOf(clock.last))) return;
    clock.origin = { sinceMs: nowMs, fromMs: isAtOnce || isJump ? targetMs : fromMs, targetMs };
    if (isAtOnce) this.#origin = clock.origin;
  }
}

const mostSkewMs = 10_000;
/** A correction for each millisecond: one of a report's interval of 5 s, which is 1 ms, is lost in the jitter of any network. */
const slewMs = 0.0002;

/** The moment of our clock at which pts was 0, on its way to what the sender has reported. */
interface Origin {
  readonly sinceMs: number;
  readonly fromMs: number;
  readonly targetMs: number;
}

const originOf = (ms: number): Origin => ({ sinceMs: ms, fromMs: ms, targetMs: ms });

function originAt({ sinceMs, fromMs, targetMs }: Origin, atMs: number): number {
  const most = slewMs * Math.max(0, atMs - sinceMs);
  return fromMs + Math.max(-most, Math.min(most, targetMs - fromMs));
}

interface Report {
  readonly ntpMs: number;
  readonly timestamp: number;
  /** The moment of our clock that it is about. */
  readonly atMs: number;
}

interface TrackClock {
  readonly clockRate: number;
  unwrapper: TimestampUnwrapper;
  /** The latest one before the first frame. */
  report: Report | undefined;
  /** From unwrapped RTP time to pts. */
  offset: number | undefined;
  last: number;
  /** RTP timestamp of the last frame. */
  lastTimestamp: number;
  /** Once a report has been followed. */
  origin: Origin | undefined;
}
