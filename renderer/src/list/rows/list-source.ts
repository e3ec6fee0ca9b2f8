import type { NextFrame } from "../../control/frame-store.ts";

export interface ListPage<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  readonly hasOlder: boolean;
  readonly counts?: ListCounts;
  /** Rows of which only a part could be searched, and did not match. */
  readonly searchedInPart?: number;
}

/** Present if the source counts its rows. */
export interface ListCounts {
  readonly kept: number;
  /** Number of kept rows that match. */
  readonly matching: number;
  /** Since the source's first start, kept or not. */
  readonly total: number;
  /** How many of `total` never reached the source. */
  readonly dropped: number;
}

/** The ids of a lane ascend while the source runs. */
export interface RowNumber {
  readonly lane: string;
  readonly number: number;
}

/** Where a list's rows come from, and how they are identified. */
export interface ListRowsOptions<Row extends Place, Filter, Place = Row> {
  readonly filter: Filter;
  /** The newest rows, or the newest of those before a row. */
  readonly read: (filter: Filter, query: { readonly before?: Row; readonly limit: number }) => Promise<ListPage<Row>>;
  readonly nextFrame: NextFrame;
  /** Oldest first; 0 means the same row. */
  readonly order: (one: Place, other: Place) => number;
  readonly numberOf: (row: Row) => RowNumber;
  /** Tests a row, if that is possible here; otherwise the source filters. */
  readonly matcher?: (filter: Filter) => (row: Row) => boolean;
  readonly isFiltering?: (filter: Filter) => boolean;
  /** Whether there is anything to read. */
  readonly asks?: (filter: Filter) => boolean;
  /** Whether the source has to scan all rows to count the matching ones. */
  readonly isCostly?: (filter: Filter) => boolean;
  /** An open row is sent again when it ends. */
  readonly isOpen?: (row: Row) => boolean;
  /** Whether the filter wants open rows only. Those that arrive join the list if they are still open after `openMs`. */
  readonly wantsOpen?: (filter: Filter) => boolean;
  readonly openMs?: number;
  /** Whether a row that was read again is unchanged. */
  readonly isSame?: (one: Row, other: Row) => boolean;
  /** Whether they are rows of two runs of the source, which has begun its numbers again. */
  readonly isOther?: (known: Row, row: Row) => boolean;
  /** Whether `read` supports `before`. */
  readonly readsOlder?: boolean;
  readonly pageRows?: number;
  /** Rows that a following list keeps; older ones are read again when scrolled to. */
  readonly followRows?: number;
  /** Most rows held, however far the user scrolls back. */
  readonly mostRows?: number;
  /** Quiet time after which rows that arrived too fast are read. */
  readonly quietMs?: number;
}
