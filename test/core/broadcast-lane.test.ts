import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { BroadcastLane } from "../../servers/core/streams/broadcast-lane.ts";
import { DeliveryTurns, sliceDeliveries } from "../../servers/core/streams/delivery-turns.ts";

interface Receiver {
  readonly since: number;
  readonly got: string[];
}

function open(count: number, turns = new DeliveryTurns()) {
  const receivers: Receiver[] = [];
  let delivered = 0;
  const lane = new BroadcastLane<Receiver, string>({
    turns,
    receivers: () => receivers,
    deliver({ got }, message) {
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
  return { lane, receivers, join, delivered: () => delivered };
}

it("few receivers have a message at once", () => {
  const { lane, receivers } = open(5);
  expect(lane.send("a")).toBe(undefined);
  expect(receivers.every(({ got }) => got.join("") === "a")).toBe(true);
});

it("many get messages in slices, in the same order; who comes gets what is sent afterwards, who goes no more", async () => {
  const { lane, receivers, join, delivered } = open(1_000);
  const first = lane.send("a");
  expect(delivered()).toBeLessThanOrEqual(sliceDeliveries);
  const newcomer = join();
  const second = lane.send("b");
  const leaver = receivers.splice(998, 1)[0];
  await first;
  expect([newcomer.got, receivers[0]?.got[0]]).toEqual([[], "a"]);
  for (let before = -1; before !== delivered(); ) {
    before = delivered();
    await nextTurn();
    expect(delivered() - before).toBeLessThanOrEqual(sliceDeliveries);
  }
  await second;
  expect(newcomer.got).toEqual(["b"]);
  expect(leaver?.got).toEqual([]);
  expect(receivers.slice(0, -1).every(({ got }) => got.join("") === "ab")).toBe(true);
});

it("a lane with few receivers does not wait for one with many", async () => {
  const turns = new DeliveryTurns();
  const [large, small] = [open(5_000, turns), open(3, turns)];
  const all = [large.lane.send("a"), large.lane.send("b")];
  await small.lane.send("c");
  expect(large.delivered()).toBeLessThan(5_000);
  await Promise.all(all);
  expect([large.delivered(), small.delivered()]).toEqual([10_000, 3]);
});

it("what waits is bounded: beyond that it is delivered at once", () => {
  const { lane, delivered } = open(200);
  for (let count = 0; count < 100; count++) void lane.send("x".repeat(1 << 20));
  expect(delivered()).toBeGreaterThan(60 * 200);
});
