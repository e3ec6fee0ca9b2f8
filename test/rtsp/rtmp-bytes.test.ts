import { describe, expect, it } from "vitest";
import type { Frame, Track } from "../../servers/rtsp/media/track.ts";
import { AmfError, readAmf, writeAmf } from "../../servers/rtsp/rtmp/amf0.ts";
import { ChunkReader, messageType, RtmpError, type RtmpMessage, writeMessage } from "../../servers/rtsp/rtmp/chunk-stream.ts";
import { FlvError, FlvMedia } from "../../servers/rtsp/rtmp/flv-media.ts";
import { targetOf } from "../../servers/rtsp/rtmp/rtmp-target.ts";
import { seededRandom } from "../support/seeded-random.ts";

describe("bytes of RTMP", () => {
  it("[RTSP-191] a chunk has 128 bytes at least, and a message is kept in one piece of memory that grows with it", () => {
    const limits = { messageBytes: 8 << 20, chunkStreams: 64 };
    const chunkSize = (bytes: number) => Buffer.from([2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, bytes >> 8, bytes & 0xff]);
    for (const size of [0, 1, 127]) expect(() => [...new ChunkReader(limits).push(chunkSize(size))]).toThrow(RtmpError);
    const reader = new ChunkReader(limits);
    expect([...reader.push(chunkSize(128))]).toEqual([]);
    const length = 1 << 20;
    const payload = Buffer.from(Array.from({ length }, (_, index) => index & 0xff));
    const bytes = [Buffer.from([3, 0, 0, 0, 0x10, 0, 0, 9, 1, 0, 0, 0])];
    for (let at = 0; at < length; at += 128) bytes.push(payload.subarray(at, at + 128), Buffer.from([0xc3]));
    const [message] = [...reader.push(Buffer.concat(bytes.slice(0, -1)))];
    expect(message?.payload.equals(payload)).toBe(true);
    expect(message?.payload.buffer.byteLength).toBe(length);
  });

  it("[RTSP-191] a name of slashes costs no more than its length", () => {
    const slashes = "/".repeat(1 << 20);
    expect(targetOf("live", `${slashes}a${slashes}x`, "").path).toBe(`live/a${slashes}x`);
  });

  it("[RTSP-94] the path is the application and the name; the user is in either query, or in the server's URL", () => {
    expect(targetOf("live", "camera", "rtmp://host/live")).toEqual({ path: "live/camera", user: undefined, password: undefined });
    expect(targetOf("live", "a%20b?user=anna&pass=x%26y", "")).toEqual({ path: "live/a b", user: "anna", password: "x&y" });
    expect(targetOf("live?user=anna&pass=x", "", "")).toEqual({ path: "live", user: "anna", password: "x" });
    expect(targetOf("site/live/", "/a", "rtmp://anna:s%3As@host/site/live")).toEqual({
      path: "site/live/a",
      user: "anna",
      password: "s:s",
    });
    expect(targetOf("%zz", "a", "no URL")).toMatchObject({ path: "%zz/a" });
  });

  it("[RTSP-96] messages in chunks of any size are read in any pieces", () => {
    const random = seededRandom(11);
    const messages = Array.from({ length: 40 }, (_, index) => ({
      type: index % 2 === 0 ? messageType.video : messageType.audio,
      chunkStream: 3 as const,
      stream: 1,
      payload: Buffer.from(Array.from({ length: random.below(9_000) }, () => random.below(256))),
    }));
    const setSize = writeMessage({ type: messageType.setChunkSize, chunkStream: 2, stream: 0, payload: Buffer.from([0, 0, 16, 0]) });
    const bytes = Buffer.concat([setSize, ...messages.map(writeMessage)]);
    const reader = new ChunkReader({ messageBytes: 1 << 20, chunkStreams: 8 });
    const read: RtmpMessage[] = [];
    for (let at = 0; at < bytes.length; ) {
      const count = 1 + random.below(3_000);
      read.push(...reader.push(bytes.subarray(at, at + count)));
      at += count;
    }
    expect(read.map(({ type, payload }) => ({ type, payload }))).toEqual(messages.map(({ type, payload }) => ({ type, payload })));
  });

  it("[RTSP-96] headers without fields repeat those before; times go on over 2^24", () => {
    const reader = new ChunkReader({ messageBytes: 1 << 20, chunkStreams: 8 });
    const timesOf = (...bytes: readonly number[]) => [...reader.push(Buffer.from(bytes))].map(({ timestamp }) => timestamp);
    expect(timesOf(0x04, 0, 0, 100, 0, 0, 1, 8, 1, 0, 0, 0, 0xaa)).toEqual([100]);
    expect(timesOf(0x44, 0, 0, 20, 0, 0, 1, 8, 0xaa)).toEqual([120]);
    expect(timesOf(0x84, 0, 0, 30, 0xaa, 0xc4, 0xaa)).toEqual([150, 180]);
    expect(timesOf(0x04, 0xff, 0xff, 0xff, 0, 0, 1, 8, 1, 0, 0, 0, 0x7f, 0, 0, 0, 0xaa)).toEqual([0x7f00_0000]);
    expect(timesOf(0x44, 0, 0, 20, 0, 0, 1, 8, 0xaa)).toEqual([0x7f00_0014]);
  });

  it("[RTSP-97] no bytes make the readers fail in another way, hang, or keep more than their limits", () => {
    const random = seededRandom(5);
    const anyBytes = (most: number) => Buffer.from(Array.from({ length: random.below(most) }, () => random.below(256)));
    const valid = writeMessage({
      type: messageType.command,
      chunkStream: 3,
      stream: 0,
      payload: writeAmf(["connect", 1, { app: "live", list: { deep: { deeper: true } } }]),
    });
    const mutated = (bytes: Buffer) => {
      const copy = Buffer.from(bytes);
      for (let count = 1 + random.below(4); count > 0; count--) copy[random.below(copy.length)] = random.below(256);
      return copy;
    };
    for (let round = 0; round < 4_000; round++) {
      const reader = new ChunkReader({ messageBytes: 10_000, chunkStreams: 16 });
      const bytes = round % 2 === 0 ? anyBytes(600) : mutated(valid);
      try {
        for (const { payload } of reader.push(bytes)) {
          expect(payload.length).toBeLessThanOrEqual(10_000);
          readAmf(payload);
        }
      } catch (error) {
        if (!(error instanceof RtmpError || error instanceof AmfError)) throw error;
      }
    }
    for (let round = 0; round < 4_000; round++) {
      const media = new FlvMedia({ onTracks() {}, onTrack() {}, onFrame() {}, onWaiting() {} });
      try {
        for (let count = 0; count < 6; count++) {
          const kind = [messageType.video, messageType.audio, messageType.data][random.below(3)] ?? 9;
          const head = [0x17, 0x90, 0xaf, 0x27, 0x02][random.below(5)] ?? 0;
          media.push(kind, random.below(2 ** 32), Buffer.concat([Buffer.from([head, random.below(3)]), anyBytes(80)]));
        }
      } catch (error) {
        if (!(error instanceof FlvError)) throw error;
      }
    }
    const endless = new ChunkReader({ messageBytes: 10_000, chunkStreams: 16 });
    expect(() => {
      for (let id = 3; id < 40; id++)
        for (const _ of endless.push(Buffer.concat([Buffer.from([id, 0, 0, 0, 0, 0x27, 0x10, 9, 1, 0, 0, 0]), Buffer.alloc(128)])));
    }).toThrow(RtmpError);
  });

  it("[RTSP-98] frames have the times of the tags: pictures with both, sound without the rounding to milliseconds", () => {
    const frames: Frame[] = [];
    let tracks: readonly Track[] = [];
    const media = new FlvMedia({
      onTracks: (known) => (tracks = known),
      onTrack() {},
      onWaiting() {},
      onFrame: (frame) => void frames.push(frame),
    });
    const sps = Buffer.from("6742c01ed901e096e1000003000100000300320f162e48", "hex");
    const pps = Buffer.from("68cb83cb20", "hex");
    const length = (unit: Buffer) => Buffer.from([unit.length >> 8, unit.length & 0xff]);
    const record = Buffer.concat([Buffer.from([1, 0x42, 0xc0, 0x1e, 0xff, 0xe1]), length(sps), sps, Buffer.from([1]), length(pps), pps]);
    const unit = (type: number) => Buffer.from([0, 0, 0, 3, type, 1, 2]);
    media.push(messageType.data, 0, writeAmf(["@setDataFrame", "onMetaData", { videocodecid: 7, audiocodecid: 10 }]));
    media.push(messageType.video, 1_000, Buffer.concat([Buffer.from([0x17, 0, 0, 0, 0]), record]));
    media.push(messageType.video, 1_000, Buffer.concat([Buffer.from([0x17, 1, 0, 0, 80]), unit(0x65)]));
    expect(tracks).toEqual([]);
    media.push(messageType.audio, 1_000, Buffer.from([0xaf, 0, 0x11, 0x90]));
    expect(tracks.map(({ codec }) => codec)).toEqual(["h264", "aac"]);
    for (const [index, ms] of [1_000, 1_021, 1_043, 1_064].entries()) media.push(messageType.audio, ms, Buffer.from([0xaf, 1, index]));
    media.push(messageType.video, 1_040, Buffer.concat([Buffer.from([0x27, 1, 0xff, 0xff, 0xd8]), unit(0x41)]));
    expect(frames.map(({ track, pts, dts, isKey }) => [track, pts, dts, isKey])).toEqual([
      [0, 7_200, 0, true],
      ...[0, 1_024, 2_048, 3_072].map((pts) => [1, pts, pts, true]),
      [0, 0, 3_600, false],
    ]);
  });
});

