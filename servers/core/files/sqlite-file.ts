import { closeSync, constants, readSync, statSync } from "node:fs";
import path from "node:path";
import type Sqlite from "better-sqlite3";
import { ServiceError } from "../service/service-error.ts";
import { makeFolder } from "./make-folder.ts";
import { openRegularFileSync } from "./regular-file.ts";

export interface SqliteFileOptions {
  /** FULL: a commit is on disk. NORMAL: a power failure may lose the last commits, a crash of the process does not. */
  readonly synchronous: "FULL" | "NORMAL";
  /** Called before anything in the database is changed. */
  readonly prepare: (database: Sqlite.Database) => void;
}

/** How a database begins (https://www.sqlite.org/fileformat.html §1.3.1). */
const magic = Buffer.from("SQLite format 3\0");

/** STORE_DAMAGED for a file that is no database by its first bytes, without opening it as one. A file that is missing, empty or unreadable has none. */
export function notDatabase(file: string): ServiceError | undefined {
  const start = Buffer.alloc(magic.length);
  try {
    const descriptor = openRegularFileSync(file);
    try {
      const length = readSync(descriptor, start, 0, start.length, 0);
      return length === 0 || start.equals(magic) ? undefined : damaged(file);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

/** How long SQLite waits for another program's lock. Short, since it blocks the process: callers retry outside. */
const busyMs = 5;

/** Throws RUNTIME_TOO_OLD. */
export async function loadSqlite(): Promise<typeof Sqlite> {
  // Its prebuilt binary ends the process where Node-API is older than 10.
  if (Number(process.versions.napi) < 10) {
    throw new ServiceError("RUNTIME_TOO_OLD", `Node ${process.versions.node} is too old for the database`, "Use Node 22.18 or newer.");
  }
  return (await import("better-sqlite3")).default;
}

/**
 * Opens or makes an owner-only database with a write-ahead log. Throws what `prepare` throws, or a STORE_… error that
 * names the file; a file that is not a database is not changed.
 */
export async function openSqliteFile(file: string, options: SqliteFileOptions): Promise<Sqlite.Database> {
  const Database = await loadSqlite();
  let database: Sqlite.Database | undefined;
  try {
    makeFolder(path.dirname(file));
    // A new file is readable by this user only; SQLite gives its log the same permissions.
    closeSync(openRegularFileSync(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600));
    database = new Database(file, { timeout: busyMs });
    database.pragma(`synchronous = ${options.synchronous}`);
    options.prepare(database);
    database.pragma("journal_mode = WAL");
    database.pragma("foreign_keys = ON");
    return database;
  } catch (error) {
    database?.close();
    throw sqliteFileError(error, file);
  }
}

/**
 * Returns a check that the file is still the one that is there now: what is written to a moved or deleted file would be lost. It throws
 * STORE_UNREACHABLE with the hint.
 */
export function createPlaceCheck(file: string, hint: string): () => void {
  const identity = identityOf(file);
  return () => {
    if (identityOf(file) !== identity) throw new ServiceError("STORE_UNREACHABLE", `${file} was moved or deleted while in use`, hint);
  };
}

function identityOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}` : "";
}

/** SQLite's error while another program holds the file. */
export const isLockedByOther = (error: unknown): boolean =>
  /^SQLITE_(?:BUSY|LOCKED)/.test(String((error as { code?: unknown } | undefined)?.code ?? ""));

/** Turns SQLite's error, or the system's, into a STORE_… error; an error that is not about the file is returned unchanged. */
export function sqliteFileError(error: unknown, file: string): unknown {
  const code = String((error as { code?: unknown }).code ?? "");
  const cause = { cause: error };
  if (code === "SQLITE_FULL" || code === "ENOSPC" || code === "EDQUOT") {
    const hint = "Free some space, or raise the limit that is set for the file; acknowledged data is safe.";
    return new ServiceError("STORE_FULL", `There is no room for ${file}`, hint, cause);
  }
  if (isLockedByOther(error)) {
    return new ServiceError("STORE_LOCKED", `Another program has locked ${file}`, "Close the program that has it open for writing.", cause);
  }
  if (code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || code === "SQLITE_FORMAT") {
    return damaged(file, error);
  }
  if (/^SQLITE_(?:CANTOPEN|READONLY|IOERR)/.test(code) || /^E[A-Z]+$/.test(code)) {
    const reason = error instanceof Error ? error.message : code;
    return new ServiceError(
      "STORE_UNREACHABLE",
      `${file} cannot be used: ${reason}`,
      "Check that the folder exists and that this user may write there.",
      cause,
    );
  }
  return error;
}

function damaged(file: string, cause?: unknown): ServiceError {
  const hint = "It was left unchanged. Move it away to start with an empty one, or replace it with a good copy.";
  return new ServiceError("STORE_DAMAGED", `${file} is not a readable database`, hint, { cause });
}

const retriedMs = 2_000;
const betweenTriesMs = 25;

/** Tries again while another program holds the database; between the tries everything else has its turn. */
export async function retryWhileLocked<Result>(work: () => Promise<Result>, forMs = retriedMs): Promise<Result> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isLocked = error instanceof ServiceError && error.code === "STORE_LOCKED";
      if (!isLocked || performance.now() - startedAt >= forMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, betweenTriesMs));
  }
}
