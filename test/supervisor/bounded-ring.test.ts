import { describe, expect, it } from "vitest";
import { createBoundedRing } from "../../servers/supervisor/bounded-ring.ts";
import { seededRandom } from "../support/seeded-random.ts";

describe("bounded ring", () => {
  it("[BL-41] keeps the newest, by count and by bytes", () => {
    const ring = createBoundedRing<string>({ items: 3, bytes: 100 });
    for (let id = 1; id <= 5; id++) ring.add(id, `item ${id}`, 10);
    expect([...ring.oldestFirst()]).toEqual(["item 3", "item 4", "item 5"]);
    expect([...ring.newestFirst()]).toEqual(["item 5", "item 4", "item 3"]);
    ring.add(6, "large", 85);
    expect([...ring.oldestFirst()]).toEqual(["item 5", "large"]);
    expect([ring.size, ring.bytes]).toEqual([2, 95]);
  });

  it("[BL-41] keeps the newest even if it alone is larger than the bound", () => {
    const ring = createBoundedRing<string>({ items: 3, bytes: 100 });
    ring.add(1, "small", 1);
    ring.add(2, "huge", 500);
    expect([...ring.oldestFirst()]).toEqual(["huge"]);
    ring.add(3, "next", 1);
    expect([...ring.oldestFirst()]).toEqual(["next"]);
  });

  it("[BL-41] equals a plain list over random sequences of every operation", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = seededRandom(seed);
      let limits = { items: 1 + random.below(40), bytes: 50 + random.below(500) };
      const ring = createBoundedRing<number>(limits);
      let plain: { id: number; item: number; bytes: number }[] = [];
      let nextId = 1;
      const bytesOf = () => plain.reduce((sum, { bytes }) => sum + bytes, 0);
      const evict = () => {
        while (plain.length > limits.items || (bytesOf() > limits.bytes && plain.length > 1)) plain.shift();
      };
      const skipped: number[] = [];
      for (let step = 0; step < 400; step++) {
        const dice = random.below(20);
        const bytes = random.below(60);
        if (dice < 11) {
          if (random.chance(0.1)) skipped.push(nextId++);
          const id = skipped.length > 0 && random.chance(0.2) ? (skipped.pop() as number) : nextId++;
          ring.add(id, step, bytes);
          plain = [...plain, { id, item: step, bytes }].sort((left, right) => left.id - right.id);
        } else if (dice < 18) {
          const id = random.below(nextId + 2);
          const found = plain.find((slot) => slot.id === id);
          expect(ring.get(id)).toBe(found?.item);
          expect(ring.replace(id, -step, bytes)).toBe(found !== undefined);
          if (found) Object.assign(found, { item: -step, bytes });
        } else if (dice === 18) {
          limits = { items: 1 + random.below(40), bytes: 50 + random.below(500) };
          ring.limit(limits);
        } else if (random.chance(0.1)) {
          ring.clear();
          plain = [];
        }
        evict();
        expect({ seed, step, items: [...ring.oldestFirst()], bytes: ring.bytes, size: ring.size }).toEqual({
          seed,
          step,
          items: plain.map(({ item }) => item),
          bytes: bytesOf(),
          size: plain.length,
        });
      }
    }
  });

  it("finds by id after many were evicted", () => {
    const ring = createBoundedRing<number>({ items: 500, bytes: 1_000_000 });
    for (let id = 1; id <= 20_000; id++) ring.add(id, id, 1);
    expect([19_500, 19_501, 20_000, 20_001].map((id) => ring.get(id))).toEqual([undefined, 19_501, 20_000, undefined]);
  });
});
