import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { HlsMuxer, type HlsOptions } from "../../servers/rtsp/hls/hls-muxer.ts";
import type { Frame, Track } from "../../servers/rtsp/media/track.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { loop, streamKinds } from "./containers.ts";
import { lacksFfmpeg, runProgram } from "./media-programs.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

const options: HlsOptions = { segmentSeconds: 1, segmentCount: 4, mostBytes: 64 << 20 };
const video: Track = { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] };
const picture = (index: number, isKey: boolean, bytes = 100): Frame => ({
  track: 0,
  units: [Buffer.alloc(bytes, isKey ? 0x65 : 0x41)],
  pts: index * 3_600,
  dts: index * 3_600,
  isKey,
});

describe("HLS", () => {
  it("[RTSP-130] a segment begins with each key frame that is due, and the playlist names the latest ones", () => {
    const { tracks, frames } = loop(assetFile("rtsp", "stream.mp4"), 2);
    let finished = 0;
    const muxer = new HlsMuxer(tracks, { ...options, onSegment: () => finished++ });
    expect(muxer.playlist()).toBeUndefined();
    for (const frame of frames) muxer.push(frame);
    // A key frame each second of both passes; the last one of a pass comes 0.6 s before the next, so a segment there has 1.6 s.
    expect(finished).toBe(18);
    expect(muxer.playlist()).toBe(
      [
        "#EXTM3U",
        "#EXT-X-VERSION:7",
        "#EXT-X-TARGETDURATION:2",
        "#EXT-X-MEDIA-SEQUENCE:14",
        "#EXT-X-DISCONTINUITY-SEQUENCE:0",
        "#EXT-X-INDEPENDENT-SEGMENTS",
        '#EXT-X-MAP:URI="init.mp4"',
        ...[14, 15, 16, 17].flatMap((number) => ["#EXTINF:1.00000,", `segment-${number}.m4s`]),
        "",
      ].join("\n"),
    );
    expect(muxer.file("segment-14.m4s")?.toString("latin1", 4, 8)).toBe("moof");
    // Those before are kept a while for players that are about to fetch them.
    expect(muxer.file("segment-11.m4s")).toBeDefined();
    expect(muxer.file("segment-10.m4s")).toBeUndefined();
    expect(muxer.file("../init.mp4")).toBeUndefined();
    expect(muxer.dropped).toBe(0);
  });

  it("[RTSP-130] what comes before the first key frame is left out, and a track without a place in MP4", () => {
    const pcmu: Track = { kind: "audio", codec: "pcmu", clockRate: 8_000, channels: 1 };
    const muxer = new HlsMuxer([pcmu, video], options);
    for (let index = 0; index < 100; index++) {
      muxer.push({ track: 0, units: [Buffer.alloc(320)], pts: index * 320, dts: index * 320, isKey: true });
      muxer.push({ ...picture(index, index % 30 === 20), track: 1 });
    }
    expect(muxer.dropped).toBe(20);
    expect(muxer.playlist()?.match(/EXTINF:[\d.]+/g)).toEqual(["EXTINF:1.20000", "EXTINF:1.20000"]);
    expect(() => new HlsMuxer([pcmu], options)).toThrow(RangeError);
    expect(() => new HlsMuxer([{ ...video, sps: [] }], options)).toThrow(RangeError);
  });

  it("[RTSP-134] the target duration does not become shorter with the next publisher", () => {
    const slow = new HlsMuxer([video], options);
    for (let index = 0; index < 200; index++) slow.push(picture(index, index % 75 === 0));
    expect(slow.playlist()).toContain("#EXT-X-TARGETDURATION:3");
    const next = new HlsMuxer([video], options, slow);
    for (let index = 0; index < 200; index++) next.push(picture(index, index % 25 === 0));
    expect(next.playlist()).toContain("#EXT-X-TARGETDURATION:3");
  });

  it.each([3, 3_600])("[RTSP-135] times that go back by %d s begin a discontinuity, and the segments go on", (seconds) => {
    const opus: Track = { kind: "audio", codec: "opus", clockRate: 48_000, channels: 2 };
    const muxer = new HlsMuxer([video, opus], options);
    for (let index = 0; index < 300; index++) {
      // The sound comes to the new times half a second after the pictures.
      const back = index < 120 ? 0 : seconds;
      const soundBack = index < 132 ? 0 : seconds;
      const at = 4_000 * 3_600 * 25 + index * 3_600;
      muxer.push({ ...picture(0, index % 25 === 0), pts: at - back * 90_000, dts: at - back * 90_000 });
      const heard = 4_000 * 25 * 1_920 + index * 1_920 - soundBack * 48_000;
      muxer.push({ track: 1, units: [Buffer.alloc(100)], pts: heard, dts: heard, isKey: true });
    }
    const playlist = muxer.playlist() ?? "";
    expect(playlist).toMatch(/#EXT-X-MEDIA-SEQUENCE:[4-9]/);
    expect(playlist.match(/EXTINF:[\d.]+/g)).toEqual(new Array(4).fill("EXTINF:1.00000"));
    expect(muxer.dropped).toBeLessThan(130);
  });

  it("[RTSP-132] segments that grow too large, or have no end, are given up; the next one is marked as a discontinuity", () => {
    const muxer = new HlsMuxer([video], { ...options, mostBytes: 1 << 20 });
    let most = 0;
    for (let index = 0; index < 6_000; index++) {
      // A key frame each second, none for a long time, then large ones.
      const isKey = index < 100 || index > 3_000 ? index % 25 === 0 : false;
      muxer.push(picture(index, isKey, index > 4_000 ? 8_000 : 1_000));
      most = Math.max(most, muxer.keptBytes);
    }
    expect(most).toBeLessThan(1.3 * (1 << 20));
    expect(muxer.dropped).toBeGreaterThan(500);
    const long = new HlsMuxer([video], options);
    for (let index = 0; index < 3_000; index++)
      long.push(picture(index, index < 100 ? index % 25 === 0 : index >= 2_900 && index % 25 === 0));
    expect(long.playlist()).toMatch(/#EXT-X-DISCONTINUITY\n#EXTINF:1\.00000,\nsegment-3\.m4s/);
    const many = new HlsMuxer([video], options);
    // A thousand pictures a second, of which a segment of a minute would have 60,000.
    for (let index = 0; index < 25_000; index++)
      many.push({ ...picture(index, index % 12_000 === 0, 3), pts: index * 90, dts: index * 90 });
    expect(many.playlist()).toBeUndefined();
    expect(many.dropped).toBeGreaterThan(23_000);
  });

  it.skipIf(lacksFfmpeg).each(streamKinds)(
    "[RTSP-131] %s: ffprobe finds every frame with its times, and ffmpeg decodes them without an error",
    async (_, stream) => {
      const looped = await stream();
      if (!looped) return;
      const { tracks, frames } = looped;
      const muxer = new HlsMuxer(tracks, { ...options, segmentCount: 100 });
      for (const frame of frames) muxer.push(frame);
      const dir = temporaryDir();
      const playlist = muxer.playlist() ?? "";
      const names = playlist.match(/segment-\d+\.m4s/g) ?? [];
      expect(names.length).toBeGreaterThanOrEqual(5);
      writeFileSync(path.join(dir, "index.m3u8"), `${playlist}#EXT-X-ENDLIST\n`);
      writeFileSync(path.join(dir, "init.mp4"), muxer.file("init.mp4") ?? Buffer.alloc(0));
      for (const name of names) writeFileSync(path.join(dir, name), muxer.file(name) ?? Buffer.alloc(0));
      // ffprobe reads the segments as one file, ffmpeg by the playlist.
      const whole = path.join(dir, "whole.mp4");
      writeFileSync(
        whole,
        Buffer.concat([muxer.file("init.mp4") ?? Buffer.alloc(0), ...names.map((name) => muxer.file(name) ?? Buffer.alloc(0))]),
      );
      const probed = await runProgram("ffprobe", ["-v", "warning", "-show_streams", "-show_packets", "-of", "json", whole]);
      expect(probed.stderr).toBe("");
      const { streams, packets } = JSON.parse(probed.stdout.toString()) as {
        streams: { codec_name: string; channels?: number }[];
        packets: { stream_index: number; pts_time: string; dts_time: string; flags: string }[];
      };
      expect(streams.map(({ codec_name, channels }) => [codec_name === "hevc" ? "h265" : codec_name, channels])).toEqual(
        tracks.map((track) => [track.codec, track.kind === "audio" ? track.channels : undefined]),
      );
      const start = Math.min(...frames.filter(({ track }) => track === 0).map(({ dts }) => dts)) / (tracks[0]?.clockRate ?? 1);
      for (const [index, { clockRate }] of tracks.entries()) {
        const read = packets.filter(({ stream_index }) => stream_index === index);
        const sent = frames.filter(({ track, dts }) => track === index && dts / clockRate >= start).slice(0, read.length);
        expect(sent.length - read.length).toBeLessThan(2);
        for (const [at, { pts, dts, isKey }] of sent.entries()) {
          const packet = read[at];
          expect(Number(packet?.pts_time)).toBeCloseTo(pts / clockRate - start, 3);
          expect(Number(packet?.dts_time)).toBeCloseTo(dts / clockRate - start, 3);
          expect(packet?.flags.startsWith("K")).toBe(isKey);
        }
      }
      const played = await runProgram("ffmpeg", ["-v", "warning", "-nostdin", "-i", path.join(dir, "index.m3u8"), "-f", "null", "-"]);
      expect(played.stderr).toBe("");
    },
  );
});
