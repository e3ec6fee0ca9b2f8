import { assetFile } from "../../servers/core/files/asset-file.ts";
import { openClip } from "../../servers/rtsp/media/mp4/open-clip.ts";
import type { Frame, Track } from "../../servers/rtsp/media/track.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { ffmpeg, hasEncoder } from "./media-programs.ts";

export interface LoopedFrames {
  readonly tracks: readonly Track[];
  readonly frames: readonly Frame[];
}

/** The frames of a file, so many passes of them. */
export function loop(file: string, passes: number): LoopedFrames {
  const clip = openClip(file);
  const { tracks, durationSeconds, frameCount } = clip;
  const frames = Array.from({ length: passes * frameCount }, (_, index) => {
    const frame = clip.frame(index % frameCount);
    const later = Math.round(Math.floor(index / frameCount) * durationSeconds * (tracks[frame.track]?.clockRate ?? 1));
    return { ...frame, pts: frame.pts + later, dts: frame.dts + later };
  });
  clip.close();
  return { tracks, frames };
}

/** Streams of every kind, as a test file makes them; undefined where ffmpeg lacks the encoder. */
export const streamKinds: readonly (readonly [string, () => Promise<LoopedFrames | undefined>])[] = [
  ["H.264 and AAC", async () => loop(assetFile("rtsp", "stream.mp4"), 2)],
  ["Opus alone", async () => loop(assetFile("rtsp", "sound-opus.mp4"), 2)],
  ["H.264 with B-frames, and Opus", () => encoded("libx264", ["-bf", "3", "-g", "25", "-c:a", "libopus"])],
  [
    "H.265 with B-frames, and AAC",
    () => encoded("libx265", ["-x265-params", "log-level=none:keyint=25:bframes=3", "-tag:v", "hvc1", "-c:a", "aac"]),
  ],
];

async function encoded(encoder: string, args: readonly string[]): Promise<LoopedFrames | undefined> {
  if (!hasEncoder(encoder)) return undefined;
  const file = `${temporaryDir()}/a.mp4`;
  const source = ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=3", "-f", "lavfi", "-i", "sine=440:r=48000:d=3"];
  await ffmpeg(...source, "-ac", "2", "-pix_fmt", "yuv420p", "-c:v", encoder, ...args, file);
  return loop(file, 3);
}
