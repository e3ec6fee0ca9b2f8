import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { type RtspTransport, rtspTransports } from "../../contract/services/rtsp.ts";
import { type Player, playerLine } from "../../renderer/src/services/rtsp/player-lines.ts";
import {
  type Publisher,
  type PublishTransport,
  publishLine,
  publishTransports,
} from "../../renderer/src/services/rtsp/publish/publish-lines.ts";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { onEnd, startRtsp } from "./harness.ts";
import { lacksFfmpeg, lacksGstreamer } from "./media-programs.ts";

/** What the session of a player says of its transport. */
const titles: Readonly<Record<RtspTransport, RegExp>> = {
  tcp: /^TCP/,
  udp: /^UDP/,
  multicast: /^multicast/,
  http: /^TCP/,
  tls: /^TCP/,
};

/** What shows a picture in a window drops it instead. */
const screenless = { SDL_VIDEODRIVER: "dummy", SDL_AUDIODRIVER: "dummy", GST_PLUGIN_FEATURE_RANK: "fakevideosink:MAX" };

/** Runs the line in a shell, as a user would, but without a screen. Resolves when its session has got pictures. */
async function plays(player: Player, transports: readonly RtspTransport[]): Promise<void> {
  const server = await startRtsp(
    { tls: true, multicast: true, multicastPort: 20_000 + 2 * (process.pid % 500), users: ["ada:pass word"] },
    temporaryDir(),
  );
  for (const transport of transports) {
    const url = transport === "tls" ? server.urlOf("RTSPS") : `${server.url}/stream`;
    const line = playerLine(player, { url, transport, username: "ada", password: "pass word" }) ?? "";
    const output: string[] = [];
    const child = spawn("sh", ["-c", line], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...screenless },
    });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => void output.push(chunk.toString()));
    const exited = new Promise((resolve) => child.once("exit", resolve));
    const end = () => {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    onEnd(end);
    const before = new Set(server.rows().map(({ id }) => id));
    const isPlaying = () => server.views.get("sessions")?.sessions.find(({ row, state }) => state === "playing" && !before.has(row));
    const session = await until(isPlaying).catch(() => undefined);
    expect(session?.transport ?? "no session", `${line}\n${output.join("")}`).toMatch(titles[transport]);
    end();
    await exited;
    // One over UDP does not end with its client.
    await server.act("session.kick", { row: session?.row ?? 0 });
    await until(() => !isPlaying());
  }
}

/** Runs the line where there is a clip.mp4. Resolves when its path has all its tracks. */
async function publishes(publisher: Exclude<Publisher, "obs">, transports: readonly PublishTransport[]): Promise<void> {
  const config = { tls: true, rtmp: true, rtmpPort: 0, users: ["ada:pass word"] };
  const server = await startRtsp({ ...config, authentication: ["digest-md5", "basic"] }, temporaryDir());
  const folder = temporaryDir();
  copyFileSync(assetFile("rtsp", "stream.mp4"), path.join(folder, "clip.mp4"));
  const tracks = publisher === "ffmpeg" ? 2 : 1;
  for (const transport of transports) {
    const label = transport === "tls" ? "RTSPS" : transport === "rtmp" ? "RTMP" : "RTSP";
    const origin = server.urlOf(label).replace(/^([a-z]+:\/\/[^/]+).*$/, "$1");
    const name = `live/${publisher}-${transport}`;
    const login = { username: "ada", password: "pass word" };
    const line = publishLine(publisher, { origin, path: name, transport, login }) ?? "";
    const output: string[] = [];
    const child = spawn("sh", ["-c", line], { cwd: folder, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => void output.push(chunk.toString()));
    const exited = new Promise((resolve) => child.once("exit", resolve));
    const end = () => {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    onEnd(end);
    const published = await until(
      () => server.views.get("paths")?.paths.find((one) => one.name === name && one.bytesReceived > 20_000),
      30_000,
    ).catch(() => undefined);
    expect(published?.tracks.length, `${line}\n${output.join("")}`).toBe(tracks);
    end();
    await exited;
  }
}

it.skipIf(lacksFfmpeg)("[RTSP-69] the lines of ffmpeg publish as printed, over each transport", { timeout: 180_000 }, () =>
  publishes("ffmpeg", publishTransports),
);

it.skipIf(lacksGstreamer)("[RTSP-69] the lines of GStreamer publish as printed, over each transport", { timeout: 180_000 }, () =>
  publishes("gstreamer", publishTransports),
);

it.skipIf(lacksFfmpeg)("[RTSP-68] the lines of ffplay play as printed, over each transport", { timeout: 180_000 }, () =>
  plays("ffplay", rtspTransports),
);

it.skipIf(lacksGstreamer)("[RTSP-68] the lines of GStreamer play as printed, over each transport", { timeout: 180_000 }, () =>
  plays("gstreamer", rtspTransports),
);
