import type { TrafficPage } from "../../../../contract/control.ts";
import { type ServiceId, serviceIds } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { type SortPlace, sortPlaceOf, type TimedRowSort } from "../../../../contract/traffic/row-sort.ts";
import { filtersByTime, isFiltering, noFilter, type TrafficFilter } from "../filter/traffic-filter.ts";
import { createDetailSearch, type MatchRows } from "./detail-search.ts";
import { createListRows } from "./list-rows.ts";
import type { ListRowsOptions } from "./list-source.ts";
import type { ListRowsView } from "./list-view.ts";
import { createSortableRows, type SortableRows } from "./sorted-list.ts";

export interface TrafficQuery extends TrafficFilter {
  readonly before?: number;
  readonly sort?: TimedRowSort;
  readonly sortedAfter?: SortPlace;
  readonly limit: number;
}

/** As in a page of the list. */
const mostOpenRows = 500;

/** Identifies a row. */
export type RowPlace = Pick<TrafficRow, "service" | "id" | "at">;

export interface TrafficRows extends SortableRows<TrafficRow, TrafficFilter, RowPlace> {
  /** To be called each second: with time other open rows match. */
  passed(): Promise<void>;
}
export type TrafficRowsView = ListRowsView<TrafficFilter>;

type Kept = "nextFrame" | "readsOlder" | "pageRows" | "followRows" | "mostRows" | "quietMs" | "openMs";

export interface TrafficRowsOptions extends Pick<ListRowsOptions<TrafficRow, TrafficFilter, RowPlace>, Kept> {
  readonly read: (query: TrafficQuery) => Promise<TrafficPage>;
  readonly match: MatchRows;
  /** Oldest first; rows of one service are in order of their ids without it. */
  readonly order?: (one: RowPlace, other: RowPlace) => number;
  readonly filter?: TrafficFilter;
  readonly now?: () => number;
}

/** Rows of several services on one clock. */
const idsPerService = 2 ** 44;

/** One number for a row of any service. */
export const joinedId = ({ service, id }: { readonly service: ServiceId; readonly id: number }): number =>
  serviceIds.indexOf(service) * idsPerService + id;

const byId = (one: RowPlace, other: RowPlace) => one.id - other.id;

/** The rows of one service, or of several on one clock. */
export function createTrafficRows({ read, match, order = byId, filter = noFilter, ...options }: TrafficRowsOptions): TrafficRows {
  const details = createDetailSearch(match, (found) => list.receive(found, 0), options.now);
  let isLooking = false;
  const list = createListRows<TrafficRow, TrafficFilter, RowPlace>({
    ...options,
    filter,
    order,
    async read(shown, { before, limit }) {
      const { rows, searchedInPart = 0, ...counts } = await read({ ...shown, ...(before && { before: before.id }), limit });
      details.found(shown, rows);
      return { rows, hasOlder: before ? rows.length === limit : rows.length < counts.matching, counts, searchedInPart };
    },
    numberOf: ({ service, id }) => ({ lane: service, number: id }),
    matcher: details.matcher,
    isFiltering,
    // The supervisor has to read the texts of all kept rows.
    isCostly: ({ text, target, outcome, ofKind, withoutSample }) =>
      text.trim() !== "" || target !== "" || outcome !== "" || ofKind !== "" || withoutSample,
    isOpen: ({ tone }) => tone === "pending",
    wantsOpen: ({ tone }) => tone === "open",
    isOther: (known, row) => known.at !== row.at,
  });
  const sortable = createSortableRows<TrafficRow, TrafficFilter, RowPlace>({
    ...options,
    list,
    keyOf: joinedId,
    async read(shown, sort, { behind, limit }) {
      const { rows, ...counts } = await read({ ...shown, sort, ...(behind && { sortedAfter: sortPlaceOf(behind, sort) }), limit });
      const hasMore = options.readsOlder !== false && (behind ? rows.length === limit : rows.length < counts.matching);
      return { rows, hasMore, counts };
    },
  });
  return {
    ...sortable,
    async passed() {
      const { filter: shown } = list.view();
      if (isLooking || !filtersByTime(shown)) return;
      isLooking = true;
      try {
        const { rows, searchedInPart: _, ...counts } = await read({ ...shown, tone: "open", limit: options.pageRows ?? mostOpenRows });
        if (list.view().filter !== shown) return;
        details.found(shown, rows);
        list.openRows({ rows, hasOlder: false, counts, searchedInPart: list.view().searchedInPart });
      } catch {
        // The list's own reading says so.
      } finally {
        isLooking = false;
      }
    },
    receive(items, dropped) {
      sortable.receive(items, dropped);
      details.received(items);
    },
    stop() {
      details.stop();
      sortable.stop();
    },
  };
}
