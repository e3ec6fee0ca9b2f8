import type { Clip, Frame, Track } from "../media/track.ts";
import type { PathSource } from "./paths.ts";
import { type SourceClock, Stream, type StreamLimits } from "./stream.ts";

/** A frame that is later than this is not caught up with: the process was suspended. */
const longestGapMs = 2_000;

/** Plays a clip as a loop on a path, while it has readers. */
export class ClipSource implements PathSource {
  readonly kind = "clip";
  readonly title: string;
  readonly stream: Stream;
  readonly #clip: Clip;
  readonly #loop: ClipLoop;

  constructor(title: string, clip: Clip, limits: StreamLimits) {
    this.title = title;
    this.#clip = clip;
    this.#loop = new ClipLoop(clip, (frame) => this.stream.publish(frame));
    this.stream = new Stream({
      ...limits,
      tracks: clip.tracks,
      clock: this.#loop,
      onReaders: (count) => (count > 0 ? this.#loop.start() : this.#pause()),
    });
  }

  #pause(): void {
    this.#loop.stop();
    this.stream.forget();
  }

  open(): Promise<Stream> {
    return Promise.resolve(this.stream);
  }

  close(reason: string): void {
    this.#loop.stop();
    this.stream.end(reason);
    this.#clip.close();
  }
}

/**
 * The frames of a clip over and over, on the steady clock. Each start begins a new pass, with the key frame that a pass begins with; timestamps run
 * on over passes and over stops.
 */
export class ClipLoop implements SourceClock {
  readonly #clip: Clip;
  readonly #publish: (frame: Frame) => void;
  #pass = 0;
  #index = 0;
  /** The frame at `#index`. */
  #next: Frame;
  /** When second 0 of pass 0 would have been, in milliseconds of `performance.now()`. */
  #originMs = 0;
  #isRunning = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(clip: Clip, publish: (frame: Frame) => void) {
    this.#clip = clip;
    this.#publish = publish;
    this.#next = clip.frame(0);
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    if (this.#index > 0) this.#nextPass();
    this.#originMs = performance.now() - this.#dueMs();
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

  /** Of the next frame, since second 0 of pass 0. */
  #dueMs(): number {
    const { track, dts } = this.#next;
    return (this.#pass * this.#clip.durationSeconds + dts / this.#clockRate(track)) * 1_000;
  }

  #nextPass(): void {
    this.#pass++;
    this.#index = 0;
    this.#next = this.#clip.frame(0);
  }

  #advance(): void {
    this.#index++;
    if (this.#index === this.#clip.frameCount) this.#nextPass();
    else this.#next = this.#clip.frame(this.#index);
  }

  #play(): void {
    const now = performance.now();
    let due = this.#originMs + this.#dueMs();
    if (now - due > longestGapMs) {
      this.#originMs += now - due;
      due = now;
    }
    // A timer may be a fraction of a millisecond early.
    while (this.#isRunning && due <= now + 0.5) {
      const frame = this.#shifted(this.#next);
      this.#advance();
      this.#publish(frame);
      due = this.#originMs + this.#dueMs();
    }
    if (this.#isRunning) this.#timer = setTimeout(() => this.#play(), Math.max(1, due - performance.now()));
  }

  #shifted(frame: Frame): Frame {
    const shift = Math.round(this.#pass * this.#clip.durationSeconds * this.#clockRate(frame.track));
    return shift === 0 ? frame : { ...frame, pts: frame.pts + shift, dts: frame.dts + shift };
  }
}
