import { spawn } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import path from "node:path";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { HlsOutputs } from "../../servers/rtsp/management/hls-outputs.ts";
import { sendTransportStream } from "../../servers/rtsp/management/transport-stream-output.ts";
import type { Frame, Track } from "../../servers/rtsp/media/track.ts";
import { Paths } from "../../servers/rtsp/streams/paths.ts";
import { Stream } from "../../servers/rtsp/streams/stream.ts";
import { WaitingPlaces } from "../../servers/rtsp/streams/waiting-readers.ts";
import { httpRequest } from "../support/http-request.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { loop } from "./containers.ts";
import { onEnd, startRtsp } from "./harness.ts";
import { ffmpeg, lacksFfmpeg, runProgram } from "./media-programs.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

const video: Track = { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] };
const streamOf = (tracks: readonly Track[]) => {
  const stream = new Stream({
    tracks,
    clock: { ptsAt: () => 0 },
    packetBytes: 1_400,
    keptBytes: 1 << 20,
    media: new SharedBudget(1 << 30),
  });
  onEnd(() => stream.end("the test is over"));
  return stream;
};
const picture = (index: number, isKey = index % 25 === 0, bytes = 1_000): Frame => ({
  track: 0,
  units: [Buffer.alloc(bytes, isKey ? 0x65 : 0x41)],
  pts: index * 3_600,
  dts: index * 3_600,
  isKey,
});

/** An answer that is read at will. */
class Client extends PassThrough {
  writeHead() {
    return this;
  }
  get response() {
    return this as unknown as ServerResponse;
  }
}

const noFaults = { registry: new Faults(), mostHeldBytes: 1 << 20 };

const outputsOf = (first: Stream, ...others: Stream[]) => {
  const paths = new Paths({ mostPaths: 1, replacePublishers: true });
  const open = async () => (first.ended === undefined ? first : (others[0] ?? first));
  paths.add("a", { kind: "clip", title: "a", stream: first, open, close: () => {} });
  const outputs = new HlsOutputs(paths, {
    segmentSeconds: 1,
    segmentCount: 7,
    mostBytes: 64 << 20,
    idleMs: 30_000,
    faults: noFaults,
    media: new SharedBudget(1 << 30),
    turns: new WorkTurns(),
    places: new WaitingPlaces(100),
  });
  onEnd(() => outputs.close());
  return outputs;
};
const textOf = async (outputs: HlsOutputs) => String((await outputs.file("a", "index.m3u8")).body);

const work = () => new WorkTurns().connection("");

it("[RTSP-72] a stream is muxed from the first request on", async () => {
  const stream = streamOf([video]);
  const outputs = outputsOf(stream);
  const waiting = textOf(outputs);
  await until(() => stream.readers === 1);
  for (let index = 0; index < 80; index++) stream.publish(picture(index));
  expect((await waiting).match(/segment-\d+\.m4s/g)).toEqual(["segment-0.m4s", "segment-1.m4s", "segment-2.m4s"]);
  expect((await outputs.file("a", "segment-0.m4s")).body.length).toBeGreaterThan(25_000);
  expect(stream.bytesSent).toBeGreaterThan(25_000);
  outputs.close();
  expect(stream.readers).toBe(0);
});

it("[RTSP-136] the first playlist waits for three segments, and of long ones some seconds; players that were there before do not", async () => {
  const stream = streamOf([video]);
  const outputs = outputsOf(stream);
  let text: string | undefined;
  void textOf(outputs).then((playlist) => {
    text = playlist;
  });
  await until(() => stream.readers === 1);
  for (let index = 0; index < 60; index++) stream.publish(picture(index));
  await new Promise((resolve) => setImmediate(resolve));
  expect(text).toBeUndefined();
  for (let index = 60; index < 80; index++) stream.publish(picture(index));
  await until(() => text !== undefined);
  expect(text?.match(/segment-\d/g)).toHaveLength(3);
});

