import type { TrafficPage } from "../../../contract/control.ts";
import type { ServiceId } from "../../../contract/service.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import type { NextFrame } from "../control/frame-store.ts";
import { createSortedRows } from "./sorted-rows.ts";
import { isFiltering, noFilter, type TrafficFilter, trafficMatcher } from "./traffic-filter.ts";

/** Following shows each row as it arrives; the other two hold what is on screen and count what arrives. */
export type FollowMode = "following" | "scrolled" | "paused";

/** All but the rows themselves: these are read by `rowAt`, and have changed where `version` has. */
export interface TrafficRowsView {
  readonly version: number;
  /** Rows that can be shown. */
  readonly count: number;
  readonly mode: FollowMode;
  readonly filter: TrafficFilter;
  /** New rows that match since the list is held. */
  readonly arrived: number;
  /** Rows that the supervisor keeps, and those of them that match. */
  readonly kept: number;
  readonly matching: number;
  /** False once rows have left the supervisor's bounds, or a service could not hand them over. */
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

export interface TrafficQuery extends TrafficFilter {
  readonly before?: number;
  readonly limit: number;
}

/** What finds a row's place. */
export type RowPlace = Pick<TrafficRow, "service" | "id" | "at">;

export interface TrafficRows {
  subscribe(listener: () => void): () => void;
  view(): TrafficRowsView;
  /** 0 is the newest. */
  rowAt(index: number): TrafficRow | undefined;
  find(place: RowPlace): TrafficRow | undefined;
  receive(items: readonly TrafficRow[], dropped: number): void;
  /** Reads the newest page again. A list that is held keeps its rows, and updates their outcomes and the count of arrivals. */
  reload(): Promise<void>;
  loadOlder(): Promise<void>;
  setFilter(filter: TrafficFilter): Promise<void>;
  /** The kept rows are others: they were cleared or brought back, or are those of other services. */
  replaced(): Promise<void>;
  /** Asks again how many rows are kept: evictions are not announced. */
  recount(): Promise<void>;
  /** The list was scrolled away from its newest row, or back. */
  scrolled(away: boolean): void;
  pause(): void;
  resume(): void;
  /** Answers that are on their way are ignored; `reload` begins anew. */
  stop(): void;
}

export interface TrafficRowsOptions {
  readonly read: (query: TrafficQuery) => Promise<TrafficPage>;
  readonly onFailure: (error: unknown) => void;
  readonly nextFrame: NextFrame;
  /** Oldest first; rows of one service are in order of their ids without it. */
  readonly order?: (one: RowPlace, other: RowPlace) => number;
  /** Whether `read` can go back: by `before`. */
  readonly readsOlder?: boolean;
  readonly filter?: TrafficFilter;
  readonly pageRows?: number;
  /** Rows that a following list keeps; older ones are read again when scrolled to. */
  readonly followRows?: number;
  /** Rows that are held at most, however far back is scrolled. */
  readonly mostRows?: number;
  /** Quiet time after which rows that came too fast are read. */
  readonly quietMs?: number;
}

const byId = (one: RowPlace, other: RowPlace) => one.id - other.id;

/** The rows of a live view, outside React: bounded, and one change a frame that costs as much as what arrived. */
export function createTrafficRows(options: TrafficRowsOptions): TrafficRows {
  const { read, onFailure, nextFrame, order = byId, readsOlder = true } = options;
  const { pageRows = 500, followRows = 2_000, mostRows = 20_000, quietMs = 700 } = options;
  const listeners = new Set<() => void>();
  const rows = createSortedRows<RowPlace>(order);
  /** Newer than the held rows. */
  const waiting = createSortedRows<RowPlace>(order);
  let matches = trafficMatcher(options.filter ?? noFilter);
  /** Rows are missing among the newest: reading them is better than joining what is here. */
  let hasGap = false;
  /** Answers to older requests than this are stale. */
  let requestId = 0;
  /** How many rows the supervisor's bounds allow, once they have been reached. */
  let bound = Number.POSITIVE_INFINITY;
  let lost = 0;
  /** Of all rows there ever were, as far as known; and when the list was held. */
  let total = 0;
  /** As the last page said. */
  let pageTotal = 0;
  let totalWhenHeld = 0;
  const newest = new Map<ServiceId, number>();
  /** What came since a page was asked for: newer than what the page has. */
  let meanwhile: TrafficRow[] = [];
  let isReading = false;
  let readingOlder = false;
  let reloadTimer: ReturnType<typeof setTimeout> | undefined;
  let inbox: TrafficRow[] = [];
  let inboxDropped = 0;
  let scheduled = false;
  let view: TrafficRowsView = {
    version: 0,
    count: 0,
    mode: "following",
    filter: options.filter ?? noFilter,
    arrived: 0,
    kept: 0,
    matching: 0,
    allKept: true,
    skipped: 0,
    loaded: false,
    hasOlder: false,
    isFull: false,
  };

  function change(next: Partial<TrafficRowsView>, rowsChanged = false): void {
    view = { ...view, ...next, count: rows.count, version: view.version + (rowsChanged ? 1 : 0) };
    for (const listener of [...listeners]) listener();
  }

  /** The counts of a page: the supervisor's, which evicts its oldest rows without an event. */
  function counted(page: TrafficPage): Pick<TrafficRowsView, "kept" | "matching" | "allKept"> {
    // Fewer than there were are those of another run of the supervisor.
    if (page.total < pageTotal) bound = Number.POSITIVE_INFINITY;
    else if (page.kept < view.kept) bound = page.kept;
    else if (page.kept > bound) bound = Number.POSITIVE_INFINITY;
    lost = page.dropped;
    total = page.total;
    pageTotal = page.total;
    return { kept: page.kept, matching: page.matching, allKept: bound === Number.POSITIVE_INFINITY && lost === 0 };
  }

  const isHeld = () => view.mode !== "following";
  const newestRow = () => rows.fromNewest(0);
  const oldestRow = () => rows.fromNewest(rows.count - 1);
  const isPending = (row: RowPlace | undefined) => row !== undefined && (row as TrafficRow).tone === "pending";

  /** Whether a row of its service was not known before; one that ended comes a second time. */
  function isFirstSeen({ service, id }: TrafficRow): boolean {
    if (id <= (newest.get(service) ?? 0)) return false;
    newest.set(service, id);
    return true;
  }

  /** Inserts or replaces a row, or removes one that no longer matches; a late "pending" never replaces an end. */
  function merge(into: typeof rows, row: TrafficRow, adds: boolean): "added" | "changed" | "same" {
    const known = into.find(row);
    if (known ? isPending(row) && !isPending(known) : !adds) return "same";
    if (!matches(row)) {
      if (known) into.remove(row);
      return known ? "changed" : "same";
    }
    into.put(row);
    return known ? "changed" : "added";
  }

  function receive(items: readonly TrafficRow[], dropped: number): void {
    inbox.push(...items);
    inboxDropped += dropped;
    if (scheduled) return;
    scheduled = true;
    nextFrame(take);
  }

  /** All that arrived since the last frame. */
  function take(): void {
    scheduled = false;
    const items = inbox;
    const dropped = inboxDropped;
    inbox = [];
    inboxDropped = 0;
    meanwhile.push(...items);
    if (!isReading) meanwhile = [];
    const held = isHeld();
    const lastHeld = newestRow();
    // A row older than the page that is loaded would come before rows that are not.
    const oldest = view.hasOlder ? oldestRow() : undefined;
    let added = 0;
    let firstSeen = 0;
    let changed = false;
    for (const row of items) {
      if (isFirstSeen(row)) firstSeen++;
      const isNewer = lastHeld === undefined || order(row, lastHeld) > 0;
      const into = held && isNewer ? waiting : rows;
      const merged = merge(into, row, into === waiting || (!held && (oldest === undefined || order(row, oldest) >= 0)));
      if (merged === "added") added++;
      changed ||= merged !== "same" && into === rows;
    }
    if (waiting.keepNewest(followRows) > 0) hasGap = true;
    const left = held ? 0 : rows.keepNewest(followRows);
    if (dropped > 0) reloadWhenQuiet();
    if (!changed && added === 0 && firstSeen === 0 && dropped === 0) return;
    total += firstSeen + dropped;
    const droppedMatching = isFiltering(view.filter) ? 0 : dropped;
    change(
      {
        hasOlder: readsOlder && (view.hasOlder || left > 0),
        arrived: held ? view.arrived + added + droppedMatching : 0,
        kept: Math.min(bound, view.kept + firstSeen + dropped),
        matching: Math.min(bound, view.matching + added + droppedMatching),
        // A held list leaves nothing out: what it does not show has arrived since.
        skipped: view.skipped + (held ? 0 : dropped),
      },
      changed,
    );
  }

  function reloadWhenQuiet(): void {
    hasGap = true;
    clearTimeout(reloadTimer);
    reloadTimer = setTimeout(() => {
      if (!isHeld()) void reload();
    }, quietMs);
  }

  /** Reads the newest page; undefined where a newer request has overtaken it, or it failed. */
  async function ask(): Promise<TrafficPage | undefined> {
    const mine = ++requestId;
    try {
      const page = await read({ ...view.filter, limit: pageRows });
      return mine === requestId ? page : undefined;
    } catch (error) {
      if (mine !== requestId) return undefined;
      isReading = false;
      onFailure(error);
      return undefined;
    }
  }

  const reload = () => (isHeld() && view.loaded ? updateHeld() : readNewest());

  async function readNewest(): Promise<void> {
    waiting.clear();
    meanwhile = [];
    isReading = true;
    const page = await ask();
    if (!page) return;
    isReading = false;
    const since = meanwhile;
    meanwhile = [];
    if (!isFiltering(view.filter)) newest.clear();
    rows.clear();
    waiting.clear();
    for (const row of page.rows) {
      isFirstSeen(row);
      merge(rows, row, true);
    }
    const newestOfPage = newestRow();
    for (const row of since) {
      isFirstSeen(row);
      const isNewer = newestOfPage === undefined || order(row, newestOfPage) > 0;
      merge(isHeld() && isNewer ? waiting : rows, row, isNewer);
    }
    hasGap = false;
    totalWhenHeld = page.total;
    const counts = counted(page);
    change(
      {
        ...counts,
        kept: Math.max(counts.kept, rows.count),
        arrived: waiting.count,
        skipped: 0,
        loaded: true,
        hasOlder: readsOlder && page.rows.length < page.matching,
        isFull: false,
      },
      true,
    );
  }

  /** After a time without the topic: the rows stay, with their ends, and what came meanwhile is counted. */
  async function updateHeld(): Promise<void> {
    const page = await ask();
    if (!page) return;
    const lastHeld = newestRow();
    let newer = 0;
    let changed = false;
    for (const row of page.rows) {
      isFirstSeen(row);
      if (lastHeld === undefined || order(row, lastHeld) > 0) newer++;
      else changed = merge(rows, row, false) === "changed" || changed;
    }
    hasGap ||= newer > waiting.count;
    const beganAnew = page.total < totalWhenHeld;
    const arrived = isFiltering(view.filter) ? newer : page.total - (beganAnew ? 0 : totalWhenHeld);
    change({ ...counted(page), arrived: Math.max(view.arrived, arrived) }, changed);
  }

  function hold(mode: "scrolled" | "paused"): void {
    if (!isHeld()) totalWhenHeld = total;
    change({ mode, ...(!isHeld() && { arrived: 0 }) });
  }

  function follow(): void {
    if (hasGap) {
      change({ mode: "following" });
      void readNewest();
      return;
    }
    const changed = waiting.count > 0;
    for (const row of waiting.toArray()) rows.put(row);
    waiting.clear();
    const left = rows.keepNewest(followRows);
    change(
      { mode: "following", arrived: 0, hasOlder: readsOlder && (view.hasOlder || view.isFull || left > 0), isFull: false },
      changed || left > 0,
    );
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    view: () => view,
    rowAt: (index) => rows.fromNewest(index) as TrafficRow | undefined,
    find: (place) => rows.find(place) as TrafficRow | undefined,
    receive,
    reload,
    async loadOlder() {
      const before = oldestRow()?.id;
      if (readingOlder || !view.hasOlder || before === undefined) return;
      readingOlder = true;
      const asked = requestId;
      try {
        const page = await read({ ...view.filter, before, limit: pageRows });
        if (asked !== requestId) return;
        const room = mostRows - rows.count;
        for (const row of page.rows.slice(0, room)) merge(rows, row, true);
        const more = page.rows.length === pageRows;
        const isFull = rows.count >= mostRows && (more || page.rows.length > room);
        change({ hasOlder: more && !isFull, isFull, ...counted(page) }, page.rows.length > 0);
      } catch (error) {
        onFailure(error);
      } finally {
        readingOlder = false;
      }
    },
    async setFilter(filter) {
      matches = trafficMatcher(filter);
      for (const row of rows.toArray() as TrafficRow[]) if (!matches(row)) rows.remove(row);
      change({ filter, mode: view.mode === "paused" ? "paused" : "following" }, true);
      await readNewest();
    },
    replaced() {
      rows.clear();
      waiting.clear();
      // Counts of other rows say nothing about these.
      bound = Number.POSITIVE_INFINITY;
      total = 0;
      change({ arrived: 0, skipped: 0, kept: 0, matching: 0 }, true);
      return readNewest();
    },
    async recount() {
      // A text filter makes the supervisor look through all that it keeps.
      if (!view.loaded || view.filter.text.trim() !== "") return;
      const asked = requestId;
      const page = await read({ ...view.filter, limit: 1 }).catch(() => undefined);
      if (page && asked === requestId) change(counted(page));
    },
    scrolled(away) {
      if (view.mode === "paused") return;
      if (away && view.mode === "following") hold("scrolled");
      else if (!away && view.mode === "scrolled") follow();
    },
    // Rows that arrived while the list was scrolled stay counted.
    pause: () => hold("paused"),
    resume: follow,
    stop() {
      requestId++;
      isReading = false;
      clearTimeout(reloadTimer);
      // What arrives from now on is not received.
      hasGap = true;
    },
  };
}
