import { expect, it } from "vitest";
import { createEventImport } from "../../servers/events/jobs/import-events.ts";
import { eventBody } from "./harness.ts";

it.each(["jsonl", "csv"] as const)(
  "[EV-76] of a piece of a file (%s) a hundred lines are read in a turn of the event loop",
  async (format) => {
    const lines = 2_000;
    const source = createEventImport({
      format,
      store: { add: async () => [], newestId: async () => 0, countEqual: async () => [] } as never,
    });
    let turns = 0;
    let immediate = setImmediate(function count() {
      turns++;
      immediate = setImmediate(count);
    });
    const line = format === "csv" ? "x,y" : JSON.stringify({ not: "an event", ...eventBody(), language: 7 });
    await source.add(`${line}\n`.repeat(lines));
    await source.end();
    clearImmediate(immediate);
    expect(source.refused + source.added).toBe(format === "csv" ? lines - 1 : lines);
    expect(turns).toBeGreaterThanOrEqual(lines / 100 - 1);
  },
);
