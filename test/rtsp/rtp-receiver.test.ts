import { describe, expect, it } from "vitest";
import { parseRtcp, type RtcpPacket, writeRtcp } from "../../servers/core/rtp/rtcp.ts";
import type { RtpPacket } from "../../servers/core/rtp/rtp-packet.ts";
import { PublishedClock } from "../../servers/rtsp/rtp/published-clock.ts";
import { type ReceivedPacket, RtpReceiver } from "../../servers/rtsp/rtp/rtp-receiver.ts";
import { seededRandom } from "../support/seeded-random.ts";

const packet = (sequence: number, timestamp = 0, ssrc = 1): RtpPacket => ({
  payloadType: 96,
  isMarked: false,
  sequence: sequence & 0xffff,
  timestamp,
  ssrc,
  payload: Buffer.alloc(0),
});
const overUdp = { clockRate: 90_000, reorderPackets: 8, reorderMs: 100 };
/** Sequence numbers, with `!` after a loss and `*` from a new source. */
const shown = (received: readonly ReceivedPacket[]) =>
  received.map((one) => `${one.packet.sequence}${one.isAfterLoss ? "!" : ""}${one.isNewSource ? "*" : ""}`).join(" ");

describe("the order of packets", () => {
  it("[RTSP-118] packets that overtake each other are put into order, also over the end of the numbers", () => {
    const receiver = new RtpReceiver(overUdp);
    const given = [65_533, 65_535, 65_534, 2, 1, 0, 3].map((sequence) => shown(receiver.receive(packet(sequence), 0)));
    expect(given).toEqual(["65533", "", "65534 65535", "", "", "0 1 2", "3"]);
    expect([receiver.lost, receiver.strays]).toEqual([0, 0]);
  });

  it("[RTSP-118] a missing packet is given up when too many wait for it, or for too long", () => {
    const receiver = new RtpReceiver(overUdp);
    receiver.receive(packet(10), 0);
    const given = Array.from({ length: 9 }, (_, index) => shown(receiver.receive(packet(12 + index), index)));
    expect(given).toEqual(["", "", "", "", "", "", "", "", "12! 13 14 15 16 17 18 19 20"]);
    expect(shown(receiver.receive(packet(22), 100))).toBe("");
    expect(shown(receiver.release(199))).toBe("");
    expect(shown(receiver.release(200))).toBe("22!");
    expect(receiver.lost).toBe(2);
    // It comes after all: too late to be used, but it is not lost.
    expect(shown(receiver.receive(packet(21), 300))).toBe("");
    expect([receiver.lost, receiver.strays]).toEqual([2, 1]);
  });

  it("[RTSP-118] where the transport keeps the order nothing waits", () => {
    const receiver = new RtpReceiver({ ...overUdp, reorderPackets: 0, reorderMs: 0 });
    expect([1, 2, 5, 6, 4, 7].map((sequence) => shown(receiver.receive(packet(sequence), 0)))).toEqual(["1", "2", "5!", "6", "", "7"]);
  });

  it("[RTSP-118] doubles and strays are counted; a new source is taken over after two packets in a row", () => {
    const receiver = new RtpReceiver(overUdp);
    const given = [
      packet(1),
      packet(1),
      packet(3),
      packet(3),
      packet(2),
      packet(900, 0, 7),
      packet(4),
      packet(30_000),
      packet(5),
      packet(902, 0, 7),
      packet(500, 0, 9),
      packet(501, 0, 9),
      packet(502, 0, 9),
    ];
    expect(given.map((one) => shown(receiver.receive(one, 0)))).toEqual([
      "1",
      "",
      "",
      "",
      "2 3",
      "",
      "4",
      "",
      "5",
      "",
      "",
      "500!* 501",
      "502",
    ]);
    expect(receiver.strays).toBe(5);
    expect(receiver.ssrc).toBe(9);
    // The same source from elsewhere in its sequence.
    expect([packet(20_000, 0, 9), packet(20_001, 0, 9)].map((one) => shown(receiver.receive(one, 0)))).toEqual(["", "20000!* 20001"]);
  });

  it("[RTSP-118] what is lost stays counted when another source follows", () => {
    const receiver = new RtpReceiver(overUdp);
    for (const sequence of [1, 2, 5]) receiver.receive(packet(sequence), 0);
    for (const sequence of [900, 901, 903]) receiver.receive(packet(sequence, 0, 7), 0);
    expect([receiver.ssrc, receiver.lost]).toEqual([7, 3]);
    // A report is about one source.
    expect(receiver.report(0)).toMatchObject({ ssrc: 7, lost: 1 });
  });

  it("[RTSP-118] any order within the bound is put right, and nothing is given twice", () => {
    const random = seededRandom(2);
    for (let round = 0; round < 200; round++) {
      const receiver = new RtpReceiver({ ...overUdp, reorderMs: 10_000 });
      const start = random.below(65_536);
      const lost = new Set(Array.from({ length: random.below(5) }, () => 1 + random.below(198)));
      const sent = Array.from({ length: 200 }, (_, index) => index).filter((index) => !lost.has(index));
      // Within groups of four packets change places, and come twice.
      for (let at = 1; at + 4 <= sent.length; at += 4) {
        const group = sent.slice(at, at + 4).sort(() => (random.chance(0.5) ? 1 : -1));
        sent.splice(at, 4, ...group);
      }
      for (let at = sent.length - 1; at > 0; at--) if (random.chance(0.05)) sent.splice(at, 0, sent[at] as number);
      const given = sent.flatMap((index) => receiver.receive(packet(start + index), 0));
      given.push(...receiver.release(20_000));
      const places = given.map((one) => (one.packet.sequence - start) & 0xffff);
      expect(places).toEqual(Array.from({ length: 200 }, (_, index) => index).filter((index) => !lost.has(index)));
      const afterLoss = given.flatMap((one, index) => (one.isAfterLoss ? [places[index]] : []));
      expect(afterLoss).toEqual(places.filter((place, index) => index > 0 && place !== (places[index - 1] ?? 0) + 1));
    }
  });

  it("[RTSP-118] random packets do no harm, and no more wait than the bound", () => {
    const random = seededRandom(4);
    const receiver = new RtpReceiver(overUdp);
    for (let round = 0; round < 50_000; round++) {
      const given = receiver.receive(packet(random.below(65_536), random.below(2 ** 32), random.below(3)), round / 10);
      expect(given.length).toBeLessThan(12);
    }
  });
});

