import { describe, expect, it } from "vitest";
import { noFilter } from "../../renderer/src/list/filter/traffic-filter.ts";
import type { RowRange, TrafficQuery } from "../../servers/supervisor/traffic/row-search.ts";
import { recordsOf, rowsOfBatch } from "../support/records.ts";
import { seededRandom } from "../support/seeded-random.ts";

import { batch, create, createMemory, everything, record, row, textOf } from "./traffic-stores.ts";

/** Of the event loop, until the result is called. */
function countTurns(): () => number {
  let turns = 0;
  let timer = setImmediate(function count() {
    turns++;
    timer = setImmediate(count);
  });
  return () => {
    clearImmediate(timer);
    return turns;
  };
}

describe("traffic store", () => {
  it("returns rows newest first, in pages, by text, tone and parent", async () => {
    const store = create();
    store.add(batch([row(1), row(2, "refused"), row(3, "failed", { parent: 1 }), row(4, "aborted", { preview: "Needle" })]));
    const ids = async (query: Partial<TrafficQuery>) => (await store.read({ ...everything, ...query })).rows.map(({ id }) => id);
    expect(await ids({})).toEqual([4, 3, 2, 1]);
    expect(await ids({ limit: 2 })).toEqual([4, 3]);
    expect(await ids({ limit: 2, before: 3 })).toEqual([2, 1]);
    expect(await ids({ tone: "failed" })).toEqual([4, 3]);
    expect(await ids({ tone: "failed", before: 4 })).toEqual([3]);
    expect(await ids({ text: "needle" })).toEqual([4]);
    expect(await ids({ parent: 1 })).toEqual([3]);
    expect(await store.read({ ...everything, tone: "failed", limit: 1 })).toMatchObject({ matching: 2, kept: 4, total: 4, dropped: 0 });
    expect((await store.read(everything)).rows[0]).toEqual({ service: "http", ...row(4, "aborted", { preview: "Needle" }) });
  });

  it("[BL-205] reads rows in order after an id, up to another one", async () => {
    const store = create();
    store.add(batch([1, 2, 3, 4, 5, 6].map((id) => row(id, id % 2 === 0 ? "failed" : "ok"))));
    const ids = async (query: Partial<RowRange>) =>
      (await store.readAfter({ text: "", tone: "all", after: 0, upTo: store.newestId(), limit: 100, ...query })).map(({ id }) => id);
    expect(await ids({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await ids({ after: 2, limit: 2 })).toEqual([3, 4]);
    expect(await ids({ tone: "failed", upTo: 5 })).toEqual([2, 4]);
    store.clear();
    store.add(batch([row(7)]));
    expect(await ids({})).toEqual([7]);
  });

  it("[BL-42] counts dropped rows, over all processes of a service", async () => {
    const store = create(3);
    store.add(batch([row(1), row(2), row(3), row(4)], 2));
    expect(await store.read(everything)).toMatchObject({ kept: 3, total: 6, dropped: 2 });
    store.abandon("service stopped");
    store.add(batch([row(store.nextId())], 5));
    expect(await store.read(everything)).toMatchObject({ total: 12, dropped: 7 });
    expect(store.dropped).toBe(7);
  });

  it("replaces a pending row by its end, and joins the pieces of its detail", async () => {
    const store = create();
    store.add(batch([row(1, "pending"), row(2)]));
    store.add({ records: recordsOf([{ row: row(1, "pending") }]), droppedRows: 0 });
    store.add(batch([row(1, "failed")]));
    expect(await store.read(everything)).toMatchObject({ rows: [{ id: 2 }, { id: 1, tone: "failed" }], total: 2 });
    expect(await textOf(store, 1)).toBe("pending failed");
    store.add(batch([row(1, "ok")]));
    expect(await store.read(everything)).toMatchObject({ rows: [{ id: 2 }, { id: 1, tone: "ok" }], total: 2 });
    expect(await textOf(store, 1)).toBe("pending failed ok");
  });

  it("[BL-45] continues after every id that the process may have used", () => {
    const store = create();
    store.add(batch([row(7)], 3));
    store.abandon("service crashed");
    // 7 were handed over, 3 dropped, and at most the queue's bound died with it.
    expect(store.nextId()).toBeGreaterThan(7 + 3 + 20_000);
  });

  it("[BL-47] clears, and restores the last cleared rows, with what arrived and ended meanwhile", async () => {
    const store = create();
    store.add(batch([row(1, "pending"), row(2)]));
    expect(store.clear()).toEqual({ cleared: 1, left: 1 });
    expect(await store.read(everything)).toMatchObject({ rows: [{ id: 1 }], kept: 1, total: 2 });
    store.add(batch([row(1, "ok"), row(3)]));
    expect((await store.read(everything)).rows.map(({ id }) => id)).toEqual([3, 1]);
    expect((await store.read({ ...everything, text: "GET" })).rows.map(({ id }) => id)).toEqual([3, 1]);
    expect(await textOf(store, 1)).toBe("pending ok");
    expect(store.restore()).toBe(1);
    expect((await store.read(everything)).rows.map(({ id, tone }) => [id, tone])).toEqual([
      [3, "ok"],
      [2, "ok"],
      [1, "ok"],
    ]);
    expect(store.restore()).toBe(0);
    expect(store.clear()).toEqual({ cleared: 3, left: 0 });
    store.add(batch([row(4)]));
    expect(store.clear()).toEqual({ cleared: 1, left: 0 });
    expect(store.restore()).toBe(1);
    expect((await store.read(everything)).rows.map(({ id }) => id)).toEqual([4]);
  });

  it("[BL-483] rows that are open when others are cleared stay in reads, searches, exports and counts until they are evicted", async () => {
    const store = create(3);
    const tones = { ...noFilter, limit: 2 };
    const ids = async (query: object) => (await store.read({ ...everything, ...query })).rows.map(({ id }) => id);
    store.add(batch([row(1), row(2, "pending"), row(3), row(4, "pending"), row(5)]));
    expect(store.clear()).toEqual({ cleared: 3, left: 2 });
    store.add(batch([row(6), row(4)]));
    expect([await ids({}), await ids({ limit: 2 }), await ids({ before: 4 }), await ids({ before: 2 })]).toEqual([
      [6, 4, 2],
      [6, 4],
      [2],
      [],
    ]);
    expect([await ids({ text: "GET" }), await ids({ text: "GET", before: 6, limit: 1 })]).toEqual([[6, 4, 2], [4]]);
    const between = async (after: number, upTo: number) => (await store.readAfter({ ...tones, after, upTo })).map(({ id }) => id);
    expect([await between(0, 9), await between(2, 9), await between(2, 5), await between(4, 9)]).toEqual([[2, 4], [4, 6], [4], [6]]);
    expect(await store.match([1, 2, 3, 4, 6], noFilter)).toEqual([2, 4, 6]);
    // What has ended is cleared by the next clear, and restored with it; the other one is still open.
    expect(store.clear()).toEqual({ cleared: 2, left: 1 });
    expect([await ids({}), store.restore(), await ids({})]).toEqual([[2], 2, [6, 4, 2]]);
    // Beyond three ended rows the oldest are evicted: those that were cleared, then 6 and 4.
    store.add(batch([row(7), row(8), row(9)]));
    expect([await ids({}), store.counts().kept]).toEqual([[9, 8, 7, 2], 4]);
  });

  it("a row keeps all of its fields, also where its process dies", async () => {
    const store = create();
    const names = { user: "ann", peerName: "Ännchen", reason: "none" };
    const rows = [
      row(1, "pending", { ...names, parts: 3, media: { over: "UDP", lossFraction: 0.25, jitterMs: 1.5 } }),
      row(2, "pending", { peerName: "", media: { over: "" } }),
    ];
    store.add(batch(rows));
    const kept = async () => (await store.read(everything)).rows.toReversed();
    expect(await kept()).toEqual(rows.map((one) => ({ service: "http", ...one })));
    store.abandon("service crashed");
    expect(await kept()).toEqual(rows.map((one) => ({ service: "http", ...one, tone: "aborted", outcome: "service crashed" })));
    expect((await store.read({ ...everything, text: "ännchen" })).rows.map(({ id }) => id)).toEqual([1]);
  });

  it("[BL-47] a row that was cleared and then left open keeps its detail", async () => {
    const store = create();
    store.add(batch([row(1, "pending")]));
    store.clear();
    store.abandon("service crashed");
    store.restore();
    expect((await store.read(everything)).rows).toMatchObject([{ id: 1, tone: "aborted" }]);
    expect(await textOf(store, 1)).toBe("pending");
  });

  it("[BL-123] a text filter works in steps, and two callers take turns", async () => {
    const store = create(60_000, createMemory(64));
    for (let id = 1; id <= 20_000; id += 1_000) {
      store.add(batch(Array.from({ length: 1_000 }, (_, at) => row(id + at, "ok", { preview: "some text – that is looked through" }))));
    }
    const done: string[] = [];
    const search = (caller: string) =>
      store.read({ ...everything, text: "not to be found" }, caller).then((page) => {
        done.push(caller);
        return page;
      });
    const turns = countTurns();
    const all = Promise.all(Array.from({ length: 6 }, () => search("one")));
    const other = await search("other");
    expect(done.filter((caller) => caller === "one").length).toBeLessThan(4);
    await all;
    expect(other).toMatchObject({ rows: [], matching: 0, kept: 20_000 });
    // Seven searches of 20,000 rows in slices of 4 ms: the event loop had as many turns.
    expect(turns()).toBeGreaterThan(15);
  });

  it("[BL-320] a text is searched in details and parts too: header fields, bodies and messages", async () => {
    const store = create();
    // A field's name and value, each after its length, as records have them.
    const fields = Buffer.concat([Buffer.from([7]), Buffer.from("X-Trace"), Buffer.from([5]), Buffer.from("Ab-42")]);
    store.add({
      records: recordsOf([
        { row: row(1), detail: Buffer.concat([fields, Buffer.from([0, 255, 254])]) },
        { row: row(2, "pending"), detail: Buffer.from("HTTP/1.1 200 OK\r\nX-Trace: ab-42\r\n\r\n") },
        { row: row(3, "ok", { target: "/ab-42" }), detail: Buffer.from("Größe") },
        { row: row(4, "ok", { parts: 1 }), detail: Buffer.alloc(0), parts: [{ index: 0, content: Buffer.from("GRÖSSE ab-42") }] },
      ]),
      droppedRows: 0,
    });
    const ids = async (text: string, query: Partial<TrafficQuery> = {}) =>
      (await store.read({ ...everything, text, inDetails: true, ...query })).rows.map(({ id }) => id);
    expect(await ids("ab-42", { inDetails: false })).toEqual([3]);
    expect(await ids("AB-42")).toEqual([4, 3, 2, 1]);
    expect(await ids("x-trace: ab-42")).toEqual([2, 1]);
    expect(await ids("x-trace: ab-43")).toEqual([]);
    expect(await ids("größe")).toEqual([3]);
    expect(await ids("ab-42", { tone: "open" })).toEqual([2]);
    const match = () => store.match([1, 3, 4, 99], { text: "ab-42", inDetails: true, tone: "all" });
    expect(await match()).toEqual([1, 3, 4]);
    store.clear();
    expect(await match()).toEqual([]);
  });

  it("[BL-123] a search in large details takes turns too", async () => {
    const store = create(2_000, createMemory(64));
    const detail = Buffer.alloc(64 << 10, "large ");
    for (let id = 1; id <= 500; id++) store.add({ records: recordsOf([{ row: row(id), detail }]), droppedRows: 0 });
    const turns = countTurns();
    const page = await store.read({ ...everything, text: "not to be found", inDetails: true });
    expect(page).toMatchObject({ rows: [], matching: 0, kept: 500 });
    expect(turns()).toBeGreaterThan(2);
  });

  it("[BL-123] rows that are added and evicted during a search do no harm", async () => {
    const store = create(5_000);
    store.add(batch(Array.from({ length: 5_000 }, (_, at) => row(at + 1))));
    const found = store.read({ ...everything, text: "/" });
    await new Promise((resolve) => setImmediate(resolve));
    store.add(batch(Array.from({ length: 4_000 }, (_, at) => row(at + 5_001))));
    const { rows } = await found;
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 1_000 }, (_, at) => 5_000 - at));
  });

  it("[BL-124] cut or damaged records are skipped and do no harm (seeded)", async () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = seededRandom(seed);
      const store = create();
      const records = Buffer.from(
        recordsOf(
          Array.from({ length: 5 }, (_, at) => ({
            row: row(at + 1, random.chance(0.3) ? "pending" : "ok", {
              preview: "x".repeat(random.below(400)),
              parts: 1,
              user: "joe",
              peerName: "Ann",
              media: { over: "TCP", jitterMs: 2 },
            }),
            detail: Buffer.from("detail"),
            parts: [{ index: 0, content: Buffer.from("part") }],
          })),
        ),
      );
      for (let changes = random.below(6); changes > 0; changes--) records[random.below(records.length)] = random.below(256);
      store.add({ records: records.subarray(0, random.below(records.length + 1)), droppedRows: 0 });
      store.add(batch([row(100)]));
      const { rows } = await store.read(everything);
      expect(
        rows.map(({ id }) => id),
        `seed ${seed}`,
      ).toContain(100);
      await store.read({ ...everything, text: "x" });
      for (const { id } of rows) {
        await store.detail(id);
        await store.parts(id, 0, 10);
      }
      store.abandon("service crashed");
      store.records(0);
    }
  });

  it("[BL-125] returns what it keeps as records, oldest first, in bounded batches", async () => {
    const store = create(10_000);
    for (let id = 1; id <= 2_000; id++) store.add({ records: recordsOf([record(row(id), "x".repeat(1_000))]), droppedRows: 0 });
    const ids: number[] = [];
    for (;;) {
      const records = store.records(ids.at(-1) ?? 0);
      if (records.length === 0) break;
      expect(records.length).toBeLessThan(300_000);
      ids.push(...rowsOfBatch({ records }).map(({ id }) => id));
    }
    expect(ids).toEqual(Array.from({ length: 2_000 }, (_, at) => at + 1));
  });
});
