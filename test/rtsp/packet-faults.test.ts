import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RtspFault } from "../../contract/services/rtsp-faults.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { parseRtpPacket, type RtpPacket } from "../../servers/core/rtp/rtp-packet.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { PacketFaults } from "../../servers/rtsp/faults/packet-faults.ts";
import type { FramePackets, Track } from "../../servers/rtsp/media/track.ts";
import { createPacketizer } from "../../servers/rtsp/rtp/create-packetizer.ts";
import { createTcpTransport } from "../../servers/rtsp/sessions/track-transport.ts";
import { DelayedMedia } from "../../servers/rtsp/streams/delayed-media.ts";
import { StreamMemory } from "../../servers/rtsp/streams/stream-memory.ts";

const video: Track = { kind: "video", codec: "h264", clockRate: 90_000, sps: [], pps: [] };
const audio: Track = { kind: "audio", codec: "opus", clockRate: 48_000, channels: 2 };
const session = { path: "door" };
const frameMs = 40;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A reader of a stream with a key frame in four packets each second, pictures in two, and sound in one. */
function reader(mostHeldBytes = 1 << 20, delayed = new DelayedMedia(() => {}), turns = new WorkTurns()) {
  const registry = new Faults();
  const [pictures, sound] = [video, audio].map((track, index) =>
    createPacketizer(track, { track: index, payloadType: 96 + index, packetBytes: 500, sequence: 65_500, ssrc: 1, timestampOffset: 0 }),
  );
  const sent: (RtpPacket & { readonly track: number; readonly atMs: number })[] = [];
  const reports: { readonly track: number; readonly report: Buffer; readonly atMs: number }[] = [];
  let keyFrame: FramePackets | undefined;
  const deliver = ({ frame, bytes, offsets }: FramePackets) => {
    for (const [index, offset] of offsets.entries()) {
      const packet = parseRtpPacket(bytes.subarray(offset + 4, offsets[index + 1] ?? bytes.length));
      if (packet) sent.push({ ...packet, track: frame.track, atMs: performance.now() });
    }
  };
  const faults = new PacketFaults({
    registry,
    session,
    mostHeldBytes,
    delayed,
    work: turns.background("192.0.2.1"),
    tracks: [video, audio],
    keyTrack: 0,
    keyFrame: () => keyFrame,
    deliver,
    deliverReport: (track, report) => void reports.push({ track, report, atMs: performance.now() }),
  });
  const give = (packets: FramePackets | undefined) => {
    if (packets && faults.isActive) faults.push(packets);
    else if (packets) deliver(packets);
  };
  let index = 0;
  return {
    registry,
    faults,
    sent,
    give,
    reports,
    start: (fault: RtspFault, more: { seed?: string; forMs?: number } = {}) =>
      registry.start(session, { fault, forMs: 3_600_000, ...more }),
    /** So many pictures with their sound, on the clock. */
    play(count: number): void {
      for (let left = count; left > 0; left--, index++) {
        const isKey = index % 25 === 0;
        const unit = Buffer.alloc(isKey ? 1_900 : 900, index % 256);
        unit[0] = isKey ? 0x65 : 0x41;
        const packets = pictures?.packetize({ track: 0, units: [unit], pts: index * 3_600, dts: index * 3_600, isKey });
        if (isKey) keyFrame = packets;
        give(packets);
        give(sound?.packetize({ track: 1, units: [Buffer.alloc(100, index)], pts: index * 1_920, dts: index * 1_920, isKey: true }));
        vi.advanceTimersByTime(frameMs);
      }
    },
    of: (track: number) => sent.filter((packet) => packet.track === track),
  };
}

const follow = (packets: readonly RtpPacket[]): boolean =>
  packets.slice(1).every(({ sequence }, index) => sequence === (((packets[index] as RtpPacket).sequence + 1) & 0xffff));

