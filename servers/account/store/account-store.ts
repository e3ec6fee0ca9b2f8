import { createPlaceCheck, openSqliteFile, sqliteFileError } from "../../core/files/sqlite-file.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { prepareSchema, tables } from "./account-schema.ts";
import { type BillingTables, createBillingTables } from "./billing-tables.ts";
import { createSessionsTable, type SessionsTable } from "./sessions-table.ts";
import { createUsersTable, type UsersTable } from "./users-table.ts";
import { WaitingWrites } from "./waiting-writes.ts";
import { createZonesTable, type ZonesTable } from "./zones-table.ts";

export interface AccountStore {
  readonly file: string;
  readonly users: UsersTable;
  readonly sessions: SessionsTable;
  readonly billing: BillingTables;
  readonly zones: ZonesTable;
  /** Runs `change` in a transaction. */
  together<Result>(change: () => Result): Result;
  /** The same, and again while another program holds the file: `change` reads anew what it depends on. */
  write<Result>(change: () => Result): Promise<Result>;
  /** The next free id of invoices, services and zones. */
  freeNumbers(): { readonly invoice: number; readonly service: number; readonly zone: number };
  /** Empties every table. */
  clear(): void;
  close(): void;
}

/** Opens or makes the file; every call is synchronous and throws SQLite's errors. Throws a STORE_… error. */
export async function openAccountStore(file: string): Promise<AccountStore> {
  const database = await openSqliteFile(file, {
    // A power failure may lose the last commits: these are only tokens and records of a stand-in.
    synchronous: "NORMAL",
    prepare: (opened) => prepareSchema(opened, file),
  });
  try {
    // Resets the sequences too, so that the sample data is the same each time.
    const deleteAll = [...tables, "sqlite_sequence"].map((table) => database.prepare(`DELETE FROM ${table}`));
    const free = database.prepare(
      "SELECT coalesce((SELECT max(id) FROM invoices), 1000) + 1 AS invoice, coalesce((SELECT max(id) FROM services), 1000) + 1 AS service, " +
        "coalesce((SELECT max(id) FROM zones), 1000) + 1 AS zone",
    );
    const users = createUsersTable(database);
    const sessions = createSessionsTable(database);
    function forgetRead(): void {
      users.forgetRead();
      sessions.forgetRead();
    }
    const waiting = new WaitingWrites();
    const checkInPlace = createPlaceCheck(file, "Move it back, or restart the service: it opens the file that is then in its place.");
    function together<Result>(change: () => Result): Result {
      try {
        checkInPlace();
        return database.transaction(change)();
      } catch (error) {
        forgetRead();
        throw error;
      }
    }
    return {
      file,
      users,
      sessions,
      billing: createBillingTables(database),
      zones: createZonesTable(database),
      together,
      write: (change) => waiting.run(() => together(change)),
      freeNumbers: () => free.get() as ReturnType<AccountStore["freeNumbers"]>,
      clear() {
        forgetRead();
        for (const each of deleteAll) each.run();
      },
      close() {
        waiting.close(new ServiceError("STORE_UNREACHABLE", `${file} was closed`, "Start the service again."));
        database.close();
      },
    };
  } catch (error) {
    database.close();
    throw sqliteFileError(error, file);
  }
}
