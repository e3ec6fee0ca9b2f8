/** What a publisher may send that is wrong in itself: it harms no one but those who read it. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { parseRtcp, writeRtcp } from "../../servers/core/rtp/rtcp.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { separateParameterSets } from "../../servers/rtsp/media/parameter-sets.ts";
import type { Frame, H264Track, H265Track } from "../../servers/rtsp/media/track.ts";
import { StreamReader } from "../../servers/rtsp/sessions/stream-reader.ts";
import type { TrackTransport } from "../../servers/rtsp/sessions/track-transport.ts";
import { RtpSource } from "../../servers/rtsp/streams/rtp-source.ts";
import { Stream } from "../../servers/rtsp/streams/stream.ts";
import { onEnd } from "../support/start-service.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

const h264: H264Track = { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] };
const h265: H265Track = { kind: "video", codec: "h265", clockRate: 90_000, vps: [], sps: [], pps: [] };
const limits = { packetBytes: 1_400, keptBytes: 8 << 20, media: new SharedBudget(1 << 30) };

it("[RTSP-221] times that go back below the first one are in sender reports, which reach all readers", () => {
  vi.useFakeTimers();
  onEnd(() => void vi.useRealTimers());
  const described = { track: h264, payloadType: 96, control: "", isLatm: false, parameters: {} };
  const source = new RtpSource({ ...limits, tracks: [described], isUnordered: false, owner: "10.0.0.1" });
  const { stream } = source;
  let timestamp = 0;
  for (let sequence = 0; sequence < 8; sequence++) {
    const nowMs = performance.now();
    const packet = Buffer.alloc(14);
    packet.set([0x80, 0x80 | 96, 0, sequence]);
    packet.writeUInt32BE(timestamp, 4);
    packet.set([0x65, 0x88], 12);
    source.receiveRtp(0, packet, nowMs);
    const report = { type: "sender-report", ssrc: 0, ntpMs: Date.now(), timestamp, packets: 1, payloadBytes: 1, reports: [] } as const;
    source.receiveRtcp(0, writeRtcp([report]), nowMs);
    timestamp = (timestamp - 0x7fff_fff0) >>> 0;
    vi.advanceTimersByTime(40);
  }
  expect(stream.clock.ptsAt(0, performance.now())).toBeLessThan(-(2 ** 32));
  const reports: Buffer[] = [];
  const reader = { onPackets() {}, onGap() {}, onEnd() {} };
  stream.addPacketReader({
    ...reader,
    onReport() {
      throw new Error("it cannot be sent");
    },
  });
  stream.addPacketReader({ ...reader, onReport: (_track, report) => void reports.push(report) });
  vi.advanceTimersByTime(5_000);
  expect(parseRtcp(reports[0] as Buffer)?.[0]?.type).toBe("sender-report");
  // Of those who begin with what is kept, as well.
  vi.advanceTimersByTime(5_000);
  expect(reports).toHaveLength(2);
  stream.end("the test is over");
});

it("[RTSP-222] a frame of which no packets can be made ends the player that comes to it, also in a later turn", async () => {
  const stream = new Stream({ ...limits, tracks: [h265], clock: { ptsAt: () => 0 } });
  const picture = (number: number, units: Buffer[]): Frame => ({ track: 0, units, pts: number, dts: number, isKey: number === 0 });
  const whole = Buffer.from([0x26, 0x01, 0x80]);
  for (let number = 0; number < 100; number++) stream.publish(picture(number, [whole]));
  // Half a header.
  stream.publish(picture(100, [whole, Buffer.from([0x26])]));
  let nowMs = 0;
  const turns = new WorkTurns(() => {
    nowMs += 0.125;
    return nowMs;
  });
  onEnd(() => turns.close());
  const ends: string[] = [];
  let sent = 0;
  const transport = {
    connection: {},
    unsentBytes: 0,
    send() {
      sent++;
      return true;
    },
    sendReport() {},
  } as unknown as TrackTransport;
  new StreamReader({
    ...{ stream, limits: { unsentBytes: 1 << 30, stallMs: 10_000 }, transports: new Map([[0, transport]]), counts: new Map() },
    faults: { registry: new Faults(), session: { path: "live" }, mostHeldBytes: 1 },
    work: turns.background("10.0.0.1"),
    onEnd: (reason) => void ends.push(reason),
  }).start();
  expect(sent).toBeLessThan(50);
  for (let turn = 0; turn < 1_000 && ends.length === 0; turn++) await nextTurn();
  expect(ends).toHaveLength(1);
  expect([sent, stream.readers]).toEqual([100, 0]);
  stream.end("the test is over");
});

it("[RTSP-222] units of H.265 that are shorter than a header and a byte are left out", () => {
  const slice = Buffer.from([0x26, 0x01, 0x80]);
  const units = [slice, Buffer.from([0x26]), Buffer.from([0x42]), Buffer.from([0x26, 0x01])];
  expect(separateParameterSets(h265, units)).toEqual({ units: [slice], track: h265 });
});

it("[RTSP-223] of the parameter sets that come with a picture the first 32 are read", () => {
  // ue(v) of 0 to 99 behind its header.
  const set = (id: number): Buffer => {
    const bits = (id + 1).toString(2);
    const code = `${"0".repeat(bits.length - 1)}${bits}`.padEnd(16, "1");
    return Buffer.from([0x68, Number.parseInt(code.slice(0, 8), 2), Number.parseInt(code.slice(8), 2)]);
  };
  const slice = Buffer.from([0x65, 0x88]);
  const track = separateParameterSets({ ...h264, pps: [] }, [...Array.from({ length: 100 }, (_, id) => set(id)), slice]).track as H264Track;
  expect(track.pps).toEqual(Array.from({ length: 32 }, (_, id) => set(id)));
});
