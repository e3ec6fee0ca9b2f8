import type { Statement } from "better-sqlite3";
import { type EventRow, eventColumns } from "../../../contract/services/events.ts";
import type { KeyFilter, PagePart } from "./event-store.ts";
import { filterSql, sqliteDialect } from "./filter-sql.ts";
import { blockOf, lastIdOf } from "./rollup.ts";
import { createSqliteDevicePages } from "./sqlite-device-pages.ts";

const columns = eventColumns.join(", ");
const blocks = "SELECT block, sum(n) FROM roll_block WHERE block < ? GROUP BY block ORDER BY block DESC";
const blocksOfOutcome = "SELECT block, n FROM roll_block WHERE outcome = ? AND block < ? ORDER BY block DESC";

/** Pages and totals, at constant cost by the rollups, those of a device in steps; `sql` compiles a statement once. */
export function createSqlitePages(sql: (text: string) => Statement) {
  function count({ device_id, outcome }: KeyFilter): number {
    const { where, values } = filterSql({ device_id, outcome }, sqliteDialect);
    const table = device_id ? "roll_device" : "roll_day";
    return sql(`SELECT coalesce(sum(n), 0) FROM ${table} WHERE ${where}`)
      .pluck()
      .get(...values) as number;
  }

  /** Of all devices. */
  function page(outcome: string | undefined, { limit, offset, after }: PagePart): EventRow[] {
    const { where, values } = filterSql({ outcome }, sqliteDialect);
    const start = skipBlocks(outcome, offset, after);
    if (!start) return [];
    return sql(`SELECT ${columns} FROM events WHERE ${where} AND id <= ? ORDER BY id DESC LIMIT ? OFFSET ?`).all(
      ...values,
      start.top,
      limit,
      start.left,
    ) as EventRow[];
  }

  /** The newest block below the cursor in which the offset ends, and what is left to skip there. */
  function skipBlocks(outcome: string | undefined, offset: number, after: number | undefined): { top: number; left: number } | undefined {
    const newest = after === undefined ? Number.MAX_SAFE_INTEGER : after - 1;
    if (offset === 0 || newest < 0) return { top: newest, left: offset };
    let left = offset;
    const cut = blockOf(newest);
    if (after !== undefined) {
      const { where, values } = filterSql({ outcome }, sqliteDialect);
      // The block that contains the cursor is counted row by row; those below it are complete.
      const inCut = sql(`SELECT count(*) FROM events WHERE ${where} AND id > ? AND id <= ?`)
        .pluck()
        .get(...values, lastIdOf(cut - 1), newest) as number;
      if (left < inCut) return { top: newest, left };
      left -= inCut;
    }
    const below = after === undefined ? Number.MAX_SAFE_INTEGER : cut;
    const rows = (outcome ? sql(blocksOfOutcome).raw().iterate(outcome, below) : sql(blocks).raw().iterate(below)) as Iterable<
      [number, number]
    >;
    for (const [block, events] of rows) {
      if (left < events) return { top: lastIdOf(block), left };
      left -= events;
    }
    return undefined;
  }

  return { page, count, ofDevice: createSqliteDevicePages(sql, count) };
}
