import type { Failure } from "../../../../contract/service.ts";
import type { RowSort, TimedRowSort } from "../../../../contract/traffic/row-sort.ts";
import { readFailure } from "../../control/failure-error.ts";
import type { NextFrame } from "../../control/frame-store.ts";
import type { ListCounts } from "./list-source.ts";
import type { ListRows, ListRowsView } from "./list-view.ts";

interface SortedPage<Row> {
  readonly rows: readonly Row[];
  /** More rows can be read behind these. */
  readonly hasMore: boolean;
  readonly counts: ListCounts;
}

interface SortableOptions<Row extends Place, Filter, Place> {
  readonly list: ListRows<Row, Filter, Place>;
  /** The first rows of all that match, or the first ones behind a row. */
  readonly read: (filter: Filter, sort: TimedRowSort, query: { readonly behind?: Row; readonly limit: number }) => Promise<SortedPage<Row>>;
  readonly keyOf: (place: Place) => number;
  readonly nextFrame: NextFrame;
  readonly now?: () => number;
  readonly pageRows?: number;
  /** Most rows held, however far the user scrolls. */
  readonly mostRows?: number;
}

interface SortedRows<Row> {
  readonly rows: Row[];
  readonly places: Map<number, number>;
  readonly sort: TimedRowSort;
  /** As it was when it was sorted: what has become of it since may have another place. */
  last: Row | undefined;
  hasMore: boolean;
  counts: ListCounts;
  readonly arrivedBefore: number;
}

export interface SortableRows<Row extends Place, Filter, Place> extends ListRows<Row, Filter, Place> {
  /** Pauses the list and shows all rows that match in this order; without one, in their own order again. */
  sortBy(sort: RowSort | undefined): Promise<void>;
}

/** A live list that can be shown in another order, as its source sorts it. It is paused meanwhile; following it ends the order. */
export function createSortableRows<Row extends Place, Filter, Place = Row>(
  options: SortableOptions<Row, Filter, Place>,
): SortableRows<Row, Filter, Place> {
  const { list, read, keyOf, nextFrame, now = Date.now, pageRows = 500, mostRows = 20_000 } = options;
  const listeners = new Set<() => void>();
  let sort: RowSort | undefined;
  /** Undefined until the first answer: then the list shows its own rows still. */
  let sorted: SortedRows<Row> | undefined;
  let failure: Failure | undefined;
  let requestId = 0;
  let readingOn: Promise<void> | undefined;
  let isScheduled = false;
  let version = 0;
  let merged: { readonly of: ListRowsView<Filter>; readonly view: ListRowsView<Filter> } | undefined;

  function changed(): void {
    version++;
    merged = undefined;
    for (const listener of [...listeners]) listener();
  }

  function append(rows: readonly Row[], to: SortedRows<Row>): void {
    to.last = rows.at(-1) ?? to.last;
    for (const row of rows) {
      const key = keyOf(row);
      if (to.rows.length >= mostRows || to.places.has(key)) continue;
      to.places.set(key, to.rows.length);
      to.rows.push(row);
    }
  }

  async function readFirst(): Promise<void> {
    const mine = ++requestId;
    if (!sort) return;
    const { filter, arrived } = list.view();
    try {
      const timed = { ...sort, asOf: now() };
      const page = await read(filter, timed, { limit: pageRows });
      if (mine !== requestId) return;
      // Those that the paused list holds back are among the sorted ones.
      const { hasMore, counts } = page;
      sorted = { rows: [], places: new Map(), sort: timed, last: undefined, hasMore, counts, arrivedBefore: arrived };
      append(page.rows, sorted);
      failure = undefined;
    } catch (error) {
      if (mine !== requestId) return;
      failure = readFailure(error);
    }
    changed();
  }

  async function readOn(): Promise<void> {
    const held = sorted;
    const behind = held?.last;
    if (!held || !behind || !held.hasMore || held.rows.length >= mostRows) return;
    const asked = requestId;
    try {
      const page = await read(list.view().filter, held.sort, { behind, limit: pageRows });
      if (asked !== requestId) return;
      append(page.rows, held);
      held.hasMore = page.hasMore;
      held.counts = page.counts;
    } catch (error) {
      if (asked === requestId) failure = readFailure(error);
    }
    if (asked === requestId) changed();
  }

  function endSort(): void {
    requestId++;
    if (!sort) return;
    sort = undefined;
    sorted = undefined;
    failure = undefined;
    changed();
  }

  /** The rows that are shown stay where they are, with what has become of them. */
  function update(rows: readonly Row[]): void {
    if (!sorted) return;
    for (const row of rows) {
      const at = sorted.places.get(keyOf(row));
      if (at !== undefined) sorted.rows[at] = row;
    }
    if (isScheduled) return;
    isScheduled = true;
    nextFrame(() => {
      isScheduled = false;
      if (sorted) changed();
    });
  }

  function viewOf(of: ListRowsView<Filter>): ListRowsView<Filter> {
    if (!sort) return version === 0 ? of : { ...of, version: of.version + version };
    const base = { ...of, version: of.version + version, sort, failure: failure ?? of.failure };
    if (!sorted) return { ...base, answered: false };
    const { rows, hasMore, counts, arrivedBefore } = sorted;
    const isFull = hasMore && rows.length >= mostRows;
    const arrived = Math.max(0, of.arrived - arrivedBefore);
    return {
      ...base,
      arrived,
      answered: true,
      count: rows.length,
      matching: counts.matching,
      kept: counts.kept,
      hasOlder: hasMore && !isFull,
      isFull,
    };
  }

  return {
    ...list,
    subscribe(listener) {
      listeners.add(listener);
      const end = list.subscribe(listener);
      return () => {
        listeners.delete(listener);
        end();
      };
    },
    view() {
      const of = list.view();
      if (merged?.of !== of) merged = { of, view: viewOf(of) };
      return merged.view;
    },
    rowAt: (index) => (sorted ? sorted.rows[index] : list.rowAt(index)),
    find(place) {
      const at = sorted?.places.get(keyOf(place));
      return list.find(place) ?? (at === undefined ? undefined : sorted?.rows[at]);
    },
    toArray: () => (sorted ? [...sorted.rows] : list.toArray()),
    receive(items, dropped) {
      list.receive(items, dropped);
      update(items);
    },
    async reload() {
      await Promise.all([list.reload(), failure && readFirst()]);
    },
    loadOlder() {
      if (!sort) return list.loadOlder();
      readingOn ??= readOn().finally(() => {
        readingOn = undefined;
      });
      return readingOn;
    },
    async setFilter(filter) {
      // The rows and counts of another filter do not apply.
      sorted = undefined;
      const set = list.setFilter(filter);
      await Promise.all([set, readFirst()]);
    },
    async replaced() {
      sorted = undefined;
      const replaced = list.replaced();
      await Promise.all([replaced, readFirst()]);
    },
    resume() {
      endSort();
      list.resume();
    },
    async sortBy(wanted) {
      if (!wanted) {
        endSort();
        return;
      }
      list.pause();
      sort = wanted;
      changed();
      await readFirst();
    },
  };
}
