import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { oneStep } from "../../servers/core/turns/work-connection.ts";
import { WorkQueue } from "../../servers/core/turns/work-queue.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";

/** Each step takes an eighth of a millisecond, by a clock that stands otherwise. */
function open() {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const done: string[] = [];
  const queue = (name: string, fail: (error: unknown) => void = () => {}) => {
    const work = new WorkQueue(turns.background(name), fail);
    return {
      add: (count: number, bytes = 100) => work.add(bytes, steps(name, count)),
      get bytes() {
        return work.bytes;
      },
      clear: () => work.clear(),
      work,
    };
  };
  function* steps(name: string, count: number): Generator<void, void> {
    for (let step = 0; step < count; step++) {
      nowMs += 0.125;
      done.push(name);
      yield;
    }
  }
  return { turns, done, queue, count: (name: string) => done.filter((other) => other === name).length };
}

it("[BL-397] what is for thousands goes on by itself in turns, and who asks for little comes before it", async () => {
  const { turns, done, queue, count } = open();
  const players = Array.from({ length: 100 }, (_, index) => queue(`player ${index}`));
  for (const player of players) player.add(8);
  // Of the first turn, nobody has more than a share.
  expect(done.length).toBeLessThanOrEqual(34);
  const asking = turns.join("who asks", () => void done.push("who asks"));
  asking.later();
  const before = done.length;
  await nextTurn();
  expect(done[before]).toBe("who asks");
  while (players.some(({ bytes }) => bytes > 0)) {
    const turnFrom = done.length;
    await nextTurn();
    expect(done.length - turnFrom).toBeLessThanOrEqual(34);
  }
  expect(players.map((_, index) => count(`player ${index}`))).toEqual(Array(100).fill(8));
});

it("[BL-397] entries of a queue are done in their order; one that waits counts with its bytes and more", async () => {
  const { queue, done } = open();
  const one = queue("a");
  one.add(20, 1_000);
  one.add(1, 0);
  expect(one.bytes).toBe(2_000);
  one.work.add(
    0,
    oneStep(() => void done.push("last")),
  );
  while (one.bytes > 0) await nextTurn();
  expect([done.length, done.at(-1)]).toEqual([22, "last"]);
});

it("[BL-397] what a step throws ends its queue alone, and a queue that is cleared does nothing more", async () => {
  const { queue, count } = open();
  const failed: unknown[] = [];
  const broken = queue("broken", (error) => void failed.push(error));
  broken.add(20);
  broken.work.add(
    0,
    oneStep(() => {
      throw new Error("a step");
    }),
  );
  broken.add(20);
  const cleared = queue("cleared");
  cleared.add(20);
  cleared.clear();
  const other = queue("other");
  other.add(20);
  while (broken.bytes + other.bytes > 0) await nextTurn();
  expect([failed.length, count("broken"), count("other")]).toEqual([1, 20, 20]);
  expect(count("cleared")).toBeLessThan(20);
  // It goes on with what comes later.
  broken.add(1);
  while (broken.bytes > 0) await nextTurn();
  expect(count("broken")).toBe(21);
});
