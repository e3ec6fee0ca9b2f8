import { resultOf, type WorkConnection } from "../../../core/turns/work-connection.ts";
import type { Clip } from "../track.ts";
import { type ByteSource, bufferSource, openByteSource } from "./byte-source.ts";
import { ClipTrack } from "./clip-track.ts";
import { convertLine, damaged, unsupported } from "./media-file-error.ts";
import { type MovieTrack, readMovie } from "./movie.ts";
import { mostSamples, type SampleTable, type Steps, samplesOfStep } from "./sample-table.ts";

/** A loop that is shorter would only be a storm of restarts. */
const shortestSeconds = 0.1;
const longestSeconds = 30 * 86_400;
/** On average, and within any second: they would be due together. */
const mostFramesPerSecond = 2_000;
/** A gigabit. What a few bytes declare may lie at the same place many times. */
const mostBytesPerSecond = 125_000_000;

/**
 * Opens an MP4 file: its first streamable track of video and of sound. Only the index is kept in memory. Throws ServiceError with
 * MEDIA_DAMAGED, or MEDIA_UNSUPPORTED for media that would have to be converted; `Clip.frame` throws MEDIA_DAMAGED for a broken sample.
 */
export function openClip(file: string): Clip {
  const source = openByteSource(file);
  try {
    return resultOf(readClip(source));
  } catch (error) {
    source.close();
    throw error;
  }
}

/** The same between what else there is to do: a file with millions of samples takes more than half a second. */
export async function openClipInTurns(file: string, connection: WorkConnection): Promise<Clip> {
  const source = openByteSource(file);
  try {
    return await connection.run(readClip(source));
  } catch (error) {
    source.close();
    throw error;
  }
}

/** The same for a file that is in memory as a whole. */
export const clipOfBytes = (bytes: Buffer): Clip => resultOf(readClip(bufferSource(bytes)));

export function* readClip(source: ByteSource): Steps<Clip> {
  const chosen = chooseTracks(yield* readMovie(source));
  const samples: SampleTable[] = [];
  for (const track of chosen) samples.push(yield* track.readSamples());
  const sampleCount = samples.reduce((sum, { count }) => sum + count, 0);
  if (sampleCount > mostSamples) throw damaged(`it has ${sampleCount} samples; at most ${mostSamples} are read`);
  const tracks = chosen.flatMap(({ entry, edit }, index) => {
    const table = samples[index];
    return table && entry.isStreamable && table.count > 0 ? [{ entry, edit, table }] : [];
  });
  if (tracks.length === 0) throw damaged("it has no samples");
  const clipTracks: ClipTrack[] = [];
  for (const [index, track] of tracks.entries()) clipTracks.push(yield* ClipTrack.open(source, index, track));
  const shownSeconds =
    Math.max(...clipTracks.map(({ endSeconds }) => endSeconds)) - Math.min(...clipTracks.map(({ startSeconds }) => startSeconds));
  // Longer only in a file that shows pictures at the same time; the next pass must not be decoded before the end of this one.
  const durationSeconds = Math.max(shownSeconds, ...clipTracks.map(({ decodedSeconds }) => decodedSeconds));
  const startSeconds = Math.min(...clipTracks.map((track) => Math.min(track.startSeconds, track.decodeSeconds(0))));
  for (const track of clipTracks) track.begin(startSeconds);
  const order = yield* orderFrames(clipTracks);
  if (durationSeconds < shortestSeconds || durationSeconds > longestSeconds) throw damaged(`it lasts ${durationSeconds} seconds`);
  if (order.length / durationSeconds > mostFramesPerSecond) {
    throw damaged(`it has ${order.length} frames in ${durationSeconds} seconds`);
  }
  const bytes = clipTracks.reduce((sum, track) => sum + track.sampleBytes, 0);
  if (bytes / durationSeconds > mostBytesPerSecond) throw damaged(`it has ${bytes} bytes of media in ${durationSeconds} seconds`);
  for (const track of clipTracks) track.frame(0);
  return {
    tracks: clipTracks.map(({ track }) => track),
    durationSeconds,
    frameCount: order.length,
    frame(index) {
      const place = order[index];
      if (place === undefined) throw new RangeError(`The clip has ${order.length} frames, not ${index}.`);
      return (clipTracks[place % clipTracks.length] as ClipTrack).frame(Math.floor(place / clipTracks.length));
    },
    close: () => source.close(),
  };
}

function chooseTracks(all: readonly MovieTrack[]): readonly MovieTrack[] {
  const enabled = all.some(({ isEnabled }) => isEnabled) ? all.filter(({ isEnabled }) => isEnabled) : all;
  const firstOf = (handler: MovieTrack["handler"]) => {
    const candidates = enabled.filter((track) => track.handler === handler);
    return candidates.find(({ entry }) => entry.isStreamable) ?? candidates[0];
  };
  const video = firstOf("vide");
  const sound = firstOf("soun");
  const refused = [video, sound].flatMap((track) => (track && !track.entry.isStreamable ? [track.entry.found] : []));
  if (refused.length > 0) {
    throw unsupported(
      `The file has ${refused.join(" and ")}; H.264 or H.265 with AAC can be streamed.`,
      convertLine({
        video: video && !video.entry.isStreamable ? "encode" : "copy",
        audio: sound && !sound.entry.isStreamable ? "encode" : "copy",
      }),
    );
  }
  const chosen = [video, sound].flatMap((track) => track ?? []);
  if (chosen.length === 0) throw unsupported("The file has neither pictures nor sound.", convertLine({ video: "encode", audio: "encode" }));
  return chosen;
}

const secondsOf = (place: number, tracks: readonly ClipTrack[]): number =>
  (tracks[place % tracks.length] as ClipTrack).decodeSeconds(Math.floor(place / tracks.length));

/** All frames by the second in which they are decoded, each as frame × number of tracks + track; of equal ones, pictures come first. */
function* orderFrames(tracks: readonly ClipTrack[]): Steps<Float64Array> {
  const order = new Float64Array(tracks.reduce((sum, { frameCount }) => sum + frameCount, 0));
  const next = tracks.map(() => 0);
  for (let at = 0; at < order.length; at++) {
    let first = -1;
    let earliest = Number.POSITIVE_INFINITY;
    for (const [index, track] of tracks.entries()) {
      const frame = next[index] as number;
      if (frame >= track.frameCount) continue;
      const seconds = track.decodeSeconds(frame);
      if (seconds >= earliest) continue;
      first = index;
      earliest = seconds;
    }
    const frame = next[first] as number;
    order[at] = frame * tracks.length + first;
    if (at >= mostFramesPerSecond && earliest - secondsOf(order[at - mostFramesPerSecond] as number, tracks) < 1)
      throw damaged(`it has more than ${mostFramesPerSecond} frames within a second`);
    next[first] = frame + 1;
    if (at % samplesOfStep === 0) yield;
  }
  return order;
}
