import type { TrafficPage } from "../../../../contract/control.ts";
import { type ServiceId, serviceIds } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { createFrameStore, type NextFrame, type ReadableStore } from "../../control/frame-store.ts";
import { noFilter, trafficMatcher } from "../../list/traffic-filter.ts";

/** Rows of all services together that the page holds. */
export const heldRows = 2_000;
const pageRows = 500;
const idsPerService = 2 ** 44;

/** One number for a row of any service. */
export const timelineId = ({ service, id }: Pick<TrafficRow, "service" | "id">): number => serviceIds.indexOf(service) * idsPerService + id;

export interface TimelineView {
  /** Newest first. */
  readonly rows: readonly TrafficRow[];
  /** Following shows each row as it arrives; the other two hold what is on screen. */
  readonly mode: "following" | "scrolled" | "paused";
  /** New rows since the list is held. */
  readonly arrived: number;
  /** Rows that came too fast to be shown; the supervisor keeps them. */
  readonly skipped: number;
  readonly kept: number;
  /** False once rows have left the supervisor's bounds, or a service could not hand them over. */
  readonly allKept: boolean;
  readonly loaded: boolean;
}
export const emptyTimeline: TimelineView = { rows: [], mode: "following", arrived: 0, skipped: 0, kept: 0, allKept: true, loaded: false };

/** Newest first, by the time at which each began; a row that is there already is replaced. */
export function mergeTimeline(rows: readonly TrafficRow[], items: readonly TrafficRow[]): TrafficRow[] {
  const byId = new Map<number, TrafficRow>();
  for (const row of rows) byId.set(timelineId(row), row);
  for (const item of items) byId.set(timelineId(item), item);
  return [...byId.values()].sort((a, b) => b.at - a.at || timelineId(b) - timelineId(a)).slice(0, heldRows);
}

export interface TimelineRows {
  readonly view: ReadableStore<TimelineView>;
  receive(items: readonly TrafficRow[], dropped: number): void;
  reload(ids: readonly ServiceId[], text: string): Promise<void>;
  /** Asks again how many rows are kept: the oldest leave without a word. */
  recount(): Promise<void>;
  togglePause(): void;
  /** The list was scrolled away from its newest row, or back. */
  scrolled(away: boolean): void;
}

interface TimelineOptions {
  readonly read: (query: { id: ServiceId; text: string; limit: number }) => Promise<TrafficPage>;
  readonly onFailure: (error: unknown) => void;
  readonly nextFrame: NextFrame;
}

/** Every service's traffic on one clock. While the rows are held the supervisor goes on keeping new ones. */
export function createTimelineRows({ read, onFailure, nextFrame }: TimelineOptions): TimelineRows {
  const view = createFrameStore<TimelineView>(emptyTimeline, (run) => run());
  const newest = new Map<ServiceId, number>();
  let ids: readonly ServiceId[] = [];
  let text = "";
  let matches = trafficMatcher(noFilter);
  let question = 0;
  let waiting: TrafficRow[] = [];
  let waitingDropped = 0;
  let scheduled = false;
  /** How many rows the supervisor's bounds allow, once they have been reached. */
  let full = Number.POSITIVE_INFINITY;

  function counted(pages: readonly TrafficPage[]): Pick<TimelineView, "kept" | "allKept"> {
    const kept = pages.reduce((sum, page) => sum + page.kept, 0);
    const known = view.latest().kept;
    if (kept < known) full = kept;
    else if (kept > full) full = Number.POSITIVE_INFINITY;
    return { kept, allKept: full === Number.POSITIVE_INFINITY && pages.every((page) => page.dropped === 0) };
  }

  /** Whether the row was not known before; a row that ended comes a second time. */
  function learn({ service, id }: TrafficRow): boolean {
    if (id <= (newest.get(service) ?? 0)) return false;
    newest.set(service, id);
    return true;
  }

  /** All that arrived since the last frame, in one merge. */
  function take() {
    scheduled = false;
    const items = waiting;
    const dropped = waitingDropped;
    waiting = [];
    waitingDropped = 0;
    const before = view.latest();
    const fresh = items.filter(learn).length;
    const counted = { kept: Math.min(full, before.kept + fresh + dropped), skipped: before.skipped + dropped };
    if (before.mode === "following") {
      view.set({ ...before, ...counted, rows: mergeTimeline(before.rows, items.filter(matches)) });
      return;
    }
    const held = new Set(before.rows.map(timelineId));
    const updates = items.filter((item) => held.has(timelineId(item)));
    const rows = updates.length > 0 ? mergeTimeline(before.rows, updates) : before.rows;
    view.set({ ...before, ...counted, rows, arrived: before.arrived + fresh + dropped });
  }

  async function reload() {
    const mine = ++question;
    const pages = await Promise.all(ids.map((id) => read({ id, text, limit: pageRows })));
    if (mine !== question) return;
    const rows = pages.flatMap((page) => page.rows);
    for (const row of rows) learn(row);
    view.set({ ...emptyTimeline, mode: view.latest().mode, rows: mergeTimeline([], rows), ...counted(pages), loaded: true });
  }

  function follow() {
    view.set({ ...view.latest(), mode: "following", arrived: 0 });
    reload().catch(onFailure);
  }

  return {
    view,
    receive(items, dropped) {
      waiting.push(...items);
      waitingDropped += dropped;
      if (scheduled) return;
      scheduled = true;
      nextFrame(take);
    },
    reload(nextIds, nextText) {
      if (nextIds.join() !== ids.join()) {
        // Counts of other services say nothing about these.
        full = Number.POSITIVE_INFINITY;
        view.set({ ...view.latest(), kept: 0 });
      }
      ids = nextIds;
      text = nextText;
      matches = trafficMatcher({ ...noFilter, text });
      return reload().catch(onFailure);
    },
    async recount() {
      const { loaded } = view.latest();
      const asked = question;
      const pages = loaded ? await Promise.all(ids.map((id) => read({ id, text: "", limit: 1 }))).catch(() => undefined) : undefined;
      if (pages && asked === question) view.set({ ...view.latest(), ...counted(pages) });
    },
    togglePause() {
      if (view.latest().mode === "paused") follow();
      else view.set({ ...view.latest(), mode: "paused" });
    },
    scrolled(away) {
      const { mode } = view.latest();
      if (away && mode === "following") view.set({ ...view.latest(), mode: "scrolled", arrived: 0 });
      if (!away && mode === "scrolled") follow();
    },
  };
}
