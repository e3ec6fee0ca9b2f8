import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { LargeGarbage } from "../../servers/core/service/large-garbage.ts";

it("[BL-428] large buffers that are dropped are collected when they have 32 MiB together, and not within the step that drops them", async () => {
  let collections = 0;
  const garbage = new LargeGarbage(() => collections++);
  for (let count = 0; count < 100_000; count++) garbage.drop(10_000);
  for (let count = 0; count < 31; count++) garbage.drop(1 << 20);
  await nextTurn();
  expect(collections).toBe(0);
  garbage.drop(1 << 20);
  expect(collections).toBe(0);
  await nextTurn();
  expect(collections).toBe(1);
  garbage.drop(100 << 20);
  await nextTurn();
  expect(collections).toBe(2);
});
