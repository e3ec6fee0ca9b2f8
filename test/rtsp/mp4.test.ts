import { truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../servers/core/service/service-error.ts";
import { clipOfBytes, openClip } from "../../servers/rtsp/media/mp4/open-clip.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { ffmpeg, hasEncoder, lacksFfmpeg, runProgram } from "./media-programs.ts";
import {
  aacEntry,
  avcConfig,
  avcEntry,
  type BuiltFile,
  type BuiltTrack,
  buildMp4,
  four,
  h264Pps,
  h264Sps,
  lengthPrefixed,
  mp4Box,
  pictures,
} from "./mp4-builder.ts";
import { allFrames, fragmented, mono, ofTrack, sound, video } from "./mp4-samples.ts";

function refusal(bytes: Buffer): { code: string; message: string; hint: string } {
  try {
    clipOfBytes(bytes).close();
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, message: error.message, hint: error.hint };
    throw error;
  }
  throw new Error("The file was opened.");
}

describe("reading MP4", () => {
  const layouts: readonly [string, Omit<BuiltFile, "tracks">][] = [
    ["moov first", {}],
    ["moov last", { isMovieLast: true }],
    ["sizes and offsets of 64 bits", { isLong: true }],
    ["one sample in a chunk", { samplesPerChunk: 1, isMovieLast: true, isLong: true }],
    ["all samples in one chunk, behind other bytes", { samplesPerChunk: 100, gap: 1_000 }],
  ];
  it.each(layouts)("[RTSP-100] %s: frames in the order of decoding, on the clock of their track", (_, layout) => {
    const clip = clipOfBytes(buildMp4({ tracks: [video, sound], ...layout }));
    expect(clip.tracks).toEqual([
      { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] },
      { kind: "audio", codec: "aac", clockRate: 48_000, channels: 1, config: mono },
    ]);
    expect(clip.durationSeconds).toBe(0.4);
    expect(clip.frameCount).toBe(28);
    const shown = ofTrack(clip, 0);
    expect(shown.map(({ pts, dts, isKey, units }) => ({ pts, dts, isKey, units: units.map((unit) => unit[2]) }))).toEqual(
      // Without the delimiters.
      Array.from({ length: 10 }, (_, index) => ({ pts: index * 3_600, dts: index * 3_600, isKey: index % 5 === 0, units: [index] })),
    );
    expect(ofTrack(clip, 1).map(({ pts, isKey, units }) => ({ pts, isKey, bytes: units[0]?.[0] }))).toEqual(
      Array.from({ length: 18 }, (_, index) => ({ pts: index * 1_024, isKey: true, bytes: 0x80 + index })),
    );
    const seconds = allFrames(clip).map(({ track, dts }) => dts / (track === 0 ? 90_000 : 48_000));
    expect(seconds).toEqual([...seconds].sort((one, other) => one - other));
    clip.close();
  });

  it("[RTSP-100] of several tracks the first that can be streamed is taken; a disabled one and other kinds are passed over", () => {
    const text: BuiltTrack = {
      handler: "text",
      timescale: 1_000,
      entry: mp4Box("tx3g"),
      samples: [{ bytes: Buffer.from("hi"), duration: 400 }],
    };
    const disabled = { ...video, samples: pictures(3), isDisabled: true };
    const other = { ...sound, entry: mp4Box("ac-3", Buffer.alloc(28)) };
    const clip = clipOfBytes(buildMp4({ tracks: [text, disabled, other, video, sound] }));
    expect(clip.tracks.map(({ codec }) => codec)).toEqual(["h264", "aac"]);
    expect(clip.frameCount).toBe(28);
  });

  it("[RTSP-100] parameter sets are found in the first picture where the sample entry has none", () => {
    const [first, ...rest] = pictures(10);
    const bytes = Buffer.concat([lengthPrefixed(h264Sps, h264Pps), first?.bytes ?? Buffer.alloc(0)]);
    const entry = mp4Box("avc3", Buffer.alloc(78), mp4Box("avcC", Buffer.from([1, 0x64, 0, 0x1e, 0xff, 0xe0, 0])));
    const clip = clipOfBytes(buildMp4({ tracks: [{ ...video, entry, samples: [{ bytes, duration: 512, isSync: true }, ...rest] }] }));
    expect(clip.tracks).toEqual([{ kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] }]);
    expect(clip.frame(0).units.map((unit) => unit[0])).toEqual([0x65]);
  });

  it("[RTSP-100] NAL units may have lengths of one and two bytes", () => {
    for (const bytes of [1, 2] as const) {
      const samples = pictures(10).map((sample) => ({ ...sample, bytes: shortLengths(sample.bytes, bytes) }));
      const clip = clipOfBytes(buildMp4({ tracks: [{ ...video, entry: avcEntry(avcConfig(bytes)), samples }] }));
      expect(ofTrack(clip, 0).map(({ units }) => units[0]?.[2])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
  });

  it("[RTSP-100] a file that was written in fragments, also one that was cut off", () => {
    const bytes = fragmented();
    const clip = clipOfBytes(bytes);
    const shown = ofTrack(clip, 0);
    expect(shown.map(({ pts, dts, isKey, units }) => [pts, dts, isKey, units[0]?.[2]])).toEqual(
      Array.from({ length: 20 }, (_, index) => [index * 3_600, index * 3_600, index % 5 === 0, index % 10]),
    );
    expect(ofTrack(clip, 1).map(({ pts }) => pts)).toEqual(
      Array.from({ length: 36 }, (_, index) => index * 1_024 + Math.floor(index / 18) * 768),
    );
    // The last fragment is not whole: its frames are, as far as their bytes are there.
    const cut = clipOfBytes(bytes.subarray(0, bytes.length - 40));
    expect(cut.frameCount).toBeLessThan(clip.frameCount);
    expect(allFrames(cut).length).toBe(cut.frameCount);
  });

  it("[RTSP-101] a late track stays late; priming and what is behind the end are left out", () => {
    const edited = {
      ...sound,
      edits: [
        { duration: 80, mediaTime: -1 },
        { duration: 320, mediaTime: 1_024 },
      ],
    };
    const clip = clipOfBytes(buildMp4({ tracks: [video, edited] }));
    const sounds = ofTrack(clip, 1);
    // The first frame is priming; 15 frames are 320 ms.
    expect(sounds.map(({ units }) => units[0]?.[0])).toEqual(Array.from({ length: 15 }, (_, index) => 0x81 + index));
    expect(sounds.map(({ pts }) => pts)).toEqual(Array.from({ length: 15 }, (_, index) => 3_840 + index * 1_024));
    expect(clip.durationSeconds).toBe(0.4);
  });

  it("[RTSP-101] pictures begin with the key frame that the first shown one needs", () => {
    const edited = { ...video, edits: [{ duration: 120, mediaTime: 7 * 512 }] };
    const clip = clipOfBytes(buildMp4({ tracks: [edited] }));
    expect(ofTrack(clip, 0).map(({ pts, isKey, units }) => [pts, isKey, units[0]?.[2]])).toEqual([
      [0, true, 5],
      [3_600, false, 6],
      [7_200, false, 7],
      [10_800, false, 8],
      [14_400, false, 9],
    ]);
  });

  it("[RTSP-102] reordered pictures have both times, and a pass begins where the one before ended", () => {
    // Decoded I P B B P B B …, shown two pictures later.
    const order = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8];
    const samples = pictures(10, 10).map((sample, index) => ({ ...sample, displayOffset: ((order[index] ?? 0) - index + 2) * 512 }));
    const clip = clipOfBytes(buildMp4({ tracks: [{ ...video, samples, edits: [{ duration: 400, mediaTime: 1_024 }] }, sound] }));
    const shown = ofTrack(clip, 0);
    expect(shown.map(({ dts }) => dts)).toEqual(Array.from({ length: 10 }, (_, index) => index * 3_600));
    expect(shown.map(({ pts }) => pts)).toEqual(order.map((place) => (place + 2) * 3_600));
    // The sound is as late as the pictures are shown.
    expect(ofTrack(clip, 1)[0]?.pts).toBe(3_840);
    expect(clip.durationSeconds).toBeCloseTo(0.4, 9);
  });

  it("[RTSP-261] pictures that the file shows before it decodes them are decoded earlier, and no time changes against the sound", () => {
    const order = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8];
    const samples = pictures(10, 10).map((sample, index) => ({ ...sample, displayOffset: ((order[index] ?? 0) - index) * 512 }));
    const clip = clipOfBytes(
      buildMp4({
        tracks: [
          { ...video, samples },
          { ...sound, edits: [] },
        ],
      }),
    );
    const shown = ofTrack(clip, 0);
    expect(shown.map(({ dts }) => dts)).toEqual(Array.from({ length: 10 }, (_, index) => index * 3_600));
    expect(shown.map(({ pts }) => pts)).toEqual(order.map((place) => (place + 1) * 3_600));
    expect(ofTrack(clip, 1)[0]?.pts).toBe(1_920);
    expect(clip.durationSeconds).toBeCloseTo(0.4, 1);
  });

  const refused: readonly [string, BuiltTrack[], string, string][] = [
    [
      "VP9",
      [{ ...video, entry: mp4Box("vp09", Buffer.alloc(78)) }, sound],
      "The file has VP9; ",
      "-c:v libx264 -pix_fmt yuv420p -bf 0 -g 50 -c:a copy",
    ],
    [
      "AV1 and MP3",
      [
        { ...video, entry: mp4Box("av01", Buffer.alloc(78)) },
        { ...sound, entry: aacEntry(Buffer.alloc(0), 0x6b) },
      ],
      "The file has AV1 and MP3; ",
      "-c:a aac",
    ],
    ["AC-3", [video, { ...sound, entry: mp4Box("ac-3", Buffer.alloc(28)) }], "The file has AC-3; ", "-c:v copy -c:a aac"],
    ["an unknown format", [{ ...video, entry: mp4Box("x\u0001zz", Buffer.alloc(78)) }], 'The file has the format "x.zz"; ', "-c:v libx264"],
    ["no media", [{ ...video, handler: "text" }], "The file has neither pictures nor sound.", "-c:v libx264"],
  ];
  it.each(refused)("[RTSP-103] %s is refused with the line that converts it", (_, tracks, found, line) => {
    const { code, message, hint } = refusal(buildMp4({ tracks }));
    expect(code).toBe("MEDIA_UNSUPPORTED");
    expect(message).toContain(found);
    expect(hint).toContain(`ffmpeg -i FILE ${line.startsWith("-c:v") ? line : ""}`);
    expect(hint).toContain(line);
  });

  it("[RTSP-103] what is no MP4 file is refused as such", () => {
    for (const [bytes, message] of [
      [Buffer.from("RIFF\u0010\u0000\u0000\u0000AVI LIST"), "The file is AVI, not MP4."],
      [Buffer.from("1a45dfa3a3428681", "hex"), "The file is Matroska or WebM, not MP4."],
      [Buffer.alloc(200, 0x47), "The file is MPEG-TS, not MP4."],
      [Buffer.from("a text of some length"), "The file is no MP4 file."],
    ] as const) {
      expect(refusal(bytes)).toMatchObject({ code: "MEDIA_UNSUPPORTED", message });
    }
  });

  const lies: readonly [string, string, number, number, RegExp][] = [
    ["more samples than sizes", "stsz", 8, 1_000, /declares 1000 samples and has sizes for fewer/],
    ["more samples than there may be", "stsz", 8, 0x7fff_ffff, /at most 4000000/],
    ["a sample of 2 GB", "stsz", 12, 0x7fff_ffff, /a sample has 2147483647 bytes/],
    ["a sample beyond the end", "stsz", 12, 1 << 20, /sample 1 of 10 lies beyond the end/],
    ["more times than its box has", "stts", 4, 0x1000_0000, /declares 268435456 entries/],
    ["too few times", "stts", 4, 3, /only 3 of 10 samples have a time/],
    ["a sample of days", "stts", 12, 0x7fff_ffff, /longer than an hour/],
    ["a key frame that is none of its samples", "stss", 8, 11, /sample 11 is a key frame, and there are 10/],
    ["a chunk beyond the end", "stco", 8, 0x7fff_0000, /lies beyond the end of the file/],
    ["no samples in its chunks", "stsc", 12, 0, /only 0 of 10 samples have a place/],
    ["a first chunk that is not described", "stsc", 8, 2, /first chunk is not described/],
    ["another format on the way", "stsc", 16, 2, /changes its format/],
    ["a timescale of zero", "mdhd", 12, 0, /timescale of a track is zero/],
    ["a timescale of the movie of zero", "mvhd", 12, 0, /timescale is zero/],
    ["no formats", "stsd", 4, 0, /does not declare its format/],
    ["a box that is longer than its parent", "stbl", -8, 0x7fff_ffff, /the box "stbl" has 2147483647 bytes/],
    ["a box that is shorter than its head", "mdia", -8, 4, /the box "mdia" has 4 bytes/],
    ["a moov box that is not all there", "moov", -8, 0x0fff_ffff, /moov box has 268435455 bytes|ends within its moov box/],
  ];
  it.each(lies)("[RTSP-104] a file that declares %s", (_, type, at, value, expected) => {
    const { code, message } = refusal(changed(buildMp4({ tracks: [video] }), type, at, value));
    expect(code).toBe("MEDIA_DAMAGED");
    expect(message).toMatch(expected);
  });

  it("[RTSP-104] pictures whose units do not fit, and clips without a length or with too many frames", () => {
    const broken = video.samples.map((sample) => ({ ...sample, bytes: Buffer.concat([four(1_000), sample.bytes]) }));
    expect(refusal(buildMp4({ tracks: [{ ...video, samples: broken }] })).message).toMatch(/picture 1 is broken: a NAL unit of 1000 bytes/);
    const clip = clipOfBytes(
      buildMp4({ tracks: [{ ...video, samples: video.samples.map((sample, index) => (index < 4 ? sample : (broken[index] ?? sample))) }] }),
    );
    expect(() => clip.frame(3)).not.toThrow();
    expect(() => clip.frame(4)).toThrow(/picture 5 is broken/);
    expect(refusal(buildMp4({ tracks: [{ ...video, samples: pictures(10, 5, 0) }] })).message).toMatch(/lasts 0 seconds/);
    expect(refusal(buildMp4({ tracks: [{ ...video, samples: pictures(300, 5, 5) }] })).message).toMatch(
      /has 300 frames in 0.117\d* seconds/,
    );
    expect(refusal(buildMp4({ tracks: [{ ...sound, samples: [{ bytes: Buffer.alloc(9_000), duration: 48_000 }] }] })).message).toMatch(
      /a frame of sound has 9000 bytes/,
    );
    expect(refusal(buildMp4({ tracks: [{ ...sound, edits: [{ duration: 10, mediaTime: 1 << 30 }] }] })).message).toMatch(/leaves nothing/);
    expect(
      refusal(Buffer.concat([mp4Box("ftyp"), mp4Box("moov", ...Array.from({ length: 20_000 }, () => mp4Box("free")))])).message,
    ).toMatch(/more than 10000 others/);
    const large = Buffer.concat([four(2 << 20), Buffer.alloc(2 << 20)]);
    expect(
      refusal(buildMp4({ tracks: [{ ...video, samples: pictures(10, 5, 128).map((one) => ({ ...one, bytes: large })) }] })).message,
    ).toMatch(/has 20971560 bytes of media in 0.1 seconds/);
    const empty = { ...video, samples: video.samples.map((one) => ({ ...one, bytes: Buffer.alloc(4 * 4_097) })) };
    expect(refusal(buildMp4({ tracks: [empty] })).message).toMatch(/more than 4096 NAL units/);
    expect(refusal(buildMp4({ tracks: [video] }).subarray(0, 900)).code).toBe("MEDIA_DAMAGED");
    const cut = buildMp4({ tracks: [video], isMovieLast: true, gap: 1_000 }).subarray(0, 500);
    expect(refusal(cut).message).toMatch(/cut off/);
  });

  it("[RTSP-105] no changed bytes make it fail in another way", () => {
    const files = [
      buildMp4({ tracks: [{ ...video, edits: [{ duration: 400, mediaTime: 0 }] }, sound] }),
      buildMp4({ tracks: [{ ...sound, edits: [{ duration: 10, mediaTime: -1 }] }, video], isMovieLast: true, isLong: true }),
      fragmented(),
    ];
    const random = seededRandom(11);
    let opened = 0;
    for (let round = 0; round < 6_000; round++) {
      const bytes = Buffer.from(files[round % files.length] ?? Buffer.alloc(0));
      for (let changes = 1 + random.below(4); changes > 0; changes--) {
        const at = random.below(bytes.length);
        // Whole fields, and numbers at the limits of their width, more often than chance would have it.
        if (random.chance(0.4)) bytes[at] = random.below(256);
        else if (at + 4 <= bytes.length)
          bytes.writeUInt32BE([0, 1, 0x7fff_ffff, 0xffff_ffff, 0x8000_0000, random.below(2 ** 32)][random.below(6)] ?? 0, at);
      }
      const part = random.chance(0.1) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
      try {
        const clip = clipOfBytes(part);
        opened++;
        for (let index = 0; index < clip.frameCount; index += 3) {
          const { pts, dts } = clip.frame(index);
          if (!Number.isSafeInteger(pts) || !Number.isSafeInteger(dts)) throw new Error(`pts ${pts}, dts ${dts}`);
        }
      } catch (error) {
        if (!(error instanceof ServiceError)) throw new Error(`Round ${round}: ${error}`, { cause: error });
      }
    }
    expect(opened).toBeGreaterThan(500);
  });

  it("[RTSP-106] of a file of 6 GB only the index is read", () => {
    const file = path.join(temporaryDir(), "large.mp4");
    const bytes = buildMp4({ tracks: [video, sound] });
    const far = 6 * 2 ** 30;
    // The media end where they did; the rest of the file is a hole.
    writeFileSync(file, bytes);
    truncateSync(file, far);
    const before = process.memoryUsage().arrayBuffers;
    const clip = openClip(file);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 << 20);
    expect(clip.frameCount).toBe(28);
    expect(clip.frame(27).units[0]?.[0]).toBe(0x80 + 17);
    clip.close();
    expect(() => clip.frame(0)).toThrow();
  });
});

