import { type EventFilter, type EventRow, eventColumns } from "../../../contract/services/events.ts";
import type { PlotCount, PlotStep, Scanned, ScanRange } from "./event-store.ts";
import { filterSql, isIndexed, postgresDialect, timeBounds } from "./filter-sql.ts";
import { blockOf, firstIdOf, lastIdOf } from "./rollup.ts";
import { stepLength } from "./sqlite-plots.ts";
import { plotPart } from "./sqlite-scans.ts";

const turnIds = 16_384;
const columns = eventColumns.join(", ");
const { parameter } = postgresDialect;

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

  return {
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
