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

  it.each([0, 1, 2, 10, 499, 500, 600])("returns the first %i in order", (count) => {
    for (const items of [mixed, inOrder, inOrder.toReversed(), []]) {
      expect(firstInOrder(items, count, compare)).toEqual(items.toSorted(compare).slice(0, count));
    }
  });
});
