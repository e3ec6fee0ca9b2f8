import { setImmediate as nextTurn } from "node:timers/promises";
import type { ParsedParamsOf } from "../../contract/operation.ts";
import type { EventFilter, EventPage, EventPlace, EventRow, EventsActions } from "../../contract/services/events.ts";
import { countMatching, type Matching } from "./count-matching.ts";
import { StepBudget } from "./step-budget.ts";
import type { EventStore, ScanRange, TimePlace } from "./store/event-store.ts";
import { isIndexed, isKeyFilter, isTimeFilter } from "./store/filter-sql.ts";
import { placeOf } from "./store/sqlite-time-scans.ts";

type PageParams = ParsedParamsOf<EventsActions["page"]>;

/** Time allowed for a scan without an index; the answer is what was found until then. */
const scanBudgetMs = 250;
/** A sort by a column other than id and time holds this many rows in memory. */
const sortedRows = 10_000;
/** Up to so many events of an outcome are sorted in memory: among all events they may be rare. */
const fewOfOutcome = 1_000;
const rowsAtOnce = 1_000;
const countedAtOnce = 16_384;

/** A page of the table as the dashboard asks for it. Answers in bounded time with any filter. */
export async function pageOfEvents(store: EventStore, params: PageParams): Promise<EventPage> {
  if (params.sort === "created_at") return pageInTime(store, params);
  if (params.sort !== "id") return sortedPage(store, params);
  const { filter, direction, limit, offset, before } = params;
  if (isKeyFilter(filter) && before === undefined) {
    const matching = await store.count(filter);
    const rows = direction === "descending" ? await store.page(filter, { limit, offset }) : await oldestFirst(store, params, matching);
    return { rows, matching, exact: true, more: offset + rows.length < matching, reached: reachedBy(rows) };
  }
  const counted = await countMatching(store, filter);
  if (counted.exact && before === undefined && offset > counted.matching / 2) return await pageFromFarEnd(store, params, counted);
  const { rows, ended, reached } = await collect(store, filter, { direction, from: before?.id }, { skip: offset, wanted: limit });
  return { rows, ...counted, more: !ended, reached: { id: reached } };
}

const reachedBy = (rows: readonly EventRow[]): EventPlace => {
  const last = rows.at(-1);
  return last ? placeOf(last) : { id: 0 };
};

/** A page in the order of time, by the index of times; where an index leads to the few matches, they are sorted instead. */
async function pageInTime(store: EventStore, params: PageParams): Promise<EventPage> {
  const { filter, direction, limit, offset, before } = params;
  if (await areFew(store, filter)) return sortedPage(store, params);
  const counted = await countMatching(store, filter);
  if (counted.exact && before === undefined && offset > counted.matching / 2) {
    const wanted = Math.max(0, Math.min(limit, counted.matching - offset));
    const skip = counted.matching - offset - wanted;
    const opposite = direction === "descending" ? "ascending" : "descending";
    const { rows } = wanted === 0 ? { rows: [] } : await collectInTime(store, filter, { direction: opposite, skip, wanted });
    rows.reverse();
    return { rows, ...counted, more: skip > 0, reached: reachedBy(rows) };
  }
  const from = before && { at: before.at ?? "", id: before.id };
  const { rows, ended, reached } = await collectInTime(store, filter, { direction, from, skip: offset, wanted: limit });
  const more = counted.exact && before === undefined ? offset + rows.length < counted.matching : !ended;
  return { rows, ...counted, more, reached: reached ?? { id: 0 } };
}

async function areFew(store: EventStore, filter: EventFilter): Promise<boolean> {
  const { device_id, outcome } = filter;
  if (!isIndexed(filter) || (!device_id && !outcome)) return false;
  return (await store.count({ device_id, outcome })) < (device_id ? sortedRows : fewOfOutcome);
}

