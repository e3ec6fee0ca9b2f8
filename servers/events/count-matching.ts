import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFilter } from "../../contract/services/events.ts";
import { StepBudget } from "./step-budget.ts";
import type { EventStore } from "./store/event-store.ts";
import { isKeyFilter, isPlotFilter } from "./store/filter-sql.ts";

export interface Matching {
  /** A lower bound where `exact` is false. */
  readonly matching: number;
  readonly exact: boolean;
}

export interface CountOptions {
  readonly budgetMs?: number;
  /** Aborts a long count. */
  readonly signal?: AbortSignal;
}

interface Until {
  readonly budget: StepBudget;
  readonly signal: AbortSignal | undefined;
}

/** Time allowed for a count; the answer is what was found until then. */
const countBudgetMs = 250;
/** Of this so much is for the scans behind the plot rollups. */
const edgesMs = 100;
const catchUpMs = 150;
const eventsAtOnce = 50_000;

/**
 * How many events match. The device rollups have counts by device and outcome. The plot rollups have counts by outcome, language,
 * provider and time; the seconds at both ends of a time range are counted by a scan. A text, and a device with other conditions, are
 * searched within a bounded time.
 */
export async function countMatching(
  store: EventStore,
  filter: EventFilter,
  { budgetMs = countBudgetMs, signal }: CountOptions = {},
): Promise<Matching> {
  if (isKeyFilter(filter)) return { matching: await store.count(filter), exact: true };
  const until: Until = { budget: new StepBudget(store, budgetMs), signal };
  if (!isPlotFilter(filter)) return await countByScan(store, filter, until);
  const behind = await catchUpPlots(store, { ...until, reserveMs: edgesMs });
  const { found, edges } = await store.countPlotted(filter, filter);
  let matching = found;
  let exact = behind === 0;
  for (const edge of edges) {
    const counted = await countByScan(store, { ...filter, ...edge }, until);
    matching += counted.matching;
    exact &&= counted.exact;
  }
  return { matching, exact };
}

async function countByScan(store: EventStore, filter: EventFilter, { budget, signal }: Until): Promise<Matching> {
  let matching = 0;
  let from: number | undefined;
  for (;;) {
    const range = { direction: "descending", from, limit: eventsAtOnce } as const;
    const counted = await budget.take(() => store.countBetween(filter, range));
    matching += counted.found;
    from = counted.reached;
    if (counted.ended) return { matching, exact: true };
    if (signal?.aborted || budget.isSpent()) return { matching, exact: false };
    await nextTurn();
  }
}

export interface CatchUpOptions {
  readonly budget?: StepBudget;
  /** What is to be left of the budget. */
  readonly reserveMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Counts new events into the plot rollups for a bounded time; resolves with how many are left. */
export async function catchUpPlots(
  store: EventStore,
  { budget = new StepBudget(store, catchUpMs), reserveMs = 0, signal }: CatchUpOptions = {},
): Promise<number> {
  for (;;) {
    const left = await budget.take(() => store.catchUpPlots());
    if (left === 0 || signal?.aborted || budget.isSpent(reserveMs)) return left;
    await nextTurn();
  }
}
