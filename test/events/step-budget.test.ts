import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import type { EventFilter } from "../../contract/services/events.ts";
import { countMatching } from "../../servers/events/count-matching.ts";
import { outcomePlot } from "../../servers/events/outcome-plot.ts";
import { pageOfEvents } from "../../servers/events/page-of-events.ts";
import type { EventStore } from "../../servers/events/store/event-store.ts";
import { start } from "./store-contract.ts";

const steps = 50;
const filter: EventFilter = { text: "absent" };

/** Each of its steps finds one event, and takes what `work` does. */
function storeOf(kind: EventStore["kind"], work: () => void | Promise<void>): EventStore {
  let step = 0;
  const part = async <Found>(found: Found) => {
    await work();
    step += 1;
    const ended = step === steps;
    if (ended) step = 0;
    return { found, reached: step, ended, skipped: 0 };
  };
  return {
    kind,
    countBetween: () => part(1),
    scan: () => part([]),
    scanInTime: () => part([]),
    plotBetween: () => part([{ at: "2026-11-20", language: "go", provider: "a", outcome: "accepted", events: 1 }]),
    catchUpPlots: async () => {
      await work();
      return steps - ++step;
    },
    countPlotted: async () => ({ found: 0, edges: [] }),
  } as Partial<Record<keyof EventStore, unknown>> as EventStore;
}

function spend(ms: number): void {
  const from = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(from);
    if (user + system >= ms * 1_000) return;
  }
}

const page = (store: EventStore, sort: "id" | "created_at") =>
  pageOfEvents(store, { filter, sort, direction: "descending", limit: 10, offset: 0, before: { at: "~", id: 1_000 } });

it("[EV-202] on a busy machine counts, pages and plots of a file are as complete as on another", async () => {
  // As if other programs had the processor in each step: 50 of them are more than any of the budgets.
  const store = storeOf("sqlite", () => wait(10));
  expect(await countMatching(store, filter)).toEqual({ matching: steps, exact: true });
  expect(await page(store, "id")).toMatchObject({ matching: steps, exact: true, more: false });
  expect(await page(store, "created_at")).toMatchObject({ matching: steps, exact: true, more: false });
  expect((await outcomePlot(store, "all", filter, start)).sampled).toBeUndefined();
  expect(
    await countMatching(
      storeOf("sqlite", () => wait(10)),
      { language: "go" },
    ),
  ).toEqual({ matching: 0, exact: true });
});

it("[EV-202] what is much work ends with what was found until then, in a file and in a database", async () => {
  for (const store of [storeOf("sqlite", () => spend(20)), storeOf("postgres", () => wait(20))]) {
    const counted = await countMatching(store, filter);
    expect([counted.exact, counted.matching > 1]).toEqual([false, true]);
  }
  expect(
    (
      await outcomePlot(
        storeOf("sqlite", () => spend(20)),
        "all",
        filter,
        start,
      )
    ).sampled,
  ).toBeGreaterThan(1);
  expect(
    (
      await countMatching(
        storeOf("sqlite", () => spend(20)),
        { language: "go" },
      )
    ).exact,
  ).toBe(false);
});

it("[EV-202] a database is not charged for what this process did for others while it answered", async () => {
  const store = storeOf("postgres", async () => {
    const answer = wait(1);
    spend(10);
    await answer;
  });
  expect(await countMatching(store, filter)).toEqual({ matching: steps, exact: true });
});
