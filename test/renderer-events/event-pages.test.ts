import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EventPage } from "../../contract/services/events.ts";
import { FailureError } from "../../renderer/src/control/failure-error.ts";
import { noFilter, type ShownFilter } from "../../renderer/src/services/events/event-filter.ts";
import { createEventPages, newestFirst, type PageQuery } from "../../renderer/src/services/events/event-pages.ts";
import { eventRow, pageOf, placeOf, rowsBetween } from "./event-row.ts";

/** A store with the ids 1 to `newest`, which answers as the service does. */
function storeWith(newest: number) {
  const asked: PageQuery[] = [];
  const store = {
    newest,
    asked,
    answer: (query: PageQuery): EventPage => {
      const { limit, offset = 0, before = { id: store.newest + 1 } } = query;
      const top = before.id - 1 - offset;
      const rows = rowsBetween(top, Math.max(1, top - limit + 1));
      return pageOf(rows, { matching: store.newest, more: (rows.at(-1)?.id ?? 1) > 1 });
    },
    read: async (_filter: ShownFilter, query: PageQuery) => {
      asked.push(query);
      return store.answer(query);
    },
  };
  return store;
}
const totalsOf = (newestId: number, events = newestId) => ({ newestId, events });
const base = { sort: "created_at", direction: "descending", limit: 10 } as const;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the pages of the events table", () => {
  function pagesOf(store: ReturnType<typeof storeWith>, filter = noFilter) {
    return createEventPages({ read: store.read, filter, pageRows: 10 });
  }
  const ids = (pages: ReturnType<typeof pagesOf>) => {
    const { rows } = pages.view();
    return [rows[0]?.id, rows.at(-1)?.id];
  };

  it("use a keyset cursor forward and backward", async () => {
    const store = storeWith(35);
    const pages = pagesOf(store);
    await pages.reload();
    await pages.next();
    await pages.next();
    expect([ids(pages), pages.view().skipped, pages.view().mode]).toEqual([[15, 6], 20, "held"]);
    await pages.previous();
    expect([ids(pages), pages.view().skipped]).toEqual([[25, 16], 10]);
    await pages.previous();
    expect([ids(pages), pages.view().isFirst, pages.view().mode]).toEqual([[35, 26], true, "following"]);
    expect(store.asked).toEqual([
      base,
      { ...base, before: placeOf(26) },
      { ...base, before: placeOf(16) },
      { ...base, before: placeOf(26) },
      base,
    ]);
  });

  it("[BL-540] have no count for a filter before it is answered", async () => {
    const pages = pagesOf(storeWith(35));
    await pages.reload();
    expect([pages.view().answered, pages.view().matching]).toEqual([true, 35]);
    const answered = pages.setFilter({ ...noFilter, text: "rust" });
    expect([pages.view().answered, pages.view().reading]).toEqual([false, true]);
    await answered;
    expect([pages.view().answered, pages.view().reading]).toEqual([true, false]);
  });

  it("jump to the last by offset, and continue from there", async () => {
    const store = storeWith(35);
    const pages = pagesOf(store);
    await pages.reload();
    await pages.last();
    expect([ids(pages), pages.view().skipped, pages.view().more]).toEqual([[5, 1], 30, false]);
    await pages.previous();
    expect([ids(pages), pages.view().skipped]).toEqual([[15, 6], 20]);
    await pages.next();
    expect(store.asked.slice(1)).toEqual([
      { ...base, offset: 30 },
      { ...base, offset: 20 },
      { ...base, before: placeOf(6) },
    ]);
  });

  it("have no last one if they were not counted", async () => {
    const store = storeWith(35);
    const pages = createEventPages({
      read: async (filter, query) => ({ ...(await store.read(filter, query)), exact: false }),
      filter: noFilter,
      pageRows: 10,
    });
    await pages.reload();
    await pages.last();
    expect(store.asked).toHaveLength(1);
  });

  it("follow the newest: at once after a quiet period, then at a limited rate", async () => {
    const store = storeWith(35);
    const pages = pagesOf(store);
    await pages.reload();
    pages.totals(totalsOf(35));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(store.asked).toHaveLength(1);
    store.newest = 36;
    pages.totals(totalsOf(36));
    await vi.advanceTimersByTimeAsync(1);
    expect(ids(pages)).toEqual([36, 27]);
    store.newest = 38;
    pages.totals(totalsOf(37));
    pages.totals(totalsOf(38));
    await vi.advanceTimersByTimeAsync(300);
    expect(store.asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(200);
    expect([ids(pages), pages.view().arrived, store.asked.length]).toEqual([[38, 29], 0, 3]);
  });

  it("keep the rows while scrolled or paused, and count what arrives", async () => {
    const store = storeWith(35);
    const pages = pagesOf(store);
    await pages.reload();
    pages.totals(totalsOf(35));
    pages.scrolled(true);
    store.newest = 40;
    pages.totals(totalsOf(40));
    await vi.advanceTimersByTimeAsync(5_000);
    expect([ids(pages), pages.view().mode, pages.view().arrived]).toEqual([[35, 26], "held", 5]);
    pages.pause();
    pages.totals(totalsOf(42));
    expect([pages.view().mode, pages.view().arrived]).toEqual(["paused", 7]);
    store.newest = 42;
    await pages.follow();
    expect([ids(pages), pages.view().mode, pages.view().arrived]).toEqual([[42, 33], "following", 0]);
  });

  it("[BL-343] keep the rows while the user aims at one, also if newer ones were already asked for, and follow again after it", async () => {
    const store = storeWith(35);
    let answer = Promise.resolve();
    const read = async (...asked: Parameters<typeof store.read>) => {
      const page = store.read(...asked);
      await answer;
      return page;
    };
    const pages = createEventPages({ read, filter: noFilter, pageRows: 10 });
    await pages.reload();
    pages.totals(totalsOf(35));
    let give = () => {};
    answer = new Promise((resolve) => {
      give = resolve;
    });
    store.newest = 36;
    pages.totals(totalsOf(36));
    await vi.advanceTimersByTimeAsync(1_000);
    pages.aimed(true);
    give();
    store.newest = 38;
    pages.totals(totalsOf(38));
    await vi.advanceTimersByTimeAsync(5_000);
    expect([ids(pages), pages.view().mode, pages.view().arrived]).toEqual([[35, 26], "aimed", 3]);
    pages.aimed(false);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([ids(pages), pages.view().mode, pages.view().arrived]).toEqual([[38, 29], "following", 0]);
  });

  it("are read again where they are when something was deleted", async () => {
    const store = storeWith(35);
    const pages = pagesOf(store);
    await pages.reload();
    pages.totals(totalsOf(35));
    await pages.next();
    pages.totals(totalsOf(35, 30));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(store.asked.at(-1)).toEqual({ ...base, before: placeOf(26) });
    expect(store.asked).toHaveLength(3);
  });

  it("continue the search if a filter is answered in parts", async () => {
    const answers = [
      pageOf(rowsBetween(90, 88), { more: true, exact: false, reached: placeOf(80) }),
      pageOf([], { more: true, exact: false, reached: placeOf(60) }),
      pageOf(rowsBetween(50, 44), { more: true, exact: false, reached: placeOf(44) }),
    ];
    const asked: PageQuery[] = [];
    const pages = createEventPages({
      read: async (_filter, query) => {
        asked.push(query);
        return answers[asked.length - 1] as EventPage;
      },
      filter: { ...noFilter, text: "x" },
      pageRows: 10,
    });
    await pages.reload();
    expect(pages.view().rows.map(({ id }) => id)).toEqual([90, 89, 88, 50, 49, 48, 47, 46, 45, 44]);
    expect(asked).toEqual([base, { ...base, limit: 7, before: placeOf(80) }, { ...base, limit: 7, before: placeOf(60) }]);
    await pages.next();
    expect(asked[3]).toEqual({ ...base, before: placeOf(44) });
  });

  it("join a newer part with the rows that were found before", async () => {
    const store = { part: pageOf(rowsBetween(90, 88), { more: true, exact: false, reached: placeOf(80) }) };
    const later = pageOf(rowsBetween(50, 44), { more: true, exact: false, reached: placeOf(44) });
    const pages = createEventPages({
      read: async (_filter, { before }) => (before === undefined ? store.part : later),
      filter: { ...noFilter, text: "x" },
      pageRows: 10,
    });
    await pages.reload();
    pages.totals(totalsOf(90));
    store.part = pageOf(rowsBetween(91, 88), { more: true, exact: false, reached: placeOf(81) });
    pages.totals(totalsOf(91));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(pages.view().rows.map(({ id }) => id)).toEqual([91, 90, 89, 88, 50, 49, 48, 47, 46, 45]);
  });

  it("joined with rows of before continue where they end", async () => {
    const parts = [
      pageOf(rowsBetween(90, 85), { more: true, exact: false, reached: placeOf(80) }),
      pageOf(rowsBetween(50, 47), { more: true, exact: false, reached: placeOf(47) }),
      pageOf(rowsBetween(92, 85), { more: true, exact: false, reached: placeOf(80) }),
      pageOf([]),
    ];
    const asked: PageQuery[] = [];
    const pages = createEventPages({
      read: async (_filter, query) => parts[asked.push(query) - 1] as EventPage,
      filter: { ...noFilter, text: "x" },
      pageRows: 10,
    });
    await pages.reload();
    pages.totals(totalsOf(90));
    pages.totals(totalsOf(92));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(ids(pages)).toEqual([92, 49]);
    await pages.next();
    expect(asked.at(-1)).toEqual({ ...base, before: placeOf(49) });
  });

  it("in the order of time follow, and tell the newest by all rows", async () => {
    const imported = [eventRow(3, { created_at: "2026-11-21T00:00:00Z" }), eventRow(40, { created_at: "2026-11-20T00:00:00Z" })];
    const pages = createEventPages({ read: async () => pageOf(imported), filter: noFilter, pageRows: 10 });
    await pages.reload();
    pages.totals(totalsOf(40));
    await pages.follow();
    pages.scrolled(true);
    pages.totals(totalsOf(41));
    expect([pages.view().order, pages.view().mode, pages.view().arrived]).toEqual([newestFirst, "held", 1]);
    await pages.setOrder({ column: "id", direction: "descending" });
    expect(pages.view().mode).toBe("following");
  });

  it("sorted by a value do not follow, and continue by offset", async () => {
    const store = storeWith(35);
    const pages = pagesOf(store);
    await pages.reload();
    await pages.setOrder({ column: "display_duration_ms", direction: "ascending" });
    expect(pages.view().mode).toBe("held");
    await pages.next();
    expect(store.asked.slice(1)).toEqual([
      { sort: "display_duration_ms", direction: "ascending", limit: 10 },
      { sort: "display_duration_ms", direction: "ascending", limit: 10, offset: 10 },
    ]);
    await pages.follow();
    expect([pages.view().order, pages.view().mode]).toEqual([newestFirst, "following"]);
  });

  it("show the answer to the latest request only", async () => {
    const waiting: ((page: EventPage) => void)[] = [];
    const pages = createEventPages({ read: () => new Promise((resolve) => waiting.push(resolve)), filter: noFilter, pageRows: 10 });
    const first = pages.setFilter({ ...noFilter, outcome: "accepted" });
    const second = pages.setFilter({ ...noFilter, outcome: "rejected" });
    waiting[1]?.(pageOf(rowsBetween(2, 2)));
    await second;
    waiting[0]?.(pageOf(rowsBetween(9, 1)));
    await first;
    expect(pages.view().rows.map(({ id }) => id)).toEqual([2]);
  });

  it("keep their rows when the service stops, and say why nothing new arrives", async () => {
    const store = storeWith(3);
    const failure = { code: "SERVICE_NOT_RUNNING", message: "Events is not running", hint: "Start it first." };
    let stopped = false;
    const pages = createEventPages({
      read: async (filter, query) => {
        if (stopped) throw new FailureError(failure);
        return store.read(filter, query);
      },
      filter: noFilter,
      pageRows: 10,
    });
    await pages.reload();
    stopped = true;
    await pages.reload();
    expect([ids(pages), pages.view().failure]).toEqual([[3, 1], failure]);
    stopped = false;
    await pages.reload();
    expect(pages.view().failure).toBeUndefined();
  });
});
