import type { Failure } from "../../../../contract/service.ts";
import { type EventColumn, type EventPage, type EventPlace, type EventRow, eventColumns } from "../../../../contract/services/events.ts";
import { failureOf } from "../../control/failure-error.ts";
import type { ShownFilter } from "./event-filter.ts";

export interface EventOrder {
  readonly column: EventColumn;
  readonly direction: "ascending" | "descending";
}
export const newestFirst: EventOrder = { column: "created_at", direction: "descending" };

/** The orders that have an index: pages are read from a place on, and the newest can be followed. */
const hasPlaces = ({ column }: EventOrder) => column === "created_at" || column === "id";

/** Whether a row is on a page after this place. */
function isBeyond({ created_at, id }: EventRow, place: EventPlace, { column, direction }: EventOrder): boolean {
  const { at = "" } = place;
  const isGreater = column === "created_at" && created_at !== at ? created_at > at : id > place.id;
  return id !== place.id && isGreater === (direction === "ascending");
}

/** Parameters of `read` besides the filter. */
export interface PageQuery {
  readonly sort: EventColumn;
  readonly direction: EventOrder["direction"];
  readonly limit: number;
  readonly offset?: number;
  readonly before?: EventPlace;
}

/** Of the whole store, from the service's `totals` view. */
export interface StoreTotals {
  readonly newestId: number;
  readonly events: number;
}

/** Following shows new events; the other modes hold the visible rows and count new events: "aimed" while the user points at a row. */
export type PagesMode = "following" | "aimed" | "held" | "paused";

export interface EventPagesView {
  readonly filter: ShownFilter;
  readonly order: EventOrder;
  readonly pageRows: number;
  readonly rows: readonly EventRow[];
  /** Rows before this page. */
  readonly skipped: number;
  readonly matching: number;
  readonly exact: boolean;
  readonly sortedAmong: number | undefined;
  readonly more: boolean;
  readonly isFirst: boolean;
  readonly mode: PagesMode;
  /** Events stored since the page was read. */
  readonly arrived: number;
  /** An answer that the user requested is pending. */
  readonly reading: boolean;
  /** False until the first answer. */
  readonly loaded: boolean;
  /** False until there is an answer for this filter: the rows and counts are those of the one before. */
  readonly answered: boolean;
  /** Why the newest request failed; the rows are those of the last answer. */
  readonly failure: Failure | undefined;
}

export interface EventPages {
  subscribe(listener: () => void): () => void;
  view(): EventPagesView;
  /** Reads the current page again. */
  reload(): Promise<void>;
  setFilter(filter: ShownFilter): Promise<void>;
  setOrder(order: EventOrder): Promise<void>;
  setPageRows(rows: number): Promise<void>;
  first(): Promise<void>;
  previous(): Promise<void>;
  next(): Promise<void>;
  last(): Promise<void>;
  /** The current totals of the store. */
  totals(totals: StoreTotals): void;
  /** Time passed: events may have left the range. */
  tick(): void;
  scrolled(away: boolean): void;
  /** The user aims at a row, or no longer does. */
  aimed(aims: boolean): void;
  pause(): void;
  /** Shows the newest events and follows them. */
  follow(): Promise<void>;
  dispose(): void;
}

/** A keyset cursor, or for the last page and pages of a sort by value an offset. */
type Place =
  | { readonly kind: "cursor"; readonly before: EventPlace; readonly skipped: number }
  | { readonly kind: "offset"; readonly offset: number };
const start: Place = { kind: "offset", offset: 0 };

/** A filter without an index is answered in parts; this many are requested in a row before the user has to continue. */
const partsInARow = 12;
const followEveryMs = 400;
/** Slow requests are sent less often: the service has others to answer. */
const restPerMs = 3;

