import { TimestampUnwrapper } from "./rtp-packet.ts";

/**
 * Puts the tracks of one sender on one time line, in which pts of its first frame is 0. The sender reports say which RTP times are the same
 * moment; where the first frame of a track comes before its report, its arrival decides. It is decided once for each track, so nothing jumps.
 */
export class PublishedClock {
  readonly #tracks: TrackClock[];
  #startMs: number | undefined;
  /** NTP time of the moment 0, once the first track with a report has begun. */
  #startNtpMs: number | undefined;

  constructor(clockRates: readonly number[]) {
    this.#tracks = clockRates.map((clockRate) => ({
      clockRate,
      unwrapper: new TimestampUnwrapper(),
      report: undefined,
      offset: undefined,
      last: 0,
    }));
  }

  senderReport(track: number, ntpMs: number, timestamp: number): void {
    const clock = this.#tracks[track];
    if (clock && clock.offset === undefined) clock.report = { ntpMs, timestamp };
  }

  /** The pts of a frame; for the first one, `nowMs` is when it came. */
  pts(track: number, timestamp: number, nowMs: number): number {
    const clock = this.#tracks[track];
    if (!clock) throw new RangeError(`There is no track ${track}.`);
    const unwrapped = clock.unwrapper.unwrap(timestamp);
    clock.offset ??= this.#begin(clock, timestamp, nowMs) - unwrapped;
    clock.last = unwrapped + clock.offset;
    return clock.last;
  }

  /** Another source sends the track: its next frame follows the last one. */
  restart(track: number, timestamp: number, frameDuration: number): void {
    const clock = this.#tracks[track];
    if (!clock || clock.offset === undefined) return;
    clock.unwrapper = new TimestampUnwrapper();
    clock.offset = clock.last + frameDuration - clock.unwrapper.unwrap(timestamp);
  }

  /** The pts of a track's first frame. */
  #begin({ clockRate, report }: TrackClock, timestamp: number, nowMs: number): number {
    this.#startMs ??= nowMs;
    const arrivedMs = nowMs - this.#startMs;
    if (!report) return Math.round((arrivedMs * clockRate) / 1_000);
    const ntpMs = report.ntpMs + (((timestamp - report.timestamp) | 0) * 1_000) / clockRate;
    this.#startNtpMs ??= ntpMs - arrivedMs;
    const ms = ntpMs - this.#startNtpMs;
    // A report that puts the tracks far apart is wrong.
    return Math.round(((Math.abs(ms - arrivedMs) > mostSkewMs ? arrivedMs : Math.max(0, ms)) * clockRate) / 1_000);
  }
}

const mostSkewMs = 10_000;

interface TrackClock {
  readonly clockRate: number;
  unwrapper: TimestampUnwrapper;
  report: { readonly ntpMs: number; readonly timestamp: number } | undefined;
  /** From unwrapped RTP time to pts. */
  offset: number | undefined;
  last: number;
}
