import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { initSegment, type Mp4Track, mediaSegment } from "../hls/fragmented-mp4.ts";
import type { Frame } from "../media/track.ts";
import type { Stream } from "../streams/stream.ts";

/** Key frames are usually some seconds apart; a clip without readers begins with one. */
const mostWaitMs = 10_000;

/** Readers of one picture share its memory, also those that do not read. */
const stills = new WeakMap<Frame, Buffer>();

/** The last key frame as an MP4 file of one picture, which browsers show as a still. Rejects with an HttpRefusal of 404 or 503. */
export async function snapshotOf(stream: Stream): Promise<Buffer> {
  const track = stream.tracks[stream.keyTrack];
  if (track?.kind !== "video") throw new HttpRefusal(404, "the stream has no pictures");
  const frame = await nextKeyFrame(stream);
  const known = stills.get(frame);
  if (known) return known;
  // Other parameter sets may have come meanwhile.
  const tracks = [(stream.tracks[stream.keyTrack] ?? track) as Mp4Track];
  const still: Frame = { ...frame, pts: 0, dts: 0 };
  try {
    const fragments = [{ track: 0, samples: [{ frame: still, duration: track.clockRate }], decodeTime: 0 }];
    const file = Buffer.concat([initSegment(tracks), mediaSegment(1, tracks, fragments)]);
    stills.set(frame, file);
    return file;
  } catch (error) {
    if (error instanceof RangeError) throw new HttpRefusal(503, error.message);
    throw error;
  }
}

function nextKeyFrame(stream: Stream): Promise<Frame> {
  let remove = () => {};
  let timer: NodeJS.Timeout | undefined;
  const frame = new Promise<Frame>((resolve, reject) => {
    timer = setTimeout(() => reject(new HttpRefusal(503, "no key frame came in time")), mostWaitMs);
    const place = stream.joinFrames({
      onFrame: (given) => void (given.track === stream.keyTrack && given.isKey && resolve(given)),
      onEnd: (reason) => reject(new HttpRefusal(503, reason)),
    });
    remove = place.remove;
    // What is kept begins with a key frame.
    const kept = place.next();
    if (kept) resolve(kept);
  });
  return frame.finally(() => {
    clearTimeout(timer);
    remove();
  });
}
