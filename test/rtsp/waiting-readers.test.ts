import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Snapshots } from "../../servers/rtsp/management/snapshots.ts";
import { Stream } from "../../servers/rtsp/streams/stream.ts";
import { WaitingPlaces, WaitingReaders } from "../../servers/rtsp/streams/waiting-readers.ts";
import { onEnd } from "../support/start-service.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

/** `gone` counts those that go on; each takes as much time as half a share. */
function openWaiting(most: number) {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  onEnd(() => turns.close());
  const places = new WaitingPlaces(most);
  const ends: string[] = [];
  const waiting = new WaitingReaders<string>({ turns, places, waitMs: 1_000, refusal: (reason) => new Error(reason) });
  const wait = () => {
    const end = (text: string) => {
      nowMs += 0.125;
      ends.push(text);
    };
    void waiting.wait().then(end, (error: Error) => end(error.message));
  };
  return { turns, places, waiting, ends, wait };
}

it("[RTSP-205] thousands who wait for the same stream go on, or are refused, in turns, with one timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onEnd(() => void vi.useRealTimers());
  for (const end of ["resolve", "late"] as const) {
    const { waiting, ends, wait, places } = openWaiting(5_000);
    for (let index = 0; index < 5_000; index++) wait();
    expect(vi.getTimerCount()).toBe(1);
    if (end === "resolve") waiting.resolve("resolve");
    else vi.advanceTimersByTime(1_000);
    expect(waiting.size).toBe(0);
    for (let before = 0; ends.length < 5_000; before = ends.length) {
      await nextTurn();
      expect(ends.length - before).toBeLessThan(100);
    }
    expect(new Set(ends)).toEqual(new Set([end]));
    expect(places.taken).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  }
});

it("[RTSP-205] of those who wait only some have a place, and each its time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onEnd(() => void vi.useRealTimers());
  const { ends, wait, waiting } = openWaiting(2);
  wait();
  vi.advanceTimersByTime(600);
  wait();
  wait();
  await nextTurn();
  expect(ends).toEqual(["full"]);
  vi.advanceTimersByTime(500);
  await nextTurn();
  expect(ends).toEqual(["full", "late"]);
  expect(waiting.size).toBe(1);
  vi.advanceTimersByTime(500);
  await nextTurn();
  expect(ends).toEqual(["full", "late", "late"]);
});

it("[RTSP-205] those who wait for a picture are one reader of the stream", async () => {
  const video = { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] } as const;
  const media = new SharedBudget(1 << 30);
  const stream = new Stream({ packetBytes: 1_400, keptBytes: 1 << 20, media, tracks: [video], clock: { ptsAt: () => 0 } });
  onEnd(() => stream.end("the test is over"));
  const snapshots = new Snapshots({ turns: new WorkTurns(), places: new WaitingPlaces(100) });
  const waiting = Array.from({ length: 20 }, () => snapshots.of(stream));
  await nextTurn();
  expect(stream.readers).toBe(1);
  stream.publish({ track: 0, units: [Buffer.of(0x65, 1)], pts: 0, dts: 0, isKey: true });
  expect(new Set(await Promise.all(waiting)).size).toBe(1);
  expect(stream.readers).toBe(0);
});
