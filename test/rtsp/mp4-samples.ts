import { initSegment, isMp4Track, mediaSegment } from "../../servers/rtsp/hls/fragmented-mp4.ts";
import { clipOfBytes } from "../../servers/rtsp/media/mp4/open-clip.ts";
import type { Clip, Frame } from "../../servers/rtsp/media/track.ts";
import { aacEntry, avcEntry, type BuiltTrack, buildMp4, pictures, sounds } from "./mp4-builder.ts";

/** AAC-LC, 48 kHz, one channel. */
export const mono = Buffer.from("1188", "hex");
export const video: BuiltTrack = { handler: "vide", timescale: 12_800, entry: avcEntry(), samples: pictures(10) };
export const sound: BuiltTrack = { handler: "soun", timescale: 48_000, entry: aacEntry(mono), samples: sounds(18) };
export const allFrames = (clip: Clip): Frame[] => Array.from({ length: clip.frameCount }, (_, index) => clip.frame(index));
export const ofTrack = (clip: Clip, track: number) => allFrames(clip).filter((frame) => frame.track === track);

/** Two passes of the same frames in four fragments. */
export function fragmented(): Buffer {
  const clip = clipOfBytes(buildMp4({ tracks: [video, sound] }));
  const tracks = clip.tracks.filter(isMp4Track);
  const segments = [0, 1, 2, 3].map((number) => {
    const pass = Math.floor(number / 2);
    const fragments = tracks.map(({ clockRate }, track) => {
      const all = ofTrack(clip, track);
      const half = all.slice(number % 2 === 0 ? 0 : all.length / 2, number % 2 === 0 ? all.length / 2 : all.length);
      const samples = half.map((frame) => ({ frame, duration: track === 0 ? 3_600 : 1_024 }));
      return { track, samples, decodeTime: (half[0]?.dts ?? 0) + pass * 0.4 * clockRate };
    });
    return mediaSegment(number + 1, tracks, fragments);
  });
  return Buffer.concat([initSegment(tracks), ...segments]);
}
