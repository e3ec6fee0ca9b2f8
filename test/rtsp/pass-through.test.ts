import { spawn } from "node:child_process";
import path from "node:path";
import { expect, it } from "vitest";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { onEnd, startRtsp } from "./harness.ts";
import { ffmpeg, hasEncoder, lacksFfmpeg, runProgram } from "./media-programs.ts";

/** Pictures of a file, decoded; a reader of a stream that has it in a loop sees no others. */
async function picturesOf(input: readonly string[]): Promise<ReadonlySet<string>> {
  const { stdout } = await runProgram("ffmpeg", ["-nostdin", "-v", "error", ...input, "-map", "0:v", "-f", "framemd5", "-"]);
  const lines = stdout.toString().split("\n");
  return new Set(lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split(",").at(-1)?.trim() ?? ""));
}

const passedOn = [
  ["h265", "aac", ["-c:v", "libx265", "-x265-params", "log-level=none:keyint=25:bframes=3", "-c:a", "aac"]],
  ["h264", "opus", ["-c:v", "libx264", "-bf", "2", "-g", "25", "-c:a", "libopus"]],
  ["h264", "pcmu", ["-c:v", "libx264", "-g", "25", "-c:a", "pcm_mulaw", "-ar", "8000", "-ac", "1"]],
  ["h265", "pcma", ["-c:v", "libx265", "-x265-params", "log-level=none:keyint=25", "-c:a", "pcm_alaw", "-ar", "8000", "-ac", "1"]],
] as const;

it.skipIf(lacksFfmpeg).each(passedOn)(
  "[RTSP-40] %s and %s pass as they are: players decode the pictures of the publisher",
  { timeout: 90_000 },
  async (video, audio, encoders) => {
    if (video === "h265" && !hasEncoder("libx265")) return;
    const file = path.join(temporaryDir(), "clip.mkv");
    const source = ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=4", "-f", "lavfi", "-i", "sine=440:r=48000:d=4"];
    await ffmpeg(...source, "-pix_fmt", "yuv420p", ...encoders, file);
    const server = await startRtsp();
    const url = `${server.url}/live`;
    const publisher = spawn("ffmpeg", [
      "-v",
      "error",
      "-nostdin",
      "-re",
      "-stream_loop",
      "-1",
      "-i",
      file,
      "-c",
      "copy",
      "-f",
      "rtsp",
      url,
    ]);
    onEnd(() => publisher.kill("SIGKILL"));
    const live = await until(() => server.views.get("paths")?.paths.find(({ name, frameRate }) => name === "live" && frameRate > 10));
    expect(live.tracks.map(({ codec }) => codec)).toEqual([video, audio]);
    const seen = await picturesOf(["-rtsp_transport", "tcp", "-i", url, "-t", "6"]);
    const sent = await picturesOf(["-i", file]);
    expect(seen.size).toBeGreaterThan(60);
    expect([...seen].filter((picture) => !sent.has(picture))).toEqual([]);
  },
);
