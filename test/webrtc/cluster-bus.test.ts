import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { RedisConnections } from "../../servers/core/redis/redis-connections.ts";
import { ClusterBus } from "../../servers/webrtc/signalling/cluster/cluster-bus.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

/** Instances at one Redis that delivers at once. */
function open() {
  const published: string[] = [];
  const listeners: EventEmitter[] = [];
  const faults: unknown[] = [];
  const reading: boolean[] = [];
  const { turns, pass } = workTime();
  const instance = (onFrame: (frame: number) => void) => {
    const stream = { pause: () => reading.push(false), resume: () => reading.push(true) };
    const listening = Object.assign(new EventEmitter(), { stream, subscribe: async () => {} });
    listeners.push(listening);
    const commands = {
      async publish(channel: string, text: string) {
        published.push(text);
        for (const one of listeners) one.emit("message", channel, text);
      },
    };
    return new ClusterBus<number>({
      redis: { database: 0, listening, commands } as unknown as RedisConnections,
      parse: (value) => (typeof value === "number" ? value : undefined),
      *onFrame(frame) {
        pass();
        yield;
        onFrame(frame);
      },
      ...{ onForeign() {}, onFailure() {}, onSent() {} },
      onFault: (error) => faults.push(error),
      work: turns.connection(""),
    });
  };
  return { instance, published, faults, reading };
}

it("[WEBRTC-533] frames are published in parts that are parsed in one step, and worked off in turns and in their order", async () => {
  const { instance, published } = open();
  const got: number[] = [];
  const [here] = [instance(() => {}), instance((frame) => got.push(frame))];
  const frames = Array.from({ length: 30_000 }, (_, index) => 1e9 + index);
  for (const frame of frames) here.send(frame);
  await here.flush();
  expect(published.length).toBeGreaterThan(4);
  for (const text of published) expect(text.length).toBeLessThan(70_000);
  while (got.length < frames.length) {
    const before = got.length;
    await nextTurn();
    expect(got.length - before).toBeLessThanOrEqual(itemsOfTurn);
  }
  expect(got).toEqual(frames);
});

it("[WEBRTC-533] a fault in a frame ends that frame alone, and work of the instance itself comes in its order", async () => {
  const { instance, faults } = open();
  const got: unknown[] = [];
  const here = instance(() => {});
  const there = instance((frame) => {
    if (frame === 2) throw new Error("a fault");
    got.push(frame);
  });
  for (const frame of [1, 2, 3]) here.send(frame);
  await here.flush();
  await there.run([]);
  expect([got, faults]).toEqual([[1, 3], [new Error("a fault")]]);
});

it("[WEBRTC-533] while much of what has arrived waits, Redis is not read", async () => {
  const { instance, reading } = open();
  const got: number[] = [];
  const [here] = [instance(() => {}), instance((frame) => got.push(frame))];
  for (let frame = 0; frame < 700_000; frame++) here.send(frame);
  await here.flush();
  expect(reading.at(-1)).toBe(false);
  while (got.length < 700_000) await nextTurn();
  await nextTurn();
  expect(reading.at(-1)).toBe(true);
});
