import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import type { BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";
import { everySecond } from "../../core/service/every-second.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { FrameFaults, type FrameFaultsOptions } from "../faults/frame-faults.ts";
import { HlsMuxer, type HlsOptions } from "../hls/hls-muxer.ts";
import type { Frame } from "../media/track.ts";
import type { Paths } from "../streams/paths.ts";
import type { Stream } from "../streams/stream.ts";
import type { FrameReader } from "../streams/stream-readers.ts";
import { tooManyWait, type WaitingPlaces, WaitingReaders } from "../streams/waiting-readers.ts";

export interface HlsFile {
  readonly type: string;
  readonly body: string | Buffer;
}

export interface HlsOutputOptions extends Omit<HlsOptions, "onSegment"> {
  /** Segments are no longer made once there has been no request for this time. */
  readonly idleMs: number;
  readonly faults: Omit<FrameFaultsOptions, "path" | "keyTrack" | "delayed" | "work" | "deliver">;
  /** Memory of all streams. */
  readonly media: SharedBudget;
  readonly turns: WorkTurns;
  readonly places: WaitingPlaces;
}

const firstSegmentMs = 15_000;
/** Where segments are long, the playlist has fewer after this time. */
const enoughMs = 6_000;
const noSegment = "the stream has no segment yet";

/** The streams as HLS: segments are made while somebody fetches them. */
export class HlsOutputs {
  readonly #paths: Paths;
  readonly #options: HlsOutputOptions;
  readonly #outputs = new Map<string, HlsOutput>();
  readonly #stopTicking: () => void;

  constructor(paths: Paths, options: HlsOutputOptions) {
    this.#paths = paths;
    this.#options = options;
    this.#stopTicking = everySecond((nowMs) => this.#tick(nowMs));
  }

  /** Of a path: "index.m3u8", "init.mp4", "segment-12.m4s". Rejects with an HttpRefusal of 404 or 503, or as the path's source does. */
  async file(path: string, name: string): Promise<HlsFile & { readonly stream: Stream }> {
    const stream = await this.#paths.open(path);
    let output = this.#outputs.get(path);
    if (!output || output.stream !== stream || output.isOver) {
      output?.close();
      output = new HlsOutput(path, stream, this.#options, output?.muxer);
      this.#outputs.set(path, output);
    }
    output.usedAtMs = performance.now();
    if (name === "index.m3u8") return { type: "application/vnd.apple.mpegurl", body: await output.playlist(), stream };
    const body = output.muxer.file(name);
    if (!body) throw new HttpRefusal(404, "there is no such segment");
    stream.bytesSent += body.length;
    return { type: name.endsWith(".mp4") ? "video/mp4" : "video/iso.segment", body, stream };
  }

  #tick(nowMs: number): void {
    const before = nowMs - this.#options.idleMs;
    for (const [path, output] of this.#outputs) {
      // One that is over is kept for its numbers: players that stay are given the next ones.
      if (output.usedAtMs >= before) continue;
      output.close();
      this.#outputs.delete(path);
    }
  }

  close(): void {
    this.#stopTicking();
    for (const output of this.#outputs.values()) output.close();
    this.#outputs.clear();
  }
}

class HlsOutput implements FrameReader {
  readonly stream: Stream;
  muxer: HlsMuxer;
  usedAtMs = performance.now();
  /** The stream has ended. */
  isOver = false;
  readonly #options: HlsOutputOptions;
  readonly #remove: () => void;
  readonly #faults: FrameFaults;
  readonly #share: BudgetShare;
  /** For the first segment. */
  readonly #waiting: WaitingReaders<void>;

  /** `before` made the segments of the path until now. */
  constructor(path: string, stream: Stream, options: HlsOutputOptions, before: HlsMuxer | undefined) {
    this.stream = stream;
    this.#options = options;
    this.muxer = this.#muxerAfter(before);
    const { turns, places } = options;
    this.#waiting = new WaitingReaders({
      ...{ turns, places, waitMs: firstSegmentMs },
      refusal: (reason) => new HttpRefusal(503, reason === "full" ? tooManyWait : noSegment),
    });
    this.#share = options.media.open(stream.owner, (excess) => {
      this.muxer.lose(excess);
      this.#count();
    });
    this.#faults = new FrameFaults({
      ...{ ...options.faults, path, keyTrack: stream.keyTrack, delayed: stream.delayed },
      work: turns.background(stream.owner),
      deliver: (frame) => this.#mux(frame),
    });
    this.#remove = stream.addFrameReader(this);
  }

  #mux(frame: Frame): void {
    this.muxer.push(frame);
    this.#count();
  }

  #count(): void {
    this.#share.set(this.muxer.keptBytes);
  }

  onFrame(frame: Frame): void {
    this.#faults.push(frame);
  }

  /** Other parameter sets need another init segment. */
  onTrack(): void {
    this.#faults.restart();
    this.muxer = this.#muxerAfter(this.muxer);
  }

  #muxerAfter(before: HlsMuxer | undefined): HlsMuxer {
    try {
      return new HlsMuxer(this.stream.tracks, { ...this.#options, onSegment: () => this.#wake() }, before);
    } catch (error) {
      if (error instanceof RangeError) throw new HttpRefusal(503, error.message);
      throw error;
    }
  }

  onEnd(): void {
    this.#faults.stop();
    this.isOver = true;
    this.#wake();
  }

  #wake(): void {
    this.#waiting.resolve();
  }

  /** Waits for the first segments. */
  async playlist(): Promise<string> {
    const lateMs = performance.now() + enoughMs;
    while (!this.isOver && !this.muxer.hasEnough && (performance.now() < lateMs || this.muxer.playlist() === undefined)) {
      try {
        await this.#waiting.wait();
      } catch (refusal) {
        if (this.muxer.playlist() === undefined) throw refusal;
        break;
      }
    }
    const text = this.muxer.playlist();
    if (text === undefined) throw new HttpRefusal(503, noSegment);
    return text;
  }

  close(): void {
    this.#faults.stop();
    this.isOver = true;
    this.#remove();
    this.#share.set(0);
    this.#share.close();
    this.#wake();
  }
}