it("[RTSP-134] another publisher of the path begins another init segment and a discontinuity", async () => {
  const [first, second] = [streamOf([video]), streamOf([video])];
  const outputs = outputsOf(first, second);
  const waiting = textOf(outputs);
  await until(() => first.readers === 1);
  for (let index = 0; index < 80; index++) first.publish(picture(index));
  await waiting;
  first.end("the publisher has left");
  const next = textOf(outputs);
  await until(() => second.readers === 1);
  for (let index = 0; index < 60; index++) second.publish(picture(index));
  expect(await next).toMatch(/MEDIA-SEQUENCE:3\n[\s\S]*"init-3\.mp4"\n#EXT-X-DISCONTINUITY\n/);
});

it("[RTSP-134] other parameter sets begin another init segment and a discontinuity; those that cannot be read end the output", async () => {
  const stream = streamOf([video]);
  const outputs = outputsOf(stream);
  const waiting = textOf(outputs);
  await until(() => stream.readers === 1);
  for (let index = 0; index < 80; index++) stream.publish(picture(index));
  expect(await waiting).toContain('#EXT-X-MAP:URI="init.mp4"');
  stream.setTrack(0, { ...video, pps: [Buffer.from("68ee3cb0", "hex")] });
  const next = textOf(outputs);
  for (let index = 100; index < 165; index++) stream.publish(picture(index));
  expect(await next).toMatch(/#EXT-X-MAP:URI="init-3\.mp4"\n#EXT-X-DISCONTINUITY\n#EXTINF:1\.00000,\nsegment-3\.m4s/);
  expect((await outputs.file("a", "init-3.mp4")).body.toString("latin1", 4, 8)).toBe("ftyp");
  // Timestamps from anywhere do no harm.
  for (let index = 0; index < 100; index++) {
    stream.publish({ ...picture(index), pts: (index * 2 ** 40) % 2 ** 45, dts: (index % 7) * 2 ** 33 });
  }
  expect(stream.readers).toBe(1);
  stream.setTrack(0, { ...video, sps: [Buffer.from([0x67, 1])] });
  expect(stream.readers).toBe(0);
  await expect(outputs.file("a", "index.m3u8")).rejects.toMatchObject({ status: 503 });
});

it("[RTSP-72] a slow client of MPEG-TS is skipped to the next key frame, and closed when it takes nothing; others lose nothing", async () => {
  const { tracks, frames } = loop(assetFile("rtsp", "stream.mp4"), 1);
  const stream = streamOf(tracks);
  const limits = { unsentBytes: 50_000, stallMs: 60_000 };
  const reader = () => ({ sends: () => {}, end: () => {} });
  const faults = { ...noFaults, path: "a" };
  const read = (target: Client) => {
    const parts: Buffer[] = [];
    target.on("data", (chunk: Buffer) => parts.push(chunk));
    return () => Buffer.concat(parts);
  };
  const fast = new Client();
  const slow = new Client();
  const fastBytes = read(fast);
  sendTransportStream(stream, fast.response, limits, faults, work(), reader);
  sendTransportStream(stream, slow.response, limits, faults, work(), reader);
  for (const frame of frames) {
    stream.publish(frame);
    await new Promise(setImmediate);
  }
  expect(slow.writableLength).toBeLessThan(100_000);
  expect(fastBytes().length).toBeGreaterThan(500_000);
  const slowBytes = read(slow);
  await until(() => slow.writableLength === 0);
  const before = slowBytes().length;
  for (const frame of frames.slice(20, 200)) {
    stream.publish(frame);
    await new Promise(setImmediate);
  }
  // It goes on with the tables before a key frame.
  expect(slowBytes().readUInt16BE(before + 1) & 0x1fff).toBe(0);
  const stalled = new Client();
  sendTransportStream(stream, stalled.response, { ...limits, stallMs: 0 }, faults, work(), reader);
  const closed = once(stalled, "close");
  for (const frame of frames) {
    stream.publish(frame);
    await new Promise(setImmediate);
  }
  await closed;
  expect(stream.readers).toBe(2);
  for (const target of [fast, slow]) target.destroy();
  await until(() => stream.readers === 0);
});

it.skipIf(lacksFfmpeg)("[RTSP-72] pictures with B-frames of a publisher have rising times in HLS and MPEG-TS", async () => {
  const file = path.join(temporaryDir(), "b.mp4");
  const source = ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=10", "-f", "lavfi", "-i", "sine=440:r=48000:d=10"];
  await ffmpeg(...source, "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "3", "-g", "25", "-c:a", "aac", file);
  const server = await startRtsp();
  const publisher = spawn("ffmpeg", [
    "-v",
    "error",
    "-re",
    "-stream_loop",
    "-1",
    "-i",
    file,
    "-c",
    "copy",
    "-f",
    "rtsp",
    `${server.url}/live`,
  ]);
  onEnd(() => publisher.kill("SIGKILL"));
  await expect.poll(async () => (await httpRequest(`${server.httpUrl}/live/index.m3u8`)).status).toBe(200);
  for (const address of [`${server.httpUrl}/live/index.m3u8`, `${server.httpUrl}/live.ts`]) {
    const args = ["-v", "error", "-read_intervals", "%+4", "-show_packets", "-select_streams", "v", "-of", "json", address];
    const { stdout, stderr } = await runProgram("ffprobe", args);
    expect(stderr).toBe("");
    const { packets } = JSON.parse(stdout.toString()) as { packets: { pts_time: string; dts_time: string }[] };
    expect(packets.length).toBeGreaterThan(60);
    const times = packets.map(({ pts_time, dts_time }) => ({ pts: Number(pts_time), dts: Number(dts_time) }));
    for (const [index, { pts, dts }] of times.entries()) {
      expect(dts).toBeLessThanOrEqual(pts);
      if (index > 0) expect(dts).toBeGreaterThan(times[index - 1]?.dts ?? 0);
    }
    expect(times.some(({ pts, dts }) => pts - dts > 0.03)).toBe(true);
  }
});
