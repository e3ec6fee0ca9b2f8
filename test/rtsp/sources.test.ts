import { writeFileSync } from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { createLog } from "../../servers/core/service/log.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { openClip } from "../../servers/rtsp/media/mp4/open-clip.ts";
import type { Clip, Frame } from "../../servers/rtsp/media/track.ts";
import { createPacketizer } from "../../servers/rtsp/rtp/create-packetizer.ts";
import { ClipSource } from "../../servers/rtsp/streams/clip-source.ts";
import { RtpSource } from "../../servers/rtsp/streams/rtp-source.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { loop } from "./containers.ts";
import { ffmpeg, lacksFfmpeg } from "./media-programs.ts";
import { avcEntry, buildMp4, four, pictures } from "./mp4-builder.ts";

const limits = { packetBytes: 1_400, keptBytes: 1 << 20, media: new SharedBudget(1 << 30) };

function playing(clip: Clip, turns = new WorkTurns()) {
  const lines: string[] = [];
  const log = createLog({ level: () => "debug", write: ({ text }) => void lines.push(text) });
  const source = new ClipSource({ title: "a.mp4", clip, limits, work: turns.background(""), log });
  const frames: Frame[] = [];
  const ends: string[] = [];
  onTestFinished(() => source.close("the test is over"));
  const remove = source.stream.addFrameReader({ onFrame: (frame) => void frames.push(frame), onEnd: (reason) => void ends.push(reason) });
  return { source, frames, ends, lines, remove };
}

describe("a clip that is broken", () => {
  const samples = pictures(10);
  const broken = (index: number) => ({ bytes: Buffer.concat([four(9_999), Buffer.alloc(20)]), duration: 512, isSync: index === 0 });
  const clipOf = (isBroken: (index: number) => boolean): Clip => {
    const file = path.join(temporaryDir(), "a.mp4");
    const all = samples.map((sample, index) => (isBroken(index) ? broken(index) : sample));
    writeFileSync(file, buildMp4({ tracks: [{ handler: "vide", timescale: 12_800, entry: avcEntry(), samples: all }] }));
    return openClip(file);
  };

  it("[RTSP-37] frames that cannot be read are left out, with one line in the log", async () => {
    const { frames, lines } = playing(clipOf((index) => index === 3 || index === 9));
    await until(() => frames.length >= 20);
    expect(frames.slice(0, 16).map(({ units, pts }) => [units[0]?.[2], pts / 3_600])).toEqual([
      ...[0, 1, 2, 4, 5, 6, 7, 8].map((number) => [number, number]),
      ...[0, 1, 2, 4, 5, 6, 7, 8].map((number) => [number, 10 + number]),
    ]);
    expect(lines).toEqual([expect.stringMatching(/^a\.mp4: a frame is left out\. .* picture 4 is broken/)]);
  });

  it("[RTSP-37] a clip that cannot be read any more ends for its readers, and its path answers 503", async () => {
    const clip = clipOf(() => false);
    let isGone = false;
    const frameCount = 1_000;
    const failing: Clip = {
      ...clip,
      frameCount,
      frame(index) {
        if (isGone) throw new Error("EIO: i/o error, read");
        return { ...clip.frame(index % 10), pts: index * 360, dts: index * 360 };
      },
    };
    const { source, frames, ends, lines } = playing(failing);
    await until(() => frames.length >= 5);
    isGone = true;
    await until(() => ends.length > 0);
    expect(ends).toEqual(["the clip cannot be read"]);
    expect(lines).toEqual([expect.stringContaining("a frame is left out"), "a.mp4 is no longer played. EIO: i/o error, read"]);
    await expect(source.open()).rejects.toMatchObject({ status: 503 });
  });
});

