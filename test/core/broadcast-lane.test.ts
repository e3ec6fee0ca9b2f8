import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { BroadcastLane, BroadcastMemory } from "../../servers/core/streams/broadcast-lane.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

interface Receiver {
  readonly since: number;
  readonly got: string[];
}

function open(
  count: number,
  { turns, pass } = workTime(),
  sender = turns.connection("10.0.0.1"),
  memory = new BroadcastMemory(),
  lost: string[] = [],
) {
  const receivers: Receiver[] = [];
  let delivered = 0;
  const lane = new BroadcastLane<Receiver, string>({
    memory,
    receivers: () => receivers,
    deliver({ got, since }, message, number) {
      pass();
      if (number < since) return;
      delivered++;
      got.push(message);
    },
    bytesOf: ({ length }) => 2 * length,
    lost: (message) => void lost.push(message),
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

it("[WEBRTC-530] addresses take turns in the order of a lane, and the connections of each; what one has sent keeps its order", async () => {
  const time = workTime();
  const got: string[] = [];
  const lane = new BroadcastLane<number, string>({
    memory: new BroadcastMemory(),
    receivers: () => Array.from({ length: 100 }, (_, index) => index),
    deliver(receiver, message) {
      time.pass();
      if (receiver === 0) got.push(message);
    },
    bytesOf: () => 1,
  });
  const crowd = Array.from({ length: 20 }, () => time.turns.connection("10.0.0.1"));
  const [one, other] = [time.turns.connection("10.0.0.2"), time.turns.connection("10.0.0.2")] as const;
  const sent = crowd.map((sender, index) => lane.send(`crowd ${index}`, sender));
  for (const text of ["a", "b"]) sent.push(lane.send(`one ${text}`, one));
  sent.push(lane.send("other", other));
  await Promise.all(sent);
  expect(got.slice(0, 7)).toEqual(["crowd 0", "crowd 1", "one a", "crowd 2", "other", "crowd 3", "one b"]);
  expect(got.filter((text) => text.startsWith("crowd"))).toEqual(crowd.map((_, index) => `crowd ${index}`));
});

it("[BL-349] beyond the bound of what waits, the sender that has most loses messages, the newest first; nothing is delivered at once", async () => {
  const time = workTime();
  const lost: string[] = [];
  const memory = new BroadcastMemory();
  const large = open(1_000, time, time.turns.connection("10.0.0.1"), memory, lost);
  const small = open(1_000, time, time.turns.connection("10.0.0.2"), memory, lost);
  const all = [small.send("small")];
  for (let count = 0; count < 100; count++) all.push(large.send(`${count}`.padEnd(1 << 20)));
  expect(large.delivered() + small.delivered()).toBeLessThanOrEqual(itemsOfTurn);
  await Promise.all(all);
  expect(small.delivered()).toBe(1_000);
  const got = large.receivers[0]?.got.map((text) => Number(text)) ?? [];
  expect(large.receivers.every((receiver) => receiver.got.length === got.length)).toBe(true);
  // 2 MiB each.
  expect(got.length).toBeLessThanOrEqual(32);
  expect(got[0]).toBe(0);
  expect([...got, ...lost.map((text) => Number(text))].sort((one, other) => one - other)).toEqual(
    Array.from({ length: 100 }, (_, at) => at),
  );
});
