import type { NextFrame } from "../control/frame-store.ts";

export interface ListPage<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  readonly hasOlder: boolean;
  readonly counts?: ListCounts;
}

/** Where the source counts what it has. */
export interface ListCounts {
  readonly kept: number;
  /** Of those kept. */
  readonly matching: number;
  /** Since the source's first start, kept or not. */
  readonly total: number;
  /** How many of `total` never reached the source. */
  readonly dropped: number;
}

/** Rows of one lane are numbered upwards for as long as the source runs. */
export interface RowNumber {
  readonly lane: string;
  readonly number: number;
}

/** Where a list's rows come from, and how they are told apart. */
export interface ListRowsOptions<Row extends Place, Filter, Place = Row> {
  readonly filter: Filter;
  /** The newest rows, or the newest of those before a row. */
  readonly read: (filter: Filter, query: { readonly before?: Row; readonly limit: number }) => Promise<ListPage<Row>>;
  readonly onFailure: (error: unknown) => void;
  readonly nextFrame: NextFrame;
  /** Oldest first; 0 means the same row. */
  readonly order: (one: Place, other: Place) => number;
  readonly numberOf: (row: Row) => RowNumber;
  /** Whether a row matches, where that can be told here; else another filter always asks the source. */
  readonly matcher?: (filter: Filter) => (row: Row) => boolean;
  readonly isFiltering?: (filter: Filter) => boolean;
  /** Whether there is anything to ask for. */
  readonly asks?: (filter: Filter) => boolean;
  /** Whether the source looks through all its rows to count those that match. */
  readonly isCostly?: (filter: Filter) => boolean;
  /** An open row comes again when it ends. */
  readonly isOpen?: (row: Row) => boolean;
  /** Whether a row that was read again says nothing new. */
  readonly isSame?: (one: Row, other: Row) => boolean;
  /** Whether `read` can go back: by `before`. */
  readonly readsOlder?: boolean;
  readonly pageRows?: number;
  /** Rows that a following list keeps; older ones are read again when scrolled to. */
  readonly followRows?: number;
  /** Rows that are held at most, however far back is scrolled. */
  readonly mostRows?: number;
  /** Quiet time after which rows that came too fast are read. */
  readonly quietMs?: number;
}
