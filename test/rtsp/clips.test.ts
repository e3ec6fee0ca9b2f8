import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { parseH264Sps } from "../../servers/rtsp/media/h264.ts";
import { openClip } from "../../servers/rtsp/media/mp4/open-clip.ts";
import type { Clip } from "../../servers/rtsp/media/track.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { lacksFfmpeg, runProgram } from "./media-programs.ts";

const allFrames = (clip: Clip) => Array.from({ length: clip.frameCount }, (_, index) => clip.frame(index));
const asset = (name: string) => assetFile("rtsp", name);

const clips: readonly [string, number, number][] = [
  ["stream.mp4", 640, 360],
  ["test.mp4", 1_280, 720],
];

describe("clips", () => {
  it.each(clips)("[RTSP-108] %s: frames, key frames and duration", (name, width, height) => {
    const clip = openClip(asset(name));
    const [video, sound] = clip.tracks;
    if (video?.codec !== "h264") throw new Error("The pictures are not H.264.");
    expect(parseH264Sps(video.sps[0] ?? Buffer.alloc(0))).toMatchObject({ width, height, reorderDepth: 0, profileIdc: 100 });
    expect(sound).toMatchObject({ codec: "aac", clockRate: 48_000, channels: 2 });
    expect(clip.durationSeconds).toBe(9.6);
    const pictures = allFrames(clip).filter(({ track }) => track === 0);
    expect(pictures.map(({ pts }) => pts)).toEqual(Array.from({ length: 240 }, (_, index) => index * 3_600));
    expect(pictures.every(({ pts, dts }) => pts === dts)).toBe(true);
    expect(pictures.flatMap(({ isKey }, index) => (isKey ? [index] : []))).toEqual(Array.from({ length: 10 }, (_, index) => index * 25));
    const sounds = allFrames(clip).filter(({ track }) => track === 1);
    expect(sounds.map(({ pts }) => pts)).toEqual(Array.from({ length: 450 }, (_, index) => index * 1_024));
    clip.close();
  });

  it("[RTSP-108] the sound is there as Opus, with the same duration", () => {
    const clip = openClip(asset("sound-opus.mp4"));
    expect(clip.tracks).toEqual([{ kind: "audio", codec: "opus", clockRate: 48_000, channels: 2 }]);
    expect(clip.durationSeconds).toBe(9.6);
    expect(allFrames(clip).map(({ pts }) => pts)).toEqual(Array.from({ length: 480 }, (_, index) => index * 960));
    clip.close();
  });

  it.skipIf(lacksFfmpeg).each(clips)("[RTSP-108] %s: the bar code has the number of each frame", async (name, width) => {
    const side = width / 40;
    const row = ["-vf", `crop=${10 * side}:${side}:0:0,scale=10:1:flags=area,format=gray`, "-f", "rawvideo", "-"];
    const { stdout } = await runProgram("ffmpeg", ["-v", "error", "-nostdin", "-i", asset(name), ...row]);
    expect(stdout.length).toBe(2_400);
    const numbers = Array.from({ length: 240 }, (_, frame) => {
      const squares = [...stdout.subarray(frame * 10, frame * 10 + 10)].map((grey) => (grey > 128 ? 1 : 0));
      expect(squares.slice(0, 2)).toEqual([1, 0]);
      return squares.slice(2).reduce<number>((number, bit) => number * 2 + bit, 0);
    });
    expect(numbers).toEqual(Array.from({ length: 240 }, (_, index) => index));
  });

  it.skipIf(lacksFfmpeg).each(["stream.mp4", "sound-opus.mp4"])(
    "[RTSP-108] the sound of %s joins over the end of the loop",
    async (name) => {
      // In one file, so that one decoder plays all passes.
      const passes = path.join(temporaryDir(), "passes.mkv");
      await runProgram("ffmpeg", ["-v", "error", "-nostdin", "-stream_loop", "2", "-i", asset(name), "-map", "0:a", "-c", "copy", passes]);
      const decoded = await runProgram("ffmpeg", ["-v", "error", "-nostdin", "-i", passes, "-af", "pan=mono|c0=c0", "-f", "f32le", "-"]);
      const samples = new Float32Array(decoded.stdout.buffer, decoded.stdout.byteOffset, Math.floor(decoded.stdout.length / 4));
      const steepest = (from: number, to: number) => {
        let most = 0;
        for (let at = from + 2; at < to; at++) {
          most = Math.max(most, Math.abs((samples[at] ?? 0) - 2 * (samples[at - 1] ?? 0) + (samples[at - 2] ?? 0)));
        }
        return most;
      };
      const end = 9.6 * 48_000;
      // A decoder that begins anywhere begins without a crack: at the volume of the tick.
      expect(samples.subarray(0, 4_800).every((sample) => Math.abs(sample) < 0.4)).toBe(true);
      // A click is a bend that a tone does not have; the pass begins with a tick, and the third second as well.
      expect(samples.length).toBeGreaterThan(19 * 48_000);
      expect(steepest(end - 2_400, end + 2_400)).toBeLessThan(1.2 * steepest(2 * 48_000 - 2_400, 2 * 48_000 + 2_400));
    },
  );

  it("[RTSP-109] the build contains the clips", () => {
    const script = `import { serviceAssets } from ${JSON.stringify(path.join(projectRoot, "scripts/service-files.mjs"))};
      console.log(JSON.stringify(serviceAssets(${JSON.stringify(projectRoot)})));`;
    expect(JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }))).toContain(
      "servers/rtsp/assets",
    );
    // The package takes all of dist/servers but what it names.
    const packaged = readFileSync(path.join(projectRoot, "electron-builder.yml"), "utf8");
    expect(packaged).toContain("- dist/servers/**");
    for (const name of ["stream.mp4", "test.mp4", "sound-opus.mp4"]) expect(readFileSync(asset(name)).length).toBeLessThan(1_300_000);
  });
});
