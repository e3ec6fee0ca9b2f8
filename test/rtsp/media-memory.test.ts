import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { HlsOutputs } from "../../servers/rtsp/management/hls-outputs.ts";
import type { Frame, Track } from "../../servers/rtsp/media/track.ts";
import { Paths } from "../../servers/rtsp/streams/paths.ts";
import { RtpSource } from "../../servers/rtsp/streams/rtp-source.ts";
import { Stream } from "../../servers/rtsp/streams/stream.ts";
import { WaitingPlaces } from "../../servers/rtsp/streams/waiting-readers.ts";
import { onEnd } from "../support/start-service.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

const video: Track = { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] };
const limits = { packetBytes: 1_400, keptBytes: 1 << 20 };
const picture = (index: number, bytes: number): Frame => {
  const isKey = index % 25 === 0;
  return { track: 0, units: [Buffer.alloc(bytes, isKey ? 0x65 : 0x41)], pts: index * 3_600, dts: index * 3_600, isKey };
};

/** All that is counted. */
class CountedBudget extends SharedBudget {
  total = 0;
  override changed(...[share, amount]: Parameters<SharedBudget["changed"]>): void {
    this.total += amount;
    super.changed(share, amount);
  }
}

const streamOf = (media: SharedBudget, owner: string): Stream => {
  const stream = new Stream({ ...limits, tracks: [video], clock: { ptsAt: () => 0 }, media, owner });
  onEnd(() => stream.end("the test is over"));
  return stream;
};

it("[RTSP-204] what streams keep since their key frames is bounded for all: beyond it those lose it that have most", () => {
  const media = new CountedBudget(4 << 20);
  const [honest, ...others] = Array.from({ length: 20 }, (_, index) => streamOf(media, index === 0 ? "10.0.0.1" : "10.0.0.2"));
  const reader = { onPackets() {}, onReport() {}, onGap() {}, onEnd() {} };
  honest?.publish(picture(0, 100_000));
  for (const stream of others) {
    stream.addPacketReader(reader);
    for (let index = 0; index < 10; index++) stream.publish(picture(index, 50_000));
    expect(media.total).toBeLessThanOrEqual(4 << 20);
  }
  expect(others.filter(({ hasKept }) => hasKept).length).toBeLessThan(5);
  expect(others.some(({ hasKept }) => hasKept)).toBe(true);
  expect(honest?.hasKept).toBe(true);
  for (const stream of [honest, ...others]) stream?.end("it is over");
  expect(media.total).toBe(0);
});

it("[RTSP-204] nor do pictures that never end take more", () => {
  const media = new CountedBudget(4 << 20);
  const sources = Array.from({ length: 8 }, () => {
    const tracks = [{ track: video, payloadType: 96, control: "", isLatm: false, parameters: {} }];
    return new RtpSource({ ...limits, media, tracks, isUnordered: false, owner: "10.0.0.2" });
  });
  const packet = (sequence: number) => {
    const bytes = Buffer.alloc(1_400);
    bytes.set([0x80, 96, sequence >> 8, sequence & 0xff, 0, 0, 0, 1, 0, 0, 0, 7, 0x7c, sequence === 0 ? 0x85 : 0x05]);
    return bytes;
  };
  for (const source of sources) for (let sequence = 0; sequence < 1_500; sequence++) source.receiveRtp(0, packet(sequence));
  expect(media.total).toBeGreaterThan(1 << 20);
  expect(media.total).toBeLessThanOrEqual(4 << 20);
  const dropped = sources.filter((source) => source.counts(0).wrong > 0).length;
  expect(dropped).toBeGreaterThan(3);
  expect(dropped).toBeLessThan(8);
  for (const { stream } of sources) stream.end("it is over");
  expect(media.total).toBe(0);
});

it("[RTSP-204] nor do the segments of HLS: the oldest go first", async () => {
  const media = new CountedBudget(6 << 20);
  const stream = streamOf(new SharedBudget(1 << 30), "10.0.0.2");
  const paths = new Paths({ mostPaths: 10, replacePublishers: true });
  const faults = { registry: new Faults(), mostHeldBytes: 1 << 20 };
  const outputs = new HlsOutputs(paths, {
    segmentSeconds: 1,
    segmentCount: 7,
    mostBytes: 64 << 20,
    idleMs: 30_000,
    faults,
    media,
    turns: new WorkTurns(),
    places: new WaitingPlaces(100),
  });
  onEnd(() => outputs.close());
  const names = ["a", "b", "c"];
  for (const name of names) paths.add(name, { kind: "clip", title: name, stream, open: async () => stream, close: () => {} });
  const begun = names.map((name) => outputs.file(name, "index.m3u8"));
  await nextTurn();
  for (let index = 0; index < 30 * 25; index++) {
    stream.publish(picture(index, 20_000));
    expect(media.total).toBeLessThanOrEqual(6 << 20);
    if (index === 80) await Promise.all(begun);
  }
  expect(media.total).toBeGreaterThan(3 << 20);
  const texts = await Promise.all(names.map(async (name) => String((await outputs.file(name, "index.m3u8")).body)));
  expect(texts.every((text) => text.includes("segment-"))).toBe(true);
  outputs.close();
  expect(media.total).toBe(0);
});
