import { describe, expect, it } from "vitest";
import { parseAacConfig, writeAdtsHeader } from "../../servers/rtsp/media/aac.ts";
import { DecodeTimes } from "../../servers/rtsp/media/decode-times.ts";
import { h264CodecString, h264DecoderConfig, h264ProfileLevelId, parseH264Sps } from "../../servers/rtsp/media/h264.ts";
import { h265CodecString, h265DecoderConfig, parseH265Sps } from "../../servers/rtsp/media/h265.ts";
import { openClip } from "../../servers/rtsp/media/mp4/open-clip.ts";
import { joinLengthPrefixed, splitLengthPrefixed, withoutEmulationPrevention } from "../../servers/rtsp/media/nal-units.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { ffmpeg, hasEncoder, lacksFfmpeg, runProgram } from "./media-programs.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

const hex = (text: string) => Buffer.from(text, "hex");
const h265Vps = hex("40010c01ffff01600000030090000003000003003f959809");
const h265Sps = hex("420101016000000300900000030000030 03fa00502016965959a4932bc05a020000003002000000303c1".replaceAll(" ", ""));
const h265Pps = hex("4401c172b46240");

const programConfig = bits(
  // LC, 48 kHz, no channel configuration; 1,024 samples.
  "00010 0011 0000 0 0 0",
  // One front, no side, one back and one low-frequency element; no mixdowns; the front one is a pair.
  "0000 01 0011 0001 0000 0001 01 000 0000 0 0 0 1 0000 0 0001 0000",
);

function bits(...groups: readonly string[]): string {
  const all = groups.join("").replaceAll(" ", "");
  const padded = all.padEnd(8 * Math.ceil(all.length / 8), "0");
  return Buffer.from((padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))).toString("hex");
}

describe("parameter sets", () => {
  it("[RTSP-107] H.264", () => {
    expect(parseH264Sps(h264Sps)).toMatchObject({ profileIdc: 100, levelIdc: 30, chromaFormat: 1, lumaBits: 8, width: 640, height: 360 });
    expect(h264ProfileLevelId(h264Sps)).toBe("64001E");
    expect(h264CodecString(h264Sps)).toBe("avc1.64001E");
    expect(h264DecoderConfig(h264Sps, h264Pps).toString("hex")).toBe(
      `0164001effe1${h264Sps.length.toString(16).padStart(4, "0")}${h264Sps.toString("hex")}01${h264Pps.length.toString(16).padStart(4, "0")}${h264Pps.toString("hex")}fdf8f800`,
    );
  });

  it("[RTSP-107] H.265", () => {
    expect(parseH265Sps(h265Sps)).toMatchObject({
      chromaFormat: 1,
      lumaBits: 8,
      width: 640,
      height: 360,
      profile: { profileIdc: 1, levelIdc: 63 },
    });
    expect(h265CodecString(h265Sps)).toBe("hvc1.1.6.L63.90");
    const config = h265DecoderConfig(h265Vps, h265Sps, h265Pps);
    expect(config.length).toBe(23 + 3 * 5 + h265Vps.length + h265Sps.length + h265Pps.length);
    expect(config.subarray(0, 13).toString("hex")).toBe("0101600000009000000000003f");
  });

  const audio: readonly [string, string, Partial<ReturnType<typeof parseAacConfig>>][] = [
    ["LC, 48 kHz, stereo", "1190", { objectType: 2, sampleRate: 48_000, channels: 2, samplesPerFrame: 1_024 }],
    ["LC, 44.1 kHz, mono", "1208", { objectType: 2, sampleRate: 44_100, channels: 1 }],
    ["LC with 960 samples", "1194", { samplesPerFrame: 960 }],
    ["7.1", "11b8", { channels: 8 }],
    ["a rate of its own: 50 kHz", "178061a810", { sampleRate: 50_000, channels: 2 }],
    ["SBR, declared", "2b920800", { objectType: 2, sampleRate: 44_100, coreSampleRate: 22_050, channels: 2 }],
    ["PS, declared: mono is stereo", "eb8a0800", { objectType: 2, sampleRate: 44_100, coreSampleRate: 22_050, channels: 2 }],
    ["a program config: a pair before, one behind, and a low-frequency one", programConfig, { channels: 4 }],
  ];
  it.each(audio)("[RTSP-107] AudioSpecificConfig: %s", (_, config, expected) => {
    expect(parseAacConfig(hex(config))).toMatchObject(expected);
  });

  it("[RTSP-107] what is no AAC that can be streamed is refused", () => {
    for (const config of ["", "11", "f8000000", "1178", "0590", "1e90"]) expect(() => parseAacConfig(hex(config))).toThrow(RangeError);
    const config = parseAacConfig(hex("1190"));
    expect(writeAdtsHeader(config, 100).toString("hex")).toBe("fff14c800d7ffc");
    expect(() => writeAdtsHeader(config, 8_185)).toThrow(RangeError);
  });

  it("[RTSP-107] emulation prevention bytes are left out, and lengths go both ways", () => {
    expect(withoutEmulationPrevention(hex("00000301000003000003")).toString("hex")).toBe("00000100000000");
    const units = [hex("65aa"), hex("06"), Buffer.alloc(70_000, 1)];
    expect(splitLengthPrefixed(joinLengthPrefixed(units), 4)).toEqual(units);
  });

  it("[RTSP-105] no bytes make the parsers of parameter sets fail in another way", () => {
    const random = seededRandom(7);
    const seeds: readonly [Buffer, (bytes: Buffer) => unknown][] = [
      [h264Sps, parseH264Sps],
      [h265Sps, parseH265Sps],
      [hex(programConfig), parseAacConfig],
    ];
    for (let round = 0; round < 30_000; round++) {
      const [seed, parse] = seeds[round % seeds.length] ?? [h264Sps, parseH264Sps];
      const bytes = Buffer.from(seed);
      for (let changes = 1 + random.below(6); changes > 0; changes--) bytes[random.below(bytes.length)] = random.below(256);
      try {
        parse(random.chance(0.2) ? bytes.subarray(0, random.below(bytes.length)) : bytes);
      } catch (error) {
        if (!(error instanceof RangeError)) throw new Error(`Round ${round}: ${error}`, { cause: error });
      }
    }
  });

  it.skipIf(lacksFfmpeg)("[RTSP-107] size and reordering are those that ffprobe finds", async () => {
    const dir = temporaryDir();
    const variants: readonly (readonly [string, readonly string[]])[] = [
      ["libx264", ["-s", "318x178", "-pix_fmt", "yuv420p", "-profile:v", "baseline"]],
      ["libx264", ["-s", "640x360", "-pix_fmt", "yuv420p", "-bf", "3"]],
      ["libx264", ["-s", "322x182", "-pix_fmt", "yuv444p", "-bf", "1"]],
      ["libx264", ["-s", "322x182", "-pix_fmt", "yuv422p10", "-bf", "0"]],
      [
        "libx264",
        [
          "-s",
          "320x240",
          "-pix_fmt",
          "yuv420p",
          "-flags",
          "+ildct+ilme",
          "-bf",
          "2",
          "-x264-params",
          "b-pyramid=none:nal-hrd=vbr:vbv-maxrate=500:vbv-bufsize=500",
        ],
      ],
      ["libx265", ["-s", "322x182", "-pix_fmt", "yuv420p", "-x265-params", "bframes=4:log-level=none"]],
      ["libx265", ["-s", "640x358", "-pix_fmt", "yuv420p10", "-x265-params", "bframes=0:log-level=none"]],
    ];
    for (const [index, [encoder, args]] of variants.entries()) {
      if (!hasEncoder(encoder)) continue;
      const file = `${dir}/${index}.mp4`;
      await ffmpeg("-f", "lavfi", "-i", "testsrc2=r=25:d=0.4", "-c:v", encoder, ...args, file);
      const clip = openClip(file);
      const [track] = clip.tracks;
      clip.close();
      if (track?.kind !== "video") throw new Error("The clip has no pictures.");
      const [sps = Buffer.alloc(0)] = track.sps;
      const { width, height, reorderDepth } = track.codec === "h264" ? parseH264Sps(sps) : parseH265Sps(sps);
      const { stdout } = await runProgram("ffprobe", [
        "-v",
        "error",
        "-show_entries",
        "stream=width,height,has_b_frames",
        "-of",
        "csv=p=0",
        file,
      ]);
      expect(`${width},${height},${reorderDepth}`, `${encoder} ${args.join(" ")}`).toBe(stdout.toString().trim());
    }
  });
});

