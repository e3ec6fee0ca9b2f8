import type { Failure } from "../../../../contract/service.ts";
import type { RowSort } from "../../../../contract/traffic/row-sort.ts";
import type { ListPage } from "./list-source.ts";

/**
 * A following list shows each row as it arrives; the other modes keep the visible rows and count new ones. "aimed" is for the moment in
 * which the user points at a row.
 */
export type FollowMode = "following" | "aimed" | "scrolled" | "paused";

/** The state without the rows: these are read by `rowAt`, and have changed if `version` has. */
export interface ListRowsView<Filter> {
  readonly version: number;
  /** Rows that can be shown. */
  readonly count: number;
  readonly mode: FollowMode;
  readonly filter: Filter;
  /** The order that the user chose; undefined for the list's own. */
  readonly sort: RowSort | undefined;
  /** New matching rows since the list was held; at most one page without `ListPage.counts`. */
  readonly arrived: number;
  /** Rows that the source keeps, and how many of them match; 0 if it does not count them. */
  readonly kept: number;
  readonly matching: number;
  /** Rows of which only a part could be searched, and did not match, when they were last read. */
  readonly searchedInPart: number;
  /** False once the source has evicted or missed rows. */
  readonly allKept: boolean;
  /** Rows that arrived too fast for this view; the source keeps them, and they are read when the load falls. */
  readonly skipped: number;
  /** False until the first response. */
  readonly loaded: boolean;
  /** False until the source has answered for this filter: until then the rows and counts are what is known from the one before. */
  readonly answered: boolean;
  /** Why the newest read failed; the rows are those that were read before. */
  readonly failure: Failure | undefined;
  /** Older rows can be read. */
  readonly hasOlder: boolean;
  /** There are older rows, but the limit of held rows is reached. */
  readonly isFull: boolean;
}

/** The view before the first response. */
export const emptyView = <Filter>(filter: Filter): ListRowsView<Filter> => ({
  version: 0,
  count: 0,
  mode: "following",
  filter,
  sort: undefined,
  arrived: 0,
  kept: 0,
  matching: 0,
  searchedInPart: 0,
  allKept: true,
  skipped: 0,
  loaded: false,
  answered: false,
  failure: undefined,
  hasOlder: false,
  isFull: false,
});

export interface ListRows<Row extends Place, Filter, Place = Row> {
  subscribe(listener: () => void): () => void;
  view(): ListRowsView<Filter>;
  /** 0 is the newest. */
  rowAt(index: number): Row | undefined;
  find(place: Place): Row | undefined;
  /** A copy, newest first. */
  toArray(): Row[];
  /** Rows that were sent, and how many were left out between them. */
  receive(items: readonly Row[], dropped: number): void;
  /** For sources that announce rows without sending them: reads the newest page and joins it with the loaded rows. Never twice at once. */
  refresh(): Promise<void>;
  /** Replaces the rows by the newest page. A held list keeps its rows, and updates them and the count of arrivals. */
  reload(): Promise<void>;
  /** Reads the page before the oldest row; called again meanwhile, it is the same page. */
  loadOlder(): Promise<void>;
  setFilter(filter: Filter): Promise<void>;
  /** The source has different rows: they were cleared or restored, or the services have changed. */
  replaced(): Promise<void>;
  /** Reads the number of kept rows again, since evictions are not announced. */
  recount(): Promise<void>;
  /** The newest open rows that match by now: with time others do, and those of the list no longer. */
  openRows(page: ListPage<Row>): void;
  /** The list was scrolled away from its newest row, or back. */
  scrolled(away: boolean): void;
  /** The user aims at a row of a following list, or no longer does. */
  aimed(aims: boolean): void;
  pause(): void;
  resume(): void;
  /** Ignores pending responses; `reload` starts again. */
  stop(): void;
}
