import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { lacksFfmpeg } from "../rtsp/media-programs.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { type ClientLibrary, clientLibraries, startClient } from "./clients/client-process.ts";
import { startMediaServices } from "./media-harness.ts";
import { playerOffer } from "./media-offers.ts";
import { MediaPeer } from "./media-peer.ts";

interface Counts {
  readonly video: number;
  readonly audio: number;
  readonly keyFrames: number;
}

/** A player, which may publish what it plays. */
function startPlayer(library: ClientLibrary, url: string, lossPercent = 0, publishUrl = "", setup = "actpass") {
  const { reports, write, freeze } = startClient<Counts>("media-player", library, url, String(lossPercent), publishUrl, setup);
  const counts = (): Counts => reports.items.at(-1) ?? { video: 0, audio: 0, keyFrames: 0 };
  return { counts, requestKeyFrame: () => write("key\n"), freeze };
}

describe("other clients", () => {
  it("[WEBRTC-301] werift plays pictures and sound, and gets again what it has lost", async () => {
    const { url, webrtc } = await startMediaServices();
    const { counts } = startPlayer("werift", `${url}/whep/stream`, 5);
    await until(() => counts().video > 100 && counts().audio > 50);
    const row = webrtc.rows().find(({ kind }) => kind === "webrtc-media")?.id ?? 0;
    expect(await webrtc.act("media.end", { row })).toEqual({ ended: true });
    await webrtc.ended(({ id }) => id === row);
    const video = webrtc.detail(row).tracks.find(({ kind }) => kind === "video");
    expect(video?.retransmitted).toBeGreaterThan(0);
  });

  it("[WEBRTC-302] node-datachannel plays, and gets the pictures since the last key frame when it asks for one", async () => {
    const { url, webrtc } = await startMediaServices();
    const { counts, requestKeyFrame } = startPlayer("node-datachannel", `${url}/whep/stream`);
    await until(() => counts().video > 50);
    const before = counts().keyFrames;
    requestKeyFrame();
    await until(() => counts().keyFrames > before + 1);
    const row = webrtc.rows().find(({ kind }) => kind === "webrtc-media")?.id ?? 0;
    await webrtc.act("media.end", { row });
    await webrtc.ended(({ id }) => id === row);
    expect(webrtc.detail(row).keyFrameRequests).toBeGreaterThan(0);
  });

  it.each(clientLibraries)("[WEBRTC-323] %s publishes H.264 and Opus, which others play", async (library) => {
    const services = await startMediaServices();
    startPlayer(library, `${services.url}/whep/stream`, 0, `${services.url}/whip/live/${library}`);
    const name = `live/${library}`;
    const path = await until(
      () => services.rtsp.views.get("paths")?.paths.find((one) => one.name === name && one.frameRate > 0 && one.tracks.length === 2),
      60_000,
    );
    expect(path).toMatchObject({
      source: { kind: "whip-publisher" },
      tracks: expect.arrayContaining([expect.objectContaining({ codec: "h264" })]),
    });
    const player = await MediaPeer.play(services, name);
    await until(() => player.video.packets > 20 && player.audio.packets > 5);
  });

  it.each(clientLibraries)("[WEBRTC-353] %s publishes and plays as the passive side of DTLS", async (library) => {
    const services = await startMediaServices();
    const name = `live/passive-${library}`;
    const { counts } = startPlayer(library, `${services.url}/whep/stream`, 0, `${services.url}/whip/${name}`, "passive");
    await until(() => counts().video > 20 && counts().audio > 5);
    await until(
      () => services.rtsp.views.get("paths")?.paths.some((one) => one.name === name && one.frameRate > 0 && one.tracks.length === 2),
      60_000,
    );
    const player = await MediaPeer.play(services, name);
    await until(() => player.video.packets > 20 && player.audio.packets > 5);
  });

  it("[WEBRTC-344] a player that stands still, and reads nothing, ends by its consent; others play on", async () => {
    const services = await startMediaServices({ webrtc: { consentSeconds: 5 } });
    const { counts, freeze } = startPlayer("node-datachannel", `${services.url}/whep/stream`);
    await until(() => counts().video > 50);
    const row = services.webrtc.rows().find(({ kind }) => kind === "webrtc-media")?.id;
    const bystander = await MediaPeer.play(services, "stream");
    freeze();
    const { video } = bystander;
    const before = video.packets;
    expect(await services.webrtc.ended(({ id }) => id === row)).toMatchObject({
      outcome: expect.stringContaining("its consent has expired"),
    });
    await until(() => video.packets > before + 20);
  });

  it.skipIf(lacksFfmpeg)("[WEBRTC-305] what ffmpeg publishes with AAC is played without sound; with AAC alone it is refused", async () => {
    const services = await startMediaServices();
    const clip = assetFile("rtsp", "stream.mp4");
    for (const [name, ...args] of [["with-aac"], ["aac-alone", "-vn"]] as const) {
      const url = `${services.rtspUrl}/${name}`;
      const input = ["-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", clip];
      const child = spawn("ffmpeg", [...input, ...args, "-c", "copy", "-f", "rtsp", "-rtsp_transport", "tcp", url], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      const ended = new Promise((resolve) => child.once("close", resolve));
      onEnd(async () => {
        child.kill("SIGKILL");
        await ended;
      });
      await until(() => services.rtsp.views.get("paths")?.paths.some((path) => path.name === name && path.bytesReceived > 20_000));
    }
    const why =
      "The sound is AAC, which WebRTC does not have, and it is not converted. Publish the stream with Opus to hear it in a browser.";
    const player = await MediaPeer.play(services, "with-aac");
    await until(() => player.video.packets > 20);
    expect(player.audio.packets).toBe(0);
    expect(player.answer).toMatch(/m=audio 0 .*\r\na=mid:0\r\na=inactive\r\n|m=audio 9 .*\r\na=mid:0\r\na=inactive\r\n/);
    expect(player.leftOut).toBe(`audio: ${why}`);
    await until(() => services.webrtc.views.get("media")?.sessions[0]?.leftOut[0]?.reason === why);
    expect(services.webrtc.rows().find(({ kind }) => kind === "webrtc-media")).toMatchObject({ reason: why });
    const refused = await services.offer("/whep/aac-alone", playerOffer());
    expect([refused.status, ((await refused.json()) as { readonly detail: string }).detail]).toEqual([422, why]);
  });
});
