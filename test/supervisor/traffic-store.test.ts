import { describe, expect, it } from "vitest";
import type { Tone, TrafficRow } from "../../contract/traffic/row.ts";
import type { ServiceBatch } from "../../servers/core/service/link.ts";
import { createLogStore } from "../../servers/supervisor/log-store.ts";
import { createTrafficStore, type TrafficQuery } from "../../servers/supervisor/traffic-store.ts";

const everything: TrafficQuery = { text: "", tone: "all", limit: 1_000 };
const row = (id: number, tone: Tone = "ok", extra: Partial<TrafficRow> = {}) => ({
  id,
  at: id,
  kind: "http",
  verb: "GET",
  target: `/${id}`,
  tone,
  outcome: "200",
  bytesIn: 0,
  bytesOut: 0,
  client: "curl",
  peer: "127.0.0.1:1",
  preview: "",
  ...extra,
});
const batch = (rows: readonly ReturnType<typeof row>[], droppedRows = 0): ServiceBatch => ({
  type: "batch",
  seq: 1,
  rows: JSON.stringify(rows),
  details: rows.map(({ id, tone }) => JSON.stringify({ id, tone })),
  logs: [],
  droppedRows,
  droppedLogs: 0,
});
const create = (items = 100, bytes = 1 << 20) => createTrafficStore("http", { items, bytes });

describe("traffic store", () => {
  it("tells rows newest first, in pages, by text and tone", () => {
    const store = create();
    store.add(batch([row(1), row(2, "refused"), row(3, "failed"), row(4, "aborted", { preview: "Needle" })]));
    const ids = (query: Partial<TrafficQuery>) => store.read({ ...everything, ...query }).rows.map(({ id }) => id);
    expect(ids({})).toEqual([4, 3, 2, 1]);
    expect(ids({ limit: 2 })).toEqual([4, 3]);
    expect(ids({ limit: 2, before: 3 })).toEqual([2, 1]);
    expect(ids({ tone: "failed" })).toEqual([4, 3]);
    expect(ids({ text: "needle" })).toEqual([4]);
    expect(store.read({ ...everything, tone: "failed", limit: 1 })).toMatchObject({ matching: 2, kept: 4, total: 4, dropped: 0 });
    expect(store.read(everything).rows[0]?.service).toBe("http");
  });

  it("[BL-42] counts what was dropped, over the processes of a service", () => {
    const store = create(3);
    store.add(batch([row(1), row(2), row(3), row(4)], 2));
    expect(store.read(everything)).toMatchObject({ kept: 3, total: 6, dropped: 2 });
    store.abandon("service stopped");
    store.add(batch([row(store.nextId())], 5));
    expect(store.read(everything)).toMatchObject({ total: 12, dropped: 7 });
    expect(store.dropped).toBe(7);
  });

  it("replaces a pending row by its end", () => {
    const store = create();
    store.add(batch([row(1, "pending"), row(2)]));
    store.add(batch([row(1, "failed")]));
    expect(store.read(everything)).toMatchObject({ rows: [{ id: 2 }, { id: 1, tone: "failed" }], total: 2 });
    expect(store.detail(1)).toEqual({ id: 1, tone: "failed" });
  });

  it("[BL-46] ends what was left open", () => {
    const store = create();
    store.add(batch([row(1, "pending"), row(2)]));
    expect(store.abandon("service crashed").map(({ id, tone, outcome }) => [id, tone, outcome])).toEqual([
      [1, "aborted", "service crashed"],
    ]);
    expect(store.read(everything).rows.map(({ tone }) => tone)).toEqual(["ok", "aborted"]);
    expect(store.detail(1)).toEqual({ id: 1, tone: "pending" });
    expect(store.abandon("service crashed")).toEqual([]);
  });

  it("[BL-45] goes on beyond every id that the process may have given", () => {
    const store = create();
    store.add(batch([row(7)], 3));
    store.abandon("service crashed");
    // 7 told, 3 dropped, and at most the queue's bound died with it.
    expect(store.nextId()).toBeGreaterThan(7 + 3 + 20_000);
  });

  it("[BL-47] clears, and brings back what was cleared last, with what came and ended meanwhile", () => {
    const store = create();
    store.add(batch([row(1, "pending"), row(2)]));
    expect(store.clear()).toBe(2);
    expect(store.read(everything)).toMatchObject({ rows: [], kept: 0, total: 2 });
    store.add(batch([row(1, "ok"), row(3)]));
    expect(store.read(everything).rows.map(({ id }) => id)).toEqual([3]);
    expect(store.detail(1)).toEqual({ id: 1, tone: "ok" });
    expect(store.restore()).toBe(2);
    expect(store.read(everything).rows.map(({ id, tone }) => [id, tone])).toEqual([
      [3, "ok"],
      [2, "ok"],
      [1, "ok"],
    ]);
    expect(store.restore()).toBe(0);
    expect(store.clear()).toBe(3);
  });

  it("[BL-47] a row that was cleared and then left open keeps its detail", () => {
    const store = create();
    store.add(batch([row(1, "pending")]));
    store.clear();
    store.abandon("service crashed");
    store.restore();
    expect(store.read(everything).rows).toMatchObject([{ id: 1, tone: "aborted" }]);
    expect(store.detail(1)).toEqual({ id: 1, tone: "pending" });
  });

  it("[BL-41] counts a text as memory holds it: two bytes a character once one of them is beyond Latin-1", () => {
    const kept = (text: string) => {
      const store = create(1_000, 1 << 20);
      for (let id = 1; id <= 500; id++) {
        const one = batch([row(id)]);
        store.add({ ...one, details: [JSON.stringify({ text: text.repeat(10_000) })] });
      }
      return store.read(everything).kept;
    };
    const [latin, beyond] = [kept("é"), kept("é") - kept("•")];
    expect([latin, kept("e")]).toEqual([100, 100]);
    expect(beyond).toBeGreaterThan(45);
    const logs = createLogStore();
    for (let line = 0; line < 20_000; line++) logs.add("http", { at: 0, level: "info", text: "•".repeat(1_500) });
    expect(logs.read({ level: "debug", text: "", notable: false, limit: 1 }).kept).toBeLessThan(11_000);
  });

  it("[BL-41] keeps the newest within the bounds, also after they changed", () => {
    const store = create(5);
    store.add(batch([1, 2, 3, 4, 5, 6, 7].map((id) => row(id))));
    expect(store.read(everything)).toMatchObject({ kept: 5, total: 7 });
    store.limit({ items: 2, bytes: 1 << 20 });
    expect(store.read(everything).rows.map(({ id }) => id)).toEqual([7, 6]);
    expect(store.detail(3)).toBeNull();
  });
});