describe("reception reports", () => {
  it("[RTSP-121] loss since the last report and in all, the highest number with its cycles, jitter and the last sender report", () => {
    const receiver = new RtpReceiver(overUdp);
    expect(receiver.report(0)).toBeUndefined();
    // 20 ms apart on both clocks.
    const send = (sequence: number, lateMs = 0) =>
      receiver.receive(packet(sequence, (sequence - 65_530) * 1_800), 1_000 + (sequence - 65_530) * 20 + lateMs);
    for (let sequence = 65_530; sequence < 65_540; sequence++) if (sequence !== 65_533 && sequence !== 65_535) send(sequence);
    receiver.senderReport(0x1234_5678, 1_500);
    expect(receiver.report(2_000)).toEqual({
      ssrc: 1,
      fractionLost: Math.floor((2 * 256) / 10),
      lost: 2,
      highestSequence: 65_539,
      jitter: 0,
      lastReport: 0x1234_5678,
      delaySinceLastReport: 32_768,
    });
    for (let sequence = 65_540; sequence < 65_550; sequence++) send(sequence);
    expect(receiver.report(3_000)).toMatchObject({ fractionLost: 0, lost: 2, highestSequence: 65_549 });
    // One packet is 10 ms late: 900 units there and back again.
    send(65_550, 10);
    expect(receiver.report(3_000)).toMatchObject({ jitter: Math.floor(900 / 16) });
    send(65_551);
    expect(receiver.jitterSeconds).toBeCloseTo((900 / 16 + (900 - 900 / 16) / 16) / 90_000, 9);
  });
});