it("[RTSP-242] what is encoded in a stream key belongs to the name; the first mark of a query that is not encoded begins the query", () => {
  for (const [app, key, expected] of [
    ["live", "a", { path: "live/a" }],
    ["live", "a%3Fb", { path: "live/a?b" }],
    ["live", "a%3Fb?user=ann&pass=c%3Fd", { path: "live/a?b", user: "ann", password: "c?d" }],
    ["live", "a;b", { path: "live/a;b" }],
    ["live", "a%3Bb?user=ann&pass=c;d%3Be", { path: "live/a;b", user: "ann", password: "c;d;e" }],
    ["live", "a?user=ann&pass=b?c%26d%3De%25f%2Bg", { path: "live/a", user: "ann", password: "b?c&d=e%f+g" }],
    ["live", "50%", { path: "live/50%" }],
    ["live?user=ann&pass=b", "a", { path: "live/a", user: "ann", password: "b" }],
    ["live/", "/a/b", { path: "live/a/b" }],
  ] as const) {
    expect(targetOf(app, key, "rtmp://127.0.0.1/live"), key).toEqual({ user: undefined, password: undefined, ...expected });
  }
  expect(targetOf("live", "a", "rtmp://ann:b%3Fc;d@127.0.0.1/live")).toMatchObject({ user: "ann", password: "b?c;d" });
});
