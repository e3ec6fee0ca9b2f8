import { expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { HlsMuxer } from "../../servers/rtsp/hls/hls-muxer.ts";
import { loop } from "../rtsp/containers.ts";
import { startRtsp } from "../rtsp/harness.ts";
import { newContext } from "./shared-browser.ts";

const origin = "http://stream.example";

it("[RTSP-133] Chromium plays the segments over the end of a loop, and shows the frames that were sent", async () => {
  const { tracks, frames } = loop(assetFile("rtsp", "stream.mp4"), 2);
  const muxer = new HlsMuxer(tracks, { segmentSeconds: 1, segmentCount: 100, mostBytes: 64 << 20 });
  for (const frame of frames) muxer.push(frame);
  const names = muxer.playlist()?.match(/segment-\d+\.m4s/g) ?? [];
  const page = await (await newContext()).newPage();
  await page.route(`${origin}/**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    const body = muxer.file(name) ?? Buffer.from("<!doctype html><video muted></video>");
    return route.fulfill({ body, contentType: name === "" ? "text/html" : "video/mp4" });
  });
  await page.goto(`${origin}/`);
  const seen = await page.evaluate(
    async (files) => {
      const video = document.querySelector("video") as HTMLVideoElement;
      const once = (target: EventTarget, type: string) =>
        new Promise((resolve, reject) => {
          target.addEventListener(type, resolve, { once: true });
          target.addEventListener("error", reject, { once: true });
        });
      const source = new MediaSource();
      video.src = URL.createObjectURL(source);
      await once(source, "sourceopen");
      const buffer = source.addSourceBuffer('video/mp4; codecs="avc1.64001e, mp4a.40.2"');
      for (const file of files) {
        buffer.appendBuffer(await (await fetch(`/${file}`)).arrayBuffer());
        await once(buffer, "updateend");
      }
      source.endOfStream();
      const context = Object.assign(document.createElement("canvas"), { width: 160, height: 16 }).getContext("2d", {
        willReadFrequently: true,
      }) as CanvasRenderingContext2D;
      /** The frame number that the bar code of the picture says. The picture comes some time after the event of the seek. */
      const numberAt = async (seconds: number, expected: number) => {
        video.currentTime = seconds;
        await once(video, "seeked");
        let number = -1;
        for (let tries = 0; tries < 100 && number !== expected; tries++) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          context.drawImage(video, 0, 0, 160, 16, 0, 0, 160, 16);
          number = 0;
          for (let bit = 0; bit < 8; bit++) {
            const [grey = 0] = context.getImageData((bit + 2) * 16 + 8, 8, 1, 1).data;
            number = number * 2 + (grey > 128 ? 1 : 0);
          }
        }
        return number;
      };
      const numbers = [await numberAt(0.02, 0), await numberAt(9.58, 239), await numberAt(9.62, 0), await numberAt(12.02, 60)];
      video.currentTime = 9;
      await video.play();
      while (video.currentTime < 10.5) await once(video, "timeupdate");
      const ranges = Array.from({ length: video.buffered.length }, (_, index) => [video.buffered.start(index), video.buffered.end(index)]);
      return { numbers, ranges, error: video.error?.message };
    },
    ["init.mp4", ...names],
  );
  expect(seen.numbers).toEqual([0, 239, 0, 60]);
  expect(seen.error).toBeUndefined();
  // One range: no hole at the end of the loop.
  expect(seen.ranges).toEqual([[0, expect.closeTo(18.6, 1)]]);
});

it("[RTSP-133] Chromium plays the playlist of a running stream over the end of its loop, as hls.js does", async () => {
  const server = await startRtsp({ hlsSegmentSeconds: 1 });
  const page = await (await newContext()).newPage();
  const player = `${server.httpUrl}/player`;
  await page.route(player, (route) => route.fulfill({ body: "<!doctype html><video muted></video>", contentType: "text/html" }));
  await page.goto(player);
  const seen = await page.evaluate(async (stream) => {
    const video = document.querySelector("video") as HTMLVideoElement;
    const once = (target: EventTarget, type: string) =>
      new Promise((resolve, reject) => {
        target.addEventListener(type, resolve, { once: true });
        target.addEventListener("error", reject, { once: true });
      });
    const source = new MediaSource();
    video.src = URL.createObjectURL(source);
    await once(source, "sourceopen");
    const buffer = source.addSourceBuffer('video/mp4; codecs="avc1.64001e, mp4a.40.2"');
    const append = async (file: string) => {
      buffer.appendBuffer(await (await fetch(`${stream}/${file}`)).arrayBuffer());
      await once(buffer, "updateend");
    };
    const appended = new Set<string>();
    let discontinuities = 0;
    while (appended.size < 14) {
      const playlist = await (await fetch(`${stream}/index.m3u8`)).text();
      if (appended.size === 0) await append(/URI="([^"]+)"/.exec(playlist)?.[1] ?? "");
      discontinuities += playlist.includes("#EXT-X-DISCONTINUITY\n") ? 1 : 0;
      for (const [segment] of playlist.matchAll(/segment-\d+\.m4s/g)) {
        if (appended.has(segment)) continue;
        await append(segment);
        appended.add(segment);
      }
      if (video.paused) await video.play();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    while (video.currentTime < video.buffered.end(0) - 1) await once(video, "timeupdate");
    const { totalVideoFrames } = video.getVideoPlaybackQuality();
    return { ranges: video.buffered.length, end: video.currentTime, totalVideoFrames, discontinuities, error: video.error?.message };
  }, `${server.httpUrl}/stream`);
  expect(seen).toMatchObject({ ranges: 1, discontinuities: 0 });
  expect(seen.error).toBeUndefined();
  expect(seen.end).toBeGreaterThan(11);
  expect(seen.totalVideoFrames).toBeGreaterThan(200);
});
