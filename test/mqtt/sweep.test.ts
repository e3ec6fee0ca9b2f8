import { expect, it, vi } from "vitest";
import { Sweep, type SweepParts } from "../../servers/mqtt/engine/session/sweep.ts";

it("[MQTT-478] a client is not disconnected before one and a half times its keep alive, nor for what the broker had no time to read", () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const disconnected: number[] = [];
  const connection = {
    state: "connected",
    keepAliveSeconds: 1,
    held: false,
    lastPacketAt: 0,
    run: (step: () => void) => step(),
    disconnect: () => void disconnected.push(now),
  };
  const sweep = new Sweep({
    limits: { connectTimeoutMs: 1_000, messagesPerSecond: 0 },
    observer: {},
    scheduler: { isTurnOver: () => false, whenWritten: () => {} },
    connections: new Set([connection]),
    departures: { begin() {} },
  } as unknown as SweepParts);
  const sweepAt = (time: number) => {
    now = time;
    sweep.start();
  };
  for (const time of [250, 500]) sweepAt(time);
  // A packet that came at 740 has the time of the last sweep.
  connection.lastPacketAt = 500;
  for (const time of [750, 1_000, 1_250, 1_500, 1_750, 2_000, 2_240]) sweepAt(time);
  expect(disconnected).toEqual([]);
  sweepAt(2_490);
  expect(disconnected).toEqual([2_490]);
  // The process stood still; what arrived meanwhile is read after this.
  connection.lastPacketAt = 2_490;
  sweepAt(6_000);
  expect(disconnected).toEqual([2_490]);
  sweepAt(6_250);
  expect(disconnected).toEqual([2_490, 6_250]);
});
