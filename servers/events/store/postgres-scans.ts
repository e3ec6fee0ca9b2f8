import { type EventFilter, type EventRow, eventColumns } from "../../../contract/services/events.ts";
import type { PlotCount, PlotStep, Scanned, ScanRange, TimePlace, TimeScanned, TimeScanRange } from "./event-store.ts";
import { filterSql, isIndexed, isTimeFilter, postgresDialect, timeBounds } from "./filter-sql.ts";
import { blockOf, firstIdOf, lastIdOf } from "./rollup.ts";
import { stepLength } from "./sqlite-plots.ts";
import { plotPart } from "./sqlite-scans.ts";
import { placeOf, turnEntries } from "./sqlite-time-scans.ts";

const turnIds = 16_384;
const columns = eventColumns.join(", ");
const { parameter } = postgresDialect;

/** As the index by time has it. */
const time = 'created_at COLLATE "C"';
const inTime = (up: boolean): string => `ORDER BY ${time} ${up ? "ASC" : "DESC"}, id ${up ? "ASC" : "DESC"}`;

type Query = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** "id > $1 AND id <= $2"; `first` is the position of the first placeholder. */
export const idsBetween = (up: boolean, first: number): string =>
  `id ${up ? ">" : "<"} ${parameter(first)} AND id ${up ? "<=" : ">="} ${parameter(first + 1)}`;

