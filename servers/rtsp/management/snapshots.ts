import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { initSegment, type Mp4Track, mediaSegment } from "../hls/fragmented-mp4.ts";
import type { Frame } from "../media/track.ts";
import type { Stream } from "../streams/stream.ts";
import { tooManyWait, WaitingReaders, type WaitingReadersOptions } from "../streams/waiting-readers.ts";

/** Key frames are usually some seconds apart; a clip without readers begins with one. */
const mostWaitMs = 10_000;

/** Pictures of streams as MP4 files, which browsers show as stills. */
export class Snapshots {
  readonly #parts: Pick<WaitingReadersOptions, "turns" | "places">;
  /** Those who wait for the next key frame. */
  readonly #waiting = new Map<Stream, WaitingReaders<Frame>>();
  /** Readers of one picture share its memory, also those that do not read. */
  readonly #files = new WeakMap<Frame, Buffer>();

  constructor(parts: Pick<WaitingReadersOptions, "turns" | "places">) {
    this.#parts = parts;
  }

  /** The last key frame as a file of one picture. Rejects with an HttpRefusal of 404 or 503. */
  async of(stream: Stream): Promise<Buffer> {
    const track = stream.tracks[stream.keyTrack];
    if (track?.kind !== "video") throw new HttpRefusal(404, "the stream has no pictures");
    const frame = stream.keyFrame ?? (await (this.#waiting.get(stream) ?? this.#wait(stream)).wait());
    const known = this.#files.get(frame);
    if (known) return known;
    // Other parameter sets may have come meanwhile.
    const tracks = [(stream.tracks[stream.keyTrack] ?? track) as Mp4Track];
    const still: Frame = { ...frame, pts: 0, dts: 0 };
    try {
      const fragments = [{ track: 0, samples: [{ frame: still, duration: track.clockRate }], decodeTime: 0 }];
      const file = Buffer.concat([initSegment(tracks), mediaSegment(1, tracks, fragments)]);
      this.#files.set(frame, file);
      return file;
    } catch (error) {
      if (error instanceof RangeError) throw new HttpRefusal(503, error.message);
      throw error;
    }
  }

  #wait(stream: Stream): WaitingReaders<Frame> {
    let remove: (() => void) | undefined;
    const end = () => {
      this.#waiting.delete(stream);
      remove?.();
    };
    const waiting = new WaitingReaders<Frame>({
      ...this.#parts,
      waitMs: mostWaitMs,
      refusal: (reason) => new HttpRefusal(503, reason === "full" ? tooManyWait : "no key frame came in time"),
      onNobody: end,
    });
    this.#waiting.set(stream, waiting);
    // Not at once: a clip begins with a key frame as soon as it has a reader, and nobody waits yet.
    queueMicrotask(() => {
      remove = stream.addFrameReader({
        onFrame(frame) {
          if (frame.track !== stream.keyTrack || !frame.isKey) return;
          end();
          waiting.resolve(frame);
        },
        onEnd(reason) {
          end();
          waiting.reject(new HttpRefusal(503, reason));
        },
      });
      if (this.#waiting.get(stream) !== waiting) remove();
    });
    return waiting;
  }
}
