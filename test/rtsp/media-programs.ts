import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { missing } from "../support/real-servers.ts";

const isOnPath = (program: string): boolean =>
  (process.env.PATH ?? "").split(path.delimiter).some((folder) => folder !== "" && existsSync(path.join(folder, program)));

/** For `it.skipIf`. */
export const lacksFfmpeg = missing("ffmpeg", "ffmpeg", isOnPath("ffmpeg") && isOnPath("ffprobe"));
export const lacksGstreamer = missing("gst-launch-1.0", "gstreamer1.0-tools", isOnPath("gst-launch-1.0"));

export interface ProgramResult {
  readonly stdout: Buffer;
  /** With `-loglevel warning` everything that ffmpeg complains about. */
  readonly stderr: string;
}

/** Runs a program; rejects when it exits with an error that is not `expected` in what it says. `input` is its standard input. */
export function runProgram(program: string, args: readonly string[], input?: Buffer, expected?: string): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout: 120_000, maxBuffer: 256 << 20, encoding: "buffer" }, (error, stdout, stderr) => {
      const said = stderr.toString();
      if (error && !(expected && said.includes(expected))) reject(new Error(`${program} ${args.join(" ")}\n${said}`));
      else resolve({ stdout, stderr: said });
    });
    if (input) {
      // A program that has read enough closes its input.
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    }
  });
}

/** Plays until the pipeline has what it wants. At its end GStreamer may send PAUSE on the connection that it has closed itself. */
export const playWithGstreamer = (...pipeline: readonly string[]): Promise<ProgramResult> =>
  runProgram("gst-launch-1.0", ["-q", ...pipeline], undefined, "Could not send message. (Received end-of-file)");

export const ffmpeg = (...args: readonly string[]): Promise<ProgramResult> =>
  runProgram("ffmpeg", ["-hide_banner", "-loglevel", "warning", "-nostdin", "-y", ...args]);

export interface ProbedStream {
  readonly codec_name: string;
  readonly width?: number;
  readonly height?: number;
  readonly channels?: number;
  readonly sample_rate?: string;
  readonly profile?: string;
}

export interface ProbedPacket {
  readonly stream_index: number;
  readonly pts_time: string;
  readonly dts_time: string;
  readonly size: string;
  readonly flags: string;
}

/** Streams and packets as ffprobe sees them; its complaints are an error. */
export async function ffprobe(file: string): Promise<{ streams: readonly ProbedStream[]; packets: readonly ProbedPacket[] }> {
  const { stdout, stderr } = await runProgram("ffprobe", ["-v", "warning", "-show_streams", "-show_packets", "-of", "json", file]);
  if (stderr !== "") throw new Error(stderr);
  return JSON.parse(stdout.toString());
}

/** What ffmpeg's builds differ in: H.265 needs an encoder that is a library of its own. */
export const hasEncoder = (name: string): boolean =>
  spawnSync("ffmpeg", ["-hide_banner", "-encoders"], { encoding: "utf8" }).stdout?.includes(` ${name} `) ?? false;
