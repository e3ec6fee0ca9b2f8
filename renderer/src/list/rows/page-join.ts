import type { ListPage } from "./list-source.ts";
import { createSortedRows, type SortedRows } from "./sorted-rows.ts";

type Order<Place> = (one: Place, other: Place) => number;

/** Whether the newest page continues without a gap from the row that was the newest so far. */
export function reaches<Row extends Place, Place>(page: ListPage<Row>, lastKnown: Row, order: Order<Place>): boolean {
  const first = page.rows[0];
  const last = page.rows.at(-1);
  // A page that starts before the known row is from another run of the source.
  if (first === undefined || last === undefined || order(first, lastKnown) < 0) return false;
  return !page.hasOlder || order(last, lastKnown) <= 0;
}

/** Removes rows that are missing in the newest page, since they no longer exist; returns whether there were any. */
export function removeMissing<Row extends Place, Place>(rows: SortedRows<Place>, page: ListPage<Row>, order: Order<Place>): boolean {
  // If there are no older rows, the page has all rows.
  const last = page.hasOlder ? page.rows.at(-1) : undefined;
  const found = createSortedRows<Place>(order, page.rows);
  const gone: Place[] = [];
  for (let index = 0; index < rows.count; index++) {
    const row = rows.fromNewest(index) as Place;
    if (last !== undefined && order(row, last) < 0) break;
    if (!found.find(row)) gone.push(row);
  }
  for (const row of gone) rows.remove(row);
  return gone.length > 0;
}
