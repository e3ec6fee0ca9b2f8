import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { WorkTurns } from "../../servers/core/service/work-turns.ts";

/** Longer than a turn. */
const busyMs = 6;
const work = () => {
  const endMs = performance.now() + busyMs;
  while (performance.now() < endMs);
};

it("[BL-337] clients with more work than a turn of the event loop has go on in the next ones, in their order", async () => {
  const turns = new WorkTurns();
  const done: string[] = [];
  const client = (name: string, items: number) => {
    let left = items;
    const goOn = () => {
      for (; left > 0; left--) {
        if (turns.isOver) {
          turns.later(goOn);
          return;
        }
        work();
        done.push(name);
      }
    };
    goOn();
  };
  client("a", 4);
  client("b", 2);
  expect(done).toEqual(["a"]);
  let others = 0;
  for (; done.length < 6; others++) await nextTurn();
  expect(done).toEqual(["a", "a", "b", "a", "b", "a"]);
  expect(others).toBeGreaterThanOrEqual(5);
});
