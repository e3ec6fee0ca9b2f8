import { describe, expect, it } from "vitest";
import type { TrafficPage } from "../../contract/control.ts";
import type { ServiceId } from "../../contract/service.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { noFilter, type TrafficFilter, trafficMatcher } from "../../renderer/src/list/filter/traffic-filter.ts";
import { isKnownEmpty, isSearching, rowsShownText } from "../../renderer/src/list/rows/rows-shown.ts";
import {
  createTrafficRows,
  type TrafficQuery,
  type TrafficRows,
  type TrafficRowsOptions,
} from "../../renderer/src/list/rows/traffic-rows.ts";

const row = (id: number, part: Partial<TrafficRow> = {}): TrafficRow => ({
  id,
  service: "http",
  at: 1_000 + id,
  kind: "http",
  verb: "GET",
  target: "/api/data",
  tone: "ok",
  outcome: "200",
  tookMs: 1,
  bytesIn: 0,
  bytesOut: 10,
  client: "curl",
  peer: "127.0.0.1:5000",
  preview: "",
  ...part,
});
/** What the supervisor has beside the texts of a row. */
const detailsOf = ({ id }: TrafficRow) => `x-trace: ${id % 2 === 0 ? "even" : "odd"}`;
const pending = (id: number) => row(id, { tone: "pending", outcome: "" });

/** A supervisor that keeps rows and answers at once, or when told to. */
function keeper(kept: TrafficRow[] = []) {
  const asked: TrafficQuery[] = [];
  const matcher = (filter: TrafficFilter) => {
    const byTexts = trafficMatcher(filter);
    const byOthers = trafficMatcher({ ...filter, text: "" });
    return (one: TrafficRow) => byTexts(one) || (filter.inDetails && byOthers(one) && detailsOf(one).includes(filter.text));
  };
  return {
    kept,
    asked,
    match: async (_: ServiceId, ids: readonly number[], filter: TrafficFilter) =>
      kept
        .filter(({ id }) => ids.includes(id))
        .filter(matcher(filter))
        .map(({ id }) => id),
    read: async (query: TrafficQuery): Promise<TrafficPage> => {
      asked.push(query);
      const matching = kept.filter(matcher(query));
      const rows = matching
        .filter((each) => query.before === undefined || each.id < query.before)
        .toReversed()
        .slice(0, query.limit);
      return { rows, matching: matching.length, kept: kept.length, total: kept.length, dropped: 0 };
    },
  };
}

/** Frames come as soon as they are asked for. */
const atOnce = (run: () => void) => run();

/** Oldest first. */
const idsOf = (rows: TrafficRows) => Array.from({ length: rows.view().count }, (_, index) => rows.rowAt(index)?.id).toReversed();

function listOf(kept: TrafficRow[] = [], options: Partial<TrafficRowsOptions> = {}) {
  const supervisor = keeper(kept);
  const rows = createTrafficRows({ read: supervisor.read, match: supervisor.match, nextFrame: atOnce, ...options });
  /** As a service does: kept, then shown. */
  const arrive = (items: TrafficRow[]) => {
    supervisor.kept.push(...items);
    rows.receive(items, 0);
  };
  const ids = () => idsOf(rows);
  return { ...supervisor, rows, arrive, ids };
}