/** One page of the table at a time, outside React: memory and rendering do not grow with the store. */
export function createEventPages(options: {
  readonly read: (filter: ShownFilter, query: PageQuery) => Promise<EventPage>;
  readonly filter: ShownFilter;
  readonly order?: EventOrder;
  readonly pageRows?: number;
}): EventPages {
  const { read } = options;
  const listeners = new Set<() => void>();
  let place: Place = start;
  /** The previous pages, for going back. */
  let trail: readonly Place[] = [];
  let reached: EventPlace = { id: 0 };
  let scrolledAway = false;
  let isAimed = false;
  let paused = false;
  let known: StoreTotals | undefined;
  /** The newest id when the page was read. */
  let seen: number | undefined;
  /** Answers to older requests than this are stale. */
  let question = 0;
  let asking = false;
  let due: ReturnType<typeof setTimeout> | undefined;
  let stale: "no" | "newer" | "changed" = "no";
  let restUntil = 0;
  let view: EventPagesView = {
    filter: options.filter,
    order: options.order ?? newestFirst,
    pageRows: options.pageRows ?? 50,
    rows: [],
    skipped: 0,
    matching: 0,
    exact: true,
    sortedAmong: undefined,
    more: false,
    isFirst: true,
    mode: "following",
    arrived: 0,
    reading: false,
    loaded: false,
    answered: false,
    failure: undefined,
  };

  const isStart = () => place.kind === "offset" && place.offset === 0;
  const mode = (): PagesMode => {
    if (paused) return "paused";
    if (!isStart() || scrolledAway || !hasPlaces(view.order) || view.order.direction === "ascending") return "held";
    return isAimed ? "aimed" : "following";
  };
  function change(next: Partial<EventPagesView>) {
    view = { ...view, ...next, mode: mode(), isFirst: isStart() };
    for (const listener of listeners) listener();
  }
  const arrivals = () => Math.max(0, (known?.newestId ?? 0) - (seen ?? 0));

  function query(from: Place, rows = view.pageRows): PageQuery {
    const { column, direction } = view.order;
    const base = { sort: column, direction, limit: rows };
    if (from.kind === "cursor") return { ...base, before: from.before };
    return from.offset === 0 ? base : { ...base, offset: from.offset };
  }

  /** `gentle`: the rows stay while the answer is pending, and are joined with it. */
  async function ask(gentle: boolean, full = true): Promise<void> {
    const mine = ++question;
    asking = true;
    clearTimeout(due);
    due = undefined;
    stale = "no";
    const askedOf = place;
    const newestThen = known?.newestId;
    const startedAt = performance.now();
    if (!gentle) change({ reading: true });
    try {
      let answer = await read(view.filter, query(askedOf));
      if (mine !== question) return;
      // The user has begun to aim at a row.
      if (gentle && !full && mode() === "aimed") return;
      const rows = [...answer.rows];
      const joins = gentle && !full && answer.more && rows.length < view.pageRows && answer.sortedAmong === undefined;
      const older = joins ? view.rows.filter((row) => isBeyond(row, answer.reached, view.order)) : [];
      const joined = [...rows, ...older];
      const cutAt = joined.length > view.pageRows ? joined[view.pageRows - 1] : undefined;
      show(
        answer,
        joined.slice(0, view.pageRows),
        cutAt ? { at: cutAt.created_at, id: cutAt.id } : older.length > 0 ? reached : answer.reached,
      );
      if (isStart() && newestThen !== undefined) seen = Math.max(newestThen, ...rows.map(({ id }) => id));
      for (let part = 1; !joins && part < partsInARow; part++) {
        if (!answer.more || rows.length >= view.pageRows || answer.sortedAmong !== undefined || !hasPlaces(view.order)) break;
        answer = await read(view.filter, query({ kind: "cursor", before: answer.reached, skipped: 0 }, view.pageRows - rows.length));
        if (mine !== question) return;
        rows.push(...answer.rows);
        show({ ...answer, matching: Math.max(answer.matching, view.matching) }, rows, answer.reached);
      }
      change({ reading: false, arrived: mode() === "following" ? 0 : arrivals() });
    } catch (error) {
      if (mine === question) change({ reading: false, loaded: true, failure: failureOf(error) });
    } finally {
      if (mine === question) {
        asking = false;
        const endedAt = performance.now();
        restUntil = endedAt + Math.max(followEveryMs, restPerMs * (endedAt - startedAt));
        if (stale !== "no") refreshSoon(stale);
      }
    }
  }

  function show(answer: EventPage, rows: readonly EventRow[], nextReached: EventPlace) {
    reached = nextReached;
    change({
      rows,
      skipped: place.kind === "cursor" ? place.skipped : place.offset,
      matching: answer.matching,
      exact: answer.exact,
      sortedAmong: answer.sortedAmong,
      more: answer.more || (rows.length > answer.rows.length && view.more),
      loaded: true,
      answered: true,
      failure: undefined,
    });
  }

  function refreshSoon(why: "newer" | "changed") {
    if (stale !== "changed") stale = why;
    if (asking || due !== undefined) return;
    // Immediately after a quiet time, otherwise after a pause.
    due = setTimeout(
      () => {
        due = undefined;
        if (paused || (stale === "newer" && mode() !== "following")) return;
        void ask(true, stale === "changed");
      },
      Math.max(0, restUntil - performance.now()),
    );
  }

  /** Goes there and reads it. */
  function go(to: Place, by: readonly Place[]): Promise<void> {
    place = to;
    trail = by;
    scrolledAway = false;
    return ask(false);
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    view: () => view,
    reload: () => ask(view.loaded && view.failure === undefined),
    setFilter(filter) {
      view = { ...view, filter, answered: false };
      seen = undefined;
      return go(start, []);
    },
    setOrder(order) {
      view = { ...view, order };
      seen = undefined;
      return go(start, []);
    },
    setPageRows(pageRows) {
      view = { ...view, pageRows };
      return go(start, []);
    },
    first: () => go(start, []),
    previous() {
      const back = trail.at(-1);
      if (back) return go(back, trail.slice(0, -1));
      return go({ kind: "offset", offset: Math.max(0, view.skipped - view.pageRows) }, []);
    },
    async next() {
      if (!view.more || view.reading) return;
      const skipped = view.skipped + view.rows.length;
      const to: Place = hasPlaces(view.order) ? { kind: "cursor", before: reached, skipped } : { kind: "offset", offset: skipped };
      await go(to, [...trail, place]);
    },
    async last() {
      const rows = view.sortedAmong ?? view.matching;
      if (!view.exact && view.sortedAmong === undefined) return;
      await go({ kind: "offset", offset: Math.max(0, Math.floor((rows - 1) / view.pageRows) * view.pageRows) }, []);
    },
    totals(totals) {
      const before = known;
      known = totals;
      seen ??= totals.newestId;
      const deleted = before !== undefined && totals.events - before.events < totals.newestId - before.newestId;
      const isNews = before ? before.newestId !== totals.newestId || before.events !== totals.events : view.rows[0]?.id !== totals.newestId;
      if (!isNews) return;
      if (mode() !== "following") change({ arrived: arrivals() });
      if (deleted) refreshSoon("changed");
      else if (mode() === "following") refreshSoon("newer");
    },
    tick() {
      if (view.filter.range !== "all" && mode() === "following") refreshSoon("changed");
    },
    scrolled(away) {
      if (scrolledAway === away) return;
      scrolledAway = away;
      change({});
      if (mode() === "following" && arrivals() > 0) refreshSoon("newer");
    },
    aimed(aims) {
      isAimed = aims;
      change({});
      if (mode() === "following" && arrivals() > 0) refreshSoon("newer");
    },
    pause() {
      paused = true;
      change({});
    },
    follow() {
      paused = false;
      view = { ...view, order: newestFirst };
      return go(start, []);
    },
    dispose() {
      question++;
      clearTimeout(due);
    },
  };
}

/** A column's head sorts descending, then ascending, then by time again. */
export function orderAfter(order: EventOrder, head: string): EventOrder {
  const column = eventColumns.find((known) => known === head);
  if (column === undefined) return order;
  if (order.column !== column) return { column, direction: "descending" };
  if (order.direction === "descending") return { column, direction: "ascending" };
  return newestFirst;
}
