import { readFailure } from "../../control/failure-error.ts";
import { createRefresher } from "../../control/refresher.ts";
import type { ListPage, ListRowsOptions } from "./list-source.ts";
import { emptyView, type ListRows, type ListRowsView } from "./list-view.ts";
import { reaches, removeMissing } from "./page-join.ts";
import { createSeenNumbers } from "./seen-numbers.ts";
import { createSortedRows } from "./sorted-rows.ts";
import { createYoungRows } from "./young-rows.ts";

/**
 * Rows missing among the newest. "newest": all rows after a loaded row, so a page that reaches back to it closes the gap.
 * "some": unknown rows, so the list has to be read again.
 */
type Missing = "none" | "newest" | "some";

/** The rows of a live list, outside React: bounded, with one notification per frame whose cost depends on the arrived rows only. */
export function createListRows<Row extends Place, Filter, Place = Row>(
  options: ListRowsOptions<Row, Filter, Place>,
): ListRows<Row, Filter, Place> {
  const { read, nextFrame, order, numberOf, matcher, readsOlder = true } = options;
  const { isFiltering = () => true, asks = () => true, isCostly = () => false, isOpen = () => false, isSame = () => false } = options;
  const { isOther = () => false, wantsOpen = () => false } = options;
  const { pageRows = 500, followRows = 2_000, mostRows = 20_000, quietMs = 700, openMs = 250 } = options;
  const listeners = new Set<() => void>();
  const rows = createSortedRows<Place>(order);
  /** Newer than the held rows. */
  const waiting = createSortedRows<Place>(order);
  /** Rows that no longer match, and stay where they are while the user aims. */
  let unmatched: Row[] = [];
  let matches = matcher?.(options.filter) ?? (() => true);
  let missing: Missing = "none";
  /** Responses to older requests than this are stale. */
  let requestId = 0;
  /** Incremented when the rows are replaced: a page of older rows is valid only for the rows for which it was requested. */
  let generation = 0;
  /** Number of rows that the source keeps, known once it has evicted rows. */
  let bound = Number.POSITIVE_INFINITY;
  /** Total number of rows so far, now and when the list was held. */
  let total = 0;
  let totalWhenHeld = 0;
  /** As in the last page. */
  let pageTotal = 0;
  const seen = createSeenNumbers(numberOf);
  const young = createYoungRows<Row>(openMs, schedule);
  /** Rows that arrived since a page was requested: newer than those of the page. */
  let meanwhile: Row[] = [];
  let isReading = false;
  let readingOlder: Promise<void> | undefined;
  let reloadTimer: ReturnType<typeof setTimeout> | undefined;
  let inbox: Row[] = [];
  let inboxDropped = 0;
  let scheduled = false;
  let view = emptyView(options.filter);

  function change(next: Partial<ListRowsView<Filter>>, rowsChanged = false): void {
    view = { ...view, ...next, count: rows.count, version: view.version + (rowsChanged ? 1 : 0) };
    for (const listener of [...listeners]) listener();
  }

  /** The counts of a page: the source's, which evicts its oldest rows without an event. */
  function counted({ counts, searchedInPart = 0 }: ListPage<Row>): Partial<ListRowsView<Filter>> {
    if (!counts) return { searchedInPart };
    // A lower total means that the source was restarted.
    if (counts.total < pageTotal) bound = Number.POSITIVE_INFINITY;
    else if (counts.kept < view.kept) bound = counts.kept;
    else if (counts.kept > bound) bound = Number.POSITIVE_INFINITY;
    total = counts.total;
    pageTotal = counts.total;
    const { kept, matching } = counts;
    return { kept, matching, searchedInPart, allKept: bound === Number.POSITIVE_INFINITY && counts.dropped === 0 };
  }

  const isHeld = () => view.mode !== "following";
  const rowAt = (index: number) => rows.fromNewest(index) as Row | undefined;
  const newestRow = () => rowAt(0);
  const oldestRow = () => rowAt(rows.count - 1);

  /** Inserts or replaces a row, or removes one that no longer matches; a late open row never replaces an ended one. */
  function merge(into: typeof rows, row: Row, adds: boolean): "added" | "changed" | "removed" | "same" {
    const known = into.find(row) as Row | undefined;
    if (known && !adds && isOther(known, row)) return "same";
    if (known ? (isOpen(row) && !isOpen(known)) || isSame(known, row) : !adds) return "same";
    if (!matches(row)) {
      if (known && into === rows && view.mode === "aimed") {
        into.put(row);
        unmatched.push(row);
        return "changed";
      }
      if (known) into.remove(row);
      return known ? "removed" : "same";
    }
    into.put(row);
    return known ? "changed" : "added";
  }

  function receive(items: readonly Row[], dropped: number): void {
    inbox.push(...items);
    inboxDropped += dropped;
    schedule();
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    nextFrame(take);
  }

  /** Whether the row waits. */
  function isYoung(row: Row): boolean {
    if (!wantsOpen(view.filter)) return false;
    const { lane, number } = numberOf(row);
    return young.takes(`${lane} ${number}`, row, isOpen(row) && !rows.find(row) && !waiting.find(row));
  }

  /** All that arrived since the last frame. */
  function take(): void {
    scheduled = false;
    const items = inbox;
    const dropped = inboxDropped;
    inbox = [];
    inboxDropped = 0;
    if (isReading) meanwhile.push(...items);
    const grown = young.takeGrown();
    const held = isHeld();
    const lastHeld = newestRow();
    // A row older than the loaded page would precede rows that are not loaded.
    const oldest = view.hasOlder ? oldestRow() : undefined;
    let added = 0;
    let removed = 0;
    /** Change of the number of rows that wait. */
    let arrived = 0;
    let firstSeen = 0;
    let changed = false;
    for (const [index, row] of [...grown, ...items].entries()) {
      if (seen.isFirst(row)) firstSeen++;
      if (index >= grown.length && isYoung(row)) continue;
      const isNewer = lastHeld === undefined || order(row, lastHeld) > 0;
      const into = held && isNewer ? waiting : rows;
      const merged = merge(into, row, into === waiting || (!held && (oldest === undefined || order(row, oldest) >= 0)));
      if (merged === "added") added++;
      if (merged === "removed") {
        removed++;
        if (into === waiting) arrived--;
      }
      changed ||= merged !== "same" && into === rows;
    }
    if (waiting.keepNewest(followRows) > 0) missing = "some";
    const left = held ? 0 : rows.keepNewest(followRows);
    if (dropped > 0) reloadWhenQuiet();
    arrived += added;
    if (!changed && added === 0 && removed === 0 && firstSeen === 0 && dropped === 0) return;
    total += firstSeen + dropped;
    const droppedMatching = isFiltering(view.filter) ? 0 : dropped;
    change(
      {
        hasOlder: readsOlder && (view.hasOlder || left > 0),
        arrived: held ? Math.max(0, view.arrived + arrived + droppedMatching) : 0,
        kept: Math.min(bound, view.kept + firstSeen + dropped),
        matching: Math.max(0, Math.min(bound, view.matching + added - removed + droppedMatching)),
        // A held list counts no rows as left out: they have arrived since.
        skipped: view.skipped + (held ? 0 : dropped),
      },
      changed,
    );
  }

  function reloadWhenQuiet(): void {
    missing = "some";
    clearTimeout(reloadTimer);
    reloadTimer = setTimeout(() => {
      if (!isHeld()) void reload();
    }, quietMs);
  }

  /** Reads the newest page; undefined if a newer request was sent or it failed. */
  async function ask(): Promise<ListPage<Row> | undefined> {
    const mine = ++requestId;
    try {
      const page = await read(view.filter, { limit: pageRows });
      if (mine !== requestId) return undefined;
      if (view.failure) change({ failure: undefined });
      return page;
    } catch (error) {
      if (mine !== requestId) return undefined;
      isReading = false;
      change({ failure: readFailure(error) });
      return undefined;
    }
  }

  const reload = () => (isHeld() && view.answered ? updateHeld() : readNewest("replaces"));
  const refresh = createRefresher({ read: () => (isHeld() && view.answered ? updateHeld() : readNewest("joins")) });

  async function readNewest(how: "replaces" | "joins"): Promise<void> {
    if (!asks(view.filter)) return;
    const lastKnown = how === "joins" ? newestRow() : undefined;
    waiting.clear();
    young.clear();
    meanwhile = [];
    isReading = true;
    const page = await ask();
    if (!page) return;
    isReading = false;
    const since = meanwhile;
    meanwhile = [];
    // The list was scrolled or paused meanwhile.
    if (how === "joins" && isHeld() && view.answered) {
      showHeld(page);
      return;
    }
    if (!isFiltering(view.filter)) seen.clear();
    const joined = lastKnown !== undefined && reaches(page, lastKnown, order);
    let changed = !view.loaded;
    if (joined) changed = removeMissing(rows, page, order) || changed;
    else {
      changed ||= rows.count > 0;
      generation++;
      rows.clear();
    }
    waiting.clear();
    for (const row of page.rows) {
      seen.isFirst(row);
      changed = merge(rows, row, true) !== "same" || changed;
    }
    const newestOfPage = newestRow();
    for (const row of since) {
      seen.isFirst(row);
      const isNewer = newestOfPage === undefined || order(row, newestOfPage) > 0;
      changed = merge(isHeld() && isNewer ? waiting : rows, row, isNewer) !== "same" || changed;
    }
    const left = isHeld() ? 0 : rows.keepNewest(Math.max(followRows, page.rows.length));
    missing = "none";
    const counts = counted(page);
    totalWhenHeld = total;
    change(
      {
        ...counts,
        ...(counts.kept !== undefined && { kept: Math.max(counts.kept, rows.count) }),
        arrived: waiting.count,
        skipped: 0,
        loaded: true,
        answered: true,
        hasOlder: readsOlder && (left > 0 || (joined && page.hasOlder ? view.hasOlder || view.isFull : page.hasOlder)),
        isFull: false,
      },
      changed || left > 0,
    );
  }

  async function updateHeld(): Promise<void> {
    const page = await ask();
    if (page) showHeld(page);
  }

  /** Keeps the rows and updates their state; counts the rows that arrived meanwhile. */
  function showHeld(page: ListPage<Row>): void {
    const { counts } = page;
    const lastHeld = newestRow();
    let newer = 0;
    let changed = false;
    let hasOther = false;
    for (const row of page.rows) {
      seen.isFirst(row);
      const known = rows.find(row) as Row | undefined;
      hasOther ||= known !== undefined && isOther(known, row);
      if (lastHeld === undefined || order(row, lastHeld) > 0) newer++;
      else changed = merge(rows, row, false) !== "same" || changed;
    }
    const first = page.rows[0];
    const sourceRestarted =
      hasOther || (counts ? counts.total < totalWhenHeld : first !== undefined && lastHeld !== undefined && order(first, lastHeld) < 0);
    if (sourceRestarted) missing = "some";
    else if (newer > waiting.count && missing === "none") missing = "newest";
    const exact = !counts || isFiltering(view.filter);
    const arrived = exact ? (sourceRestarted ? page.rows.length : newer) : counts.total - (sourceRestarted ? 0 : totalWhenHeld);
    change({ ...counted(page), arrived: Math.max(view.arrived, arrived) }, changed);
  }

  async function readOlder(): Promise<void> {
    const before = oldestRow();
    if (!view.hasOlder || before === undefined) return;
    const asked = generation;
    try {
      const page = await read(view.filter, { before, limit: pageRows });
      const oldest = oldestRow();
      // Rows that were replaced or dropped meanwhile would leave a gap.
      if (asked !== generation || oldest === undefined || order(oldest, before) !== 0) return;
      const room = mostRows - rows.count;
      for (const row of page.rows.slice(0, room)) merge(rows, row, true);
      const isFull = rows.count >= mostRows && (page.hasOlder || page.rows.length > room);
      change({ hasOlder: page.hasOlder && !isFull, isFull, ...counted(page) }, page.rows.length > 0);
    } catch (error) {
      change({ failure: readFailure(error) });
    }
  }

  function hold(mode: "aimed" | "scrolled" | "paused"): void {
    if (!isHeld()) totalWhenHeld = total;
    change({ mode, ...(!isHeld() && { arrived: 0 }) });
  }

  function follow(): void {
    const isGone = (known: Row | undefined) => known !== undefined && !matches(known);
    const gone = unmatched.filter((row) => isGone(rows.find(row) as Row | undefined));
    unmatched = [];
    for (const row of gone) rows.remove(row);
    if (missing !== "none") {
      change({ mode: "following" });
      void readNewest(missing === "newest" ? "joins" : "replaces");
      return;
    }
    const changed = waiting.count > 0 || gone.length > 0;
    for (const row of waiting.toArray()) rows.put(row);
    waiting.clear();
    const left = rows.keepNewest(followRows);
    change(
      {
        mode: "following",
        arrived: 0,
        matching: Math.max(0, view.matching - gone.length),
        hasOlder: readsOlder && (view.hasOlder || view.isFull || left > 0),
        isFull: false,
      },
      changed || left > 0,
    );
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    view: () => view,
    rowAt,
    find: (place) => rows.find(place) as Row | undefined,
    toArray: () => rows.toArray().reverse() as Row[],
    receive,
    refresh,
    reload,
    loadOlder() {
      readingOlder ??= readOlder().finally(() => {
        readingOlder = undefined;
      });
      return readingOlder;
    },
    async setFilter(filter) {
      generation++;
      matches = matcher?.(filter) ?? matches;
      if (!matcher) rows.clear();
      for (const row of rows.toArray() as Row[]) if (!matches(row)) rows.remove(row);
      const next = { filter, mode: view.mode === "paused" ? view.mode : "following", answered: false } as const;
      change({ ...next, ...(!matcher && { arrived: 0, hasOlder: false, isFull: false, loaded: false }) }, true);
      await readNewest("replaces");
    },
    replaced() {
      generation++;
      rows.clear();
      waiting.clear();
      // Counts of other rows do not apply to these.
      bound = Number.POSITIVE_INFINITY;
      total = 0;
      change({ arrived: 0, skipped: 0, kept: 0, matching: 0, hasOlder: false, isFull: false, loaded: false, answered: false }, true);
      return readNewest("replaces");
    },
    async recount() {
      if (!view.loaded || isCostly(view.filter)) return;
      const asked = requestId;
      const page = await read(view.filter, { limit: 1 }).catch(() => undefined);
      if (page && asked === requestId) change({ ...counted(page) });
    },
    openRows(page) {
      if (!view.answered) return;
      for (const row of page.rows) seen.isFirst(row);
      const gone = (rows.toArray() as Row[]).filter((row) => isOpen(row) && !matches(row));
      receive([...gone, ...page.rows.filter((row) => !rows.find(row))], 0);
      change({ ...counted(page), matching: view.matching });
    },
    scrolled(away) {
      if (view.mode === "paused") return;
      if (away && view.mode !== "scrolled") hold("scrolled");
      else if (!away && view.mode === "scrolled") follow();
    },
    aimed(aims) {
      if (aims && view.mode === "following") hold("aimed");
      else if (!aims && view.mode === "aimed") follow();
    },
    // Rows that arrived while the list was scrolled stay counted.
    pause: () => hold("paused"),
    resume: follow,
    stop() {
      requestId++;
      isReading = false;
      clearTimeout(reloadTimer);
      young.clear();
      // Rows are not received from now on.
      missing = "some";
    },
  };
}
