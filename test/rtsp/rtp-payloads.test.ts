import { describe, expect, it } from "vitest";
import { parseRtpPacket, type RtpPacket, TimestampUnwrapper } from "../../servers/core/rtp/rtp-packet.ts";
import type { AacTrack, DepacketizedFrame, Frame, FramePackets, Track } from "../../servers/rtsp/media/track.ts";
import { AacGroups, joined } from "../../servers/rtsp/rtp/aac-groups.ts";
import { createDepacketizer } from "../../servers/rtsp/rtp/create-depacketizer.ts";
import { createPacketizer } from "../../servers/rtsp/rtp/create-packetizer.ts";
import { configOfLatm, LatmDepacketizer } from "../../servers/rtsp/rtp/latm-depacketizer.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

const bytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex");
const h264: Track = { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] };
const h265: Track = {
  kind: "video",
  codec: "h265",
  clockRate: 90_000,
  vps: [bytes("4001aa")],
  sps: [bytes("4201bb")],
  pps: [bytes("4401cc")],
};
const aac: AacTrack = { kind: "audio", codec: "aac", clockRate: 48_000, channels: 2, config: bytes("1190") };
const opus: Track = { kind: "audio", codec: "opus", clockRate: 48_000, channels: 2 };
const pcmu: Track = { kind: "audio", codec: "pcmu", clockRate: 8_000, channels: 2 };

const packetizer = (track: Track, packetBytes = 100) =>
  createPacketizer(track, { track: 1, payloadType: 96, packetBytes, ssrc: 0x01020304, sequence: 0xfffe, timestampOffset: 2 ** 32 - 100 });
const frame = (units: readonly Buffer[], isKey: boolean, pts = 0): Frame => ({ track: 1, units, pts, dts: pts, isKey });

/** The packets as they are on the wire, each behind its interleaved prefix. */
function packetsOf({ bytes, offsets }: FramePackets): RtpPacket[] {
  return offsets.map((offset, index) => {
    const end = offsets[index + 1] ?? bytes.length;
    expect(bytes.subarray(offset, offset + 4)).toEqual(Buffer.from([0x24, 2, (end - offset - 4) >> 8, (end - offset - 4) & 0xff]));
    const packet = parseRtpPacket(bytes.subarray(offset + 4, end));
    if (!packet) throw new Error("This is no RTP packet.");
    return packet;
  });
}

