import { expect, it } from "vitest";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { type RowSort, sortPlaceOf, type TimedRowSort } from "../../contract/traffic/row-sort.ts";
import { nextSort } from "../../renderer/src/list/live-table.tsx";
import { rowsShownText } from "../../renderer/src/list/rows/rows-shown.ts";
import { createTrafficRows, type TrafficQuery } from "../../renderer/src/list/rows/traffic-rows.ts";
import { joinPages } from "../../renderer/src/list/rows/use-traffic-rows.ts";
import { batch, create, everything, row } from "../supervisor/traffic-stores.ts";

const took: RowSort = { by: "tookMs", direction: "descending" };
const timed: TimedRowSort = { ...took, asOf: 0 };
const slowest = Array.from({ length: 30 }, (_, index) => row(index + 1, "ok", { tookMs: 30 - index }));

function setUp() {
  const store = create();
  store.add(batch(slowest));
  const rows = createTrafficRows({
    read: (query: TrafficQuery) => store.read(query),
    match: async () => [],
    nextFrame: (run) => run(),
    pageRows: 5,
  });
  const shown = () => Array.from({ length: rows.view().count }, (_, index) => rows.rowAt(index)?.id);
  return { store, rows, shown };
}

it("[BL-259] a list of which a part is loaded shows the first of all rows when it is sorted, and reads on behind them", async () => {
  const { rows, shown } = setUp();
  await rows.reload();
  expect(shown()).toEqual([30, 29, 28, 27, 26]);
  await rows.sortBy(took);
  expect(shown()).toEqual([1, 2, 3, 4, 5]);
  expect(rows.view()).toMatchObject({ mode: "paused", sort: took, count: 5, kept: 30, hasOlder: true });
  await rows.loadOlder();
  expect(shown()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  rows.resume();
  expect([rows.view().mode, rows.view().sort, shown()]).toEqual(["following", undefined, [30, 29, 28, 27, 26]]);
});

it("[BL-259] a sorted list keeps its order with another filter, and shows what has become of its rows", async () => {
  const { store, rows, shown } = setUp();
  await rows.reload();
  await rows.sortBy(took);
  const changed = row(2, "failed", { tookMs: 99 });
  rows.receive([{ service: "http", ...changed }], 0);
  expect([shown(), rows.rowAt(1)?.tone]).toEqual([[1, 2, 3, 4, 5], "failed"]);
  store.add(batch([row(31, "failed", { tookMs: 1 }), row(32, "failed", { tookMs: 2 })]));
  await rows.setFilter({ ...rows.view().filter, tone: "failed" });
  expect(shown()).toEqual([32, 31]);
});

it("[BL-540] a sorted list shows no row and no count of the filter before it while another one is answered", async () => {
  const { rows, shown } = setUp();
  await rows.reload();
  await rows.sortBy(took);
  const answered = rows.setFilter({ ...rows.view().filter, tone: "failed" });
  expect([shown(), rowsShownText(rows.view())]).toEqual([[], "searching 30 rows…"]);
  await answered;
  expect([shown(), rowsShownText(rows.view())]).toEqual([[], "showing 0 of 0 that match"]);
});

it("[BL-259] rows that arrived in a paused list are among the sorted ones, and those after them are counted", async () => {
  const { store, rows, shown } = setUp();
  await rows.reload();
  rows.pause();
  const arrive = (id: number) => {
    const arrived = row(id, "ok", { tookMs: 1_000 + id });
    store.add(batch([arrived]));
    rows.receive([{ service: "http", ...arrived }], 0);
  };
  arrive(31);
  arrive(32);
  expect(rows.view().arrived).toBe(2);
  await rows.sortBy(took);
  expect([shown(), rows.view().arrived]).toEqual([[32, 31, 1, 2, 3], 0]);
  arrive(33);
  expect([shown(), rows.view().arrived]).toEqual([[32, 31, 1, 2, 3], 1]);
  rows.resume();
  expect(shown().slice(0, 3)).toEqual([33, 32, 31]);
});

it("[BL-259] rows of several services are joined in the order that was asked for, the first ones of all", () => {
  const page = (service: TrafficRow["service"], values: readonly (number | undefined)[]) => ({
    rows: values.map((tookMs, index) => ({ service, ...row(index + 1, "ok", tookMs === undefined ? {} : { tookMs }) })),
    matching: 9,
    kept: 9,
    total: 9,
    dropped: 0,
  });
  const joined = joinPages([page("http", [90, 10, 1]), page("mqtt", [70, 40, 2])], { sort: timed, limit: 5 });
  expect(joined.rows.map(({ tookMs }) => tookMs)).toEqual([90, 70, 40, 10, 2]);
});

it("[BL-259] the supervisor sorts all rows that match: of equal ones the newest first, those without a value last", async () => {
  const store = create();
  store.add(batch(["b", undefined, "c", "b", "a"].map((user, index) => row(index + 1, "ok", user === undefined ? {} : { user }))));
  const ids = async (direction: RowSort["direction"], more: object = {}) =>
    (await store.read({ ...everything, sort: { by: "user", direction, asOf: 0 }, ...more })).rows.map(({ id }) => id);
  expect(await ids("descending")).toEqual([3, 4, 1, 5, 2]);
  expect(await ids("ascending")).toEqual([5, 4, 1, 3, 2]);
  expect(await ids("descending", { limit: 2 })).toEqual([3, 4]);
  const sortedAfter = sortPlaceOf(row(4, "ok", { user: "b" }), { by: "user", direction: "descending", asOf: 0 });
  expect(await ids("descending", { limit: 2, sortedAfter })).toEqual([1, 5]);
});

it("[BL-464] an open row has the place of its time so far, in both directions, and the list reads on behind it after its end", async () => {
  const store = create();
  const ended = [90, 70, 50, 30, 10].map((tookMs, index) => row(index + 1, "ok", { tookMs }));
  store.add(batch([...ended, row(6, "pending", { at: 940 }), row(7, "pending", { at: 980 })]));
  let now = 1_000;
  const rows = createTrafficRows({
    read: (query: TrafficQuery) => store.read(query),
    match: async () => [],
    nextFrame: (run) => run(),
    now: () => now,
    pageRows: 3,
  });
  const shown = () => Array.from({ length: rows.view().count }, (_, index) => rows.rowAt(index)?.id);
  await rows.reload();
  await rows.sortBy(took);
  expect(shown()).toEqual([1, 2, 6]);
  const end = row(6, "ok", { at: 940, tookMs: 500 });
  rows.receive([{ service: "http", ...end }], 0);
  now = 1_400;
  await rows.loadOlder();
  expect(shown()).toEqual([1, 2, 6, 3, 4, 7]);
  await rows.sortBy({ by: "tookMs", direction: "ascending" });
  expect(shown()).toEqual([5, 4, 3]);
  await rows.loadOlder();
  await rows.loadOlder();
  expect(shown()).toEqual([5, 4, 3, 2, 1, 7, 6]);
});

it("[BL-259] a column header sorts largest first, then smallest first, then not at all", () => {
  const first = nextSort(undefined, "tookMs");
  const second = nextSort(first, "tookMs");
  expect([first?.direction, second?.direction, nextSort(second, "tookMs")]).toEqual(["descending", "ascending", undefined]);
  expect(nextSort(second, "bytesOut")).toEqual({ by: "bytesOut", direction: "descending" });
});
