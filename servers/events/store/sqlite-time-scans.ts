import type { Statement } from "better-sqlite3";
import { type EventFilter, type EventRow, eventColumns } from "../../../contract/services/events.ts";
import { newEventColumns } from "../completion-event.ts";
import type { TimePlace, TimeScanned, TimeScanRange } from "./event-store.ts";
import { filterSql, isTimeFilter, sqliteDialect } from "./filter-sql.ts";

/** Number of entries of the index that one turn of a scan with a filter visits. */
export const turnEntries = 8_192;
/** Of events of one second: some milliseconds. */
export const secondEntries = 500;
const columns = eventColumns.join(", ");

/** Events of one second, behind the id `from` and up to `upTo`. */
export interface SecondPlace {
  readonly at: string;
  readonly from: number;
  readonly upTo: number;
}

/** Some of them: a file may have thousands in a second. */
export interface SecondPart {
  /** Their values in the order of `newEventColumns`. */
  readonly found: readonly (readonly unknown[])[];
  /** Where to go on; absent at the end. */
  readonly reached?: number;
}

/** Scans by the index of times; `sql` compiles a statement once. */
export function createSqliteTimeScans(sql: (text: string) => Statement) {
  function scan(filter: EventFilter, { direction, from, limit, skip }: TimeScanRange): TimeScanned {
    const up = direction === "ascending";
    const way = up ? "ASC" : "DESC";
    const beyond = from ? ` AND (created_at, id) ${up ? ">" : "<"} (?, ?)` : "";
    const start = from ? [from.at, from.id] : [];
    const skipsTurn = isTimeFilter(filter) && skip >= turnEntries;
    const edge = isTimeFilter(filter) && !skipsTurn ? undefined : turnEnd(filter, `${beyond} ORDER BY created_at ${way}, id ${way}`, start);
    if (skipsTurn && edge) return { found: [], skipped: turnEntries, reached: edge, ended: false };
    const { where, values } = filterSql(filter, sqliteDialect, 1, "time");
    const condition = `${where}${beyond}${edge ? ` AND (created_at, id) ${up ? "<=" : ">="} (?, ?)` : ""}`;
    const bounds = [...values, ...start, ...(edge ? [edge.at, edge.id] : [])];
    const ids = `SELECT id FROM events WHERE ${condition} ORDER BY created_at ${way}, id ${way} LIMIT ? OFFSET ?`;
    const found = sql(`SELECT ${columns} FROM events WHERE id IN (${ids}) ORDER BY +created_at ${way}, +id ${way}`).all(
      ...bounds,
      limit,
      skip,
    ) as EventRow[];
    const last = found.at(-1);
    if (last && found.length === limit) return { found, skipped: skip, reached: placeOf(last), ended: false };
    const skipped = last || skip === 0 ? skip : count(condition, bounds);
    return { found, skipped, reached: edge ?? (last ? placeOf(last) : from), ended: edge === undefined };
  }

  /** The last entry of the index that this turn visits; undefined if the turn reaches the end. */
  const turnEnd = ({ from, to }: EventFilter, rest: string, start: readonly (string | number)[]): TimePlace | undefined => {
    const { where, values } = filterSql({ from, to }, sqliteDialect, 1, "time");
    return sql(`SELECT created_at AS at, id FROM events WHERE ${where}${rest} LIMIT 1 OFFSET ${turnEntries - 1}`).get(
      ...values,
      ...start,
    ) as TimePlace | undefined;
  };

  const count = (condition: string, values: readonly (string | number)[]) =>
    sql(`SELECT count(*) FROM events WHERE ${condition}`)
      .pluck()
      .get(...values) as number;

  return {
    scan,
    ofSecond({ at, from, upTo }: SecondPlace): SecondPart {
      const rows = sql(
        `SELECT id, ${newEventColumns.join(", ")} FROM events WHERE created_at = ? AND id > ? AND id <= ? ORDER BY id LIMIT ${secondEntries}`,
      )
        .raw()
        .all(at, from, upTo) as [id: number, ...values: unknown[]][];
      const last = rows.at(-1);
      return { found: rows.map(([, ...values]) => values), ...(last && rows.length === secondEntries && { reached: last[0] }) };
    },
  };
}

export const placeOf = ({ created_at, id }: Pick<EventRow, "created_at" | "id">): TimePlace => ({ at: created_at, id });
