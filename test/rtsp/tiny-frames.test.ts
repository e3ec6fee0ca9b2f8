import { expect, it } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { GatheredBytes } from "../../servers/core/net/gathered-bytes.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { HlsMuxer } from "../../servers/rtsp/hls/hls-muxer.ts";
import { Snapshots } from "../../servers/rtsp/management/snapshots.ts";
import type { Frame, Track } from "../../servers/rtsp/media/track.ts";
import { writeAmf } from "../../servers/rtsp/rtmp/amf0.ts";
import { messageType } from "../../servers/rtsp/rtmp/chunk-stream.ts";
import { FlvMedia } from "../../servers/rtsp/rtmp/flv-media.ts";
import { createDepacketizer } from "../../servers/rtsp/rtp/create-depacketizer.ts";
import { Stream } from "../../servers/rtsp/streams/stream.ts";
import { WaitingPlaces } from "../../servers/rtsp/streams/waiting-readers.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

const video: Track = { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] };
const tiny = (index: number, units = [Buffer.from([index === 0 ? 0x65 : 0x41, 0x9a])]): Frame => ({
  track: 0,
  units,
  pts: index,
  dts: index,
  isKey: index === 0,
});
const mostKept = 1 << 20;

const openStream = () =>
  new Stream({
    tracks: [video],
    clock: { ptsAt: () => 0 },
    packetBytes: 1_400,
    keptBytes: mostKept,
    media: new SharedBudget(1 << 30),
  });

function kept(count: number, frame: (index: number) => Frame): readonly Frame[] {
  const stream = openStream();
  for (let index = 0; index < count; index++) stream.publish(frame(index));
  const frames: Frame[] = [];
  stream.addFrameReader({ onFrame: (one) => void frames.push(one), onEnd: () => {} })();
  stream.end("the test is over");
  return frames;
}

it("[RTSP-195] kept frames count with the memory of their objects", () => {
  expect(kept(500, (index) => tiny(index))).toHaveLength(500);
  expect(kept(20_000, (index) => tiny(index))).toEqual([]);
  const units = Array.from({ length: 1_000 }, () => Buffer.from([0x41]));
  expect(kept(20, (index) => tiny(index, index === 0 ? undefined : units))).toEqual([]);
});

it("[RTSP-195] answers with the same key frame share their memory", async () => {
  const stream = openStream();
  stream.publish(tiny(0));
  const snapshots = new Snapshots({ turns: new WorkTurns(), places: new WaitingPlaces(1) });
  const first = await snapshots.of(stream);
  expect((await snapshots.of(stream)) === first).toBe(true);
  stream.publish(tiny(0));
  expect((await snapshots.of(stream)) === first).toBe(false);
  stream.end("the test is over");
});

it("[RTSP-195] a unit that was received with much else keeps its own bytes alone", () => {
  const frames = kept(10, (index) => tiny(index, [Buffer.alloc(64 << 10, index === 0 ? 0x65 : 0x41).subarray(100, 102)]));
  expect(frames).toHaveLength(10);
  for (const [unit] of frames.map(({ units }) => units)) {
    expect(unit).toHaveLength(2);
    expect(unit?.buffer.byteLength).toBe(2);
  }
  const whole = Buffer.alloc(60_000, 0x65);
  expect(kept(1, () => tiny(0, [whole]))[0]?.units[0]).toBe(whole);
});

it("[RTSP-195] fragments are joined in any sizes, and keep nothing that came with them", () => {
  const fragments = new GatheredBytes();
  for (const sizes of [[1], [3_000, 1, 70_000, 0, 5], Array.from({ length: 4_000 }, () => 1)]) {
    const parts = sizes.map((size, index) => Buffer.alloc(64 << 10, index).subarray(0, Math.min(size, 64 << 10)));
    for (const part of parts) fragments.add(part);
    const whole = fragments.take();
    expect(whole.equals(Buffer.concat(parts))).toBe(true);
    expect(whole.buffer.byteLength).toBe(whole.length);
    expect(fragments.length).toBe(0);
  }
  const reader = createDepacketizer(video);
  const fragment = (head: number, index: number) => Buffer.alloc(64 << 10, Buffer.from([0x7c, head, index])).subarray(0, 3);
  expect(reader.push(fragment(0x85, 0x88), 1, false, false)).toEqual([]);
  for (let index = 0; index < 100; index++) expect(reader.push(fragment(0x05, index), 1, false, false)).toEqual([]);
  const [frame] = reader.push(fragment(0x45, 0xff), 1, true, false);
  expect(frame?.units[0]?.toString("hex")).toBe(
    `6588${Array.from({ length: 100 }, (_, index) => index.toString(16).padStart(2, "0")).join("")}ff`,
  );
});

it("[RTSP-195] an aggregation of more units than a picture has is dropped", () => {
  const reader = createDepacketizer(video);
  const aggregation = Buffer.concat([Buffer.from([0x78]), Buffer.alloc(3 * 21_000, Buffer.from([0, 1, 0x06]))]);
  expect(reader.push(aggregation, 1, true, false)).toEqual([]);
  expect(reader.dropped).toBe(1);
});

it("[RTSP-195] frames that wait for the other track of RTMP are bounded in number", () => {
  let waited = 0;
  let frames = 0;
  const media = new FlvMedia({
    onTracks: () => {
      waited = sent;
    },
    onTrack() {},
    onWaiting() {},
    onFrame: () => void frames++,
  });
  media.push(messageType.data, 0, writeAmf(["onMetaData", { videocodecid: 7, audiocodecid: 10 }]));
  const two = (length: number) => Buffer.from([length >> 8, length & 0xff]);
  const record = [Buffer.from([1, 100, 0, 31, 0xff, 0xe1]), two(h264Sps.length), h264Sps, Buffer.from([1]), two(h264Pps.length), h264Pps];
  media.push(messageType.video, 0, Buffer.concat([Buffer.from([0x17, 0, 0, 0, 0]), ...record]));
  let sent = 0;
  while (waited === 0 && sent < 50_000) {
    sent++;
    media.push(messageType.video, 0, Buffer.from([0x17, 1, 0, 0, 0, 0, 0, 0, 2, 0x65, 0x88]));
  }
  expect(waited).toBeGreaterThan(0);
  expect(waited).toBeLessThan(10_000);
  expect(frames).toBe(waited);
});

it("[RTSP-195] a segment of HLS is bounded in the number of its frames", () => {
  const muxer = new HlsMuxer([video], { segmentSeconds: 1, segmentCount: 7, mostBytes: 2 * mostKept });
  for (let index = 0; index < 5_000; index++) muxer.push(tiny(index));
  expect(muxer.dropped).toBeGreaterThan(4_000);
  expect(muxer.keptBytes).toBeLessThan(mostKept);
});