describe("a clip with thousands of frames for one time", () => {
  const samples = pictures(2_002);

  it("[RTSP-218] is played in turns, and so are frames that cannot be read", async () => {
    const file = path.join(temporaryDir(), "a.mp4");
    writeFileSync(file, buildMp4({ tracks: [{ handler: "vide", timescale: 12_800, entry: avcEntry(), samples: pictures(10) }] }));
    const clip = openClip(file);
    let reads = 0;
    const together: Clip = {
      ...clip,
      frameCount: 5_000,
      durationSeconds: 3_600,
      frame(index) {
        reads++;
        if (index % 200 > 100) throw new Error("broken");
        return { ...clip.frame(0), pts: 0, dts: 0 };
      },
    };
    // A tenth of a millisecond passes at each look.
    let nowMs = 0;
    const turns = new WorkTurns(() => (nowMs += 0.1));
    onTestFinished(() => turns.close());
    const { frames } = playing(together, turns);
    let most = reads;
    while (frames.length < 2_500) {
      const before = reads;
      await nextTurn();
      most = Math.max(most, reads - before);
    }
    expect(most).toBeLessThan(60);
  });

  it("[RTSP-218] is refused", () => {
    const opened = (count: number) => {
      const file = path.join(temporaryDir(), "a.mp4");
      const all = samples.map((sample, index) => ({ ...sample, duration: index === 0 || index > count ? 12_800 : 1 }));
      writeFileSync(file, buildMp4({ tracks: [{ handler: "vide", timescale: 12_800, entry: avcEntry(), samples: all }] }));
      openClip(file).close();
    };
    opened(1_990);
    expect(() => opened(2_002)).toThrow("more than 2000 frames within a second");
  });
});

it("[RTSP-228] a pause of the source is no part of a group of pictures, and the figures of the one before it stay", async () => {
  const file = path.join(temporaryDir(), "a.mp4");
  writeFileSync(file, buildMp4({ tracks: [{ handler: "vide", timescale: 12_800, entry: avcEntry(), samples: pictures(10) }] }));
  const { source, remove } = playing(openClip(file));
  const { stream } = source;
  const figures: (readonly [number, number])[] = [];
  let frames = 0;
  const keys = { onFrame: ({ isKey }: Frame) => void (isKey && figures.push([stream.groupFrames, stream.groupSeconds])), onEnd: () => {} };
  const pausing = stream.addFrameReader({
    onFrame: () => {
      // In the middle of a group.
      if (++frames === 13) pausing();
    },
    onEnd: () => {},
  });
  remove();
  await until(() => stream.readers === 0);
  stream.addFrameReader(keys);
  await until(() => figures.length === 2);
  expect(figures).toEqual(Array.from({ length: 2 }, () => [5, expect.closeTo(0.2)]));
});

describe("a publisher's stream", () => {
  it.skipIf(lacksFfmpeg)("[RTSP-124] with B-frames has rising times of decoding, which are its own but for a constant", async () => {
    const file = path.join(temporaryDir(), "b.mp4");
    const encoder = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "3", "-g", "25"];
    await ffmpeg("-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=2", ...encoder, file);
    const { tracks, frames } = loop(file, 2);
    const [track] = tracks;
    if (!track) throw new Error("The clip has no track.");
    const source = new RtpSource({
      ...limits,
      tracks: [{ track, payloadType: 96, isLatm: false, parameters: {}, control: "" }],
      isUnordered: false,
    });
    const received: Frame[] = [];
    source.stream.addFrameReader({ onFrame: (frame) => void received.push(frame), onEnd: () => {} });
    const packetizer = createPacketizer(track, { track: 0, payloadType: 96, packetBytes: 1_400 });
    for (const frame of frames) {
      const { bytes, offsets } = packetizer.packetize(frame);
      for (const [index, offset] of offsets.entries()) source.receiveRtp(0, bytes.subarray(offset + 4, offsets[index + 1]));
    }
    expect(received.length).toBe(frames.length);
    const behind = frames.map(({ pts, dts }) => pts - dts);
    // The first ones are decoded before a picture's duration is known.
    expect(received.map(({ pts, dts }) => pts - dts).slice(3)).toEqual(behind.slice(3));
    for (const [index, { dts }] of received.entries()) if (index > 0) expect(dts).toBeGreaterThan(received[index - 1]?.dts ?? 0);
    source.stream.end("the test is over");
  });
});
