import { setImmediate as nextTurn } from "node:timers/promises";
import { eventTime } from "../completion-event.ts";
import type { PlotFilter, PlotKey, PlotSlice } from "./event-store.ts";
import { type FilterSql, filterSql, plotFilter, type SqlDialect } from "./filter-sql.ts";
import { hourPlotMs, minutePlotMs, type StepSpan } from "./time-cover.ts";

/** Rows of the plot rollups that one step visits: there may be as many as events, if each names another language. */
const sliceRows = 4_000;
const keyColumns = ["at", "language", "provider", "outcome"] as const;

/** `below`: the last row of the slice before. */
export interface SlicePlace {
  readonly span: StepSpan;
  readonly below: PlotKey | undefined;
}

/** Queries for the last row of the next slice, the newest steps first. Without a row the slice is the rest. */
export function edgeSql(
  dialect: SqlDialect,
  place: SlicePlace,
  rows = sliceRows,
): { readonly sql: string; readonly values: FilterSql["values"] } {
  const { where, values } = sliceSql(dialect, place, undefined, {});
  const order = keyColumns.map((column) => `${column} DESC`).join(", ");
  return {
    sql: `SELECT ${keyColumns.join(", ")} FROM roll_plot WHERE ${where} ORDER BY ${order} LIMIT 1 OFFSET ${rows - 1}`,
    values,
  };
}

/** The rows of a slice that match. */
export function sliceSql(dialect: SqlDialect, { span, below }: SlicePlace, edge: PlotKey | undefined, filter: PlotFilter): FilterSql {
  const values: (string | number)[] = [];
  const add = (value: string) => {
    values.push(value);
    return dialect.parameter(values.length);
  };
  const row = (key: PlotKey) => `(${keyColumns.map((column) => add(key[column])).join(", ")})`;
  const names = `(${keyColumns.join(", ")})`;
  const conditions = [`step = ${add(span.step)}`];
  // One bound at each side: of two SQLite's index takes the looser one, and visits all that lies between them.
  if (below) conditions.push(`${names} < ${row(below)}`);
  else if (span.until !== undefined) conditions.push(`at < ${add(span.until)}`);
  conditions.push(edge ? `${names} >= ${row(edge)}` : `at >= ${add(span.since)}`);
  const matching = filterSql(plotFilter(filter), dialect, values.length + 1);
  return { where: [...conditions, matching.where].join(" AND "), values: [...values, ...matching.values] };
}

/** Rows that are older than the plots read them. After a pause they may be as many as events: a step deletes a slice of each span. */
export const oldPlots = (now: number): readonly SlicePlace[] =>
  [
    { step: "minute", since: "", until: eventTime(now - minutePlotMs).slice(0, 16) } as const,
    { step: "hour", since: "", until: eventTime(now - hourPlotMs).slice(0, 13) } as const,
  ].map((span) => ({ span, below: undefined }));

/** The sum over all slices of the spans, with a turn of the event loop between two. */
export async function sumOfSlices(spans: readonly StepSpan[], read: (place: SlicePlace) => Promise<PlotSlice<number>>): Promise<number> {
  let sum = 0;
  for (const span of spans) {
    let below: PlotKey | undefined;
    do {
      const slice = await read({ span, below });
      sum += slice.found;
      below = slice.edge;
      await nextTurn();
    } while (below);
  }
  return sum;
}
