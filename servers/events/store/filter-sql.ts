import { type EventFilter, samplePluginVersion } from "../../../contract/services/events.ts";
import { eventTime } from "../completion-event.ts";
import type { PlotFilter } from "./event-store.ts";
import type { TimeRange } from "./time-cover.ts";

/** Conditions with their values; `parameter(n)` writes the n-th placeholder of the dialect. */
export interface FilterSql {
  /** "a = ? AND b = ?", or "TRUE". */
  readonly where: string;
  readonly values: readonly (string | number)[];
}

export interface SqlDialect {
  readonly parameter: (position: number) => string;
  /** The column, with a hint to the planner that another index is better. */
  readonly unindexed: (column: string) => string;
  /** Letter case ignored in ASCII. */
  readonly like: (column: string, placeholder: string) => string;
}

export const sqliteDialect: SqlDialect = {
  parameter: () => "?",
  // https://www.sqlite.org/optoverview.html, "disqualifying WHERE clause terms using unary +"
  unindexed: (column) => `+${column}`,
  like: (column, placeholder) => `${column} LIKE ${placeholder} ESCAPE '\\'`,
};
export const postgresDialect: SqlDialect = {
  parameter: (position) => `$${position}`,
  unindexed: (column) => column,
  like: (column, placeholder) => `${column} ILIKE ${placeholder} ESCAPE '\\'`,
};

const searched = ["device_id", "outcome", "language", "provider", "file_ext", "plugin_version", "treesitter_scope"];

/** `position` is that of the first placeholder, `order` the index by which the rows are visited. */
export function filterSql(filter: EventFilter, dialect: SqlDialect, position = 1, order: "id" | "time" = "id"): FilterSql {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const add = (value: string | number) => {
    values.push(value);
    return dialect.parameter(position + values.length - 1);
  };
  for (const column of ["device_id", "outcome", "language", "provider"] as const) {
    const value = filter[column];
    const isVisitedByOther = order === "time" || (column === "outcome" && filter.device_id);
    if (value !== undefined && value !== "") conditions.push(`${isVisitedByOther ? dialect.unindexed(column) : column} = ${add(value)}`);
  }
  const { first, last } = timeBounds(filter);
  const time = order === "id" ? dialect.unindexed("created_at") : "created_at";
  if (first !== undefined) conditions.push(`${time} >= ${add(first)}`);
  if (last !== undefined) conditions.push(`${time} <= ${add(last)}`);
  if (filter.sample) conditions.push(`plugin_version ${filter.sample === "only" ? "=" : "<>"} ${add(samplePluginVersion)}`);
  const text = filter.text?.trim() ?? "";
  if (text !== "") {
    const pattern = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
    conditions.push(`(${searched.map((column) => dialect.like(column, add(pattern))).join(" OR ")})`);
  }
  return { where: conditions.length > 0 ? conditions.join(" AND ") : "TRUE", values };
}

/** A filter's times as events have them. */
export const timeBounds = ({ from, to }: TimeRange): { readonly first: string | undefined; readonly last: string | undefined } => ({
  first: from === undefined ? undefined : eventTime(Math.ceil(from / 1_000) * 1_000),
  last: to === undefined ? undefined : eventTime(to),
});

/** Whether only the events themselves can answer the filter: no rollup has it. */
const isScanned = (filter: EventFilter): boolean => Boolean(filter.text?.trim() || filter.sample);

/** The part of a filter that the plot rollups can answer. */
export const plotFilter = ({ outcome, language, provider }: PlotFilter): PlotFilter => ({ outcome, language, provider });

/** Whether the plot rollups can answer all of the filter except its times. */
export const isPlotFilter = (filter: EventFilter): boolean => !filter.device_id && !isScanned(filter);

/** Whether the filter has nothing but times. */
export const isTimeFilter = (filter: EventFilter): boolean =>
  isPlotFilter(filter) && !filter.outcome && !filter.language && !filter.provider;

/** Whether the device rollups can answer the filter. */
export const isKeyFilter = (filter: EventFilter): boolean =>
  !filter.language && !filter.provider && !isScanned(filter) && filter.from === undefined && filter.to === undefined;

/** Whether an index leads from one match to the next, so that a scan need not be split into ranges. */
export const isIndexed = (filter: EventFilter): boolean => isKeyFilter(filter) || Boolean(filter.device_id);
