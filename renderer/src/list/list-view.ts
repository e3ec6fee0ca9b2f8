/** Following shows each row as it arrives; the other two hold what is on screen and count what arrives. */
export type FollowMode = "following" | "scrolled" | "paused";

/** All but the rows themselves: these are read by `rowAt`, and have changed where `version` has. */
export interface ListRowsView<Filter> {
  readonly version: number;
  /** Rows that can be shown. */
  readonly count: number;
  readonly mode: FollowMode;
  readonly filter: Filter;
  /** New rows that match since the list is held; without `ListPage.counts` of one page at most. */
  readonly arrived: number;
  /** Rows that the source keeps, and those of them that match; 0 where it does not count them. */
  readonly kept: number;
  readonly matching: number;
  /** False once rows have left the source's bounds, or never reached it. */
  readonly allKept: boolean;
  /** Rows that came too fast for this view; kept, and read again once the load falls. */
  readonly skipped: number;
  /** False until the first answer. */
  readonly loaded: boolean;
  /** Rows older than those here can be read. */
  readonly hasOlder: boolean;
  /** There are older ones, but no more are held at once. */
  readonly isFull: boolean;
}

/** Before the first answer. */
export const emptyView = <Filter>(filter: Filter): ListRowsView<Filter> => ({
  version: 0,
  count: 0,
  mode: "following",
  filter,
  arrived: 0,
  kept: 0,
  matching: 0,
  allKept: true,
  skipped: 0,
  loaded: false,
  hasOlder: false,
  isFull: false,
});
