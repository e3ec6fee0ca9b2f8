import path from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { createSqliteStore } from "../../servers/events/store/sqlite-store.ts";
import { createSqliteTimeScans, secondEntries } from "../../servers/events/store/sqlite-time-scans.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { onEnd } from "./harness.ts";
import { fill, start, stored } from "./store-contract.ts";

it("[EV-203] an import compares the events of one second some hundreds in a step, however many there are", async () => {
  const file = path.join(temporaryDir(), "events.db");
  const store = createSqliteStore({ file, log: createLog({ level: () => "error", write: () => {} }) });
  onEnd(() => store.close());
  await store.open();
  const events = 2 * secondEntries + 20;
  await fill(
    store,
    Array.from({ length: events }, (_, index) => stored({ edit_count: index % 3 })),
  );
  const rest = events - 10;
  expect(await store.countEqual([stored({ edit_count: 1 }), stored({ edit_count: 7 }), stored({}, start + 1_000)], rest)).toEqual([
    Math.floor((rest + 1) / 3),
    0,
    0,
  ]);

  const database = new Sqlite(file, { readonly: true });
  onEnd(() => void database.close());
  const scans = createSqliteTimeScans((text) => database.prepare(text));
  const { created_at: at } = stored();
  const steps: number[] = [];
  for (let from: number | undefined = -1; from !== undefined; ) {
    const { found, reached } = scans.ofSecond({ at, from, upTo: rest });
    steps.push(found.length);
    from = reached;
  }
  expect(steps).toEqual([secondEntries, secondEntries, 10]);
});
