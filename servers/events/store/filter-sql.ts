import type { EventFilter } from "../../../contract/services/events.ts";
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
  /** The column, with a hint to the planner that the index by device is better. */
  readonly besideDevice: (column: string) => string;
  /** Letter case ignored in ASCII. */
  readonly like: (column: string, placeholder: string) => string;
}

export const sqliteDialect: SqlDialect = {
  parameter: () => "?",
  // https://www.sqlite.org/optoverview.html, "disqualifying WHERE clause terms using unary +"
  besideDevice: (column) => `+${column}`,
  like: (column, placeholder) => `${column} LIKE ${placeholder} ESCAPE '\\'`,
};
export const postgresDialect: SqlDialect = {
  parameter: (position) => `$${position}`,
  besideDevice: (column) => column,
  like: (column, placeholder) => `${column} ILIKE ${placeholder} ESCAPE '\\'`,
};

const searched = ["device_id", "outcome", "language", "provider", "file_ext", "plugin_version", "treesitter_scope"];

/** `position` is that of the first placeholder. */
export function filterSql(filter: EventFilter, dialect: SqlDialect, position = 1): FilterSql {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const add = (value: string | number) => {
    values.push(value);
    return dialect.parameter(position + values.length - 1);
  };
  for (const column of ["device_id", "outcome", "language", "provider"] as const) {
    const value = filter[column];
    if (value !== undefined && value !== "")
      conditions.push(`${column === "outcome" && filter.device_id ? dialect.besideDevice(column) : column} = ${add(value)}`);
  }
  const { first, last } = timeBounds(filter);
  if (first !== undefined) conditions.push(`created_at >= ${add(first)}`);
  if (last !== undefined) conditions.push(`created_at <= ${add(last)}`);
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

/** The part of a filter that the plot rollups can answer. */
export const plotFilter = ({ outcome, language, provider }: PlotFilter): PlotFilter => ({ outcome, language, provider });

/** Whether the plot rollups can answer all of the filter except its times. */
export const isPlotFilter = (filter: EventFilter): boolean => !filter.device_id && !filter.text?.trim();

/** Whether the device rollups can answer the filter. */
export const isKeyFilter = (filter: EventFilter): boolean =>
  !filter.language && !filter.provider && !filter.text?.trim() && filter.from === undefined && filter.to === undefined;

/** Whether an index leads from one match to the next, so that a scan need not be split into ranges. */
export const isIndexed = (filter: EventFilter): boolean => isKeyFilter(filter) || Boolean(filter.device_id);
