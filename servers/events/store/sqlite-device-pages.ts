import type { Statement } from "better-sqlite3";
import { type EventRow, eventColumns } from "../../../contract/services/events.ts";
import type { KeyFilter, PagePart, ScanRange } from "./event-store.ts";
import { filterSql, sqliteDialect } from "./filter-sql.ts";

/**
 * Number of entries of the index by device that one step visits: some tenths of a millisecond. An index by device and outcome would spare the
 * steps at a cost for every event that is stored (`createIndexes`).
 */
export const deviceEntries = 4_096;
const columns = eventColumns.join(", ");

/** What is left of a page of one device. */
export interface DeviceWalk {
  readonly direction: ScanRange["direction"];
  /** Only ids beyond it. */
  readonly from: number;
  /** Matches to leave out first. */
  readonly skip: number;
  readonly wanted: number;
}

/** Pages of one device, in steps; `sql` compiles a statement once, `count` is that of the rollups. */
export function createSqliteDevicePages(sql: (text: string) => Statement, count: (filter: KeyFilter) => number) {
  /** From whichever end is nearer; with a cursor only the way from there is known. Undefined if the page is empty. */
  function begin(filter: KeyFilter, { limit, offset, after }: PagePart): DeviceWalk | undefined {
    const total = count(filter);
    const wanted = Math.min(limit, total - offset);
    if (wanted <= 0) return undefined;
    return after === undefined && offset > total / 2
      ? { direction: "ascending", from: -1, skip: total - offset - wanted, wanted }
      : { direction: "descending", from: after ?? Number.MAX_SAFE_INTEGER, skip: offset, wanted };
  }

  /** Rows in the direction of the walk; `rest` is absent at the end. */
  function step(filter: KeyFilter, walk: DeviceWalk): { readonly found: EventRow[]; readonly rest?: DeviceWalk } {
    const up = walk.direction === "ascending";
    // Without an outcome the next entries are the page.
    if (!filter.outcome && walk.skip === 0) return { found: rows(filter, walk, up ? Number.MAX_SAFE_INTEGER : 0) };
    const entries = filter.outcome ? deviceEntries : Math.min(walk.skip, deviceEntries);
    const { visited, matches, edge } = visit(filter, walk, entries);
    const found = walk.skip < matches ? rows(filter, walk, edge) : [];
    const wanted = walk.wanted - found.length;
    if (wanted === 0 || visited < entries) return { found };
    return { found, rest: { direction: walk.direction, from: edge, skip: Math.max(0, walk.skip - matches), wanted } };
  }

  /** `edge` is the id of the last entry. */
  function visit({ device_id, outcome }: KeyFilter, { direction, from }: DeviceWalk, entries: number) {
    const up = direction === "ascending";
    const ids = `SELECT id, outcome FROM events WHERE device_id = ? AND id ${up ? ">" : "<"} ? ORDER BY id ${up ? "ASC" : "DESC"} LIMIT ?`;
    const matches = outcome ? "coalesce(sum(outcome = ?), 0)" : "count(*)";
    return sql(`SELECT count(*) AS visited, ${matches} AS matches, coalesce(${up ? "max" : "min"}(id), 0) AS edge FROM (${ids})`).get(
      ...(outcome ? [outcome] : []),
      device_id,
      from,
      entries,
    ) as { visited: number; matches: number; edge: number };
  }

  /** Up to and including `last`. The ids are found within the index, and only the rows of the page are read. */
  function rows(filter: KeyFilter, { direction, from, skip, wanted }: DeviceWalk, last: number): EventRow[] {
    const { where, values } = filterSql({ device_id: filter.device_id, outcome: filter.outcome }, sqliteDialect);
    const up = direction === "ascending";
    const order = `ORDER BY id ${up ? "ASC" : "DESC"}`;
    const ids = `SELECT id FROM events WHERE ${where} AND ${between(up)} ${order} LIMIT ? OFFSET ?`;
    return sql(`SELECT ${columns} FROM events WHERE id IN (${ids}) ${order}`).all(...values, from, last, wanted, skip) as EventRow[];
  }

  return { begin, step };
}

/** "id > ? AND id <= ?" */
export const between = (up: boolean): string => (up ? "id > ? AND id <= ?" : "id < ? AND id >= ?");
