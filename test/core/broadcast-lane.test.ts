import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { BroadcastLane, BroadcastMemory } from "../../servers/core/streams/broadcast-lane.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

interface Receiver {
  readonly since: number;
  readonly got: string[];
}

function open(count: number, { turns, pass } = workTime(), sender = turns.connection("10.0.0.1")) {
  const receivers: Receiver[] = [];
  let delivered = 0;
  const lane = new BroadcastLane<Receiver, string>({
    memory: new BroadcastMemory(),
    receivers: () => receivers,
    deliver({ got, since }, message, number) {
      pass();
      if (number < since) return;
      delivered++;
      got.push(message);
    },
    bytesOf: ({ length }) => 2 * length,
  });
  const join = (): Receiver => {
    const receiver = { since: lane.sent, got: [] };
    receivers.push(receiver);
    return receiver;
  };
  for (let index = 0; index < count; index++) join();
  const send = (message: string) => lane.send(message, sender);
  return { send, receivers, join, delivered: () => delivered };
}

it("few receivers have a message at once", () => {
  const { send, receivers } = open(3);
  expect(send("a")).toBe(undefined);
  expect(receivers.every(({ got }) => got.join("") === "a")).toBe(true);
});

it("many get messages in slices, in the same order; who comes gets what is sent afterwards, who goes no more", async () => {
  const { send, receivers, join, delivered } = open(1_000);
  const first = send("a");
  expect(delivered()).toBeLessThanOrEqual(itemsOfTurn);
  const newcomer = join();
  const second = send("b");
  const leaver = receivers.splice(998, 1)[0];
  await first;
  expect([newcomer.got, receivers[0]?.got[0]]).toEqual([[], "a"]);
  for (let before = -1; before !== delivered(); ) {
    before = delivered();
    await nextTurn();
    expect(delivered() - before).toBeLessThanOrEqual(itemsOfTurn);
  }
  await second;
  expect(newcomer.got).toEqual(["b"]);
  expect(leaver?.got).toEqual([]);
  expect(receivers.slice(0, -1).every(({ got }) => got.join("") === "ab")).toBe(true);
});

it("a lane with few receivers does not wait for one with many, whose sender is another client or has another connection", async () => {
  for (const address of ["10.0.0.1", "10.0.0.2"]) {
    const time = workTime();
    const [large, small] = [open(5_000, time), open(3, time, time.turns.connection(address))];
    const all = [large.send("a"), large.send("b")];
    await small.send("c");
    expect(large.delivered()).toBeLessThan(itemsOfTurn);
    await Promise.all(all);
    expect([large.delivered(), small.delivered()]).toEqual([10_000, 3]);
  }
});

it("what waits is bounded: beyond that it is delivered at once", () => {
  const { send, delivered } = open(200);
  for (let count = 0; count < 100; count++) void send("x".repeat(1 << 20));
  expect(delivered()).toBeGreaterThan(60 * 200);
});