describe("making payloads", () => {
  it("[RTSP-110] a key frame begins with the parameter sets in a STAP-A, large units are FU-A, the last packet is marked", () => {
    const target = packetizer(h264);
    const slice = Buffer.concat([bytes("65"), Buffer.from(Array.from({ length: 99 }, (_, index) => index))]);
    const made = target.packetize(frame([bytes("0605"), slice], true, 200));
    const packets = packetsOf(made);
    expect(packets.map(({ payload }) => payload.toString("hex"))).toEqual([
      `7800${h264Sps.length.toString(16)}${h264Sps.toString("hex")}0006${h264Pps.toString("hex")}00020605`,
      `7c85${slice.subarray(1, 87).toString("hex")}`,
      `7c45${slice.subarray(87).toString("hex")}`,
    ]);
    expect(packets.map(({ isMarked }) => isMarked)).toEqual([false, false, true]);
    expect(packets.map(({ sequence }) => sequence)).toEqual([0xfffe, 0xffff, 0]);
    expect(packets.every(({ timestamp, ssrc, payloadType }) => timestamp === 100 && ssrc === 0x01020304 && payloadType === 96)).toBe(true);
    expect(made).toMatchObject({
      sequence: 0xfffe,
      timestamp: 100,
      payloadBytes: packets.reduce((sum, { payload }) => sum + payload.length, 0),
    });
    expect(target.sequence).toBe(1);
    // A whole unit, on its own.
    const next = packetsOf(target.packetize(frame([bytes("41aabb")], false, 3_800)));
    expect(next).toMatchObject([{ payload: bytes("41aabb"), isMarked: true, sequence: 1, timestamp: 3_700 }]);
  });

  it("[RTSP-110] other parameter sets are sent from the next key frame on", () => {
    const target = packetizer(h264);
    target.setTrack({ ...h264, sps: [bytes("67010203")], pps: [bytes("680405")] });
    expect(packetsOf(target.packetize(frame([bytes("65aa")], true)))[0]?.payload.toString("hex")).toBe(
      "7800046701020300036804050002" + "65aa",
    );
  });

  it("[RTSP-111] H.265 by AP and FU", () => {
    const slice = Buffer.concat([bytes("2601"), Buffer.alloc(100, 7)]);
    const packets = packetsOf(packetizer(h265).packetize(frame([slice], true)));
    expect(packets.map(({ payload }) => payload.subarray(0, 8).toString("hex"))).toEqual([
      "6001000340" + "01aa00",
      "6201930707070707",
      "6201530707070707",
    ]);
    expect(packets.map(({ isMarked }) => isMarked)).toEqual([false, false, true]);
  });

  it("[RTSP-112] AAC in a packet, or in fragments with the size of the whole", () => {
    const target = packetizer(aac);
    expect(packetsOf(target.packetize(frame([bytes("aabbcc")], true)))).toMatchObject([
      { isMarked: true, payload: bytes("0010 0018 aabbcc") },
    ]);
    const packets = packetsOf(target.packetize(frame([Buffer.alloc(200, 9)], true)));
    expect(packets.map(({ payload, isMarked }) => [payload.subarray(0, 4).toString("hex"), payload.length, isMarked])).toEqual([
      ["00100640", 88, false],
      ["00100640", 88, false],
      ["00100640", 36, true],
    ]);
  });

  it("[RTSP-112] several consecutive frames of AAC share a packet, for less than a tenth of a second", () => {
    const target = packetizer(aac);
    const both = joined([frame([bytes("aabb")], true, 1_024), frame([bytes("cc")], true, 2_048)]);
    const [packet] = packetsOf(target.packetize(both));
    expect(packet).toMatchObject({ isMarked: true, timestamp: 1_024 - 100, payload: bytes("0020 0010 0008 aabb cc") });

    const groups = new AacGroups<{ readonly frame: Frame }>(aac, 1_400);
    const numbers = (pts: readonly number[], size = 300) =>
      pts.flatMap((time) =>
        groups.add({ frame: frame([Buffer.alloc(size)], true, time) }).map((group) => group.map((item) => item.frame.pts)),
      );
    const step = 1_024;
    expect(numbers([0, 1, 2, 3, 4, 5, 6].map((index) => index * step))).toEqual([
      [0, step, 2 * step],
      [3 * step, 4 * step, 5 * step],
    ]);
    // After a gap the next frame begins a packet, and so does one for which there is no room.
    expect(numbers([9 * step])).toEqual([[6 * step]]);
    expect(numbers([10 * step], 1_200)).toEqual([[9 * step]]);
    expect(groups.take().map((item) => item.frame.pts)).toEqual([10 * step]);
  });

  it("[RTSP-113] Opus is a payload, G.711 is cut between samples", () => {
    expect(packetsOf(packetizer(opus).packetize(frame([bytes("f8fffe")], true)))).toMatchObject([{ payload: bytes("f8fffe") }]);
    const packets = packetsOf(packetizer(pcmu).packetize(frame([Buffer.alloc(160, 0xff)], true, 100)));
    expect(packets.map(({ payload, timestamp }) => [payload.length, timestamp])).toEqual([
      [88, 0],
      [72, 44],
    ]);
  });

  it("[RTSP-114] a frame without units makes no packet", () => {
    expect(packetizer(h264).packetize(frame([], false)).offsets).toEqual([]);
    expect(() => packetizer(h264, 20)).toThrow(RangeError);
  });
});

const feed = (
  target: ReturnType<typeof createDepacketizer>,
  packets: readonly RtpPacket[],
  lost: ReadonlySet<number> = new Set(),
): DepacketizedFrame[] => {
  let isAfterLoss = false;
  return packets.flatMap(({ payload, timestamp, isMarked }, index) => {
    if (lost.has(index)) {
      isAfterLoss = true;
      return [];
    }
    const frames = target.push(payload, timestamp, isMarked, isAfterLoss);
    isAfterLoss = false;
    return frames;
  });
};

function randomUnit(random: SeededRandom, track: Track, isKey: boolean): Buffer {
  const size = random.chance(0.1) ? random.below(5_000) : random.below(300);
  const content = Buffer.from(Array.from({ length: size + 4 }, () => random.below(256)));
  if (track.codec === "h264") content.set([isKey ? 0x65 : 0x41, 0x80 | random.below(128)]);
  if (track.codec === "h265") content.set([isKey ? 0x26 : 0x02, 0x01, 0x80 | random.below(128)]);
  return content;
}

