import { lstatSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ServiceError } from "../service/service-error.ts";
import { makeFolder } from "./make-folder.ts";
import { loadSqlite, notDatabase, sqliteFileError } from "./sqlite-file.ts";

/** The lock is released with its process; one that was asked to end a moment ago may still hold it. */
const waitMs = 500;
const browsesLine = "browses";

interface FolderHolder {
  /** The process that the user knows as this Backlot. */
  readonly pid: number;
  /** The service does not run: a page looks at its data. */
  readonly browses: boolean;
}

/**
 * Locks a service's folder against other processes: what a service caches of its files would be wrong once
 * another wrote to them. SQLite takes the operating system's file lock, which is released when the process ends, even by a crash.
 * Returns the function that releases the lock. Throws DATA_IN_USE, naming the Backlot that has it, or STORE_UNREACHABLE.
 */
export async function lockFolder(folder: string, holder: Partial<FolderHolder> = {}): Promise<() => void> {
  const Database = await loadSqlite();
  const file = path.join(folder, "in-use");
  const holderFile = path.join(folder, "in-use-by");
  try {
    makeFolder(folder);
    // Nothing in it is of use. In place: another process may have locked it meanwhile.
    if (notDatabase(file) && lstatSync(file).isFile()) truncateSync(file);
    const database = new Database(file, { timeout: waitMs });
    try {
      // Nothing is ever written to it.
      database.pragma("journal_mode = MEMORY");
      database.exec("BEGIN EXCLUSIVE");
      nameHolder(holderFile, { pid: process.pid, browses: false, ...holder });
    } catch (error) {
      database.close();
      throw error;
    }
    return () => {
      rmSync(holderFile, { force: true });
      database.close();
    };
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY")) throw inUse(folder, holderFile, error);
    throw sqliteFileError(error, file);
  }
}

/** On a full disk the lock holds without it. */
function nameHolder(file: string, { pid, browses }: FolderHolder): void {
  try {
    writeFileSync(file, browses ? `${pid}\n${browsesLine}\n` : `${pid}\n`, { mode: 0o600 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
  }
}

function inUse(folder: string, holderFile: string, cause: unknown): ServiceError {
  const holder = holderOf(holderFile);
  const named = `Another Backlot${holder ? ` (pid ${holder.pid})` : ""} has ${folder} open`;
  const ownFolder = "give this Backlot a folder of its own with --data-dir.";
  if (!holder?.browses) return new ServiceError("DATA_IN_USE", named, `Stop the service there, or ${ownFolder}`, { cause });
  return new ServiceError(
    "DATA_IN_USE",
    `${named}: the service does not run there, but its page shows what is in it`,
    `Leave that page and wait a minute, or choose "Stop all" in the list of commands there (Ctrl K), which frees the folder at once. Or ${ownFolder}`,
    { cause },
  );
}

function holderOf(file: string): FolderHolder | undefined {
  try {
    const [pid = "", what] = readFileSync(file, "utf8").split("\n");
    return /^\d{1,10}$/.test(pid) ? { pid: Number(pid), browses: what === browsesLine } : undefined;
  } catch {
    return undefined;
  }
}
