import type { Database } from "better-sqlite3";
import type { EventRow } from "../../../contract/services/events.ts";
import { eventTime } from "../completion-event.ts";
import type { PlotCount, PlotFilter, PlotKey, PlotQuery, PlotSlice } from "./event-store.ts";
import { sqliteDialect } from "./filter-sql.ts";
import { edgeSql, oldPlots, type SlicePlace, sliceSql } from "./plot-slices.ts";
import type { SqliteRollups } from "./sqlite-rollups.ts";
import { hourPlotMs, minutePlotMs } from "./time-cover.ts";

/** Number of ids that one turn counts: a millisecond or two, and 10 where each event names another language and provider. */
const turnIds = 1_024;
/** Characters of "2026-11-20T23:28" that name a step. */
export const stepLength = { minute: 16, "10 minutes": 15, hour: 13, day: 10 } as const;
/** Which counts of `roll_plot` a step is made of. */
export const stepSource = { minute: "minute", "10 minutes": "minute", hour: "hour", day: "day" } as const;

/** The dimensions by which the plots count an event. */
export type Plotted = Pick<EventRow, "id" | "created_at" | "language" | "provider" | "outcome">;

/**
 * Counts for the plots are computed when they are read, starting after the last counted id, so that storing an event does not
 * pay for them. Deleting does, in `uncount`.
 */
export function createSqlitePlots(database: Database, rollups: SqliteRollups) {
  const newest = database.prepare("SELECT coalesce(max(id), 0) FROM events").pluck();
  const next = database.prepare("SELECT min(id) FROM events WHERE id > ?").pluck();
  const count = (step: string, length: number) =>
    database.prepare(`INSERT INTO roll_plot SELECT '${step}', substr(created_at, 1, ${length}), language, provider, outcome, count(*)
      FROM events WHERE id > ? AND id <= ? AND created_at >= ? GROUP BY 2, 3, 4, 5 ON CONFLICT DO UPDATE SET n = n + excluded.n`);
  const counts = [
    { step: "day", length: 10, keptMs: Number.POSITIVE_INFINITY },
    { step: "hour", length: 13, keptMs: hourPlotMs },
    { step: "minute", length: 16, keptMs: minutePlotMs },
  ].map((kept) => ({ ...kept, statement: count(kept.step, kept.length) }));

  const lower = database.prepare(
    "UPDATE roll_plot SET n = n - ? WHERE step = ? AND at = ? AND language = ? AND provider = ? AND outcome = ?",
  );

  function edgeOf(place: SlicePlace, rows?: number): PlotKey | undefined {
    const { sql, values } = edgeSql(sqliteDialect, place, rows);
    return database.prepare(sql).get(...values) as PlotKey | undefined;
  }

  return {
    /** Subtracts deleted events, summed up first: events of one time share their rows here. Within a transaction. */
    uncount(gone: readonly Plotted[]): void {
      const plotted = rollups.counter("plotted");
      const sums = new Map<string, { readonly key: readonly string[]; events: number }>();
      for (const { id, created_at, language, provider, outcome } of gone) {
        if (id > plotted) continue;
        for (const { step, length } of counts) {
          const key = [step, created_at.slice(0, length), language, provider, outcome];
          const name = key.join("\0");
          const known = sums.get(name);
          if (known) known.events += 1;
          else sums.set(name, { key, events: 1 });
        }
      }
      for (const { key, events } of sums.values()) lower.run(events, ...key);
    },

    /** One turn; returns how many ids are left. Within a transaction. */
    catchUp(now: number): number {
      const plotted = rollups.counter("plotted");
      const end = newest.get() as number;
      const first = next.get(plotted) as number | null;
      if (first === null) return 0;
      const upTo = Math.min(end, first - 1 + turnIds);
      for (const { statement, keptMs } of counts) {
        statement.run(plotted, upTo, keptMs === Number.POSITIVE_INFINITY ? "" : eventTime(now - keptMs));
      }
      // As many as new events can have added, so that they do not become more.
      for (const place of oldPlots(now)) {
        const { where, values } = sliceSql(sqliteDialect, place, edgeOf(place, turnIds), {});
        database.prepare(`DELETE FROM roll_plot WHERE ${where}`).run(...values);
      }
      rollups.setCounter("plotted", upTo);
      return end - upTo;
    },

    read({ step, since, filter, below }: PlotQuery): PlotSlice<PlotCount[]> {
      const place = { span: { step: stepSource[step], since }, below };
      const edge = edgeOf(place);
      const { where, values } = sliceSql(sqliteDialect, place, edge, filter);
      const columns = `substr(at, 1, ${stepLength[step]}) AS at, language, provider, outcome, sum(n) AS events`;
      const found = database
        .prepare(`SELECT ${columns} FROM roll_plot WHERE ${where} AND n > 0 GROUP BY 1, 2, 3, 4`)
        .all(...values) as PlotCount[];
      return { found, edge };
    },

    sum(place: SlicePlace, filter: PlotFilter): PlotSlice<number> {
      const edge = edgeOf(place);
      const { where, values } = sliceSql(sqliteDialect, place, edge, filter);
      const found = database
        .prepare(`SELECT coalesce(sum(n), 0) FROM roll_plot WHERE ${where}`)
        .pluck()
        .get(...values) as number;
      return { found, edge };
    },
  };
}
