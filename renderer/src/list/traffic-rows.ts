import type { TrafficPage } from "../../../contract/control.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { hasRow, mergeRows, updateRows } from "./merge-rows.ts";
import { isFiltering, noFilter, type TrafficFilter, trafficMatcher } from "./traffic-filter.ts";

/** Following shows each row as it arrives; the other two hold what is on screen and count what arrives. */
export type FollowMode = "following" | "scrolled" | "paused";

export interface TrafficRowsView {
  /** Oldest first. */
  readonly rows: readonly TrafficRow[];
  readonly mode: FollowMode;
  readonly filter: TrafficFilter;
  /** New rows that match since the list is held. */
  readonly arrived: number;
  /** Rows that the supervisor keeps, and those of them that match. */
  readonly kept: number;
  readonly matching: number;
  /** Rows that came too fast for this view; kept, and read again once the load falls. */
  readonly skipped: number;
  /** False until the first answer. */
  readonly loaded: boolean;
  /** Older rows than those in `rows` may be had. */
  readonly hasOlder: boolean;
}

export interface TrafficQuery extends TrafficFilter {
  readonly before?: number;
  readonly limit: number;
}

export interface TrafficRows {
  subscribe(listener: () => void): () => void;
  view(): TrafficRowsView;
  receive(items: readonly TrafficRow[], dropped: number): void;
  /** Reads the newest page again. */
  reload(): Promise<void>;
  loadOlder(): Promise<void>;
  setFilter(filter: TrafficFilter): Promise<void>;
  /** The kept rows were cleared, or brought back. */
  replaced(): Promise<void>;
  /** Asks again how many rows are kept: the oldest leave without a word. */
  recount(): Promise<void>;
  /** The list was scrolled away from its newest row, or back. */
  scrolled(away: boolean): void;
  pause(): void;
  resume(): void;
  dispose(): void;
}

export interface TrafficRowsOptions {
  readonly read: (query: TrafficQuery) => Promise<TrafficPage>;
  readonly onFailure: (error: unknown) => void;
  readonly filter?: TrafficFilter;
  readonly pageRows?: number;
  /** Rows that a following list keeps; older ones are read again when scrolled to. */
  readonly followRows?: number;
  /** Quiet time after which rows that came too fast are read. */
  readonly mendAfterMs?: number;
}

