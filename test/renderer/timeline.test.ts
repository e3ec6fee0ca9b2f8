import { describe, expect, it } from "vitest";
import type { TrafficPage } from "../../contract/control.ts";
import { type ServiceId, serviceIds } from "../../contract/service.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { noFilter } from "../../renderer/src/list/filter/traffic-filter.ts";
import { createTrafficRows, joinedId, type TrafficRows } from "../../renderer/src/list/rows/traffic-rows.ts";
import { byTime, joinPages } from "../../renderer/src/list/rows/use-traffic-rows.ts";

const followRows = 2_000;

describe("the timeline", () => {
  const row = (service: ServiceId, id: number, at: number, tone: TrafficRow["tone"] = "ok"): TrafficRow => ({
    id,
    service,
    at,
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
  });
  const page = (rows: readonly TrafficRow[], kept: number): TrafficPage => ({ rows, matching: rows.length, kept, total: 100, dropped: 0 });
  const setUp = (pages: Partial<Record<ServiceId, TrafficPage>>) =>
    createTrafficRows({
      read: async () => joinPages(Object.values(pages)),
      match: async () => [],
      nextFrame: (run) => run(),
      order: byTime,
      readsOlder: false,
      followRows,
    });
  /** Newest first. */
  const shown = (rows: TrafficRows) => Array.from({ length: rows.view().count }, (_, index) => rows.rowAt(index) as TrafficRow);

  it("puts the rows of all services on one clock, newest first, and replaces a row that ended", async () => {
    const timeline = setUp({ http: page([row("http", 2, 20, "pending"), row("http", 1, 10)], 2) });
    await timeline.reload();
    timeline.receive([row("mqtt", 1, 15), row("http", 2, 20, "ok")], 0);
    expect(shown(timeline).map(({ service, id, tone }) => `${service} ${id} ${tone}`)).toEqual(["http 2 ok", "mqtt 1 ok", "http 1 ok"]);
  });

  it("keeps what arrived while a page was read, also the end of a row that is pending in the page", async () => {
    const timeline = setUp({ http: page([row("http", 1, 10, "pending")], 1) });
    const reading = timeline.reload();
    timeline.receive([row("http", 1, 10, "ok"), row("mqtt", 1, 15)], 0);
    await reading;
    expect(shown(timeline).map(({ service, tone }) => `${service} ${tone}`)).toEqual(["mqtt ok", "http ok"]);
  });

  it("holds a bounded number of rows, the newest", async () => {
    const timeline = setUp({});
    await timeline.reload();
    timeline.receive(
      Array.from({ length: followRows + 5 }, (_, index) => row("http", index, index)),
      0,
    );
    const rows = shown(timeline);
    expect([rows.length, rows.at(-1)?.id]).toEqual([followRows, 5]);
  });

  it("distinguishes the rows of different services", () => {
    const ids = serviceIds.map((service) => joinedId({ service, id: 1 }));
    expect(new Set(ids).size).toBe(serviceIds.length);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
  });

  it("counts each row once, shown or dropped, and not again when it ends", async () => {
    const timeline = setUp({ http: page([row("http", 1, 10)], 7) });
    await timeline.reload();
    timeline.receive([row("http", 1, 10, "ok"), row("http", 2, 20, "pending"), row("http", 2, 20)], 3);
    expect(timeline.view()).toMatchObject({ kept: 11, skipped: 3 });
    expect(shown(timeline)).toMatchObject([{ id: 2 }, { id: 1 }]);
  });

  it("holds the rows while paused, counts what arrives, and reads again on resume", async () => {
    const pages = { http: page([row("http", 1, 10, "pending")], 1) };
    const timeline = setUp(pages);
    await timeline.reload();
    timeline.pause();
    timeline.receive([row("http", 1, 10, "ok"), row("http", 2, 20)], 4);
    expect(timeline.view()).toMatchObject({ mode: "paused", arrived: 5 });
    expect(shown(timeline)).toMatchObject([{ id: 1, tone: "ok" }]);
    pages.http = page([row("http", 2, 20), row("http", 1, 10)], 6);
    timeline.resume();
    await expect.poll(() => timeline.view()).toMatchObject({ mode: "following", arrived: 0, kept: 6 });
    expect(shown(timeline)).toMatchObject([{ id: 2 }, { id: 1 }]);
  });

  it("holds the rows while scrolled away", async () => {
    const timeline = setUp({ http: page([row("http", 1, 10)], 1) });
    await timeline.reload();
    timeline.scrolled(true);
    timeline.receive([row("http", 2, 20)], 0);
    expect(timeline.view()).toMatchObject({ mode: "scrolled", arrived: 1 });
    expect(shown(timeline)).toMatchObject([{ id: 1 }]);
  });

  it("does not say that all are kept once rows were evicted or dropped", async () => {
    const pages = { http: page([row("http", 1, 10)], 10) };
    const timeline = setUp(pages);
    await timeline.reload();
    timeline.pause();
    timeline.receive([row("http", 2, 20)], 4);
    pages.http = page([row("http", 2, 20)], 15);
    await timeline.recount();
    expect(timeline.view()).toMatchObject({ kept: 15, allKept: true });
    timeline.receive([], 5);
    pages.http = page([row("http", 7, 20)], 12);
    await timeline.recount();
    timeline.receive([row("http", 8, 30)], 0);
    expect(timeline.view()).toMatchObject({ kept: 12, allKept: false, arrived: 11 });
    const losing = setUp({ http: { ...page([], 10), dropped: 2 } });
    await losing.reload();
    expect(losing.view().allKept).toBe(false);
  });

  it("shows only live rows that pass the filter", async () => {
    const timeline = setUp({});
    await timeline.setFilter({ ...noFilter, text: "/7" });
    timeline.receive([row("http", 6, 10), row("http", 7, 11)], 0);
    expect(shown(timeline).map(({ id }) => id)).toEqual([7]);
  });
});
