import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { Faults } from "../../servers/rtsp/faults/faults.ts";
import { sendTransportStream } from "../../servers/rtsp/management/transport-stream-output.ts";
import type { Frame } from "../../servers/rtsp/media/track.ts";
import { StreamReader } from "../../servers/rtsp/sessions/stream-reader.ts";
import type { TrackTransport } from "../../servers/rtsp/sessions/track-transport.ts";
import { Stream } from "../../servers/rtsp/streams/stream.ts";
import { onEnd } from "../support/start-service.ts";
import { h264Pps, h264Sps } from "./mp4-builder.ts";

const video = { kind: "video", codec: "h264", clockRate: 90_000, sps: [h264Sps], pps: [h264Pps] } as const;
const picture = (number: number, isKey = false): Frame => ({
  ...{ track: 0, units: [Buffer.from([isKey ? 0x65 : 0x41, 0x9a, number & 0xff])], pts: 30 * number, dts: 30 * number },
  isKey,
});

function openStream(): Stream {
  const media = new SharedBudget(256 << 20);
  const stream = new Stream({ packetBytes: 1_400, keptBytes: 8 << 20, media, tracks: [video], clock: { ptsAt: () => 0 } });
  onEnd(() => stream.end("the test is over"));
  return stream;
}

/** Each look at the clock is half a share later. */
function openTurns(): WorkTurns {
  let nowMs = 0;
  const turns = new WorkTurns(() => {
    nowMs += 0.125;
    return nowMs;
  });
  onEnd(() => turns.close());
  return turns;
}

const registry = new Faults();
const limits = { unsentBytes: 1 << 30, stallMs: 10_000 };

/** A player that has its packets at once; `sequences` has those that it got. */
function play(stream: Stream, turns: WorkTurns, sequences: number[], connection?: object): StreamReader {
  const transport = {
    connection,
    unsentBytes: 0,
    send: ({ sequence, offsets }: Parameters<TrackTransport["send"]>[0]) =>
      sequences.push(...offsets.map((_, index) => (sequence + index) & 0xffff)),
    sendReport() {},
    release() {},
  } as unknown as TrackTransport;
  const reader = new StreamReader({
    ...{ stream, limits, transports: new Map([[0, transport]]), counts: new Map() },
    faults: { registry, session: { path: "live" }, mostHeldBytes: 1 },
    work: turns.background("10.0.0.1"),
    onEnd() {},
  });
  reader.start();
  return reader;
}

const areConsecutive = (sequences: readonly number[]): boolean =>
  sequences.every((sequence, index) => index === 0 || sequence === (((sequences[index - 1] as number) + 1) & 0xffff));

it("[RTSP-209] many players that begin at once take what is kept in turns, and what comes meanwhile behind it", async () => {
  const stream = openStream();
  for (let number = 0; number < 2_000; number++) stream.publish(picture(number, number === 0));
  const turns = openTurns();
  const all = Array.from({ length: 20 }, () => [] as number[]);
  const readers = all.map((sequences) => play(stream, turns, sequences, {}));
  const sent = () => all.reduce((sum, { length }) => sum + length, 0);
  expect(sent()).toBeLessThan(100);
  let published = 2_000;
  for (let before = sent(), turn = 0; before < 20 * published; before = sent(), turn++) {
    if (turn < 10) stream.publish(picture(published++));
    await nextTurn();
    expect(sent() - before).toBeLessThan(100 + 20);
    expect(turn).toBeLessThan(20_000);
  }
  stream.publish(picture(published));
  // The last ones have not asked yet whether there is more.
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  for (const sequences of all) {
    expect(sequences.length).toBe(published + 1);
    expect(areConsecutive(sequences)).toBe(true);
  }
  for (const reader of readers) reader.stop();
  expect(stream.readers).toBe(0);
});

it("[RTSP-209] a player that is still behind when the next key frame comes goes on with that one", async () => {
  const stream = openStream();
  for (let number = 0; number < 500; number++) stream.publish(picture(number, number === 0));
  const turns = openTurns();
  const sequences: number[] = [];
  const reader = play(stream, turns, sequences, {});
  const before = sequences.length;
  expect(before).toBeLessThan(50);
  stream.publish(picture(500, true));
  stream.publish(picture(501));
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(sequences.length).toBe(before + 2);
  stream.publish(picture(502));
  expect(sequences.length).toBe(before + 3);
  expect(areConsecutive(sequences.slice(before))).toBe(true);
  reader.stop();
});

it("[RTSP-209] over UDP what is kept comes in bursts, and no frame of it waits for a player", async () => {
  const stream = openStream();
  for (let number = 0; number < 2_000; number++) stream.publish(picture(number, number === 0));
  const turns = new WorkTurns();
  onEnd(() => turns.close());
  const sequences: number[] = [];
  const reader = play(stream, turns, sequences);
  await expect.poll(() => sequences.length).toBe(2_000);
  expect(areConsecutive(sequences)).toBe(true);
  stream.publish(picture(2_000));
  expect(sequences.length).toBe(2_001);
  reader.stop();
});

it("[RTSP-209] readers of MPEG-TS take what is kept in turns", async () => {
  const stream = openStream();
  for (let number = 0; number < 1_000; number++) stream.publish(picture(number, number === 0));
  const turns = openTurns();
  let written = 0;
  const responses = Array.from({ length: 20 }, () =>
    Object.assign(new EventEmitter(), { writableLength: 0, writeHead() {}, write: () => written++, end() {}, destroy() {} }),
  );
  for (const response of responses)
    sendTransportStream(
      ...([stream, response as unknown as ServerResponse, limits] as const),
      ...([{ registry, path: "live", mostHeldBytes: 1 }, turns.background("10.0.0.1")] as const),
      () => ({ sends() {}, end() {} }),
    );
  expect(written).toBeLessThan(100);
  for (let before = written, turn = 0; before < 20_000; before = written, turn++) {
    await nextTurn();
    expect(written - before).toBeLessThan(100);
    expect(turn).toBeLessThan(20_000);
  }
  for (const response of responses) response.emit("close");
  expect(stream.readers).toBe(0);
});
