import { describe, expect, it } from "vitest";
import type { Tone } from "../../contract/traffic/row.ts";
import { readRecords } from "../../servers/core/traffic/row-record.ts";
import { PartLists } from "../../servers/supervisor/traffic/part-lists.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { recordsOf, type TestRecord } from "../support/records.ts";
import { seededRandom } from "../support/seeded-random.ts";

import { batch, create, createMemory, everything, record, row, textOf } from "./traffic-stores.ts";

describe("bounds of the traffic store", () => {
  it("[BL-46] ends rows that were left open", async () => {
    const store = create();
    store.add(batch([row(1, "pending", { user: "joe", preview: "start" }), row(2)]));
    const abandoned: unknown[] = [];
    const abandon = () => store.abandon("service crashed", (rows) => abandoned.push(...rows));
    abandon();
    expect(abandoned).toEqual([{ service: "http", ...row(1, "aborted", { user: "joe", preview: "start", outcome: "service crashed" }) }]);
    expect((await store.read(everything)).rows.map(({ tone }) => tone)).toEqual(["ok", "aborted"]);
    expect(await textOf(store, 1)).toBe("pending");
    abandon();
    expect(abandoned).toHaveLength(1);
  });

  it("[BL-46] many rows that were left open are ended over several turns, in their order", async () => {
    const store = create(100_000, createMemory(64));
    for (let id = 0; id < 40_000; id += 1_000) store.add(batch(Array.from({ length: 1_000 }, (_, at) => row(id + at + 1, "pending"))));
    const ended: number[] = [];
    store.abandon("service crashed", (rows) => void ended.push(...rows.map(({ id }) => id)));
    expect(ended.length).toBeGreaterThan(0);
    expect(ended.length).toBeLessThan(40_000);
    // The next process has begun.
    store.add(batch([row(store.nextId())]));
    while (ended.length < 40_000) await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual(Array.from({ length: 40_000 }, (_, at) => at + 1));
    expect(await store.read({ ...everything, tone: "open" })).toMatchObject({ rows: [], kept: 40_001 });
  });

  it("[BL-41] keeps the newest rows within the bound, also after it changed", async () => {
    const store = create(5);
    store.add(batch([1, 2, 3, 4, 5, 6, 7].map((id) => row(id))));
    expect(await store.read(everything)).toMatchObject({ kept: 5, total: 7 });
    store.limitRows(2);
    expect((await store.read(everything)).rows.map(({ id }) => id)).toEqual([7, 6]);
    expect(await store.detail(3)).toBeNull();
  });

  it("[BL-120] one memory budget holds the traffic of all services: the largest is evicted first, and the newest row stays however large", async () => {
    const memory = createMemory(4);
    const quiet = create(100_000, memory);
    const busy = create(100_000, memory);
    const bytesOf = (id: number, length: number) => ({ records: recordsOf([record(row(id), "x".repeat(length))]), droppedRows: 0 });
    for (let id = 1; id <= 100; id++) quiet.add(bytesOf(id, 5_000));
    for (let id = 1; id <= 5_000; id++) busy.add(bytesOf(id, 5_000));
    expect((await quiet.read(everything)).kept).toBe(100);
    const freed = async (store: typeof busy, below: number) => {
      while ((await store.read(everything)).kept >= below) await new Promise((resolve) => setImmediate(resolve));
    };
    // Memory is freed in slices.
    await freed(busy, 800);
    expect((await busy.read(everything)).kept).toBeGreaterThan(500);
    busy.add(bytesOf(5_001, 6 << 20));
    await freed(busy, 2);
    expect((await busy.read(everything)).rows.map(({ id }) => id)).toEqual([5_001]);
    // The busy one cannot give more, so the quiet one does.
    await freed(quiet, 100);
    memory.setLimit(64 << 20);
    for (let id = 6_000; id <= 9_000; id++) busy.add(bytesOf(id, 5_000));
    expect((await busy.read(everything)).kept).toBe(3_002);
    memory.setLimit(4 << 20);
    await freed(busy, 800);
  });

  it("[BL-121] an open row keeps its detail and parts beside 200,000 others, and counts as one of the newest once it has ended", async () => {
    const store = create(50_000, createMemory(64));
    const stream = (tone: Tone, parts: number): TestRecord => ({
      row: row(1, tone, { parts }),
      detail: Buffer.from(tone),
      parts: [{ index: parts - 1, content: Buffer.from(`part ${parts}`) }],
    });
    store.add({ records: recordsOf([stream("pending", 1)]), droppedRows: 0 });
    let id = 1;
    for (let round = 0; round < 200; round++) {
      store.add(batch(Array.from({ length: 1_000 }, () => row(++id))));
      store.add({ records: recordsOf([stream("pending", round + 2)]), droppedRows: 0 });
    }
    expect(await store.read({ ...everything, before: 2 })).toMatchObject({ rows: [{ id: 1, tone: "pending", parts: 201 }], kept: 50_001 });
    expect(await textOf(store, 1)).toContain("pending");
    const page = await store.parts(1, 0, 1_000);
    expect(page?.parts).toHaveLength(201);
    expect(page).toMatchObject({ total: 201, leftOut: 0, next: 201 });
    expect((await store.parts(1, undefined, 2))?.parts).toMatchObject([{ text: "part 200" }, { text: "part 201" }]);
    expect((await store.parts(1, 199, 1))?.parts).toMatchObject([{ index: 199 }]);
    store.add({ records: recordsOf([stream("ok", 202)]), droppedRows: 0 });
    store.add(batch(Array.from({ length: 49_000 }, () => row(++id))));
    expect((await store.parts(1, undefined, 1))?.parts).toMatchObject([{ text: "part 202" }]);
    store.add(batch(Array.from({ length: 2_000 }, () => row(++id))));
    while (await store.detail(1)) await new Promise((resolve) => setImmediate(resolve));
    expect(await store.parts(1, undefined, 1)).toBeNull();
  });

  it("[BL-122] parts are bounded by count and bytes, and dropped ones are counted", async () => {
    const memory = createMemory(64);
    const store = create(100, memory);
    const add = (from: number, parts: number, bytes: number) => {
      const content = Buffer.alloc(bytes);
      const list = Array.from({ length: parts }, (_, at) => ({ index: from + at, content }));
      store.add({ records: recordsOf([{ row: row(1, "pending", { parts: from + parts }), parts: list }]), droppedRows: 0 });
    };
    for (let from = 0; from < 30_000; from += 1_000) add(from, 1_000, 10);
    const many = await store.parts(1, 0, 1);
    expect((many?.total ?? 0) - (many?.leftOut ?? 0)).toBeLessThanOrEqual(20_000);
    expect((many?.total ?? 0) - (many?.leftOut ?? 0)).toBeGreaterThan(19_000);
    expect(many?.parts[0]?.index).toBe(many?.leftOut);
    for (let from = 30_000; from < 32_000; from += 100) add(from, 100, 10_000);
    const large = await store.parts(1, undefined, 1_000);
    expect(large?.parts.at(-1)?.index).toBe(31_999);
    expect((large?.total ?? 0) - (large?.leftOut ?? 0)).toBeGreaterThan(300);
    expect((large?.total ?? 0) - (large?.leftOut ?? 0)).toBeLessThan(450);
    // Many streams share what there is.
    for (let id = 2; id < 100; id++) {
      const parts = Array.from({ length: 400 }, (_, index) => ({ index, content: Buffer.alloc(10_000) }));
      store.add({ records: recordsOf([{ row: row(id, "pending", { parts: 400 }), parts }]), droppedRows: 0 });
    }
    memory.setLimit(16 << 20);
    for (const id of [1, 50, 99]) expect((await store.parts(id, undefined, 1_000))?.parts.length).toBeGreaterThan(5);
  });

  it("[BL-122] of many rows with one part the oldest are evicted, without a look at all of them for each", async () => {
    const store = create(200_000, createMemory(64));
    const content = Buffer.alloc(900);
    let id = 0;
    const add = (rows: number) =>
      store.add({
        records: recordsOf(Array.from({ length: rows }, () => ({ row: row(++id, "ok", { parts: 1 }), parts: [{ index: 0, content }] }))),
        droppedRows: 0,
      });
    while (id < 80_000) add(500);
    const { kept } = await store.read(everything);
    expect(kept).toBeLessThan(80_000);
    expect(kept).toBeGreaterThan(40_000);
    // A look at 50,000 lists takes about a millisecond, and there would be two for each row.
    expect(threadCpuMs(() => add(500))).toBeLessThan(100);
    expect((await store.parts(id, undefined, 1))?.parts).toHaveLength(1);
    expect(await store.parts(1, undefined, 1)).toBeNull();
  });

  it("[BL-122] the rows with most parts lose theirs first, whatever is changed in between (seeded)", async () => {
    const random = seededRandom(7);
    const lists = new PartLists();
    for (let step = 0; step < 5_000; step++) {
      const id = 1 + random.below(50);
      if (random.chance(0.02)) lists.drop(id);
      else {
        const parts = [{ index: step, content: Buffer.alloc(random.below(id * 200)) }];
        for (const record of readRecords(recordsOf([{ row: row(id), parts }]))) lists.add(id, record.parts);
      }
      if (random.chance(0.1)) {
        const lengths = () => Array.from({ length: 50 }, (_, at) => lists.get(at + 1)?.held ?? 0);
        const before = lengths();
        const most = Math.max(...before.filter((_, at) => lists.get(at + 1)?.canDrop), 0);
        expect(lists.cut(1)).toBe(most > 0);
        const cut = lengths().flatMap((held, at) => (held < (before[at] as number) ? [before[at] as number] : []));
        expect(cut.length).toBe(most > 0 ? 1 : 0);
        expect(cut[0] ?? 0).toBeGreaterThanOrEqual(most / 1.5);
      }
      let held = 0;
      for (let one = 1; one <= 50; one++) held += lists.get(one)?.held ?? 0;
      expect(lists.bytes).toBe(held);
    }
  });
});
