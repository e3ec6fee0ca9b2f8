import { closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { newEventColumns } from "../completion-event.ts";
import {
  columnDefinition,
  createBlocks,
  createEvents,
  createIndexes,
  createMigrations,
  createRollups,
  fillRollups,
  retiredColumns,
} from "./sqlite-schema.ts";

interface Migration {
  readonly id: number;
  readonly name: string;
  run(database: Database): void;
}

/** The first two are those that existing files name; their effect is the same here. */
const migrations: readonly Migration[] = [
  { id: 1, name: "0001_initial", run: (database) => database.exec(createEvents) },
  { id: 2, name: "0002_drop_contextual_filter", run: bringColumnsUpToDate },
  {
    id: 3,
    name: "0003_rollups",
    run(database) {
      // A file may say that it is up to date and come from another line of history.
      bringColumnsUpToDate(database);
      for (const statement of [...createIndexes, ...createRollups, ...fillRollups]) database.exec(statement);
    },
  },
  {
    id: 4,
    name: "0004_block_times",
    run(database) {
      for (const statement of createBlocks) database.exec(statement);
    },
  },
];

/**
 * Brings the file to the newest schema in one transaction, after copying a file that holds anything.
 * Resolves with the copy's name, if one was made. Throws SQLite's errors and leaves the file as it was then.
 */
export function migrateSqlite(database: Database, file: string): string | undefined {
  if (pending(database).length === 0) return undefined;
  // What is still in the log of an older writer would be missing in the copy.
  if (database.pragma("journal_mode", { simple: true }) === "wal") database.pragma("wal_checkpoint(TRUNCATE)");
  database.exec("BEGIN IMMEDIATE");
  try {
    const toRun = pending(database);
    const copy = toRun.length > 0 && tableExists(database, "events") ? copyBeside(file, toRun[0]?.name ?? "") : undefined;
    database.exec(createMigrations);
    const note = database.prepare("INSERT INTO _migrations (id, name, applied_at) VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))");
    for (const migration of toRun) {
      migration.run(database);
      note.run(migration.id, migration.name);
    }
    database.exec("COMMIT");
    return copy;
  } catch (error) {
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function pending(database: Database): readonly Migration[] {
  if (!tableExists(database, "_migrations")) return migrations;
  const applied = new Set(database.prepare("SELECT id FROM _migrations").pluck().all());
  return migrations.filter(({ id }) => !applied.has(id));
}

const tableExists = (database: Database, name: string) =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;

function bringColumnsUpToDate(database: Database): void {
  const present = new Set(database.prepare("SELECT name FROM pragma_table_info('events')").pluck().all() as string[]);
  for (const column of retiredColumns) if (present.has(column)) database.exec(`ALTER TABLE events DROP COLUMN ${column}`);
  for (const column of newEventColumns) {
    // SQLite adds no column whose default is an expression.
    const definition = column === "created_at" ? "created_at TEXT NOT NULL DEFAULT ''" : columnDefinition(column);
    if (!present.has(column)) database.exec(`ALTER TABLE events ADD COLUMN ${definition}`);
  }
}

/** Copies the file beside it, to disk, never over another; a log that is not empty goes with it. */
function copyBeside(file: string, migration: string): string {
  let copy = `${file}.before-${migration}`;
  for (let number = 2; existsSync(copy); number++) copy = `${file}.before-${migration}-${number}`;
  copyToDisk(file, copy);
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) copyToDisk(`${file}-wal`, `${copy}-wal`);
  return copy;
}

function copyToDisk(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const descriptor = openSync(to, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
