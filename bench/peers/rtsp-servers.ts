import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import path from "node:path";
import { freePort, serverCore, startProcess } from "../harness.ts";
import { type StartedServer, startBacklotService, whenListening } from "./started-server.ts";

export interface RtspServer {
  readonly name: string;
  start(): Promise<StartedServer>;
}

const clip = path.resolve(import.meta.dirname, "../../servers/rtsp/assets/stream.mp4");
const cacheFolder = path.resolve(import.meta.dirname, "../../node_modules/.cache/backlot-bench");
/** 9.6 s each: gst-rtsp-server ends with its file. */
const passes = 30;

export const backlot: RtspServer = {
  name: "Backlot, RTSP service",
  start: () => startBacklotService("rtsp", backlot.name, ["--rtsp-http-port", "0", "--rtsp-rtp-port", "0"]),
};

export const gstreamer: RtspServer = {
  name: "gst-rtsp-server",
  async start() {
    const port = await freePort();
    const args = [path.join(import.meta.dirname, "rtsp-gstreamer.py"), longClip(), String(port)];
    return whenListening(startProcess({ command: "/usr/bin/python3", args, core: serverCore }), port, gstreamer.name);
  },
};

/** The same frames, many passes of them. */
function longClip(): string {
  const file = path.join(cacheFolder, `stream-${passes}.mp4`);
  if (existsSync(file)) return file;
  mkdirSync(cacheFolder, { recursive: true });
  const making = `${file}.making.mp4`;
  const loop = ["-v", "error", "-nostdin", "-y", "-stream_loop", String(passes - 1), "-i", clip];
  execFileSync("ffmpeg", [...loop, "-c", "copy", "-movflags", "+faststart", making]);
  renameSync(making, file);
  return file;
}
