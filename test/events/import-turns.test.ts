import { Parser } from "csv-parse";
import { expect, it, onTestFinished, vi } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { createEventImports } from "../../servers/events/jobs/event-imports.ts";
import { createEventJobs } from "../../servers/events/jobs/event-jobs.ts";
import { createEventImport } from "../../servers/events/jobs/import-events.ts";
import { eventBody } from "./harness.ts";

const storeNothing = { add: async () => [], newestId: async () => 0, countEqual: async () => [] } as never;
const silent = createLog({ level: () => "error", write: () => {} });

it.each(["jsonl", "csv"] as const)(
  "[EV-76] of a piece of a file (%s) a hundred lines are read in a turn of the event loop",
  async (format) => {
    const lines = 2_000;
    const source = createEventImport({
      format,
      store: storeNothing,
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

it("[EV-76] a piece of CSV is parsed in parts, which cut no character in two", async () => {
  const write = vi.spyOn(Parser.prototype, "write");
  onTestFinished(() => write.mockRestore());
  const source = createEventImport({ format: "csv", store: storeNothing });
  await source.add(`${"a\n".repeat(10_000)}${"\u{1f600}".repeat(10_000)}`);
  const parts = write.mock.calls.map(([part]) => String(part));
  expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(16_385);
  expect(parts.filter((part) => !part.isWellFormed())).toEqual([]);
});

it("[EV-76] a line of CSV has at most 1,000 cells, and one that names the columns has no more either", async () => {
  const source = createEventImport({ format: "csv", store: storeNothing });
  await source.add(`${"a,".repeat(262_143)}a\n1,2\n`);
  await source.end();
  expect(source.refusedLines).toEqual([
    { line: 1, reason: "262,144 cells: at most 1,000 are read" },
    { line: 2, reason: "the first line does not name the columns" },
  ]);
});

it("[EV-72] a column that is missing is named as such", async () => {
  const source = createEventImport({ format: "csv", store: storeNothing });
  await source.add("a,b\n1,2\n");
  await source.end();
  expect(source.refusedLines).toEqual([{ line: 2, reason: "device_id: it is missing" }]);
});

it("[EV-75] an import whose piece takes long to store is not given up while the page goes on sending", async () => {
  const jobs = createEventJobs({ log: silent, onChange: () => {}, onFailure: () => {} });
  onTestFinished(() => jobs.close());
  const storing = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  let stored = 0;
  const add = async () => {
    if (++stored === 2) await storing.promise;
    return [];
  };
  const store = { add, newestId: async () => 0, countEqual: async () => [] } as never;
  const imports = createEventImports({ jobs, store, onStored: () => first.resolve(), idleMs: 20 });
  const { id } = imports.begin({ format: "jsonl" });
  const line = `${JSON.stringify(eventBody())}\n`;
  const pieces = [imports.text(id, line)];
  await Promise.resolve();
  await Promise.resolve();
  pieces.push(imports.text(id, line));
  await first.promise;
  await new Promise((resolve) => setTimeout(resolve, 100));
  storing.resolve();
  await Promise.all(pieces);
  expect(await imports.end(id)).toMatchObject({ state: "done", done: 2 });
});