describe("RTCP", () => {
  const reports = [
    { ssrc: 5, fractionLost: 12, lost: -3, highestSequence: 0x1_0005, jitter: 77, lastReport: 0xabcd_0123, delaySinceLastReport: 65_536 },
  ];
  const compound: readonly RtcpPacket[] = [
    {
      type: "sender-report",
      ssrc: 0xffff_fffe,
      ntpMs: 1_700_000_000_250,
      timestamp: 2 ** 32 - 1,
      packets: 10,
      payloadBytes: 2 ** 32 + 9,
      reports,
    },
    { type: "receiver-report", ssrc: 2, reports: [...reports, { ...reports[0], ssrc: 6, lost: -0x80_0000 } as (typeof reports)[0]] },
    {
      type: "source-description",
      chunks: [
        { ssrc: 1, cname: "backlot" },
        { ssrc: 2, cname: "ab" },
        { ssrc: 3, cname: "" },
      ],
    },
    { type: "goodbye", ssrcs: [1, 2], reason: "end" },
    { type: "goodbye", ssrcs: [], reason: undefined },
  ];

  it("[RTSP-120] compound packets go both ways", () => {
    const bytes = writeRtcp(compound);
    expect(bytes.length % 4).toBe(0);
    const [report, ...others] = parseRtcp(bytes) ?? [];
    expect(others).toEqual(compound.slice(1));
    expect(report).toMatchObject({ ...compound[0], ntpMs: expect.closeTo(1_700_000_000_250, 2), payloadBytes: 9 });
  });

  it("[RTSP-120] the bytes are those of the RFC", () => {
    const [report, description] = [compound[0], compound[2]].map((one) => writeRtcp(one ? [one] : []).toString("hex"));
    // 1700000000.25 s of Unix are 3908988800.25 s of NTP.
    expect(report).toBe(
      "81c8000c" +
        "fffffffe" +
        "e8fe6f80" +
        "40000000" +
        "ffffffff" +
        "0000000a" +
        "00000009" +
        "00000005" +
        "0cfffffd" +
        "00010005" +
        "0000004d" +
        "abcd0123" +
        "00010000",
    );
    expect(description).toBe(
      "83ca0009" + "00000001" + "0107" + "6261636b6c6f74" + "000000" + "00000002" + "0102" + "6162" + "00000000" + "00000003" + "01000000",
    );
    expect(parseRtcp(Buffer.from("81c8000c".padEnd(104, "0"), "hex"))).toMatchObject([{ ntpMiddle: 0 }]);
    // A packet of an application between others is passed over.
    expect(parseRtcp(Buffer.from("80c900010000000780cc0002000000000000000081cb000100000007", "hex"))?.map(({ type }) => type)).toEqual([
      "receiver-report",
      "goodbye",
    ]);
  });

  it("[RTSP-122] wrong lengths and versions are no RTCP", () => {
    for (const wrong of [
      "80",
      "80c90002",
      "40c9000100000007",
      "81c9000100000007",
      `81c80006${"00".repeat(24)}`,
      "82cb000100000007",
      "80c9000100000007ff",
    ]) {
      expect(parseRtcp(Buffer.from(wrong, "hex")), wrong).toBeUndefined();
    }
  });

  it("[RTSP-122] no bytes make the reader throw", () => {
    const random = seededRandom(6);
    const seed = writeRtcp(compound);
    for (let round = 0; round < 30_000; round++) {
      const bytes = Buffer.from(seed);
      for (let changes = 1 + random.below(8); changes > 0; changes--) bytes[random.below(bytes.length)] = random.below(256);
      parseRtcp(bytes.subarray(0, random.chance(0.3) ? random.below(bytes.length) : undefined));
      parseRtcp(Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256))));
    }
  });
});