describe("rows of a live view", () => {
  it("begin with the newest page and continue with what arrives", async () => {
    const { rows, arrive, ids } = listOf([row(1), row(2)]);
    await rows.reload();
    arrive([row(3)]);
    expect(ids()).toEqual([1, 2, 3]);
    expect(rows.view()).toMatchObject({ kept: 3, matching: 3, loaded: true, hasOlder: false });
  });

  it("are updated in place when a pending one ends, and never set back", async () => {
    const { rows, ids } = listOf();
    await rows.reload();
    rows.receive([pending(1), row(2)], 0);
    rows.receive([row(1, { outcome: "503", tone: "failed" })], 0);
    rows.receive([pending(1)], 0);
    expect(ids()).toEqual([1, 2]);
    expect(rows.find(row(1))?.outcome).toBe("503");
    expect(rows.view().kept).toBe(2);
  });

  it("are in order of id, whichever arrived first", async () => {
    const { rows, ids } = listOf();
    await rows.reload();
    rows.receive([row(3)], 0);
    rows.receive([row(2), row(4)], 0);
    expect(ids()).toEqual([2, 3, 4]);
  });

  it("that arrive while the page is loading are kept", async () => {
    const { rows, ids } = listOf([row(1), pending(2)]);
    const reading = rows.reload();
    rows.receive([row(2), row(3)], 0);
    await reading;
    expect(ids()).toEqual([1, 2, 3]);
    expect(rows.find(row(2))?.tone).toBe("ok");
  });

  it("are bounded while following, and the older ones can be loaded again", async () => {
    const { rows, arrive, ids } = listOf([], { followRows: 3, pageRows: 2 });
    await rows.reload();
    arrive([row(1), row(2), row(3), row(4), row(5)]);
    expect(ids()).toEqual([3, 4, 5]);
    expect(rows.view().hasOlder).toBe(true);
    rows.scrolled(true);
    await rows.loadOlder();
    expect(ids()).toEqual([1, 2, 3, 4, 5]);
    await rows.loadOlder();
    expect(rows.view().hasOlder).toBe(false);
  });

  it("do not move while scrolled, count what arrives, and catch up afterwards", async () => {
    const { rows, arrive, ids } = listOf([row(1), pending(2)]);
    await rows.reload();
    rows.scrolled(true);
    arrive([row(3), row(4)]);
    rows.receive([row(2)], 0);
    expect(ids()).toEqual([1, 2]);
    expect(rows.view()).toMatchObject({ mode: "scrolled", arrived: 2 });
    expect(rows.find(row(2))?.tone).toBe("ok");
    rows.scrolled(false);
    expect(ids()).toEqual([1, 2, 3, 4]);
    expect(rows.view()).toMatchObject({ mode: "following", arrived: 0 });
  });

  it("stay paused when scrolled to the top, and lose nothing", async () => {
    const { rows, arrive, ids } = listOf([row(1)], { followRows: 2 });
    await rows.reload();
    rows.pause();
    arrive([row(2), row(3), row(4)]);
    rows.scrolled(false);
    expect(rows.view()).toMatchObject({ mode: "paused", arrived: 3 });
    rows.resume();
    await expect.poll(ids).toEqual([1, 2, 3, 4]);
  });

  it("keep the loaded rows when they are read again, and count what arrived meanwhile", async () => {
    const { rows, kept, ids } = listOf([row(1), pending(2)]);
    await rows.reload();
    rows.pause();
    rows.stop();
    kept.splice(1, 1, row(2), row(3), row(4));
    await rows.reload();
    expect(ids()).toEqual([1, 2]);
    expect(rows.find(row(2))?.tone).toBe("ok");
    expect(rows.view()).toMatchObject({ mode: "paused", arrived: 2 });
    rows.resume();
    await expect.poll(ids).toEqual([1, 2, 3, 4]);
  });

  it("of another run replace those of the last one", async () => {
    const { rows, kept, ids } = listOf([row(1), row(2), row(3)]);
    await rows.reload();
    kept.splice(0, 3, row(1, { target: "/again" }));
    await rows.reload();
    expect(ids()).toEqual([1]);
    rows.receive([row(2)], 0);
    expect(rows.view()).toMatchObject({ kept: 2 });
  });

  it("[BL-282] that are held are not replaced by rows of another run with the same ids", async () => {
    const { rows, kept, ids } = listOf([row(1), row(2)]);
    await rows.reload();
    rows.pause();
    const again = (id: number) => row(id, { at: 9_000 + id, target: "/again" });
    kept.splice(0, 2, again(1), again(2), again(3));
    await rows.reload();
    rows.receive([again(2)], 0);
    expect([ids(), rows.find(row(2))?.target, rows.view().arrived]).toEqual([[1, 2], "/api/data", 3]);
    rows.resume();
    await expect.poll(ids).toEqual([1, 2, 3]);
    expect(rows.find(row(2))?.target).toBe("/again");
  });

  it("are bounded however many older ones are loaded, and say so", async () => {
    const kept = Array.from({ length: 20 }, (_, index) => row(index + 1));
    const { rows, ids } = listOf(kept, { pageRows: 4, mostRows: 10 });
    await rows.reload();
    rows.scrolled(true);
    for (let page = 0; page < 5; page++) await rows.loadOlder();
    expect(ids()).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    expect(rows.view()).toMatchObject({ isFull: true, hasOlder: false });
  });

  it("change once per frame, however many batches arrive", async () => {
    const frames: (() => void)[] = [];
    const { rows, ids } = listOf([], { nextFrame: (run) => frames.push(run) });
    await rows.reload();
    let changes = 0;
    rows.subscribe(() => changes++);
    for (let id = 1; id <= 100; id++) rows.receive([row(id)], 0);
    expect([changes, frames.length, ids()]).toEqual([0, 1, []]);
    frames[0]?.();
    expect([changes, ids().length]).toEqual([1, 100]);
  });

  it("that arrived too fast are counted, and read when the load falls", async () => {
    const { rows, kept, ids } = listOf([row(1)], { quietMs: 1 });
    await rows.reload();
    kept.push(row(2), row(3), row(4));
    rows.receive([row(4)], 2);
    expect(rows.view()).toMatchObject({ skipped: 2, kept: 4 });
    await expect.poll(ids).toEqual([1, 2, 3, 4]);
    expect(rows.view().skipped).toBe(0);
    rows.stop();
  });

  it("are filtered at once in the page, and then by the supervisor", async () => {
    const { rows, arrive, ids, asked } = listOf([row(1), row(2, { target: "/health" }), row(3, { tone: "failed", outcome: "503" })]);
    await rows.reload();
    const filtering = rows.setFilter({ ...noFilter, text: "GET /HEALTH" });
    expect(ids()).toEqual([2]);
    await filtering;
    expect(asked.at(-1)).toMatchObject({ text: "GET /HEALTH", tone: "all" });
    arrive([row(4), row(5, { target: "/health" })]);
    expect(ids()).toEqual([2, 5]);
    await rows.setFilter({ ...noFilter, tone: "failed" });
    expect(ids()).toEqual([3]);
    arrive([row(6, { tone: "aborted", outcome: "client left" })]);
    expect(ids()).toEqual([3, 6]);
  });

  it("[BL-540] say that they are searched, and nothing of how many match, until the answer for the filter is there", async () => {
    const answers: (() => void)[] = [];
    const source = keeper([row(1, { target: "/one" }), row(2, { target: "/two" }), row(3, { target: "/one" })]);
    const rows = createTrafficRows({
      ...source,
      nextFrame: atOnce,
      pageRows: 2,
      read: (query) => new Promise((resolve) => answers.push(() => resolve(source.read(query)))),
    });
    const answer = () => answers.splice(0).forEach((one) => void one());
    const says = () => [rowsShownText(rows.view()), isSearching(rows.view()), isKnownEmpty(rows.view())];
    expect(says()).toEqual(["", true, false]);
    void rows.reload();
    answer();
    await expect.poll(says).toEqual(["2 of 3 loaded", false, false]);
    for (const [text, ...expected] of [
      ["/none", "searching 3 rows…", "showing 0 of 0 that match"],
      ["/one", "searching 3 rows…", "showing 2 of 2 that match"],
      ["/two", "searching 3 rows…", "showing 1 of 1 that match"],
      ["/t", "showing 1 so far, searching 3 rows…", "showing 1 of 1 that match"],
    ] as const) {
      void rows.setFilter({ ...noFilter, text });
      expect(says()).toEqual([expected[0], true, false]);
      answer();
      await expect.poll(says).toEqual([expected[1], false, text === "/none"]);
    }
    void rows.setFilter(noFilter);
    expect(says()).toEqual(["showing 1 so far, searching 3 rows…", true, false]);
    rows.pause();
    rows.stop();
    answer();
    // Shown again, with the answer still missing.
    void rows.reload();
    answer();
    await expect.poll(says).toEqual(["2 of 3 loaded", false, false]);
  });

  it("[BL-540] are not said to be searched any more once that has failed, nor to match", async () => {
    const { rows, kept } = listOf([row(1)], {
      read: async (query) => {
        if (query.text === "") return { rows: kept, matching: 1, kept: 1, total: 1, dropped: 0 };
        throw new Error("No.");
      },
    });
    await rows.reload();
    await rows.setFilter({ ...noFilter, text: "data" });
    expect([rowsShownText(rows.view()), isSearching(rows.view())]).toEqual(["showing 1", false]);
    await rows.setFilter({ ...noFilter, text: "none" });
    expect([rowsShownText(rows.view()), isKnownEmpty(rows.view())]).toEqual(["", false]);
  });

  it("are removed from a filtered list when their final state does not match", async () => {
    const { rows, ids } = listOf();
    await rows.setFilter({ ...noFilter, text: "pending-only" });
    rows.receive([row(1, { tone: "pending", preview: "pending-only" })], 0);
    expect(ids()).toEqual([1]);
    rows.receive([row(1)], 0);
    expect(ids()).toEqual([]);
  });

  it("that matched and no longer do are not counted, neither as matching nor as arrived", async () => {
    const { rows, ids } = listOf([row(1, { tone: "pending" })], { openMs: 1 });
    await rows.setFilter({ ...noFilter, tone: "open" });
    rows.scrolled(true);
    rows.receive([row(2, { tone: "pending" }), row(3, { tone: "pending" })], 0);
    await expect.poll(() => rows.view()).toMatchObject({ arrived: 2, matching: 3 });
    rows.receive([row(2), row(4)], 0);
    expect(rows.view()).toMatchObject({ arrived: 1, matching: 2 });
    rows.receive([row(1)], 0);
    expect(rows.view()).toMatchObject({ arrived: 1, matching: 1 });
    expect(ids()).toEqual([]);
    rows.scrolled(false);
    expect(ids()).toEqual([3]);
  });

  it("[BL-320] that match in their details only are found by the supervisor, also those that arrive", async () => {
    const { rows, arrive, ids } = listOf([row(1), row(2), row(3, { target: "/even" })]);
    await rows.setFilter({ ...noFilter, text: "even", inDetails: true });
    expect(ids()).toEqual([2, 3]);
    arrive([row(4), row(5), row(6, { target: "/even/6" }), pending(8)]);
    await expect.poll(ids).toEqual([2, 3, 4, 6, 8]);
    expect(rows.view().kept).toBe(7);
    arrive([row(8, { outcome: "503", tone: "failed" })]);
    expect(rows.find(row(8))?.outcome).toBe("503");
    rows.pause();
    arrive([row(10)]);
    await expect.poll(() => rows.view().arrived).toBe(1);
    expect(ids()).toEqual([2, 3, 4, 6, 8]);
    rows.resume();
    expect(ids()).toEqual([2, 3, 4, 6, 8, 10]);
    await rows.setFilter({ ...noFilter, text: "even", inDetails: true, tone: "failed" });
    expect(ids()).toEqual([8]);
    await rows.setFilter({ ...noFilter, text: "even" });
    expect(ids()).toEqual([3, 6]);
  });

  it("use only the answer to the latest request", async () => {
    const answers: ((page: TrafficPage) => void)[] = [];
    const rows = createTrafficRows({
      read: () => new Promise((resolve) => answers.push(resolve)),
      match: async () => [],
      nextFrame: atOnce,
    });
    const page = (id: number): TrafficPage => ({ rows: [row(id)], matching: 1, kept: 1, total: 1, dropped: 0 });
    const first = rows.reload();
    const second = rows.reload();
    answers[1]?.(page(2));
    answers[0]?.(page(1));
    await Promise.all([first, second]);
    expect(idsOf(rows)).toEqual([2]);
  });

  it("are removed when cleared and shown again when restored", async () => {
    const { rows, kept, ids } = listOf([row(1), row(2)]);
    await rows.reload();
    const cleared = kept.splice(0);
    await rows.replaced();
    expect(ids()).toEqual([]);
    kept.push(...cleared);
    await rows.replaced();
    expect(ids()).toEqual([1, 2]);
  });
});
