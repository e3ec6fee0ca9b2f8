import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { startMediaServices } from "./media-harness.ts";

interface Counts {
  readonly video: number;
  readonly audio: number;
  readonly keyFrames: number;
}

/** A player in a process of its own. */
function startPlayer(library: "werift" | "node-datachannel", url: string, lossPercent = 0) {
  const script = path.join(import.meta.dirname, "media-player.ts");
  const child = spawn(process.execPath, [script, library, url, String(lossPercent)], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let counts: Counts = { video: 0, audio: 0, keyFrames: 0 };
  createInterface(child.stdout).on("line", (line) => {
    counts = JSON.parse(line) as Counts;
  });
  onEnd(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { counts: () => counts, requestKeyFrame: () => child.stdin.write("key\n") };
}

describe("other clients", () => {
  it("[WEBRTC-301] werift plays pictures and sound, and gets again what it has lost", async () => {
    const { url, webrtc } = await startMediaServices();
    const { counts } = startPlayer("werift", `${url}/whep/test`, 5);
    await until(() => counts().video > 200 && counts().audio > 50, 60_000);
    const row = webrtc.rows().find(({ kind }) => kind === "webrtc-media")?.id ?? 0;
    expect(await webrtc.act("media.end", { row })).toEqual({ ended: true });
    await webrtc.ended(({ id }) => id === row);
    const video = webrtc.detail(row).tracks.find(({ kind }) => kind === "video");
    expect(video?.retransmitted).toBeGreaterThan(0);
  });

  it("[WEBRTC-302] node-datachannel plays, and gets the pictures since the last key frame when it asks for one", async () => {
    const { url, webrtc } = await startMediaServices();
    const { counts, requestKeyFrame } = startPlayer("node-datachannel", `${url}/whep/stream`);
    await until(() => counts().video > 50, 60_000);
    const before = counts().keyFrames;
    requestKeyFrame();
    await until(() => counts().keyFrames > before + 1);
    const row = webrtc.rows().find(({ kind }) => kind === "webrtc-media")?.id ?? 0;
    await webrtc.act("media.end", { row });
    await webrtc.ended(({ id }) => id === row);
    expect(webrtc.detail(row).keyFrameRequests).toBeGreaterThan(0);
  });
});
