import type { Database } from "better-sqlite3";
import { type NewEventColumn, newEventColumns } from "../completion-event.ts";
import { columnDefinition, eventsTable, missingValue, retiredColumns } from "./sqlite-schema.ts";

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
  readonly dflt_value: string | null;
}

/** A table without these two columns is not Backlot's. */
const essential = ["device_id", "outcome"];
const rebuilt = "events_rebuilt";
const largestId = Number.MAX_SAFE_INTEGER;

/**
 * Converts the table `events` of any older file to the current schema, with its rows. It is rebuilt, since SQLite changes neither an
 * id nor "NOT NULL" in place. Columns of the user's own stay, without their constraints, which would refuse every new event.
 * Within a transaction, without foreign keys.
 */
export function bringTableUpToDate(database: Database): void {
  const columns = database.prepare("SELECT name, type, \"notnull\", pk, dflt_value FROM pragma_table_info('events')").all() as Column[];
  const names = new Set(columns.map(({ name }) => name));
  const { type, sql } = database.prepare("SELECT type, sql FROM sqlite_schema WHERE name = 'events'").get() as {
    type: string;
    sql: string;
  };
  if (type !== "table") throw new Error(`events is a ${type}`);
  const lacking = essential.filter((name) => !names.has(name));
  if (lacking.length > 0) throw new Error(`its table events has no ${lacking.join(" and no ")}: it is not a table of events`);
  if (!isUpToDate(columns, sql)) rebuildTable(database, columns);
  unifyTimes(database);
}

function rebuildTable(database: Database, columns: readonly Column[]): void {
  const names = new Set(columns.map(({ name }) => name));

  const own = columns.filter(({ name }) => name !== "id" && !isOurs(name) && !retiredColumns.includes(name));
  const indexes = database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'events' AND sql IS NOT NULL");
  const ownIndexes = indexes.pluck().all() as string[];
  const lastId = lastGivenId(database);
  const isRowid = columns.some(({ name, type: declared, pk }) => name === "id" && pk === 1 && declared.toUpperCase() === "INTEGER");
  const keepsIds = names.has("id") && areIds(database, isRowid);

  const definitions = [...newEventColumns.map(columnDefinition), ...own.map(({ name, type: declared }) => `${quoted(name)} ${declared}`)];
  database.exec(eventsTable(rebuilt, definitions));
  const values = newEventColumns.map((column) =>
    names.has(column) ? `coalesce(${column}, ${missingValue(column)})` : missingValue(column),
  );
  const [ownNames, id] = [own.map(({ name }) => quoted(name)), keepsIds ? (isRowid ? "id" : "CAST(id AS INTEGER)") : "NULL"];
  const order = keepsIds ? id : names.has("created_at") ? "created_at" : "";
  database.exec(`INSERT INTO ${rebuilt} (${["id", ...newEventColumns, ...ownNames].join(", ")})
    SELECT ${[id, ...values, ...ownNames].join(", ")} FROM events${order && ` ORDER BY ${order}`}`);
  database.exec("DROP TABLE events");
  // Views are the user's own and may name removed columns: they are not changed.
  database.pragma("legacy_alter_table = ON");
  try {
    database.exec(`ALTER TABLE ${rebuilt} RENAME TO events`);
  } finally {
    database.pragma("legacy_alter_table = OFF");
  }
  if (keepsIds) database.prepare("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'events'").run(lastId);
  fillTimes(database);
  for (const index of ownIndexes) keepIndex(database, index);
}

const isOurs = (name: string) => newEventColumns.includes(name as NewEventColumn);
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

function isUpToDate(columns: readonly Column[], sql: string): boolean {
  // Without AUTOINCREMENT an id is reused after its event was deleted, and the new event would not be counted.
  if (!/\bid\s+INTEGER\s+PRIMARY\s+KEY\s+AUTOINCREMENT\b/i.test(sql)) return false;
  const required = new Set(columns.filter(({ notnull }) => notnull === 1).map(({ name }) => name));
  return (
    newEventColumns.every((column) => required.has(column)) &&
    columns.every(
      ({ name, notnull, dflt_value }) => isOurs(name) || (!retiredColumns.includes(name) && (notnull === 0 || dflt_value !== null)),
    )
  );
}

/** 0 if the table has no sequence. */
function lastGivenId(database: Database): number {
  if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").get()) return 0;
  return (database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").pluck().get() as number | undefined) ?? 0;
}

/** Whether `id` holds distinct whole numbers from 1 on, perhaps as text; otherwise the rows are numbered by their time. */
function areIds(database: Database, isRowid: boolean): boolean {
  if (isRowid) return database.prepare("SELECT coalesce(min(id), 1) >= 1 FROM events").pluck().get() === 1;
  const odd = database.prepare(`SELECT EXISTS (SELECT 1 FROM events WHERE id IS NULL OR CAST(id AS INTEGER) NOT BETWEEN 1 AND ${largestId}
    OR CAST(CAST(id AS INTEGER) AS TEXT) <> CAST(id AS TEXT))`);
  if (odd.pluck().get() === 1) return false;
  return database.prepare("SELECT count(*) = count(DISTINCT CAST(id AS INTEGER)) FROM events").pluck().get() === 1;
}

/** "2026-11-20 23:28:12", fractions and offsets are converted to the current format: times are compared as text. A text that is not a time is unchanged. */
function unifyTimes(database: Database): void {
  database.exec(`UPDATE events SET created_at = strftime('%Y-%m-%dT%H:%M:%SZ', created_at)
    WHERE created_at NOT GLOB '????-??-??T??:??:??Z' AND created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
      AND strftime('%Y', created_at) IS NOT NULL`);
}

/** An event without a time gets that of the one before it, the first that of the next one. */
function fillTimes(database: Database): void {
  database.exec(`UPDATE events SET created_at = coalesce(
      (SELECT created_at FROM events AS e WHERE e.id < events.id AND e.created_at <> '' ORDER BY e.id DESC LIMIT 1),
      (SELECT created_at FROM events AS e WHERE e.id > events.id AND e.created_at <> '' ORDER BY e.id LIMIT 1),
      strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
    WHERE created_at = ''`);
}

/** An index on a removed column is removed too. */
function keepIndex(database: Database, sql: string): void {
  try {
    database.exec(sql);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "SQLITE_ERROR") throw error;
  }
}