describe("reading payloads", () => {
  it("[RTSP-114] frames of every kind, in packets of any size, are the same again", () => {
    const random = seededRandom(3);
    for (const track of [h264, h265, aac, opus, pcmu]) {
      for (let round = 0; round < 40; round++) {
        const packetBytes = track.codec === "opus" ? 9_000 : 64 + random.below(1_500);
        const target = createPacketizer(track, { track: 1, payloadType: 96, packetBytes, timestampOffset: 0 });
        const frames = Array.from({ length: 20 }, (_, index) => {
          const isKey = track.kind === "audio" || random.chance(0.2);
          const units = Array.from({ length: track.kind === "audio" ? 1 : 1 + random.below(4) }, () => randomUnit(random, track, isKey));
          const [unit = Buffer.alloc(0)] = units;
          const whole = track.codec === "pcmu" ? [unit.subarray(0, unit.length - (unit.length % 2))] : units;
          return frame(whole, isKey, index * 1_000);
        });
        const packets = frames.flatMap((one) => packetsOf(target.packetize(one)));
        const read = feed(createDepacketizer(track), packets);
        if (track.codec === "pcmu") {
          expect(Buffer.concat(read.flatMap(({ units }) => units))).toEqual(Buffer.concat(frames.flatMap(({ units }) => units)));
          continue;
        }
        const parameterSets =
          track.codec === "h264" ? [...track.sps, ...track.pps] : track.codec === "h265" ? [...track.vps, ...track.sps, ...track.pps] : [];
        expect(read).toEqual(
          frames.map(({ units, pts, isKey }) => ({ timestamp: pts, isKey, units: isKey ? [...parameterSets, ...units] : units })),
        );
      }
    }
  });

  it("[RTSP-115] a frame that lacks a packet is dropped as a whole, and the others are whole", () => {
    const random = seededRandom(5);
    for (const track of [h264, h265, aac]) {
      for (let round = 0; round < 40; round++) {
        const target = createPacketizer(track, { track: 1, payloadType: 96, packetBytes: 80, timestampOffset: 0 });
        const frames = Array.from({ length: 20 }, (_, index) => {
          const isKey = track.kind === "audio" || index % 7 === 0;
          // Several slices a picture; the first of them is marked in its second byte.
          const units = [randomUnit(random, track, isKey)];
          if (track.kind === "video") {
            const slice = randomUnit(random, track, isKey);
            slice[track.codec === "h264" ? 1 : 2] = random.below(128);
            units.push(slice);
          }
          return frame(units, isKey, index * 1_000);
        });
        const packets = frames.flatMap((one) => packetsOf(target.packetize(one)));
        const lost = new Set(Array.from({ length: 1 + random.below(5) }, () => random.below(packets.length)));
        const reader = createDepacketizer(track);
        const read = feed(reader, packets, lost);
        const damagedTimes = new Set([...lost].map((index) => packets[index]?.timestamp));
        for (const { timestamp, units, isKey } of read) {
          const original = frames.find(({ pts }) => pts === timestamp);
          const slices = units.slice(-(original?.units.length ?? 0));
          // Only parameter sets may be missing: the track has them as well.
          if (!(isKey && track.kind === "video")) expect(damagedTimes.has(timestamp)).toBe(false);
          expect(slices).toEqual(original?.units);
        }
        const whole = frames.filter(({ pts }) => !damagedTimes.has(pts));
        expect(read.length).toBeGreaterThanOrEqual(whole.length - lost.size);
        expect(reader.dropped).toBeLessThanOrEqual(2 * lost.size);
      }
    }
  });

  it("[RTSP-110] a picture without its marked packet ends where the next one begins; parameter sets on their own belong to it", () => {
    const reader = createDepacketizer(h264);
    expect(reader.push(h264Sps, 10, true, false)).toEqual([]);
    expect(reader.push(h264Pps, 10, true, false)).toEqual([]);
    expect(reader.push(bytes("6588aa"), 20, false, false)).toEqual([]);
    expect(reader.push(bytes("4188bb"), 30, true, false)).toEqual([
      { timestamp: 20, units: [h264Sps, h264Pps, bytes("6588aa")], isKey: true },
      { timestamp: 30, units: [bytes("4188bb")], isKey: false },
    ]);
    expect(reader.dropped).toBe(0);
  });

  it("[RTSP-111] units with decoding order numbers", () => {
    const reader = createDepacketizer(h265, { "sprop-max-don-diff": "2" });
    expect(reader.push(bytes("0201 0007 80aa"), 1, true, false)).toEqual([{ timestamp: 1, units: [bytes("020180aa")], isKey: false }]);
    expect(reader.push(bytes("6001 0007 0003 020180 00 0003 020140"), 2, true, false)).toEqual([
      { timestamp: 2, units: [bytes("020180"), bytes("020140")], isKey: false },
    ]);
    expect(reader.push(bytes("6201 81 0007 80aa"), 3, false, false)).toEqual([]);
    expect(reader.push(bytes("6201 41 bbcc"), 3, true, false)).toEqual([{ timestamp: 3, units: [bytes("020180aabbcc")], isKey: false }]);
  });

  it("[RTSP-112] several frames in a packet, and other widths of the fields", () => {
    const reader = createDepacketizer(aac);
    expect(reader.push(bytes("0020 0010 0008 aabb cc"), 2 ** 32 - 24, true, false)).toEqual([
      { timestamp: 2 ** 32 - 24, units: [bytes("aabb")], isKey: true },
      { timestamp: 1_000, units: [bytes("cc")], isKey: true },
    ]);
    const low = createDepacketizer(aac, { sizelength: "6", indexlength: "2", indexdeltalength: "2" });
    expect(low.push(bytes("0010 0804 aabb cc"), 5, true, false).map(({ units }) => units[0])).toEqual([bytes("aabb"), bytes("cc")]);
    const auxiliary = createDepacketizer(aac, { auxiliarydatasizelength: "8" });
    expect(auxiliary.push(bytes("0010 0010 08 ff aabb"), 5, true, false).map(({ units }) => units[0])).toEqual([bytes("aabb")]);
    // Interleaved, a length that is not one, a frame that is longer than the packet.
    for (const wrong of ["0010 0011 aabb", "000f 0010 aabb", "0020 0010 0010 aabb", "", "00", "0000"])
      reader.push(bytes(wrong), 9, true, false);
    expect(reader.dropped).toBe(6);
    const wide = createDepacketizer(aac, { sizelength: "16", indexlength: "0", indexdeltalength: "0" });
    expect(wide.push(Buffer.concat([bytes("0010 2000"), Buffer.alloc(8_192)]), 5, true, false)).toEqual([]);
    expect(wide.push(Buffer.concat([bytes("0010 1fff"), Buffer.alloc(8_191)]), 5, true, false)).toHaveLength(1);
  });

  it("[RTSP-113] Opus and G.711", () => {
    expect(createDepacketizer(opus).push(bytes("f8"), 7, false, false)).toEqual([{ timestamp: 7, units: [bytes("f8")], isKey: true }]);
    const reader = createDepacketizer(pcmu);
    expect(reader.push(bytes("ffff"), 7, false, false)).toHaveLength(1);
    expect([...reader.push(bytes("ffffff"), 7, false, false), ...reader.push(bytes(""), 7, false, false)]).toEqual([]);
    expect(reader.dropped).toBe(2);
  });

  it("[RTSP-116] no payload makes a reader throw, or keep more than a frame", () => {
    const random = seededRandom(9);
    const starts: Readonly<Record<string, readonly string[]>> = {
      h264: ["7c85", "7c05", "7c45", "7800", "65", "41", "67", "1c", "79"],
      h265: ["620193", "620113", "620153", "6001", "2601", "0201", "4201"],
      aac: ["0010", "0020", "00100640", "fff0", "0000"],
    };
    for (const track of [h264, h265, aac]) {
      const unusual: Readonly<Record<string, string>> = {
        "sprop-max-don-diff": "1",
        sizelength: "32",
        indexlength: "0",
        auxiliarydatasizelength: "16",
      };
      for (const parameters of [{}, unusual]) {
        const reader = createDepacketizer(track, parameters);
        let timestamp = 0;
        for (let round = 0; round < 20_000; round++) {
          const start = starts[track.codec]?.[random.below(starts[track.codec]?.length ?? 0)] ?? "";
          const payload = Buffer.concat([bytes(start), Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256)))]);
          if (random.chance(0.2)) timestamp = random.below(2 ** 32);
          const frames = reader.push(
            payload.subarray(0, random.chance(0.1) ? random.below(4) : undefined),
            timestamp,
            random.chance(0.2),
            random.chance(0.1),
          );
          for (const { units } of frames) expect(units.length).toBeGreaterThan(0);
        }
        expect(reader.dropped).toBeGreaterThan(100);
      }
    }
  });

  it("[RTSP-116] a frame without an end is given up at its bound", () => {
    const reader = createDepacketizer(h264);
    const part = Buffer.concat([bytes("7c05"), Buffer.alloc(60_000)]);
    reader.push(Buffer.concat([bytes("7c85"), Buffer.alloc(60_000)]), 1, false, false);
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 1_000; count++) reader.push(part, 1, false, false);
    expect(reader.dropped).toBe(1);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 << 20);
    // And the next picture is read.
    expect(reader.push(bytes("6588"), 2, true, false)).toHaveLength(1);
  });
});

