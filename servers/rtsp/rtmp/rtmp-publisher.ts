import { randomUUID } from "node:crypto";
import type { RtspSessionTrack } from "../../../contract/traffic/rtsp.ts";
import type { EndedBy, RecordedSession } from "../observe/session-entry.ts";
import { RtspRefusal } from "../protocol/message.ts";
import type { PathSource, Paths } from "../streams/paths.ts";
import { type SourceClock, Stream, type StreamLimits } from "../streams/stream.ts";
import { StreamMemory } from "../streams/stream-memory.ts";
import { FlvError, FlvMedia } from "./flv-media.ts";

export interface RtmpPublisherOptions {
  readonly path: string;
  readonly user: string | undefined;
  readonly address: string;
  readonly paths: Paths;
  readonly limits: StreamLimits;
  /** Called once. */
  readonly onEnd: (publisher: RtmpPublisher, reason: string, by: EndedBy) => void;
}

/** A client that publishes by RTMP: the source of its path. */
export class RtmpPublisher implements RecordedSession, PathSource, SourceClock {
  readonly kind = "rtmp-publisher";
  readonly role = "publish";
  readonly id = randomUUID();
  readonly title = this.id;
  readonly path: string;
  readonly user: string | undefined;
  stream: Stream | undefined;
  readonly #options: RtmpPublisherOptions;
  readonly #media: FlvMedia;
  /** Of frames that wait until all tracks are known. */
  readonly #waiting: StreamMemory;
  /** Where the first frame was on our clock. */
  #anchor: { readonly atMs: number; readonly seconds: number } | undefined;
  #received = 0;
  #isEnded = false;

  constructor(options: RtmpPublisherOptions) {
    this.#options = options;
    this.path = options.path;
    this.user = options.user;
    this.#waiting = new StreamMemory(options.limits.media, options.address, () =>
      this.end("its tracks are not known, what waits for them is most, and RTSP_ALL_MEDIA_BYTES is exceeded", "server"),
    );
    this.#media = new FlvMedia({
      onWaiting: (bytes) => this.#waiting.set("begun", bytes),
      onTracks: (tracks) => {
        this.stream = new Stream({ ...options.limits, tracks, clock: this, owner: options.address });
        options.paths.publish(this.path, this, options.address);
      },
      onTrack: (index, track) => this.stream?.setTrack(index, track),
      onFrame: (frame) => {
        const { clockRate = 1 } = this.stream?.tracks[frame.track] ?? {};
        this.#anchor ??= { atMs: performance.now(), seconds: frame.dts / clockRate };
        this.stream?.publish(frame);
      },
    });
  }

  get state(): "ready" | "recording" {
    return this.stream ? "recording" : "ready";
  }

  get mediaBytes(): { readonly received: number; readonly sent: number } {
    return { received: this.#received, sent: 0 };
  }

  /** A message of data, audio or video. */
  receive(kind: number, timestamp: number, payload: Buffer): void {
    if (this.#isEnded) return;
    this.#received += payload.length;
    try {
      this.#media.push(kind, timestamp, payload);
    } catch (error) {
      if (!(error instanceof FlvError || error instanceof RtspRefusal)) throw error;
      this.end(error.message, "server");
    }
  }

  ptsAt(track: number, atMs: number): number {
    const { clockRate = 1 } = this.stream?.tracks[track] ?? {};
    const { atMs: fromMs, seconds } = this.#anchor ?? { atMs, seconds: 0 };
    return (seconds + (atMs - fromMs) / 1_000) * clockRate;
  }

  open(): Promise<Stream> {
    return this.stream ? Promise.resolve(this.stream) : Promise.reject(new RtspRefusal(503, `${this.path} has not begun`));
  }

  close(reason: string): void {
    this.end(reason, "server");
  }

  end(reason: string, by: EndedBy): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#media.clear();
    this.#waiting.close();
    this.#options.paths.remove(this.path, this);
    this.stream?.end("the publisher has left");
    this.#options.onEnd(this, reason, by);
  }

  describeTracks(): RtspSessionTrack[] {
    const { tracks = [], counts = [] } = this.stream ?? {};
    return tracks.map(({ codec }, index) => {
      const { frames = 0, bytes = 0 } = counts[index] ?? {};
      // A message of RTMP has one frame.
      return { index, codec, transport: "RTMP", packets: frames, bytes, dropped: 0 };
    });
  }
}