async function collectInTime(
  store: EventStore,
  filter: EventFilter,
  {
    direction,
    skip,
    wanted,
    ...range
  }: { readonly direction: ScanRange["direction"]; readonly from?: TimePlace | undefined; readonly skip: number; readonly wanted: number },
): Promise<{ rows: EventRow[]; ended: boolean; reached: TimePlace | undefined }> {
  const budget = new StepBudget(store, scanBudgetMs);
  const rows: EventRow[] = [];
  let { from } = range;
  let left = skip;
  for (;;) {
    const next = { direction, from, skip: left, limit: wanted - rows.length };
    const part = await budget.take(() => store.scanInTime(filter, next));
    rows.push(...part.found);
    left -= part.skipped;
    from = part.reached;
    // Without a search the way to the page is entries of the index alone.
    const isLate = !isTimeFilter(filter) && budget.isSpent();
    if (part.ended || rows.length >= wanted || isLate) return { rows, ended: part.ended, reached: from };
    await nextTurn();
  }
}

async function oldestFirst(store: EventStore, { filter, limit, offset }: PageParams, matching: number): Promise<EventRow[]> {
  const rows = Math.max(0, Math.min(limit, matching - offset));
  return rows === 0 ? [] : (await store.page(filter, { limit: rows, offset: matching - offset - rows })).reverse();
}

/** A page near the end is read from the end. */
async function pageFromFarEnd(store: EventStore, { filter, direction, limit, offset }: PageParams, counted: Matching): Promise<EventPage> {
  const wanted = Math.max(0, Math.min(limit, counted.matching - offset));
  const opposite = direction === "descending" ? "ascending" : "descending";
  const skip = counted.matching - offset - wanted;
  const { rows } = wanted === 0 ? { rows: [] } : await collect(store, filter, { direction: opposite }, { skip, wanted });
  rows.reverse();
  return { rows, ...counted, more: skip > 0, reached: reachedBy(rows) };
}

async function sortedPage(store: EventStore, { filter, sort, direction, limit, offset, before }: PageParams): Promise<EventPage> {
  const { rows, ended, reached } = await collect(store, filter, { direction: "descending" }, { skip: 0, wanted: sortedRows });
  const sign = direction === "ascending" ? 1 : -1;
  // Of one second in the order of the ids, as the index by time has them; of another value the newest first.
  const bySecond = sort === "created_at" ? sign : -1;
  rows.sort((left, right) => sign * compare(left[sort], right[sort]) || bySecond * compare(left.id, right.id));
  const start = before ? rows.findIndex((row) => isBeyond(row, before, sign)) : 0;
  const page = start === -1 ? [] : rows.slice(start + offset, start + offset + limit);
  return {
    rows: page,
    ...(await countMatching(store, filter)),
    more: start !== -1 && start + offset + page.length < rows.length,
    reached: page.length > 0 ? reachedBy(page) : { id: reached },
    ...(!ended && { sortedAmong: rows.length }),
  };
}

const isBeyond = (row: EventRow, { at = "", id }: EventPlace, sign: number): boolean =>
  (compare(row.created_at, at) || compare(row.id, id)) * sign > 0;

function compare(left: string | number, right: string | number): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Rows after the skipped ones, which are counted and not held. */
async function collect(
  store: EventStore,
  filter: EventFilter,
  range: Omit<ScanRange, "limit">,
  { skip, wanted }: { readonly skip: number; readonly wanted: number },
): Promise<{ rows: EventRow[]; ended: boolean; reached: number }> {
  const budget = new StepBudget(store, scanBudgetMs);
  const rows: EventRow[] = [];
  let left = skip;
  let { from } = range;
  for (;;) {
    let part: { readonly reached: number; readonly ended: boolean };
    if (left > 0) {
      const next = { ...range, from, limit: Math.min(left, countedAtOnce) };
      const counted = await budget.take(() => store.countBetween(filter, next));
      left -= counted.found;
      part = counted;
    } else {
      const next = { ...range, from, limit: Math.min(rowsAtOnce, wanted - rows.length) };
      const scanned = await budget.take(() => store.scan(filter, next));
      rows.push(...scanned.found);
      part = scanned;
    }
    from = part.reached;
    if (part.ended || rows.length >= wanted || budget.isSpent()) return { rows, ended: part.ended, reached: from };
    await nextTurn();
  }
}