/** As `createSqliteScans`. */
export function createPostgresScans(all: Query) {
  async function stretch(filter: EventFilter, { direction, from, to }: Omit<ScanRange, "limit">) {
    const up = direction === "ascending";
    const narrowed = await narrow(filter, up, from ?? (up ? -1 : Number.MAX_SAFE_INTEGER), to ?? (up ? Number.MAX_SAFE_INTEGER : 0));
    if (!narrowed) return undefined;
    const { start, end } = narrowed;
    if (isIndexed(filter)) return { first: start, last: end, ended: true };
    const [row] = await all<{ id: number | null }>(`SELECT ${up ? "min" : "max"}(id) AS id FROM events WHERE id ${up ? ">" : "<"} $1`, [
      start,
    ]);
    const next = row?.id ?? null;
    if (next === null || (up ? next > end : next < end)) return undefined;
    const last = up ? Math.min(end, next + turnIds - 1) : Math.max(end, next - turnIds + 1);
    return { first: start, last, ended: last === end };
  }

  async function narrow(filter: EventFilter, up: boolean, start: number, end: number) {
    const { first = "", last = "~" } = timeBounds(filter);
    if (filter.from === undefined && filter.to === undefined) return { start, end };
    const [nearest, farthest] = await Promise.all([block(up, up ? start + 1 : start - 1, first, last), block(!up, end, first, last)]);
    if (nearest === undefined || farthest === undefined || (up ? nearest > farthest : nearest < farthest)) return undefined;
    return up
      ? { start: Math.max(start, firstIdOf(nearest) - 1), end: Math.min(end, lastIdOf(farthest)) }
      : { start: Math.min(start, lastIdOf(nearest) + 1), end: Math.max(end, firstIdOf(farthest)) };
  }

  async function block(up: boolean, id: number, first: string, last: string): Promise<number | undefined> {
    const [row] = await all<{ block: number }>(
      `SELECT block FROM roll_block WHERE block ${up ? ">=" : "<="} $1 AND last_at >= $2 AND first_at <= $3
       ORDER BY block ${up ? "ASC" : "DESC"} LIMIT 1`,
      [blockOf(id), first, last],
    );
    return row?.block;
  }

  const nothing = <Result>(found: Result, range: Omit<ScanRange, "limit">): Scanned<Result> => ({
    found,
    reached: range.from ?? 0,
    ended: true,
  });

  /** The matching rows of a range, without the columns. */
  const rowsOf = (where: string, position: number, up: boolean) =>
    `FROM events WHERE ${where} AND ${idsBetween(up, position)} ORDER BY id ${up ? "ASC" : "DESC"} LIMIT ${parameter(position + 2)}`;

  /** The condition for a range in the order of time, as the index by time has it. */
  function timeRange(filter: EventFilter, up: boolean, from: TimePlace | undefined, edge?: TimePlace) {
    const { where, values } = filterSql({ ...filter, from: undefined, to: undefined }, postgresDialect);
    const conditions = [where];
    const bounds: (string | number)[] = [...values];
    const compare = (sign: string, ...to: (string | number)[]) => {
      bounds.push(...to);
      const [at, id] = to.map((_, index) => parameter(bounds.length - to.length + 1 + index));
      conditions.push(id ? `(${time}, id) ${sign} (${at}, ${id})` : `${time} ${sign} ${at}`);
    };
    const { first, last } = timeBounds(filter);
    if (first !== undefined) compare(">=", first);
    if (last !== undefined) compare("<=", last);
    if (from) compare(up ? ">" : "<", from.at, from.id);
    if (edge) compare(up ? "<=" : ">=", edge.at, edge.id);
    return { condition: conditions.join(" AND "), bounds };
  }

  /** The last entry of the index that this turn visits; undefined if the turn reaches the end. */
  async function turnEnd({ from, to }: EventFilter, up: boolean, start: TimePlace | undefined): Promise<TimePlace | undefined> {
    const { condition, bounds } = timeRange({ from, to }, up, start);
    const [edge] = await all<TimePlace>(
      `SELECT created_at AS at, id FROM events WHERE ${condition} ${inTime(up)} LIMIT 1 OFFSET ${turnEntries - 1}`,
      bounds,
    );
    return edge;
  }

  return {
    async scanInTime(filter: EventFilter, { direction, from, limit, skip }: TimeScanRange): Promise<TimeScanned> {
      const up = direction === "ascending";
      const edge = isTimeFilter(filter) ? undefined : await turnEnd(filter, up, from);
      const { condition, bounds } = timeRange(filter, up, from, edge);
      const [a, b] = [parameter(bounds.length + 1), parameter(bounds.length + 2)];
      const found = await all<EventRow>(
        `SELECT ${columns} FROM events WHERE id IN (SELECT id FROM events WHERE ${condition} ${inTime(up)} LIMIT ${a} OFFSET ${b}) ${inTime(up)}`,
        [...bounds, limit, skip],
      );
      const last = found.at(-1);
      if (last && found.length === limit) return { found, skipped: skip, reached: placeOf(last), ended: false };
      const [counted] =
        last || skip === 0 ? [{ n: skip }] : await all<{ n: number }>(`SELECT count(*) AS n FROM events WHERE ${condition}`, bounds);
      return { found, skipped: counted?.n ?? 0, reached: edge ?? (last ? placeOf(last) : from), ended: edge === undefined };
    },

    async scan(filter: EventFilter, range: ScanRange): Promise<Scanned<EventRow[]>> {
      const part = await stretch(filter, range);
      if (!part) return nothing([], range);
      const up = range.direction === "ascending";
      const { where, values } = filterSql(filter, postgresDialect);
      const found = await all<EventRow>(`SELECT ${columns} ${rowsOf(where, values.length + 1, up)}`, [
        ...values,
        part.first,
        part.last,
        range.limit,
      ]);
      if (found.length === range.limit) return { found, reached: (found.at(-1) as EventRow).id, ended: false };
      return { found, reached: part.last, ended: part.ended };
    },

    async countBetween(filter: EventFilter, range: ScanRange): Promise<Scanned<number>> {
      const part = await stretch(filter, range);
      if (!part) return nothing(0, range);
      const up = range.direction === "ascending";
      const { where, values } = filterSql(filter, postgresDialect);
      const [row] = await all<{ found: number; reached: number }>(
        `SELECT count(*) AS found, ${up ? "max" : "min"}(id) AS reached FROM (SELECT id ${rowsOf(where, values.length + 1, up)}) ids`,
        [...values, part.first, part.last, range.limit],
      );
      const found = row?.found ?? 0;
      return found === range.limit ? { found, reached: row?.reached ?? 0, ended: false } : { found, reached: part.last, ended: part.ended };
    },

    async plotBetween(filter: EventFilter, step: PlotStep, range: ScanRange): Promise<Scanned<PlotCount[]>> {
      const part = await stretch(filter, range);
      if (!part) return nothing([], range);
      const up = range.direction === "ascending";
      const { where, values } = filterSql(filter, postgresDialect);
      const counted = await all<PlotCount & { readonly edge: number }>(
        `SELECT substr(created_at, 1, ${stepLength[step]}) AS at, language, provider, outcome, count(*) AS events, ${up ? "max" : "min"}(id) AS edge
         FROM (SELECT id, created_at, language, provider, outcome ${rowsOf(where, values.length + 1, up)}) rows GROUP BY 1, 2, 3, 4`,
        [...values, part.first, part.last, range.limit],
      );
      return plotPart(counted, part, range);
    },
  };
}
