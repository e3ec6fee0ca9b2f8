import type { ParsedParamsOf } from "../../contract/operation.ts";
import type { EventFilter, EventPage, EventRow, EventsActions } from "../../contract/services/events.ts";
import { countMatching, type Matching } from "./count-matching.ts";
import { nextTurn } from "./jobs/event-jobs.ts";
import type { EventStore, ScanRange } from "./store/event-store.ts";
import { isKeyFilter } from "./store/filter-sql.ts";

type PageParams = ParsedParamsOf<EventsActions["page"]>;

/** Time allowed for a scan without an index; the answer is what was found until then. */
const scanBudgetMs = 250;
/** A sort by a column other than the id holds this many rows in memory. */
const sortedRows = 10_000;
const rowsAtOnce = 1_000;

/** A page of the table as the dashboard asks for it. Answers in bounded time with any filter. */
export async function pageOfEvents(store: EventStore, params: PageParams): Promise<EventPage> {
  if (params.sort !== "id") return sortedPage(store, params);
  const { filter, direction, limit, offset, before } = params;
  if (isKeyFilter(filter) && before === undefined) {
    const matching = await store.count(filter);
    const rows = direction === "descending" ? await store.page(filter, { limit, offset }) : await oldestFirst(store, params, matching);
    return { rows, matching, exact: true, more: offset + rows.length < matching, reached: rows.at(-1)?.id ?? 0 };
  }
  const counted = await countMatching(store, filter);
  if (counted.exact && before === undefined && offset > counted.matching / 2) return await pageFromFarEnd(store, params, counted);
  const { rows, ended, reached } = await collect(store, filter, { direction, from: before }, { skip: offset, wanted: limit });
  return { rows, ...counted, more: !ended, reached };
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
  return { rows, ...counted, more: skip > 0, reached: rows.at(-1)?.id ?? 0 };
}

async function sortedPage(store: EventStore, { filter, sort, direction, limit, offset }: PageParams): Promise<EventPage> {
  const { rows, ended, reached } = await collect(store, filter, { direction: "descending" }, { skip: 0, wanted: sortedRows });
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

/** Rows after the skipped ones, which are counted and not held. */
async function collect(
  store: EventStore,
  filter: EventFilter,
  range: Omit<ScanRange, "limit">,
  { skip, wanted }: { readonly skip: number; readonly wanted: number },
): Promise<{ rows: EventRow[]; ended: boolean; reached: number }> {
  const startedAt = performance.now();
  const rows: EventRow[] = [];
  let left = skip;
  let { from } = range;
  for (;;) {
    let part: { readonly reached: number; readonly ended: boolean };
    if (left > 0) {
      const counted = await store.countBetween(filter, { ...range, from, limit: left });
      left -= counted.found;
      part = counted;
    } else {
      const scanned = await store.scan(filter, { ...range, from, limit: Math.min(rowsAtOnce, wanted - rows.length) });
      rows.push(...scanned.found);
      part = scanned;
    }
    from = part.reached;
    if (part.ended || rows.length >= wanted || performance.now() - startedAt > scanBudgetMs)
      return { rows, ended: part.ended, reached: from };
    await nextTurn();
  }
}