describe("the time line of a publisher", () => {
  it("[RTSP-123] sender reports put the tracks together; their arrival does not matter then", () => {
    const clock = new PublishedClock([90_000, 48_000], () => false);
    clock.senderReport(0, 1_000_000, 90_000, 4_990);
    clock.senderReport(1, 1_000_500, 480, 4_995);
    // The pictures begin at 1 s; the sound half a second and 480 units later.
    expect(clock.pts(0, 90_000, 5_000)).toBe(0);
    expect(clock.pts(1, 960, 5_003)).toBe(24_480);
    expect(clock.pts(0, 93_600, 5_040)).toBe(3_600);
    // A later report changes nothing.
    clock.senderReport(0, 9_000_000, 0, 5_060);
    expect(clock.pts(0, 97_200, 5_080)).toBe(7_200);
  });

  it("[RTSP-123] without reports the arrival decides, and reports that put the tracks far apart are not believed", () => {
    const plain = new PublishedClock([90_000, 48_000], () => false);
    expect(plain.pts(0, 2 ** 32 - 1_800, 100)).toBe(0);
    expect(plain.pts(1, 77, 140)).toBe(1_920);
    expect(plain.pts(0, 1_800, 140)).toBe(3_600);
    const wrong = new PublishedClock([90_000, 48_000], () => false);
    wrong.senderReport(0, 1_000_000, 0, 0);
    wrong.senderReport(1, 5_000_000, 0, 0);
    expect([wrong.pts(0, 0, 0), wrong.pts(1, 0, 20)]).toEqual([0, 960]);
  });

  it("[RTSP-123] a new source of a track follows what was before", () => {
    const clock = new PublishedClock([90_000], () => false);
    clock.pts(0, 500, 0);
    expect(clock.pts(0, 4_100, 40)).toBe(3_600);
    clock.restart(0, 1_000_000, 3_600);
    expect(clock.pts(0, 1_000_000, 80)).toBe(7_200);
    expect(clock.pts(0, 1_003_600, 120)).toBe(10_800);
  });

  /** Of each track, in milliseconds: the moment of pts 0. */
  const origins = (clock: PublishedClock, atMs: number) =>
    [90_000, 48_000].map((rate, track) => Math.round(1e6 * (atMs - (clock.ptsAt(track, atMs) * 1_000) / rate)) / 1e6);

  it("[RTSP-125] a report that comes before the first frame counts from it on, so a later one changes nothing, whoever reads", () => {
    for (const isRead of [false, true]) {
      const clock = new PublishedClock([90_000, 48_000], () => isRead);
      // The sender began 90 ms ago, at 5,000; its first frames are of that time.
      clock.senderReport(0, 1_000_090, 8_100, 5_090);
      expect(clock.pts(0, 0, 5_091)).toBe(0);
      expect(origins(clock, 5_092)).toEqual([5_000, 5_000]);
      clock.senderReport(1, 1_000_153, 7_344, 5_153);
      expect(clock.pts(1, 0, 5_154)).toBe(0);
      expect(origins(clock, 6_000)).toEqual([5_000, 5_000]);
      clock.senderReport(0, 1_005_000, 450_000, 10_007);
      clock.senderReport(1, 1_005_000, 240_000, 10_007);
      clock.pts(0, 450_000, 10_010);
      clock.pts(1, 240_000, 10_010);
      expect(origins(clock, 60_000)).toEqual([5_000, 5_000]);
    }
  });

  it("[RTSP-125] a report that comes later is taken at once where nobody reads, and otherwise slowly, with the tracks together until then", () => {
    let isRead = false;
    const clock = new PublishedClock([90_000, 48_000], () => isRead);
    clock.pts(0, 0, 5_100);
    clock.pts(1, 0, 5_100);
    expect(origins(clock, 5_200)).toEqual([5_100, 5_100]);
    clock.senderReport(0, 1_000_200, 18_000, 5_200);
    clock.pts(0, 18_000, 5_300);
    expect(origins(clock, 5_300)).toEqual([5_000, 5_000]);
    isRead = true;
    clock.senderReport(1, 1_001_010, 48_000, 6_010);
    clock.pts(1, 48_000, 6_010);
    expect(origins(clock, 6_010)).toEqual([5_000, 5_000]);
    expect(origins(clock, 11_010)).toEqual([5_000, 5_001]);
    expect(origins(clock, 56_010)).toEqual([5_000, 5_010]);
    expect(origins(clock, 96_010)).toEqual([5_000, 5_010]);
  });

  it("[RTSP-125] a sender whose clock is set, or that pauses, is followed; what puts a report far from its arrival is wrong", () => {
    const clock = new PublishedClock([90_000, 48_000], () => true);
    clock.senderReport(0, 1_000_000, 0, 5_000);
    clock.pts(0, 0, 5_000);
    // An hour later by the sender's clock.
    clock.senderReport(0, 4_605_000, 450_000, 10_000);
    clock.pts(0, 450_000, 10_000);
    expect(origins(clock, 10_000)[0]).toBe(5_000);
    clock.senderReport(0, 4_610_000, 90_000_000, 15_000);
    clock.pts(0, 900_000, 15_000);
    expect(origins(clock, 99_000)[0]).toBe(5_000);
    // It sent nothing for 20 s, and its timestamps go on.
    clock.senderReport(0, 4_635_000, 990_000, 40_000);
    clock.pts(0, 990_000, 40_000);
    expect(origins(clock, 40_000)[0]).toBe(29_000);
  });
});
