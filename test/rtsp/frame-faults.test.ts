import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RtspFault } from "../../contract/services/rtsp-faults.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { FrameFaults } from "../../servers/rtsp/faults/frame-faults.ts";
import type { Frame } from "../../servers/rtsp/media/track.ts";
import { DelayedMedia } from "../../servers/rtsp/streams/delayed-media.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A reader of pictures with a key frame in five, reordered by one, and of sound. */
function reader(mostHeldBytes = 1 << 20) {
  const registry = new Faults();
  const sent: (Frame & { readonly atMs: number })[] = [];
  const deliver = (frame: Frame) => void sent.push({ ...frame, atMs: performance.now() });
  const faults = new FrameFaults({
    registry,
    path: "door",
    keyTrack: 0,
    mostHeldBytes,
    delayed: new DelayedMedia(() => {}),
    work: new WorkTurns().background(""),
    deliver,
  });
  let index = 0;
  return {
    registry,
    faults,
    sent,
    start: (fault: RtspFault) => registry.start("door", { fault, forMs: 3_600_000 }),
    play(count: number): void {
      for (let left = count; left > 0; left--, index++) {
        const dts = index * 3_600;
        faults.push({ track: 0, units: [Buffer.from([index])], pts: dts + 3_600, dts, isKey: index % 5 === 0 });
        faults.push({ track: 1, units: [Buffer.alloc(10)], pts: index * 1_920, dts: index * 1_920, isKey: true });
        vi.advanceTimersByTime(40);
      }
    },
    pictures: () => sent.filter(({ track }) => track === 0).map(({ units }) => units[0]?.[0]),
  };
}

it("[RTSP-180] frames are as they are without a fault, and with one of RTP or of another path", () => {
  const one = reader();
  one.start({ kind: "loss", percent: 100 });
  one.start({ kind: "jump", jumpMs: 1_000 });
  one.registry.start("yard", { fault: { kind: "stall" }, forMs: 1_000 });
  one.play(7);
  expect(one.pictures()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(one.sent[2]?.pts).toBe(7_200);
});

it("[RTSP-180] a stall sends nothing, and key frames can be left out", () => {
  const one = reader();
  one.play(2);
  one.start({ kind: "stall" });
  one.play(2);
  one.registry.stop("door");
  one.start({ kind: "drop-key-frames" });
  one.play(3);
  expect(one.pictures()).toEqual([0, 1, 4, 6]);
  expect(one.sent.filter(({ track }) => track === 1)).toHaveLength(5);
});

it("[RTSP-180] a frozen picture is shown at the times of the others, until the key frame after the fault", () => {
  const one = reader();
  one.play(7);
  one.start({ kind: "freeze" });
  one.play(5);
  one.registry.stop("door");
  one.play(5);
  expect(one.pictures()).toEqual([0, 1, 2, 3, 4, 5, 6, 5, 5, 5, 5, 5, 5, 5, 5, 15, 16]);
  const frozen = one.sent.filter(({ track }) => track === 0)[8];
  expect(frozen).toMatchObject({ dts: 8 * 3_600, pts: 8 * 3_600, isKey: true });
  // A picture of other parameter sets is of no use.
  one.start({ kind: "freeze" });
  one.faults.restart();
  one.play(4);
  expect(one.pictures().slice(-4)).toEqual([17, 18, 19, 20]);
});

it("[RTSP-180] a delay keeps the order, and what it holds back is bounded and sent at its end", () => {
  const one = reader();
  one.start({ kind: "delay", delayMs: 100 });
  one.play(5);
  expect(one.pictures()).toEqual([0, 1, 2]);
  one.registry.stop("door");
  one.play(1);
  expect(one.pictures()).toEqual([0, 1, 2, 3, 4, 5]);
  const small = reader(24);
  small.start({ kind: "delay", delayMs: 10_000 });
  small.play(10);
  vi.advanceTimersByTime(20_000);
  expect(small.pictures().length).toBeLessThan(6);
  small.play(1);
  small.faults.stop();
  const { length } = small.sent;
  vi.advanceTimersByTime(20_000);
  expect(small.sent).toHaveLength(length);
});