describe("times of decoding", () => {
  /** The places at which pictures are shown: a first one, then groups that are decoded in this order. */
  const shown = (count: number, group: readonly number[]) => [
    0,
    ...Array.from(
      { length: count },
      (_, index) => 1 + Math.floor(index / group.length) * group.length + (group[index % group.length] ?? 0),
    ),
  ];

  const orders: readonly [string, number | undefined, readonly number[]][] = [
    ["no reordering", 0, [0]],
    ["one B-frame", 1, [1, 0]],
    ["three B-frames in a pyramid", 2, [3, 1, 0, 2]],
    ["a depth that is not declared", undefined, [0]],
  ];
  it.each(orders)("[RTSP-124] %s", (_, depth, pyramid) => {
    const times = new DecodeTimes(depth);
    const places = shown(100, pyramid);
    const decoded = places.map((place) => ({ pts: 9_000 + place * 3_600, dts: times.next(9_000 + place * 3_600) }));
    for (const [index, { pts, dts }] of decoded.entries()) {
      expect(dts).toBeLessThanOrEqual(pts);
      if (index > 0) expect(dts).toBeGreaterThan(decoded[index - 1]?.dts ?? 0);
      // Once as many pictures are known as may be reordered, they are a picture's time apart.
      if (index > pyramid.length) expect(dts - (decoded[index - 1]?.dts ?? 0)).toBe(3_600);
    }
  });

  it("[RTSP-124] a depth that is not declared is learned from the first group of pictures", () => {
    const times = new DecodeTimes(undefined);
    const decoded = shown(100, [3, 1, 0, 2]).map((place) => ({ pts: place * 3_600, dts: times.next(place * 3_600) }));
    for (const [index, { pts, dts }] of decoded.entries()) {
      expect(dts).toBeLessThanOrEqual(pts);
      if (index > 4) expect(dts).toBeGreaterThan(decoded[index - 1]?.dts ?? 0);
    }
  });
});
