import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import type { Track } from "../../servers/rtsp/media/track.ts";
import { MpegTsMuxer } from "../../servers/rtsp/mpegts/mpegts-muxer.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { loop, streamKinds } from "./containers.ts";
import { lacksFfmpeg, runProgram } from "./media-programs.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

const packetsOf = (bytes: Buffer) =>
  Array.from({ length: bytes.length / 188 }, (_, index) => bytes.subarray(index * 188, (index + 1) * 188));
const pidOf = (packet: Buffer) => packet.readUInt16BE(1) & 0x1fff;

describe("MPEG-TS", () => {
  it("[RTSP-140] whole packets, tables before each key frame, counters without a gap, and clock references ahead of the times", () => {
    const { tracks, frames } = loop(assetFile("rtsp", "stream.mp4"), 1);
    const muxer = new MpegTsMuxer(tracks);
    const counters = new Map<number, number>();
    let references = 0;
    for (const frame of frames) {
      const bytes = muxer.push(frame);
      expect(bytes.length % 188).toBe(0);
      const packets = packetsOf(bytes);
      const isPicture = frame.track === 0;
      if (frame.isKey && isPicture) expect(packets.slice(0, 2).map(pidOf)).toEqual([0, 0x1000]);
      for (const packet of packets) {
        expect(packet[0]).toBe(0x47);
        const pid = pidOf(packet);
        const counter = (packet[3] as number) & 0x0f;
        const before = counters.get(pid);
        if (before !== undefined) expect(counter).toBe((before + 1) & 0x0f);
        counters.set(pid, counter);
        const hasReference = ((packet[3] as number) & 0x20) !== 0 && (packet[4] as number) > 0 && ((packet[5] as number) & 0x10) !== 0;
        if (!hasReference) continue;
        references++;
        const reference = packet.readUInt32BE(6) * 2 + ((packet[10] as number) >> 7);
        expect(reference).toBe(frame.dts + 90_000 - 18_000);
        expect(((packet[5] as number) & 0x40) !== 0).toBe(frame.isKey);
      }
    }
    expect(references).toBe(240);
    expect([...counters.keys()].sort()).toEqual([0, 0x100, 0x101, 0x1000].sort());
  });

  it("[RTSP-140] says where the clock references begin anew, as the times of a publisher whose clock was set", () => {
    const video: Track = { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] };
    const muxer = new MpegTsMuxer([video]);
    const isAnew = [10, 10.04, 10.02, 10.08, 3, 3.04].map((seconds) => {
      const dts = seconds * 90_000;
      const [packet] = packetsOf(muxer.push({ track: 0, units: [Buffer.of(0x41)], pts: dts, dts, isKey: false })).filter(
        (one) => pidOf(one) === 0x100,
      );
      return ((packet?.[5] as number) & 0x80) !== 0;
    });
    expect(isAnew).toEqual([false, false, false, false, true, false]);
  });

  it("[RTSP-140] every size of a frame fits", () => {
    const opus: Track = { kind: "audio", codec: "opus", clockRate: 48_000, channels: 2 };
    for (let size = 1; size < 600; size++) {
      const packets = packetsOf(
        new MpegTsMuxer([opus]).push({ track: 0, units: [Buffer.alloc(size, 0x55)], pts: 0, dts: 0, isKey: true }),
      ).slice(2);
      const payload = Buffer.concat(packets.map((packet) => packet.subarray((packet[3] as number) & 0x20 ? 5 + (packet[4] as number) : 4)));
      const header = 14 + 3 + Math.floor(size / 255);
      expect(payload.length).toBe(header + size);
      expect(payload.readUInt16BE(4)).toBe(payload.length - 6);
      expect(payload.subarray(header).every((byte) => byte === 0x55)).toBe(true);
    }
  });

  it("[RTSP-140] tracks that it does not have are left out", () => {
    const pcma: Track = { kind: "audio", codec: "pcma", clockRate: 8_000, channels: 1 };
    const { tracks, frames } = loop(assetFile("rtsp", "stream.mp4"), 1);
    const muxer = new MpegTsMuxer([pcma, ...tracks]);
    expect(muxer.push({ track: 0, units: [Buffer.alloc(160)], pts: 0, dts: 0, isKey: true }).length).toBe(0);
    const [first] = frames;
    if (first) expect(muxer.push({ ...first, track: 1 }).length).toBeGreaterThan(0);
    expect(() => new MpegTsMuxer([pcma])).toThrow(RangeError);
  });

  it.skipIf(lacksFfmpeg).each(streamKinds)(
    "[RTSP-141] %s: ffprobe finds every frame with its times, and ffmpeg decodes them without an error",
    async (_, stream) => {
      const looped = await stream();
      if (!looped) return;
      const { tracks, frames } = looped;
      const muxer = new MpegTsMuxer(tracks);
      const file = path.join(temporaryDir(), "a.ts");
      writeFileSync(file, Buffer.concat(frames.map((frame) => muxer.push(frame))));
      const probed = await runProgram("ffprobe", ["-v", "warning", "-show_streams", "-show_packets", "-of", "json", file]);
      expect(probed.stderr).toBe("");
      const { streams, packets } = JSON.parse(probed.stdout.toString()) as {
        streams: { codec_name: string; channels?: number }[];
        packets: { stream_index: number; pts_time: string; dts_time: string }[];
      };
      expect(streams.map(({ codec_name, channels }) => [codec_name === "hevc" ? "h265" : codec_name, channels])).toEqual(
        tracks.map((track) => [track.codec, track.kind === "audio" ? track.channels : undefined]),
      );
      for (const [index, { clockRate }] of tracks.entries()) {
        const read = packets.filter(({ stream_index }) => stream_index === index);
        const sent = frames.filter(({ track }) => track === index);
        expect(read.length).toBe(sent.length);
        for (const [at, { pts, dts }] of sent.entries()) {
          expect(Math.abs(Number(read[at]?.pts_time) - 1 - pts / clockRate)).toBeLessThan(0.001);
          expect(Math.abs(Number(read[at]?.dts_time) - 1 - dts / clockRate)).toBeLessThan(0.001);
        }
      }
      const played = await runProgram("ffmpeg", ["-v", "warning", "-nostdin", "-i", file, "-f", "null", "-"]);
      expect(played.stderr).toBe("");
    },
  );
});