/** The rows of one live view, outside React: bounded, and one change a batch. */
export function createTrafficRows(options: TrafficRowsOptions): TrafficRows {
  const { read, onFailure, pageRows = 500, followRows = 2_000, mendAfterMs = 700 } = options;
  const listeners = new Set<() => void>();
  let matches = trafficMatcher(options.filter ?? noFilter);
  /** Newer than the held rows. */
  let waiting: readonly TrafficRow[] = [];
  /** Rows are missing among the newest: reading them is better than joining what is here. */
  let broken = false;
  /** Answers to older questions than this are stale. */
  let question = 0;
  /** How many rows the supervisor's bounds allow, once they have been reached. */
  let full = Number.POSITIVE_INFINITY;
  let readingOlder = false;
  let mendTimer: ReturnType<typeof setTimeout> | undefined;
  let view: TrafficRowsView = {
    rows: [],
    mode: "following",
    filter: options.filter ?? noFilter,
    arrived: 0,
    kept: 0,
    matching: 0,
    skipped: 0,
    loaded: false,
    hasOlder: false,
  };

  function change(next: Partial<TrafficRowsView>) {
    view = { ...view, ...next };
    for (const listener of listeners) listener();
  }

  /** The counts of a page: the supervisor's, which loses its oldest rows without a word. */
  function counted(page: TrafficPage): Pick<TrafficRowsView, "kept" | "matching"> {
    full = page.kept < view.kept ? page.kept : page.kept > full ? Number.POSITIVE_INFINITY : full;
    return { kept: page.kept, matching: page.matching };
  }

  const held = () => view.mode !== "following";

  async function ask<Value>(request: Promise<Value>): Promise<Value | undefined> {
    const mine = ++question;
    try {
      const value = await request;
      return mine === question ? value : undefined;
    } catch (error) {
      if (mine === question) onFailure(error);
      return undefined;
    }
  }

  async function reload() {
    const query = { ...view.filter, limit: pageRows };
    waiting = [];
    const page = await ask(read(query));
    if (!page) return;
    const known = oldestFirst(page.rows);
    const newest = known.at(-1)?.id ?? 0;
    // What arrived or ended while the answer was on its way is newer than the page.
    const meanwhile = [...view.rows, ...waiting].filter((row) => hasRow(known, row.id) || (row.id > newest && !held()));
    const { rows } = mergeRows(known, meanwhile, matches);
    waiting = [];
    broken = false;
    change({
      rows,
      arrived: 0,
      skipped: 0,
      loaded: true,
      ...counted(page),
      hasOlder: page.rows.length < page.matching,
    });
  }

  function mendSoon() {
    broken = true;
    clearTimeout(mendTimer);
    mendTimer = setTimeout(() => {
      if (!held()) void reload();
    }, mendAfterMs);
  }

  function receive(items: readonly TrafficRow[], dropped: number) {
    if (dropped > 0) mendSoon();
    const shown = held() ? updateRows(view.rows, items, matches) : mergeRows(view.rows, newerThanPage(items), matches);
    let added = shown.added;
    if (held()) {
      const newest = view.rows.at(-1)?.id ?? 0;
      const merged = mergeRows(
        waiting,
        items.filter((item) => item.id > newest),
        matches,
      );
      added = merged.added;
      waiting = merged.rows.slice(-followRows);
      if (waiting.length < merged.rows.length) broken = true;
    }
    const rows = !held() && shown.rows.length > followRows ? shown.rows.slice(-followRows) : shown.rows;
    if (!shown.changed && added === 0 && dropped === 0) return;
    const droppedMatching = isFiltering(view.filter) ? 0 : dropped;
    change({
      rows,
      hasOlder: view.hasOlder || rows.length < shown.rows.length,
      arrived: held() ? view.arrived + added + droppedMatching : 0,
      kept: Math.min(full, view.kept + (isFiltering(view.filter) ? 0 : added) + dropped),
      matching: Math.min(full, view.matching + added + droppedMatching),
      // A held list leaves nothing out: what it does not show has arrived since.
      skipped: view.skipped + (held() ? 0 : dropped),
    });
  }

  /** A row older than the page that is loaded would stand before rows that are not. */
  function newerThanPage(items: readonly TrafficRow[]): readonly TrafficRow[] {
    const oldest = view.rows[0]?.id;
    return view.hasOlder && oldest !== undefined ? items.filter((item) => item.id >= oldest) : items;
  }

  function follow() {
    if (broken) {
      change({ mode: "following" });
      void reload();
      return;
    }
    const all = mergeRows(view.rows, waiting, matches).rows;
    const rows = all.slice(-followRows);
    waiting = [];
    change({ mode: "following", rows, arrived: 0, hasOlder: view.hasOlder || rows.length < all.length });
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    view: () => view,
    receive,
    reload,
    async loadOlder() {
      const before = view.rows[0]?.id;
      if (readingOlder || !view.hasOlder || before === undefined) return;
      readingOlder = true;
      const asked = question;
      try {
        const page = await read({ ...view.filter, before, limit: pageRows });
        if (asked !== question) return;
        const { rows } = mergeRows(oldestFirst(page.rows), view.rows, matches);
        change({ rows, hasOlder: page.rows.length === pageRows, ...counted(page) });
      } catch (error) {
        onFailure(error);
      } finally {
        readingOlder = false;
      }
    },
    async setFilter(filter) {
      matches = trafficMatcher(filter);
      change({ filter, rows: view.rows.filter(matches), mode: view.mode === "paused" ? "paused" : "following" });
      await reload();
    },
    replaced() {
      change({ rows: [], arrived: 0, skipped: 0, kept: 0, matching: 0 });
      return reload();
    },
    async recount() {
      // A text filter makes the supervisor look through all that it keeps.
      if (!view.loaded || view.filter.text.trim() !== "") return;
      const asked = question;
      const page = await read({ ...view.filter, limit: 1 }).catch(() => undefined);
      if (page && asked === question) change(counted(page));
    },
    scrolled(away) {
      if (view.mode === "paused") return;
      if (away && view.mode === "following") change({ mode: "scrolled", arrived: 0 });
      else if (!away && view.mode === "scrolled") follow();
    },
    pause() {
      // Rows that arrived while the list was scrolled stay counted.
      change({ mode: "paused" });
    },
    resume: follow,
    dispose() {
      question++;
      clearTimeout(mendTimer);
    },
  };
}

const oldestFirst = (rows: readonly TrafficRow[]) => rows.toSorted((one, other) => one.id - other.id);