describe("RTP headers", () => {
  it("[RTSP-119] contributing sources, extensions and padding are read past", () => {
    const packet = bytes("b2e0 0001 00000002 00000003 00000004 00000005 bede0001 aabbccdd 112233 0002");
    expect(parseRtpPacket(packet)).toEqual({
      payloadType: 96,
      isMarked: true,
      sequence: 1,
      timestamp: 2,
      ssrc: 3,
      payload: bytes("112233"),
    });
  });

  it("[RTSP-119] what is malformed is no RTP packet", () => {
    const wrong = [
      "",
      "80",
      "8060000100000002000000",
      "4060000100000002 00000003",
      "8f60000100000002 00000003",
      "9060000100000002 00000003",
      "9060000100000002 00000003 bede0002 00000000",
      "a060000100000002 00000003 00",
      "a060000100000002 00000003 05",
    ];
    for (const packet of wrong) expect(parseRtpPacket(bytes(packet)), packet).toBeUndefined();
    expect(parseRtpPacket(bytes("8060000100000002 00000003"))?.payload.length).toBe(0);
  });

  it("[RTSP-123] timestamps go on over 2^32, and back", () => {
    const times = new TimestampUnwrapper();
    expect([2 ** 32 - 10, 20, 2 ** 32 - 5, 2 ** 31, 2 ** 32 - 1, 100].map((time) => times.unwrap(time))).toEqual([
      2 ** 32 - 10,
      2 ** 32 + 20,
      2 ** 32 - 5,
      2 ** 31,
      2 ** 32 - 1,
      2 ** 32 + 100,
    ]);
  });
});

