import path from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { catchUpPlots } from "../../servers/events/count-matching.ts";
import { outcomePlot } from "../../servers/events/outcome-plot.ts";
import { StepBudget } from "../../servers/events/step-budget.ts";
import type { EventStore } from "../../servers/events/store/event-store.ts";
import { sqliteDialect } from "../../servers/events/store/filter-sql.ts";
import { edgeSql, sliceSql } from "../../servers/events/store/plot-slices.ts";
import { createPostgresStore } from "../../servers/events/store/postgres-store.ts";
import { createSqliteStore } from "../../servers/events/store/sqlite-store.ts";
import { hasPostgres, missing, type RealServer, startPostgres } from "../support/real-servers.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { onEnd } from "./harness.ts";
import { fill, manyEvents, start, stored } from "./store-contract.ts";

const log = createLog({ level: () => "error", write: () => {} });
const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;

/** Rows of the plot rollups by step. */
type CountRows = () => Promise<Readonly<Record<string, number>>>;
const rowsSql = "SELECT step, count(*) AS n FROM roll_plot GROUP BY step";
const byStep = (rows: unknown[]) => Object.fromEntries((rows as { step: string; n: number }[]).map(({ step, n }) => [step, Number(n)]));

/** After a year each step drops some of the old counts, at most `atOnce` of a minute or of an hour, until only the new ones are left. */
async function dropsInSteps(store: EventStore, clock: { at: number }, rows: CountRows, { events, atOnce }: Record<string, number>) {
  onEnd(() => store.close());
  await store.open();
  await fill(
    store,
    manyEvents(events as number).map((event, index) => ({ ...event, created_at: stored({}, start).created_at, language: `l${index}` })),
  );
  await catchUpPlots(store, { budget: new StepBudget(store, Number.POSITIVE_INFINITY) });
  let before = await rows();
  expect(before).toEqual({ minute: events, hour: events, day: events });
  clock.at += yearMs;
  let turns = 0;
  while (before.minute !== 1) {
    if (turns++ === 0) await store.add([stored({ language: "go" }, clock.at)]);
    else await store.add([stored({ language: "go" }, clock.at), stored({ language: "go" }, clock.at)]);
    expect(await store.catchUpPlots()).toBe(0);
    const after = await rows();
    for (const step of ["minute", "hour"]) expect((before[step] as number) - (after[step] as number)).toBeLessThanOrEqual(atOnce as number);
    expect(after.minute).toBe(after.hour);
    before = after;
    const plot = await outcomePlot(store, "24h", {}, clock.at);
    expect([plot.total, plot.behind]).toEqual([2 * turns - 1, 0]);
  }
  expect(turns).toBe(Math.ceil((events as number) / (atOnce as number)));
  expect((await outcomePlot(store, "all", {}, clock.at)).total).toBe((events as number) + 2 * turns - 1);
}

const events = 9_000;

it("[EV-201] counts that the plots no longer read are dropped some at a time (SQLite)", async () => {
  const clock = { at: start + hourMs };
  const file = path.join(temporaryDir(), "events.db");
  const store = createSqliteStore({ file, log, now: () => clock.at });
  const rows = async () => {
    const database = new Sqlite(file, { readonly: true });
    const found = database.prepare(rowsSql).all();
    database.close();
    return byStep(found);
  };
  await dropsInSteps(store, clock, rows, { events, atOnce: 1_024 });
});

describe.skipIf(missing("PostgreSQL", "postgresql", hasPostgres()))("PostgreSQL", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it("[EV-201] counts that the plots no longer read are dropped some at a time (PostgreSQL)", async () => {
    const { default: pg } = await import("pg");
    const clock = { at: start + hourMs };
    const client = new pg.Client(server.url);
    await client.connect();
    onEnd(() => client.end());
    const store = createPostgresStore({ url: server.url, log, now: () => clock.at });
    await dropsInSteps(store, clock, async () => byStep((await client.query(rowsSql)).rows), { events: 20_000, atOnce: 16_384 });
  });
});

it("[EV-196] SQLite finds a slice of the plots, and its edge, by the key alone", async () => {
  const file = path.join(temporaryDir(), "events.db");
  const store = createSqliteStore({ file, log });
  await store.open();
  await store.close();
  const database = new Sqlite(file, { readonly: true });
  onEnd(() => void database.close());
  const key = { at: "2026-11-20", language: "l", provider: "p", outcome: "accepted" };
  const span = { step: "day", since: "2026-01-01", until: "2026-12-01" } as const;
  const planOf = ({ sql, values }: { sql: string; values: readonly unknown[] }) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map((row) => (row as { detail: string }).detail);
  const search = (bounds: string) => [`SEARCH roll_plot USING PRIMARY KEY (step=? AND ${bounds})`];
  const [over, under] = [">", "<"].map((sign) => `(at,language,provider,outcome)${sign}(?,?,?,?)`);
  for (const [below, edge, bounds] of [
    [undefined, undefined, "at>? AND at<?"],
    [key, undefined, `at>? AND ${under}`],
    [undefined, key, `${over} AND at<?`],
    [key, key, `${over} AND ${under}`],
  ] as const) {
    const { where, values } = sliceSql(sqliteDialect, { span, below }, edge, { language: "go", outcome: "rejected" });
    expect(planOf({ sql: `SELECT sum(n) FROM roll_plot WHERE ${where}`, values })).toEqual(search(bounds));
    if (!edge) expect(planOf(edgeSql(sqliteDialect, { span, below }))).toEqual(search(bounds));
  }
});
