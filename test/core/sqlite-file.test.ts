import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSqliteFile, type SqliteFileOptions, sqliteFileError } from "../../servers/core/files/sqlite-file.ts";
import { ServiceError } from "../../servers/core/service/service-error.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

async function open(file: string, options: Partial<SqliteFileOptions> = {}): Promise<Sqlite.Database> {
  const database = await openSqliteFile(file, { synchronous: "NORMAL", prepare: () => {}, ...options });
  onTestFinished(() => void database.close());
  return database;
}

/** What `use` throws, as the user reads it. */
function faultOf(use: () => unknown, file: string): unknown {
  try {
    use();
  } catch (error) {
    return sqliteFileError(error, file);
  }
  return undefined;
}

describe("database file", () => {
  it.skipIf(process.platform === "win32")("[BL-66] is for its owner only, like its folder and its log", async () => {
    const file = path.join(temporaryDir(), "made", "a.db");
    const database = await open(file, { synchronous: "FULL" });
    database.exec("CREATE TABLE t (a)");
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(readdirSync(path.dirname(file)).map((name) => [name, statSync(path.join(path.dirname(file), name)).mode & 0o777])).toEqual(
      ["a.db", "a.db-shm", "a.db-wal"].map((name) => [name, 0o600]),
    );
    const pragma = (name: string) => database.pragma(name, { simple: true });
    expect([pragma("journal_mode"), pragma("synchronous"), pragma("foreign_keys")]).toEqual(["wal", 2, 1]);
  });

  it("[BL-66] is checked before anything in it is changed, and closed if the check fails", async () => {
    const file = path.join(temporaryDir(), "a.db");
    let seen: Sqlite.Database | undefined;
    const refused = open(file, {
      prepare(database) {
        seen = database;
        expect([database.pragma("journal_mode", { simple: true }), statSync(file).size]).toEqual(["delete", 0]);
        throw new ServiceError("STORE_DAMAGED", "of another version", "Move it away.");
      },
    });
    await expect(refused).rejects.toMatchObject({ code: "STORE_DAMAGED", message: "of another version" });
    expect([seen?.open, statSync(file).size]).toEqual([false, 0]);
    await open(file);
  });

  it("[BL-66] [BL-67] is named in the error and kept unchanged if it is not a database", async () => {
    const file = path.join(temporaryDir(), "a.db");
    const bytes = Buffer.from("Notes that are dear to someone.\n".repeat(300));
    writeFileSync(file, bytes);
    await expect(open(file)).rejects.toMatchObject({ code: "STORE_DAMAGED", message: `${file} is not a readable database` });
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it("[BL-67] is named if another program has locked it, before and after it is opened", async () => {
    const file = path.join(temporaryDir(), "a.db");
    const other = await open(file);
    const ours = await open(file);
    other.exec("CREATE TABLE t (a); BEGIN IMMEDIATE");
    const locked = { code: "STORE_LOCKED", message: `Another program has locked ${file}` };
    expect(faultOf(() => ours.exec("INSERT INTO t VALUES (1)"), file)).toMatchObject(locked);
    await expect(open(file, { prepare: (database) => void database.exec("BEGIN IMMEDIATE") })).rejects.toMatchObject(locked);
    other.exec("COMMIT");
    ours.exec("INSERT INTO t VALUES (1)");
  });

  it("[BL-67] is named if its disk is full, and is writable again once there is room", async () => {
    const file = path.join(temporaryDir(), "a.db");
    const database = await open(file, { prepare: (opened) => void opened.pragma("max_page_count = 4") });
    database.exec("CREATE TABLE t (a)");
    const insert = database.prepare("INSERT INTO t VALUES (zeroblob(3000))");
    const fill = () => {
      for (let row = 0; row < 10; row++) insert.run();
    };
    expect(faultOf(fill, file)).toMatchObject({ code: "STORE_FULL", message: `There is no room for ${file}` });
    database.pragma("max_page_count = 1000");
    fill();
  });

  it("[BL-67] is named if it is read-only or cannot be opened", async () => {
    const dir = temporaryDir();
    const file = path.join(dir, "a.db");
    const database = await open(file);
    database.pragma("query_only = ON");
    expect(faultOf(() => database.exec("CREATE TABLE t (a)"), file)).toMatchObject({
      code: "STORE_UNREACHABLE",
      message: `${file} cannot be used: attempt to write a readonly database`,
    });
    const folder = path.join(dir, "folder.db");
    mkdirSync(folder);
    await expect(open(folder)).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    await expect(open(path.join(file, "b.db"))).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
  });

  it("[BL-67] does not change errors that are not about the file", async () => {
    const file = path.join(temporaryDir(), "a.db");
    const database = await open(file);
    expect(faultOf(() => database.prepare("SELECT nothing"), file)).toMatchObject({ name: "SqliteError", code: "SQLITE_ERROR" });
  });
});