it("[RTSP-49] AAC in LATM is read in one packet or several; what does not fit its lengths is dropped", () => {
  const depacketizer = new LatmDepacketizer();
  const frame = Buffer.alloc(600, 7);
  const element = Buffer.concat([Buffer.from([255, 255, 90]), frame]);
  expect(depacketizer.push(element, 100, true, false)).toEqual([{ timestamp: 100, units: [frame], isKey: true }]);
  expect(depacketizer.push(element.subarray(0, 200), 200, false, false)).toEqual([]);
  expect(depacketizer.push(element.subarray(200), 200, true, false)).toEqual([{ timestamp: 200, units: [frame], isKey: true }]);
  expect(depacketizer.push(element.subarray(0, 200), 300, false, false)).toEqual([]);
  expect(depacketizer.push(element.subarray(300), 300, true, true)).toEqual([]);
  expect(depacketizer.push(element, 400, true, false)).toHaveLength(1);
  for (const wrong of ["", "00", "ff", "05aabb", "ffff"])
    expect(depacketizer.push(Buffer.from(wrong, "hex"), 500, true, false)).toEqual([]);
  expect(depacketizer.dropped).toBe(6);
  expect(configOfLatm(Buffer.from("40002320", "hex")).toString("hex")).toBe("1190");
  const random = seededRandom(49);
  for (let round = 0; round < 2_000; round++) {
    const bytes = Buffer.from(Array.from({ length: random.below(30) }, () => random.below(256)));
    depacketizer.push(bytes, random.below(3), random.chance(0.5), random.chance(0.2));
    try {
      configOfLatm(bytes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
});
