import type { EventFilter, EventPage, EventRow, EventsActions } from "../../contract/events.ts";
import type { ParsedParamsOf } from "../../contract/operation.ts";
import { nextTurn } from "./jobs/event-jobs.ts";
import type { EventStore, ScanRange } from "./store/event-store.ts";
import { isKeyFilter } from "./store/filter-sql.ts";

type PageParams = ParsedParamsOf<EventsActions["page"]>;

/** For a scan of what no index knows: after it, what was found so far is the answer. */
const scanBudgetMs = 250;
/** A sort by another column than the id holds so many rows in memory. */
const sortedRows = 10_000;
const rowsAtOnce = 1_000;

/** A page of the table as the dashboard asks for it. Answers in bounded time whatever the filter. */
export async function pageOfEvents(store: EventStore, params: PageParams): Promise<EventPage> {
  if (params.sort !== "id") return sortedPage(store, params);
  const { filter, direction, limit, offset, before } = params;
  if (isKeyFilter(filter) && before === undefined) {
    const matching = await store.count(filter);
    const rows = direction === "descending" ? await store.page(filter, { limit, offset }) : await oldestFirst(store, params, matching);
    return { rows, matching, exact: true, more: offset + rows.length < matching, reached: rows.at(-1)?.id ?? 0 };
  }
  const { rows, ended, reached } = await collect(store, filter, { direction, from: before }, offset + limit);
  return { rows: rows.slice(offset), ...(await countMatching(store, filter)), more: !ended, reached };
}

async function oldestFirst(store: EventStore, { filter, limit, offset }: PageParams, matching: number): Promise<EventRow[]> {
  const rows = Math.max(0, Math.min(limit, matching - offset));
  return rows === 0 ? [] : (await store.page(filter, { limit: rows, offset: matching - offset - rows })).reverse();
}

async function sortedPage(store: EventStore, { filter, sort, direction, limit, offset }: PageParams): Promise<EventPage> {
  const { rows, ended, reached } = await collect(store, filter, { direction: "descending" }, sortedRows);
  const sign = direction === "ascending" ? 1 : -1;
  rows.sort((left, right) => sign * compare(left[sort], right[sort]) || right.id - left.id);
  const page = rows.slice(offset, offset + limit);
  return {
    rows: page,
    ...(await countMatching(store, filter)),
    more: offset + page.length < rows.length,
    reached,
    ...(!ended && { sortedAmong: rows.length }),
  };
}

function compare(left: string | number, right: string | number): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

async function collect(store: EventStore, filter: EventFilter, range: Omit<ScanRange, "limit">, wanted: number) {
  const startedAt = performance.now();
  const rows: EventRow[] = [];
  let from = range.from;
  for (;;) {
    const scanned = await store.scan(filter, { ...range, from, limit: Math.min(rowsAtOnce, wanted - rows.length) });
    rows.push(...scanned.found);
    from = scanned.reached;
    if (scanned.ended || rows.length >= wanted || performance.now() - startedAt > scanBudgetMs)
      return { rows, ended: scanned.ended, reached: from };
    await nextTurn();
  }
}

/** How many match: exactly where the rollups know or the time allows. */
export async function countMatching(store: EventStore, filter: EventFilter): Promise<{ matching: number; exact: boolean }> {
  if (isKeyFilter(filter)) return { matching: await store.count(filter), exact: true };
  const startedAt = performance.now();
  let matching = 0;
  let from: number | undefined;
  for (;;) {
    const counted = await store.countBetween(filter, { direction: "descending", from, limit: 50_000 });
    matching += counted.found;
    from = counted.reached;
    if (counted.ended) return { matching, exact: true };
    if (performance.now() - startedAt > scanBudgetMs) return { matching, exact: false };
    await nextTurn();
  }
}
