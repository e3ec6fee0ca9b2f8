import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { WorkConnection, WorkShare } from "../../core/turns/work-connection.ts";
import type { Clip, Frame, Track } from "../media/track.ts";
import { RtspRefusal } from "../protocol/message.ts";
import { joinClips } from "./joined-clip.ts";
import type { PathSource } from "./paths.ts";
import { type SourceClock, Stream, type StreamLimits } from "./stream.ts";

/** A frame that is later than this is not caught up with: the process was suspended. */
const longestGapMs = 2_000;

/** Sound is sent with the picture before it, so that both are one write for a client; of sound alone, frames are joined. */
const soundAheadMs = 40;

export interface ClipSourceOptions {
  readonly title: string;
  readonly clip: Clip;
  /** The same sound in a codec that browsers play, as long as the clip. Closed with it. */
  readonly webSound?: Clip;
  readonly limits: StreamLimits;
  /** In whose turns it is played. */
  readonly work: WorkConnection;
  readonly log: Log;
}

/** Plays a clip as a loop on a path, while it has readers. */
export class ClipSource implements PathSource {
  readonly kind = "clip";
  readonly title: string;
  readonly stream: Stream;
  readonly webSound?: Stream;
  readonly #clip: Clip;
  readonly #loop: ClipLoop;

  constructor({ title, clip: main, webSound, limits, work, log }: ClipSourceOptions) {
    this.title = title;
    const clip = webSound ? joinClips(main, webSound) : main;
    const own = main.tracks.length;
    this.#clip = clip;
    this.#loop = new ClipLoop(clip, work, {
      publish: (frame) => (frame.track < own ? this.stream.publish(frame) : this.webSound?.publish({ ...frame, track: frame.track - own })),
      onBroken: (problem) => log.warning(`${title}: a frame is left out. ${problem}`),
      onFault: (problem) => {
        log.error(`${title} is no longer played. ${problem}`);
        this.#end("the clip cannot be read");
      },
    });
    const onReaders = () => (this.stream.readers + (this.webSound?.readers ?? 0) > 0 ? this.#loop.start() : this.#pause());
    this.stream = new Stream({ ...limits, tracks: main.tracks, clock: this.#loop, onReaders });
    if (!webSound) return;
    const clock: SourceClock = { ptsAt: (track, atMs) => this.#loop.ptsAt(own + track, atMs) };
    this.webSound = new Stream({ ...limits, tracks: webSound.tracks, clock, onReaders });
  }

  #pause(): void {
    this.#loop.stop();
    this.stream.forget();
  }

  #end(reason: string): void {
    this.stream.end(reason);
    this.webSound?.end(reason);
  }

  open(): Promise<Stream> {
    if (this.stream.ended !== undefined) return Promise.reject(new RtspRefusal(503, this.stream.ended));
    return Promise.resolve(this.stream);
  }

  close(reason: string): void {
    this.#loop.stop();
    this.#end(reason);
    this.#clip.close();
  }
}

export interface ClipLoopOptions {
  publish(frame: Frame): void;
  /** A frame cannot be read; called for the first one. */
  onBroken(problem: string): void;
  /** So many of them that nothing is left to play. */
  onFault(problem: string): void;
}

/** In a row. */
const mostBroken = 250;

/**
 * The frames of a clip over and over, on the steady clock. Each start begins a new pass, with the key frame that a pass begins with; timestamps run
 * on over passes and over stops.
 */
class ClipLoop implements SourceClock {
  readonly #clip: Clip;
  readonly #options: ClipLoopOptions;
  #pass = 0;
  #index = 0;
  /** Always there, so a pass can begin. */
  readonly #first: Frame;
  /** The frame at `#index`; undefined where it has yet to be read. */
  #next: Frame | undefined;
  #hasBroken = false;
  /** When second 0 of pass 0 would have been, in milliseconds of `performance.now()`. */
  #originMs = 0;
  #isRunning = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #share: WorkShare;
  /** In a row. */
  #broken = 0;

  constructor(clip: Clip, work: WorkConnection, options: ClipLoopOptions) {
    this.#clip = clip;
    this.#share = work.join(() => this.#play());
    this.#options = options;
    this.#first = clip.frame(0);
    this.#next = this.#first;
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    if (this.#index > 0) this.#nextPass();
    this.#originMs = performance.now() - this.#dueMs(this.#first);
    this.#play();
  }

  stop(): void {
    this.#isRunning = false;
    clearTimeout(this.#timer);
  }

  /** While it is stopped: where it will begin. */
  ptsAt(track: number, atMs: number): number {
    const nextPass = this.#index > 0 ? this.#pass + 1 : this.#pass;
    const seconds = this.#isRunning ? (atMs - this.#originMs) / 1_000 : nextPass * this.#clip.durationSeconds;
    return seconds * this.#clockRate(track);
  }

  #clockRate(track: number): number {
    return (this.#clip.tracks[track] as Track).clockRate;
  }

  /** How much earlier than it is due the next frame may be sent. A timer may be a fraction of a millisecond early. */
  #earlyMs({ track }: Frame): number {
    return this.#clip.tracks[track]?.kind === "audio" ? soundAheadMs : 0.5;
  }

  /** Since second 0 of pass 0. */
  #dueMs({ track, dts }: Frame): number {
    return (this.#pass * this.#clip.durationSeconds + dts / this.#clockRate(track)) * 1_000;
  }

  #nextPass(): void {
    this.#pass++;
    this.#index = 0;
    this.#broken = 0;
    this.#next = this.#first;
  }

  #advance(): void {
    this.#index++;
    if (this.#index === this.#clip.frameCount) this.#nextPass();
    else this.#next = undefined;
  }

  /** False where it cannot be read: a file may be broken in the middle, or gone since it was opened. */
  #read(): boolean {
    try {
      this.#next = this.#clip.frame(this.#index);
      this.#broken = 0;
      return true;
    } catch (error) {
      const problem = errorText(error);
      if (!this.#hasBroken) this.#options.onBroken(problem);
      this.#hasBroken = true;
      if (++this.#broken > mostBroken) {
        this.stop();
        this.#options.onFault(problem);
      } else this.#advance();
      return false;
    }
  }

  /** What is due, in turns: a file may have thousands of frames for the same time, or hundreds that are broken. */
  #play(): void {
    clearTimeout(this.#timer);
    while (this.#isRunning) {
      if (this.#share.isOver) {
        this.#share.later();
        return;
      }
      if (!this.#next && !this.#read()) continue;
      const next = this.#next as Frame;
      const nowMs = performance.now();
      const dueMs = this.#originMs + this.#dueMs(next);
      if (nowMs - dueMs > longestGapMs) this.#originMs += nowMs - dueMs;
      else if (dueMs > nowMs + this.#earlyMs(next)) {
        this.#timer = setTimeout(() => this.#play(), Math.max(1, dueMs - nowMs));
        return;
      }
      const frame = this.#shifted(next);
      this.#advance();
      this.#options.publish(frame);
    }
  }

  #shifted(frame: Frame): Frame {
    const shift = Math.round(this.#pass * this.#clip.durationSeconds * this.#clockRate(frame.track));
    return shift === 0 ? frame : { ...frame, pts: frame.pts + shift, dts: frame.dts + shift };
  }
}
