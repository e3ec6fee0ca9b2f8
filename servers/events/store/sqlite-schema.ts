import { columnKind, type NewEventColumn, newEventColumns } from "../completion-event.ts";

/** Columns of older files that clients no longer send; as "NOT NULL" they would refuse every new event. */
export const retiredColumns = ["prev_filter_shown", "filter_score", "time_since_last_decision_ms"];

const sqlTypes = { text: "TEXT", integer: "INTEGER", real: "REAL", boolean: "INTEGER", list: "TEXT" } as const;
const emptyValues = { text: "''", integer: "0", real: "0", boolean: "0", list: "'[]'" } as const;

/** The value for rows that were stored before the column existed. */
export const missingValue = (column: NewEventColumn): string => emptyValues[columnKind(column)];

export function columnDefinition(column: NewEventColumn): string {
  const standard = column === "created_at" ? "(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))" : missingValue(column);
  return `${column} ${sqlTypes[columnKind(column)]} NOT NULL DEFAULT ${standard}`;
}

export const createMigrations = `CREATE TABLE IF NOT EXISTS _migrations (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
)`;

// AUTOINCREMENT: an id is never reused, so that a cursor or an export never finds another event under it.
export const eventsTable = (name: string, columns: readonly string[]): string => `CREATE TABLE IF NOT EXISTS ${name} (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ${columns.join(",\n  ")}
)`;
export const createEvents = eventsTable("events", newEventColumns.map(columnDefinition));

/**
 * By device with the outcome behind the id: one index finds a device's events in their order, and those of one outcome without
 * reading the rows. A third index, by device and outcome, would make storing an event 25 % slower.
 * An index of SQLite ends with the id by itself, so the one by outcome sorts by it too.
 */
export const createIndexes = [
  // Of older files: all are replaced.
  "DROP INDEX IF EXISTS idx_events_device_id",
  "DROP INDEX IF EXISTS idx_events_outcome",
  "DROP INDEX IF EXISTS idx_events_created_at",
  "CREATE INDEX IF NOT EXISTS events_device ON events (device_id, id, outcome)",
  "CREATE INDEX IF NOT EXISTS events_outcome ON events (outcome)",
];

/** Ends with the id by itself: the order of time, and all events of a second. New events are added at its end, which costs little. */
export const createTimeIndex = "CREATE INDEX IF NOT EXISTS events_time ON events (created_at)";

export const createRollups = [
  "CREATE TABLE roll_day (day TEXT NOT NULL, outcome TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (day, outcome)) WITHOUT ROWID",
  "CREATE TABLE roll_device (device_id TEXT NOT NULL, outcome TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (device_id, outcome)) WITHOUT ROWID",
  // "devices": how many there are; "plotted": the plot rollups hold every event up to this id.
  "CREATE TABLE roll_counter (name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID",
  `CREATE TABLE roll_plot (step TEXT NOT NULL, at TEXT NOT NULL, language TEXT NOT NULL, provider TEXT NOT NULL, outcome TEXT NOT NULL,
    n INTEGER NOT NULL, PRIMARY KEY (step, at, language, provider, outcome)) WITHOUT ROWID`,
];

export const fillRollups = [
  "INSERT INTO roll_day SELECT substr(created_at, 1, 10), outcome, count(*) FROM events GROUP BY 1, 2",
  "INSERT INTO roll_device SELECT device_id, outcome, count(*) FROM events GROUP BY 1, 2",
  "INSERT INTO roll_counter SELECT 'devices', count(DISTINCT device_id) FROM roll_device",
  "INSERT INTO roll_counter VALUES ('plotted', 0)",
];

/** Of blocks of ids: how many events, and between which times. After deletions the times may be wider than necessary. */
export const createBlocks = [
  "DROP TABLE IF EXISTS roll_block",
  `CREATE TABLE roll_block (block INTEGER NOT NULL, outcome TEXT NOT NULL, n INTEGER NOT NULL, first_at TEXT NOT NULL, last_at TEXT NOT NULL,
    PRIMARY KEY (block, outcome)) WITHOUT ROWID`,
  "INSERT INTO roll_block SELECT id >> 12, outcome, count(*), min(created_at), max(created_at) FROM events GROUP BY 1, 2",
];
