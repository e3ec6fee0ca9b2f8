/** The order of time, which every store must have; run against each database by `store.test.ts`. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { EventFilter, EventPlace, EventRow } from "../../contract/services/events.ts";
import { eventTime } from "../../servers/events/completion-event.ts";
import { pageOfEvents } from "../../servers/events/page-of-events.ts";
import { StepBudget } from "../../servers/events/step-budget.ts";
import type { EventStore } from "../../servers/events/store/event-store.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { device } from "./harness.ts";
import { fill, manyEvents, matches, start } from "./store-contract.ts";

export function timeOrderContract(name: string, makeStore: () => Promise<EventStore>): void {
  describe(name, () => {
    it("[EV-67] the order of time is that of the events' times and then of their ids, in both directions, with every filter and offset", async () => {
      const store = await makeStore();
      // On a slow machine the time allowed for a scan would end before its last row.
      const isSpent = vi.spyOn(StepBudget.prototype, "isSpent").mockReturnValue(false);
      onTestFinished(() => isSpent.mockRestore());
      const random = seededRandom(11);
      // Imported out of order, many of one second.
      const events = manyEvents(17_000).map((event) => ({ ...event, created_at: eventTime(start - random.below(900) * 1_000) }));
      await fill(store, events);
      const rows = events.map((event, index) => ({ id: index + 1, ...event }));
      const order = (left: EventRow, right: EventRow) =>
        left.created_at === right.created_at ? left.id - right.id : left.created_at < right.created_at ? -1 : 1;
      const page = (params: object) =>
        pageOfEvents(store, { filter: {}, sort: "created_at", direction: "descending", limit: 10, offset: 0, ...params } as Parameters<
          typeof pageOfEvents
        >[1]);
      const filters: EventFilter[] = [
        {},
        { outcome: "rejected" },
        { outcome: "none" },
        { device_id: device(2) },
        { device_id: device(2), outcome: "ignored" },
        { language: "go", provider: "b" },
        { text: "RUS" },
        { from: start - 600_000, to: start - 300_500 },
        { from: start - 600_000, language: "lua" },
      ];
      for (const filter of filters) {
        const ascending = rows.filter((row) => matches(row, filter)).sort(order);
        for (const direction of ["ascending", "descending"] as const) {
          const ids = (direction === "ascending" ? ascending : ascending.toReversed()).map(({ id }) => id);
          for (const offset of [0, 3, Math.floor(ids.length * 0.4), Math.floor(ids.length * 0.7), ids.length - 4, ids.length + 5]) {
            if (offset < 0) continue;
            const { rows: found, matching, exact } = await page({ filter, direction, offset });
            expect([filter, direction, offset, found.map(({ id }) => id)]).toEqual([
              filter,
              direction,
              offset,
              ids.slice(offset, offset + 10),
            ]);
            expect([matching, exact]).toEqual([ids.length, true]);
          }
          const read: number[] = [];
          let before: EventPlace | undefined;
          for (let more = true; more; ) {
            const part = await page({ filter, direction, limit: 2_500, before });
            read.push(...part.rows.map(({ id }) => id));
            before = part.reached;
            more = part.more;
          }
          expect(read).toEqual(ids);
        }
      }
    });
  });
}
