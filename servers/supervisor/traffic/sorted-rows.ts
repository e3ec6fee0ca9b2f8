import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { comparePlaces, type SortPlace, sortPlaceOf, type TimedRowSort } from "../../../contract/traffic/row-sort.ts";

interface SortedRowsOptions {
  readonly sort: TimedRowSort;
  /** Only rows behind this place. */
  readonly after: SortPlace | undefined;
  readonly limit: number;
}

/** The first rows of a sorted list, of any number that is offered: at most twice `limit` are held. */
export function createSortedRows({ sort, after, limit }: SortedRowsOptions) {
  let held: { readonly place: SortPlace; readonly row: TrafficRow }[] = [];
  /** Rows behind it are not among the first. */
  let last: SortPlace | undefined;

  function cut(): void {
    held.sort((one, other) => comparePlaces(one.place, other.place, sort));
    held = held.slice(0, limit);
    if (held.length === limit) last = held.at(-1)?.place;
  }

  return {
    offer(row: TrafficRow): void {
      const place = sortPlaceOf(row, sort);
      if (after && comparePlaces(place, after, sort) <= 0) return;
      if (last && comparePlaces(place, last, sort) > 0) return;
      held.push({ place, row });
      if (held.length >= 2 * limit) cut();
    },
    first(): readonly TrafficRow[] {
      cut();
      return held.map(({ row }) => row);
    },
  };
}
