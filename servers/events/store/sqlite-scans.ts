import type Sqlite from "better-sqlite3";
import { type EventFilter, type EventRow, eventColumns } from "../../../contract/services/events.ts";
import type { PlotCount, PlotStep, Scanned, ScanRange } from "./event-store.ts";
import { filterSql, isIndexed, sqliteDialect, timeBounds } from "./filter-sql.ts";
import { blockOf, firstIdOf, lastIdOf } from "./rollup.ts";
import { between, deviceEntries } from "./sqlite-device-pages.ts";
import { stepLength } from "./sqlite-plots.ts";

/** Number of ids that one turn of a scan without an index reads. */
const turnIds = 16_384;
const columns = eventColumns.join(", ");

/** Ids from `first` (exclusive) to `last`, in the direction of the scan. */
interface Stretch {
  readonly first: number;
  readonly last: number;
  readonly ended: boolean;
}

/** Scans of the table in parts; `sql` compiles a statement once. */
export function createSqliteScans(sql: (text: string) => Sqlite.Statement) {
  /** The ids of one turn: a bounded number of rows by an index, or a bounded range of the table without one. */
  function stretch(filter: EventFilter, { direction, from, to }: Omit<ScanRange, "limit">): Stretch | undefined {
    const up = direction === "ascending";
    const narrowed = narrow(filter, up, from ?? (up ? -1 : Number.MAX_SAFE_INTEGER), to ?? (up ? Number.MAX_SAFE_INTEGER : 0));
    if (!narrowed) return undefined;
    const { start, end } = narrowed;
    if (filter.device_id) return stretchOfDevice(filter.device_id, up, start, end);
    if (isIndexed(filter)) return { first: start, last: end, ended: true };
    const next = sql(`SELECT ${up ? "min" : "max"}(id) FROM events WHERE id ${up ? ">" : "<"} ?`)
      .pluck()
      .get(start) as number | null;
    if (next === null || (up ? next > end : next < end)) return undefined;
    const last = up ? Math.min(end, next + turnIds - 1) : Math.max(end, next - turnIds + 1);
    return { first: start, last, ended: last === end };
  }

  /** Of a device's events few may match the rest of the filter. */
  function stretchOfDevice(device: string, up: boolean, start: number, end: number): Stretch {
    const ids = `SELECT id FROM events WHERE device_id = ? AND ${between(up)} ORDER BY id ${up ? "ASC" : "DESC"}`;
    const edge = sql(`${ids} LIMIT 1 OFFSET ${deviceEntries - 1}`)
      .pluck()
      .get(device, start, end) as number | undefined;
    return { first: start, last: edge ?? end, ended: edge === undefined };
  }

  /** Without the blocks at both ends that have no events in the filter's time. */
  function narrow(filter: EventFilter, up: boolean, start: number, end: number): { start: number; end: number } | undefined {
    const { first = "", last = "~" } = timeBounds(filter);
    if (filter.from === undefined && filter.to === undefined) return { start, end };
    const nearest = block(up, up ? start + 1 : start - 1, first, last);
    const farthest = block(!up, end, first, last);
    if (nearest === undefined || farthest === undefined || (up ? nearest > farthest : nearest < farthest)) return undefined;
    return up
      ? { start: Math.max(start, firstIdOf(nearest) - 1), end: Math.min(end, lastIdOf(farthest)) }
      : { start: Math.min(start, lastIdOf(nearest) + 1), end: Math.max(end, firstIdOf(farthest)) };
  }

  /** The next block, from that of an id on, with events between two times. */
  const block = (up: boolean, id: number, first: string, last: string): number | undefined =>
    sql(
      `SELECT block FROM roll_block WHERE block ${up ? ">=" : "<="} ? AND last_at >= ? AND first_at <= ? ORDER BY block ${up ? "ASC" : "DESC"} LIMIT 1`,
    )
      .pluck()
      .get(blockOf(id), first, last) as number | undefined;

  const nothing = <Result>(found: Result, range: Omit<ScanRange, "limit">): Scanned<Result> => ({
    found,
    reached: range.from ?? 0,
    ended: true,
  });

  function scan(filter: EventFilter, range: ScanRange): Scanned<EventRow[]> {
    const part = stretch(filter, range);
    if (!part) return nothing([], range);
    const up = range.direction === "ascending";
    const { where, values } = filterSql(filter, sqliteDialect);
    const found = sql(`SELECT ${columns} FROM events WHERE ${where} AND ${between(up)} ORDER BY id ${up ? "ASC" : "DESC"} LIMIT ?`).all(
      ...values,
      part.first,
      part.last,
      range.limit,
    ) as EventRow[];
    if (found.length === range.limit) return { found, reached: (found.at(-1) as EventRow).id, ended: false };
    return { found, reached: part.last, ended: part.ended };
  }

  function countBetween(filter: EventFilter, range: ScanRange): Scanned<number> {
    const part = stretch(filter, range);
    if (!part) return nothing(0, range);
    const { where, values } = filterSql(filter, sqliteDialect);
    const up = range.direction === "ascending";
    const ids = `SELECT id FROM events WHERE ${where} AND ${between(up)} ORDER BY id ${up ? "ASC" : "DESC"} LIMIT ?`;
    const [found, reached] = sql(`SELECT count(*), ${up ? "max" : "min"}(id) FROM (${ids})`)
      .raw()
      .get(...values, part.first, part.last, range.limit) as [number, number];
    return found === range.limit ? { found, reached, ended: false } : { found, reached: part.last, ended: part.ended };
  }

  function plotBetween(filter: EventFilter, step: PlotStep, range: ScanRange): Scanned<PlotCount[]> {
    const part = stretch(filter, range);
    if (!part) return nothing([], range);
    const { where, values } = filterSql(filter, sqliteDialect);
    const up = range.direction === "ascending";
    const rows = `SELECT id, created_at, language, provider, outcome FROM events WHERE ${where} AND ${between(up)} ORDER BY id ${up ? "ASC" : "DESC"} LIMIT ?`;
    const counted = sql(
      `SELECT substr(created_at, 1, ${stepLength[step]}) AS at, language, provider, outcome, count(*) AS events, ${up ? "max" : "min"}(id) AS edge
       FROM (${rows}) GROUP BY 1, 2, 3, 4`,
    ).all(...values, part.first, part.last, range.limit) as (PlotCount & { readonly edge: number })[];
    return plotPart(counted, part, range);
  }

  return { scan, countBetween, plotBetween };
}

/** `edge` is the id that a count reached. */
export function plotPart(
  counted: readonly (PlotCount & { readonly edge: number })[],
  part: Pick<Stretch, "last" | "ended">,
  { direction, limit }: ScanRange,
): Scanned<PlotCount[]> {
  const found = counted.map(({ edge: _edge, ...count }) => count);
  if (found.reduce((sum, { events }) => sum + events, 0) < limit) return { found, reached: part.last, ended: part.ended };
  const edges = counted.map(({ edge }) => edge);
  const reached = edges.reduce((one, other) => (direction === "ascending" ? Math.max(one, other) : Math.min(one, other)));
  return { found, reached, ended: false };
}
