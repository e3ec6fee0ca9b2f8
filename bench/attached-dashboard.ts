/** A dashboard that shows the HTTP service's requests while they come, and counts what it receives. */
export interface AttachedDashboard {
  readonly name: string;
  /** Its own processes, where it has some. */
  pids(): readonly number[];
  counts(): Promise<DeliveredCounts>;
  /** Only of a page. */
  page?: PageProbe;
  close(): Promise<void>;
}

export interface DeliveredCounts {
  /** Different rows that reached the dashboard. */
  readonly rows: number;
  /** Rows that reached it, counting twice one that came while pending and again when it ended. */
  readonly updates: number;
  /** Rows that its batches reported as left out. */
  readonly leftOut: number;
  readonly batches: number;
  /** Milliseconds from a request's arrival at the service to its row's arrival here; of the oldest row of each batch. */
  readonly agesMs: readonly number[];
}

export interface PageProbe {
  /** Milliseconds between the frames painted since the last call, and the long tasks (50 ms and more) meanwhile. */
  frames(): Promise<{ readonly framesMs: readonly number[]; readonly longTasksMs: readonly number[] }>;
  /** Clicks Stop; resolves when the page says "Stopped". */
  clickStop(): Promise<ClickTimes>;
}

/** Milliseconds from the click, as the browser stamped it. */
export interface ClickTimes {
  /** The page's own code runs. */
  readonly handledMs: number;
  /** "Stopped" stands in the document. */
  readonly shownMs: number;
  /** It is painted. */
  readonly paintedMs: number;
}
