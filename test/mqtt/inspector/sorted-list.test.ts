import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { firstInOrder, SortedList } from "../../../servers/mqtt/inspector/sorted-list.ts";

const compare = (one: number, other: number) => one - other;
const mixed = Array.from({ length: 500 }, (_, index) => (index * 7_919) % 503);
const inOrder = mixed.toSorted(compare);

describe("sorted list", () => {
  it("stays sorted, whatever is added between two reads", () => {
    const list = new SortedList(mixed.slice(0, 100), compare);
    for (const item of mixed.slice(100, 300)) list.add(item);
    expect(list.items()).toEqual(mixed.slice(0, 300).sort(compare));
    for (const item of mixed.slice(300)) list.add(item);
    expect(list.items()).toEqual(inOrder);
  });

  it("[MQTT-347] merges many new items over several turns of the event loop", async () => {
    const many = Array.from({ length: 10_001 }, (_, index) => (index * 7_919) % 10_007);
    let compared = 0;
    const list = new SortedList(many.slice(0, 5_000), (one, other) => {
      compared++;
      return one - other;
    });
    expect(list.items().length).toBeLessThan(2_500);
    for (const item of many.slice(5_000)) list.add(item);
    list.remove(many[7_000] as number);
    const remaining = many.toSpliced(7_000, 1).sort(compare);
    let most = 0;
    for (let turn = 0; turn < 20 && list.items().length < remaining.length; turn++) {
      compared = 0;
      await setImmediate();
      most = Math.max(most, compared);
    }
    expect(list.items()).toEqual(remaining);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(2_500 * 30);
  });

  it.each([0, 1, 2, 10, 499, 500, 600])("returns the first %i in order", (count) => {
    for (const items of [mixed, inOrder, inOrder.toReversed(), []]) {
      expect(firstInOrder(items, count, compare)).toEqual(items.toSorted(compare).slice(0, count));
    }
  });
});
