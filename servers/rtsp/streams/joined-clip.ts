import type { Clip, Frame, Track } from "../media/track.ts";

/**
 * Both clips at once, the tracks of the second behind those of the first. They have the same duration, so that their loops stay together. What the
 * second has at the moment of a frame of the first follows it: a pass begins as the first one does.
 */
export function joinClips(first: Clip, second: Clip): Clip {
  if (Math.abs(first.durationSeconds - second.durationSeconds) > 1e-6)
    throw new RangeError(`Clips of ${first.durationSeconds} and ${second.durationSeconds} s cannot be played as one loop.`);
  const tracks: readonly Track[] = [...first.tracks, ...second.tracks];
  const places = [first, second].flatMap((clip) =>
    Array.from({ length: clip.frameCount }, (_, index) => {
      const { track, dts } = clip.frame(index);
      return { clip, index, seconds: dts / (clip.tracks[track] as Track).clockRate };
    }),
  );
  places.sort((a, b) => a.seconds - b.seconds);
  return {
    tracks,
    durationSeconds: first.durationSeconds,
    frameCount: places.length,
    frame(index): Frame {
      const place = places[index];
      if (!place) throw new RangeError(`There is no frame ${index}.`);
      const frame = place.clip.frame(place.index);
      return place.clip === first ? frame : { ...frame, track: first.tracks.length + frame.track };
    },
    close() {
      first.close();
      second.close();
    },
  };
}
