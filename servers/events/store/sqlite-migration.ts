import type { Database } from "better-sqlite3";
import { sqliteFileError } from "../../core/files/sqlite-file.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { copyBeside, type FileCopy } from "./file-copy.ts";
import {
  createBlocks,
  createEvents,
  createIndexes,
  createMigrations,
  createRollups,
  createTimeIndex,
  fillRollups,
} from "./sqlite-schema.ts";
import { bringTableUpToDate } from "./sqlite-table.ts";

interface Migration {
  readonly id: number;
  readonly name: string;
  run(database: Database): void;
}

/** The first two are those that existing files name; their effect is the same here. */
const migrations: readonly Migration[] = [
  { id: 1, name: "0001_initial", run: (database) => database.exec(createEvents) },
  { id: 2, name: "0002_drop_contextual_filter", run: bringTableUpToDate },
  {
    id: 3,
    name: "0003_rollups",
    run(database) {
      // A file may claim to be up to date and still have another schema.
      bringTableUpToDate(database);
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
  { id: 5, name: "0005_time_index", run: (database) => database.exec(createTimeIndex) },
];

/**
 * Brings the file to the newest schema in one transaction, after copying a file that is not empty. Returns the copy's name, if
 * one was made. Throws a STORE_ error and leaves the file as it was then, without a copy.
 */
export function migrateSqlite(database: Database, file: string): string | undefined {
  if (pending(database).length === 0) return undefined;
  let copy: FileCopy | undefined;
  try {
    // The copy would miss what is still in an older writer's log.
    if (database.pragma("journal_mode", { simple: true }) === "wal") database.pragma("wal_checkpoint(TRUNCATE)");
    // The rebuilt table may be referenced by others: foreign keys are off, so that no delete cascades.
    database.pragma("foreign_keys = OFF");
    // Readers can block the commit of a file without a log: checked before the work, not after.
    database.exec("BEGIN EXCLUSIVE");
    const toRun = pending(database);
    if (toRun.length > 0 && tableExists(database, "events")) copy = copyBeside(file, `before-${toRun[0]?.name}`);
    database.exec(createMigrations);
    const note = database.prepare("INSERT INTO _migrations (id, name, applied_at) VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))");
    for (const migration of toRun) {
      migration.run(database);
      note.run(freeId(database, migration.id), migration.name);
    }
    copy?.keep();
    database.exec("COMMIT");
    return copy?.name;
  } catch (error) {
    if (database.inTransaction) database.exec("ROLLBACK");
    copy?.remove();
    throw migrationError(error, file);
  }
}

function migrationError(error: unknown, file: string): unknown {
  const known = sqliteFileError(error, file);
  if (known instanceof ServiceError) return known;
  const hint = "It was left unchanged. Repair it, or move it away to start with an empty one; it is tried again once it has changed.";
  return new ServiceError("STORE_OUTDATED", `${file} cannot be migrated: ${(error as Error).message}`, hint, { cause: error });
}

/** By name: another program's migrations have numbers too. */
function pending(database: Database): readonly Migration[] {
  if (!tableExists(database, "_migrations")) return migrations;
  const applied = new Set(database.prepare("SELECT name FROM _migrations").pluck().all());
  return migrations.filter(({ name }) => !applied.has(name));
}

function freeId(database: Database, wanted: number): number {
  const taken = database.prepare("SELECT 1 FROM _migrations WHERE id = ?").get(wanted) !== undefined;
  return taken ? (database.prepare("SELECT max(id) + 1 FROM _migrations").pluck().get() as number) : wanted;
}

const tableExists = (database: Database, name: string) =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