describe.skipIf(lacksFfmpeg)("files of ffmpeg", () => {
  const source = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=2", "-f", "lavfi", "-i", "sine=440:r=44100:d=2", "-ac", "2"];
  const encoded: readonly [string, readonly string[], string][] = [
    ["B-frames", ["-c:v", "libx264", "-bf", "3", "-c:a", "aac"], "h264"],
    ["moov first", ["-c:v", "libx264", "-c:a", "aac", "-movflags", "+faststart"], "h264"],
    [
      "fragments",
      ["-c:v", "libx264", "-bf", "2", "-g", "10", "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov+default_base_moof"],
      "h264",
    ],
    ["fragments with offsets from the file", ["-c:v", "libx264", "-c:a", "aac", "-movflags", "frag_keyframe"], "h264"],
    ["QuickTime", ["-c:v", "libx264", "-c:a", "aac", "-f", "mov"], "h264"],
    ["H.265", ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hvc1", "-c:a", "aac"], "h265"],
    ["H.265 with parameter sets in band", ["-c:v", "libx265", "-x265-params", "log-level=none", "-tag:v", "hev1", "-c:a", "aac"], "h265"],
  ];
  it.each(encoded)("[RTSP-100] %s: all frames with the times that ffprobe has", async (_, args, codec) => {
    const encoder = args[args.indexOf("-c:v") + 1] ?? "";
    if (!hasEncoder(encoder)) return;
    const file = path.join(temporaryDir(), "a.mp4");
    await ffmpeg(...source, "-pix_fmt", "yuv420p", ...args, file);
    const clip = openClip(file);
    expect(clip.tracks.map((track) => track.codec)).toEqual([codec, "aac"]);
    expect(clip.tracks[1]).toMatchObject({ channels: 2, clockRate: 44_100 });
    const { stdout } = await runProgram("ffprobe", ["-v", "error", "-show_packets", "-of", "json", file]);
    const { packets } = JSON.parse(stdout.toString()) as {
      packets: { stream_index: number; pts_time: string; dts_time: string; flags: string }[];
    };
    for (const track of [0, 1]) {
      const clockRate = clip.tracks[track]?.clockRate ?? 1;
      const shown = allFrames(clip).filter((frame) => frame.track === track);
      // ffprobe lists the priming with a mark to discard it.
      const expected = packets.filter((packet) => packet.stream_index === track && !packet.flags.includes("D"));
      expect(shown.length).toBe(expected.length);
      const shift = (shown[0]?.pts ?? 0) / clockRate - Number(expected[0]?.pts_time);
      for (const [index, { pts, dts, isKey }] of shown.entries()) {
        const packet = expected[index];
        expect(Math.abs(pts / clockRate - shift - Number(packet?.pts_time))).toBeLessThan(0.001);
        expect(Math.abs(dts / clockRate - shift - Number(packet?.dts_time))).toBeLessThan(0.001);
        if (track === 0) expect(isKey).toBe(packet?.flags.startsWith("K"));
      }
    }
    clip.close();
  });
});

function shortLengths(sample: Buffer, bytes: 1 | 2): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < sample.length; ) {
    const length = sample.readUInt32BE(at);
    const head = Buffer.alloc(bytes);
    head.writeUIntBE(length, 0, bytes);
    parts.push(head, sample.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return Buffer.concat(parts);
}

/** Changes four bytes of the first box of a type; `at` counts from the end of its head. */
function changed(bytes: Buffer, type: string, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32BE(value, copy.indexOf(type, 0, "latin1") + 4 + at);
  return copy;
}