describe("packets with faults", () => {
  it("[RTSP-171] are left out and reordered at random, and for a seed each time the same ones", () => {
    const kept = (seed: string | undefined, withSound = true) => {
      const one = reader();
      one.start({ kind: "loss", percent: 20 }, { ...(seed !== undefined && { seed }) });
      one.play(250);
      expect(one.faults.lost + one.sent.length).toBe(250 * 3 + 10 * 2);
      return one.sent.filter(({ track }) => withSound || track === 0).map(({ track, sequence }) => `${track} ${sequence}`);
    };
    const first = kept("a");
    expect(first.length).toBeGreaterThan(500);
    expect(first.length).toBeLessThan(720);
    expect(kept("a")).toEqual(first);
    expect(kept("b")).not.toEqual(first);
    expect(kept(undefined)).not.toEqual(kept(undefined));
    const ordered = reader();
    ordered.start({ kind: "reorder", percent: 10 }, { seed: "a" });
    ordered.play(100);
    ordered.registry.stop(session);
    ordered.play(1);
    const numbers = ordered.of(0).map(({ sequence }) => sequence);
    expect(follow(ordered.of(0))).toBe(false);
    expect(new Set(numbers).size).toBe(101 * 2 + 5 * 2);
    expect(ordered.faults.lost).toBe(0);
    // Whatever is late is so by three packets.
    for (const [index, sequence] of numbers.entries())
      expect(Math.abs(((((sequence - 65_500) & 0xffff) << 16) >> 16) - index)).toBeLessThanOrEqual(4);
    // All at once: nothing is kept for good.
    const all = reader();
    all.start({ kind: "reorder", percent: 100 });
    all.play(50);
    vi.advanceTimersByTime(1_000);
    expect(all.of(0)).toHaveLength(50 * 2 + 2 * 2);
  });

  it("[RTSP-172] are delayed in their order, and what is held back is bounded", () => {
    const late = reader();
    late.play(10);
    const before = late.of(0).length;
    const beganMs = performance.now();
    late.start({ kind: "delay", delayMs: 500 });
    late.play(12);
    late.faults.report(0, Buffer.alloc(28));
    expect(late.of(0)).toHaveLength(before);
    vi.advanceTimersByTime(frameMs);
    expect(late.of(0).length).toBeGreaterThan(before);
    expect((late.of(0)[before]?.atMs ?? 0) - beganMs).toBeGreaterThanOrEqual(500);
    late.play(20);
    expect(late.reports).toHaveLength(1);
    // What waits is sent when the fault ends, before what comes then.
    late.registry.stop(session);
    late.play(2);
    expect(follow(late.of(0))).toBe(true);
    expect(late.of(0)).toHaveLength(44 * 2 + 2 * 2);

    const shaken = reader();
    shaken.start({ kind: "jitter", jitterMs: 300 }, { seed: "a" });
    shaken.play(100);
    vi.advanceTimersByTime(400);
    expect(follow(shaken.of(0)) && follow(shaken.of(1))).toBe(true);
    const gaps = shaken
      .of(1)
      .slice(1)
      .map(({ atMs }, index) => atMs - (shaken.of(1)[index]?.atMs ?? 0));
    expect(Math.max(...gaps)).toBeGreaterThan(frameMs + 40);

    const full = reader(5_000);
    full.start({ kind: "delay", delayMs: 60_000 });
    full.play(100);
    expect(full.faults.lost).toBeGreaterThan(250);
    full.registry.stop(session);
    full.play(1);
    expect(full.sent.length).toBeLessThan(40);
  });

  it("[RTSP-215] what is held back counts with the memory of its stream: once for all readers, and beyond the bound it is lost", () => {
    const budget = new SharedBudget(100_000);
    let bytes = 0;
    const memory = new StreamMemory(budget, "192.0.2.1", () => delayed.giveUp());
    const delayed: DelayedMedia = new DelayedMedia((count) => {
      bytes = count;
      memory.set("delayed", count);
    });
    const readers = Array.from({ length: 10 }, () => reader(1 << 20, delayed));
    const [pictures] = [video].map((track) => createPacketizer(track, { track: 0, payloadType: 96, packetBytes: 500 }));
    const picture = (size: number) =>
      pictures?.packetize({ track: 0, units: [Buffer.alloc(size, 0x41)], pts: 0, dts: 0, isKey: false }) as FramePackets;
    for (const { start } of readers) start({ kind: "delay", delayMs: 1_000 });
    for (const { give } of readers) give(picture(1_000));
    const separately = bytes;
    vi.advanceTimersByTime(1_001);
    expect(bytes).toBe(0);
    const shared = picture(1_000);
    for (const { give, start } of readers) {
      start({ kind: "loss", percent: 1 }, { seed: "a" });
      give(shared);
    }
    expect(bytes).toBeLessThan(separately / 2);
    vi.advanceTimersByTime(1_001);
    expect(bytes).toBe(0);
    for (const { give } of readers) give(picture(2_000));
    readers[0]?.give(picture(200_000));
    expect(bytes).toBe(0);
    expect(readers.every(({ faults }) => faults.lost > 0)).toBe(true);
    vi.advanceTimersByTime(1_001);
    expect(readers.every(({ sent }) => sent.length <= 7)).toBe(true);
    for (const { give } of readers) give(picture(100));
    vi.advanceTimersByTime(1_001);
    expect(bytes).toBe(0);
  });

  it("[RTSP-219] what was delayed is sent in turns when the fault ends, and what comes then behind it", () => {
    // A millisecond passes at each look.
    let nowMs = 0;
    const late = reader(1 << 20, undefined, new WorkTurns(() => nowMs++));
    late.start({ kind: "delay", delayMs: 60_000 });
    late.play(100);
    expect(late.sent).toEqual([]);
    late.registry.stop(session);
    expect(late.faults.isActive).toBe(true);
    expect(late.sent.length).toBeLessThan(20);
    late.play(1);
    for (let turn = 0; turn < 1_000 && late.sent.length < 310; turn++) {
      const before = late.sent.length;
      vi.advanceTimersByTime(1);
      expect(late.sent.length - before).toBeLessThan(20);
    }
    expect(late.of(0)).toHaveLength(101 * 2 + 5 * 2);
    expect(follow(late.of(0)) && follow(late.of(1))).toBe(true);
    late.play(1);
    expect(late.of(1)).toHaveLength(102);
  });

  it("[RTSP-216] on channels of the client's own are those with the fault", () => {
    const written: Buffer[] = [];
    const connection = { channels: new Map(), unsentBytes: 0, writePackets: (bytes: Buffer) => void written.push(bytes) };
    const transport = createTcpTransport(0, [6, 7], connection, {} as never);
    const registry = new Faults();
    const faults = new PacketFaults({
      ...{
        registry,
        session,
        mostHeldBytes: 1 << 20,
        delayed: new DelayedMedia(() => {}),
        work: new WorkTurns().background(""),
        tracks: [video],
        keyTrack: 0,
      },
      ...{ keyFrame: () => undefined, deliver: (packets) => transport.send(packets), deliverReport() {} },
    });
    const packetizer = createPacketizer(video, { track: 0, payloadType: 96, packetBytes: 500, timestampOffset: 0 });
    const packets = packetizer.packetize({ track: 0, units: [Buffer.alloc(900, 0x41)], pts: 90_000, dts: 90_000, isKey: false });
    // Of a reader without faults, on the same channels.
    transport.send(packets);
    registry.start(session, { fault: { kind: "jump", jumpMs: 1_000 }, forMs: 10_000 });
    // Which takes the packets one by one.
    registry.start(session, { fault: { kind: "loss", percent: 1 }, seed: "b", forMs: 10_000 });
    expect(faults.isActive).toBe(true);
    faults.push(packets);
    const sent = written.slice(1);
    expect(sent.map((bytes) => [bytes[1], parseRtpPacket(bytes.subarray(4))?.timestamp])).toEqual(packets.offsets.map(() => [6, 180_000]));
    faults.stop();
  });

  it("[RTSP-173] stop in a stall, lack key frames, or show one picture again and again", () => {
    const stalled = reader();
    stalled.start({ kind: "stall" }, { forMs: 1_000 });
    stalled.play(20);
    stalled.faults.report(0, Buffer.alloc(28));
    expect([stalled.sent, stalled.reports]).toEqual([[], []]);
    stalled.play(10);
    expect(stalled.sent.length).toBeGreaterThan(0);

    const headless = reader();
    headless.start({ kind: "drop-key-frames" });
    headless.play(50);
    expect(headless.of(0)).toHaveLength(48 * 2);
    expect(headless.of(1)).toHaveLength(50);
    expect(headless.of(0).every(({ payload }) => (payload[1] as number) % 32 !== 5)).toBe(true);

    const frozen = reader();
    frozen.play(30);
    const last = frozen.of(0).length;
    frozen.start({ kind: "freeze" }, { forMs: 10 * frameMs });
    frozen.play(10);
    // It has the picture of the key frame, in four packets, with the times of the pictures in whose place it is.
    const shown = frozen.of(0).slice(last);
    expect(shown).toHaveLength(40);
    expect(new Set(shown.map(({ payload }) => payload.at(-1)))).toEqual(new Set([25]));
    expect([...new Set(shown.map(({ timestamp }) => timestamp))]).toEqual(Array.from({ length: 10 }, (_, index) => (30 + index) * 3_600));
    // It stays until the next key frame; numbers go on without a gap.
    frozen.play(40);
    expect(follow(frozen.of(0).slice(last - 1))).toBe(true);
    expect(frozen.of(0).at(-1)?.payload.at(-1)).toBe(79);
    expect(frozen.of(0).filter(({ payload }) => payload.at(-1) === 25)).toHaveLength(4 + 20 * 4);
    expect(frozen.of(1)).toHaveLength(80);
  });

  it("[RTSP-174] jump in time, and so do sender reports; other reports stay as they are", () => {
    const jumping = reader();
    jumping.start({ kind: "jump", jumpMs: -10_000 }, { forMs: 10 * frameMs });
    const report = Buffer.alloc(28);
    report[1] = 200;
    report.writeUInt32BE(5_000, 16);
    const goodbye = Buffer.from(report);
    goodbye[1] = 203;
    jumping.play(5);
    jumping.faults.report(1, report);
    jumping.faults.report(1, goodbye);
    jumping.play(10);
    expect(
      jumping
        .of(0)
        .map(({ timestamp }) => timestamp)
        .slice(0, 6),
    ).toEqual([0, 0, 0, 0, 3_600, 3_600].map((timestamp) => (timestamp - 900_000) >>> 0));
    expect(jumping.of(1)[0]?.timestamp).toBe(-480_000 >>> 0);
    expect(jumping.reports.map((one) => one.report.readUInt32BE(16))).toEqual([(5_000 - 480_000) >>> 0, 5_000]);
    expect(jumping.of(0).at(-1)?.timestamp).toBe(14 * 3_600);
    expect(follow(jumping.of(0))).toBe(true);
  });
});

it("[RTSP-227] what a fault of a path makes of a frame is the same bytes for all its readers", () => {
  const registry = new Faults();
  registry.start("door", { fault: { kind: "jump", jumpMs: 1_000 }, forMs: 60_000 });
  const delivered: Buffer[] = [];
  const readers = Array.from({ length: 3 }, () => {
    const none = { keyTrack: 0, keyFrame: () => undefined, deliverReport() {} };
    const of = { registry, session: { path: "door" }, mostHeldBytes: 1 << 20, tracks: [video], ...none };
    const work = new WorkTurns().background("192.0.2.1");
    return new PacketFaults({ ...of, delayed: new DelayedMedia(() => {}), work, deliver: ({ bytes }) => void delivered.push(bytes) });
  });
  const packetizer = createPacketizer(video, { track: 0, payloadType: 96, packetBytes: 500 });
  const packets = packetizer.packetize({ track: 0, units: [Buffer.alloc(2_000, 0x65)], pts: 0, dts: 0, isKey: true });
  for (const one of readers) if (one.isActive) one.push(packets);
  expect([delivered.length, new Set(delivered).size, delivered[0]?.equals(packets.bytes)]).toEqual([3, 1, false]);
  registry.stopAll();
});
