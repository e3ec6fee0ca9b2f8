import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { eventColumns } from "../../contract/services/events.ts";
import { databasePlace } from "../../servers/events/store/database-place.ts";
import { curl } from "../http/curl.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { device, eventBody, getPage, getStats, post, startEvents } from "./harness.ts";
import { mountSmallDisk } from "./small-disk.ts";

const older = ["prev_filter_shown", "filter_score", "time_since_last_decision_ms"];
const migrationNames = ["0001_initial", "0002_drop_contextual_filter"];
const texts = new Set([
  "created_at",
  "ip_hash",
  "plugin_version",
  "device_id",
  "outcome",
  "file_ext",
  "language",
  "last_char",
  "last_nonws_char",
  "completion_source",
  "provider",
  "recent_actions",
  "treesitter_scope",
]);

/** A file as it was written before: with the older columns, its indexes, and with or without a table of migrations. */
function olderFile(file: string, rows: number, migrations: readonly number[] | undefined, without: readonly string[] = []): void {
  const database = new Database(file);
  const columns = [...eventColumns.slice(1), ...(migrations?.includes(2) ? [] : older)].filter((column) => !without.includes(column));
  database.exec(`CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT,
    ${columns.map((column) => (column === "created_at" ? "created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))" : `${column} ${texts.has(column) ? "TEXT" : "INTEGER"} NOT NULL`)).join(", ")})`);
  for (const column of ["device_id", "created_at", "outcome"]) database.exec(`CREATE INDEX idx_events_${column} ON events(${column})`);
  if (migrations) {
    database.exec("CREATE TABLE _migrations (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)");
    for (const id of migrations)
      database.prepare("INSERT INTO _migrations VALUES (?, ?, '2026-01-01T00:00:00Z')").run(id, migrationNames[id - 1]);
  }
  const insert = database.prepare(`INSERT INTO events (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`);
  const value = (column: string, row: number) => {
    if (column === "created_at") return `2026-01-0${1 + (row % 3)}T00:00:00Z`;
    if (column === "device_id") return device(row % 2);
    if (column === "outcome") return row % 3 === 0 ? "accepted" : "ignored";
    return texts.has(column) ? "x" : row;
  };
  for (let row = 0; row < rows; row++) insert.run(...columns.map((column) => value(column, row)));
  database.close();
}

it("[EV-30] no file is opened or created before the first request, which creates it for its owner only", async () => {
  const { url, file } = await startEvents();
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  await curl("-X", "OPTIONS", `${url}/events`);
  expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  await getStats(url);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const database = new Database(file, { readonly: true });
  expect(database.prepare("SELECT id, name FROM _migrations ORDER BY id").all()).toEqual([
    { id: 1, name: "0001_initial" },
    { id: 2, name: "0002_drop_contextual_filter" },
    { id: 3, name: "0003_rollups" },
    { id: 4, name: "0004_block_times" },
    { id: 5, name: "0005_time_index" },
  ]);
  database.close();
});

it.each([
  ["with the older columns and no table of migrations", undefined],
  ["with the older columns and the first migration", [1]],
  ["whose older columns are gone already", [1, 2]],
] as const)("[EV-31] a file %s is migrated, its rows are kept and counted, and a copy is kept beside it", async (_name, migrations) => {
  const dataDir = temporaryDir();
  const file = path.join(dataDir, "events.db");
  olderFile(file, 10, migrations);
  const original = readFileSync(file);
  const { url, logs } = await startEvents({}, { dataDir });
  expect(await getStats(url)).toEqual({ total_events: 10, unique_devices: 2, accepted: 4, rejected: 0, ignored: 6 });
  expect((await post(url, eventBody())).status).toBe(201);
  const { data, total } = await getPage(url, "?limit=2");
  expect([total, data.map(({ id }) => id), Object.keys(data[1] ?? {})]).toEqual([11, [11, 10], [...eventColumns]]);
  expect((await getPage(url, `?device_id=${device(1)}&outcome=ignored`)).total).toBe(3);
  const copies = readdirSync(dataDir).filter((name) => name.includes(".before-"));
  expect(copies).toEqual([
    `events.db.before-${migrations === undefined ? "0001_initial" : migrations.length === 1 ? "0002_drop_contextual_filter" : "0003_rollups"}`,
  ]);
  expect(readFileSync(path.join(dataDir, copies[0] ?? "")).equals(original)).toBe(true);
  await expect.poll(() => logs.map(({ text }) => text).join("\n")).toContain("Migrated");
});

it("[EV-31] columns missing in an even older file are added", async () => {
  const dataDir = temporaryDir();
  olderFile(path.join(dataDir, "events.db"), 3, undefined, ["is_prefetched", "provider", "stage_index"]);
  const { url } = await startEvents({}, { dataDir });
  await post(url, eventBody());
  const [newest, oldest] = (await getPage(url)).data;
  expect([newest?.provider, newest?.is_prefetched, oldest?.provider, oldest?.is_prefetched, oldest?.stage_index]).toEqual([
    "remote-a",
    1,
    "",
    0,
    0,
  ]);
});

/** Makes it with `olderFile`, then changes it. */
function changedFile(rows: number, sql: string): { readonly dataDir: string; readonly file: string } {
  const dataDir = temporaryDir();
  const file = path.join(dataDir, "events.db");
  olderFile(file, rows, undefined);
  const database = new Database(file);
  database.exec(sql);
  database.close();
  return { dataDir, file };
}

const copies = (dataDir: string) => readdirSync(dataDir).filter((name) => name.includes(".before-"));
const nullable = (extra = "") => `CREATE TABLE old AS SELECT * FROM events; DROP TABLE events; ALTER TABLE old RENAME TO events; ${extra}`;

it.each([
  ["with an index on a column that is gone now", "CREATE INDEX i9 ON events(filter_score); CREATE INDEX i8 ON events(language)"],
  ["with a view of a column that is gone now", "CREATE VIEW scores AS SELECT filter_score FROM events"],
  [
    "with another program's migrations",
    "CREATE TABLE _migrations (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL); INSERT INTO _migrations VALUES (3, '0003_other', '')",
  ],
  ["with a column of its user's own", "ALTER TABLE events ADD COLUMN \"my note\" TEXT NOT NULL DEFAULT 'n'"],
  [
    "with ids in text",
    `${nullable()} CREATE TABLE t (id TEXT PRIMARY KEY, device_id TEXT, outcome TEXT, created_at TEXT); INSERT INTO t SELECT id, device_id, outcome, created_at FROM events; DROP TABLE events; ALTER TABLE t RENAME TO events`,
  ],
  ["with ids that are no numbers", `${nullable("UPDATE events SET id = 'x' || id")}`],
  ["without ids", `${nullable("ALTER TABLE events DROP COLUMN id")}`],
] as const)("[EV-31] the same for a file %s", async (_name, sql) => {
  const { dataDir, file } = changedFile(10, sql);
  const { url } = await startEvents({}, { dataDir });
  expect(await getStats(url)).toEqual({ total_events: 10, unique_devices: 2, accepted: 4, rejected: 0, ignored: 6 });
  expect((await post(url, eventBody())).status).toBe(201);
  expect((await getPage(url)).data.map(({ id }) => id)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect(copies(dataDir)).toHaveLength(1);
  const database = new Database(file, { readonly: true });
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  if (sql.includes("i8"))
    expect(database.prepare("SELECT name FROM sqlite_schema WHERE name IN ('i8', 'i9')").pluck().all()).toEqual(["i8"]);
  if (sql.includes("note")) expect(database.prepare("SELECT count(*) FROM events WHERE \"my note\" = 'n'").pluck().get()).toBe(10);
  database.close();
});

it("[EV-31] missing values are filled: text with an empty string, a time with that of the previous event", async () => {
  const { dataDir } = changedFile(
    4,
    nullable(
      "UPDATE events SET device_id = NULL, outcome = NULL, created_at = NULL WHERE id IN (1, 3); UPDATE events SET edit_count = NULL",
    ),
  );
  const { url } = await startEvents({}, { dataDir });
  expect(
    (await getPage(url)).data.map(({ id, device_id, outcome, created_at, edit_count }) => [id, device_id, outcome, created_at, edit_count]),
  ).toEqual([
    [4, device(1), "accepted", "2026-01-01T00:00:00Z", 0],
    [3, "", "", "2026-01-02T00:00:00Z", 0],
    [2, device(1), "ignored", "2026-01-02T00:00:00Z", 0],
    [1, "", "", "2026-01-02T00:00:00Z", 0],
  ]);
  expect(await getStats(url)).toEqual({ total_events: 4, unique_devices: 2, accepted: 1, rejected: 0, ignored: 1 });
});

it("[EV-31] times in another format are converted, if they are valid", async () => {
  const times = ["2026-11-20 10:11:12", "2026-11-20T10:11:12.345Z", "2026-11-20T12:11:12+02:00", "2026-11-20", "some day"];
  const { dataDir } = changedFile(
    5,
    times.map((time, index) => `UPDATE events SET created_at = '${time}' WHERE id = ${index + 1}`).join(";"),
  );
  const { url, act } = await startEvents({}, { dataDir });
  expect((await getPage(url)).data.map(({ created_at }) => created_at)).toEqual([
    "some day",
    "2026-11-20T00:00:00Z",
    "2026-11-20T10:11:12Z",
    "2026-11-20T10:11:12Z",
    "2026-11-20T10:11:12Z",
  ]);
  const [from, to] = [Date.UTC(2026, 10, 20, 10), Date.UTC(2026, 10, 20, 11)];
  expect(await act("page", { filter: { from, to } })).toMatchObject({ matching: 3, exact: true });
});

it("[EV-64] an id that an old file used twice is not used again, and plots count new events", async () => {
  const { dataDir, file } = changedFile(
    10,
    `${nullable()} CREATE TABLE t (id INTEGER PRIMARY KEY, device_id TEXT NOT NULL, outcome TEXT NOT NULL); INSERT INTO t SELECT id, device_id, outcome FROM events; DROP TABLE events; ALTER TABLE t RENAME TO events`,
  );
  const events = await startEvents({}, { dataDir });
  expect(await events.act("plot", { range: "all" })).toMatchObject({ total: 10 });
  const database = new Database(file);
  database.exec("DELETE FROM events WHERE id > 8");
  database.close();
  await post(events.url, eventBody());
  expect((await getPage(events.url)).data[0]?.id).toBe(11);
  expect(await events.act("plot", { range: "all" })).toMatchObject({ total: 11 });
});

it.each([
  ["holds a table of a rollup's name", "CREATE TABLE roll_day (x)", "roll_day already exists"],
  ["holds a table events of something else", "ALTER TABLE events RENAME COLUMN outcome TO venue", "has no outcome"],
])("[EV-32] a file that %s is named and left unchanged, without a copy, until it has changed", async (_name, sql, reason) => {
  const { dataDir, file } = changedFile(5, sql);
  const original = readFileSync(file);
  const events = await startEvents({}, { dataDir });
  for (let request = 0; request < 3; request++) {
    const answer = await curl(`${events.url}/stats`);
    expect([answer.status, answer.body]).toEqual([
      503,
      '{"error":"Storage cannot be migrated: events.db has an unknown format and was left unchanged"}',
    ]);
  }
  expect(readFileSync(file).equals(original)).toBe(true);
  expect(readdirSync(dataDir).filter((name) => name.startsWith("events.db"))).toEqual(["events.db"]);
  await expect
    .poll(() => events.view("storage").failure)
    .toMatchObject({ code: "STORE_OUTDATED", message: expect.stringContaining(reason) });
  await expect.poll(() => events.logs.filter(({ text }) => text.includes(file) && text.includes(reason)).length).toBe(1);
  const database = new Database(file);
  database.exec(sql.includes("roll_day") ? "DROP TABLE roll_day" : "ALTER TABLE events RENAME COLUMN venue TO outcome");
  database.close();
  expect(await getStats(events.url)).toMatchObject({ total_events: 5 });
  expect(copies(dataDir)).toHaveLength(1);
});

it("[EV-32] a disk with room for the copy but not for the migration keeps no copy", async ({ skip }) => {
  const dir = temporaryDir();
  if (!mountSmallDisk(dir, "3m")) skip("this user may not mount a small disk");
  const file = path.join(dir, "events.db");
  olderFile(file, 6_000, undefined);
  const original = readFileSync(file);
  expect(original.length).toBeGreaterThan(1 << 20);
  const { url } = await startEvents({ database: file });
  for (let request = 0; request < 3; request++) expect((await curl(`${url}/stats`)).status).toBe(503);
  expect(readdirSync(dir).filter((name) => name.includes("before"))).toEqual([]);
  expect(readFileSync(file).equals(original)).toBe(true);
});

it("[EV-33] EVENTS_DB names another file, which a second start opens again", async () => {
  const file = path.join(temporaryDir(), "deep", "other.db");
  const first = await startEvents({ database: file });
  await post(first.url, eventBody());
  await first.stop();
  const second = await startEvents({ database: file });
  expect((await getPage(second.url)).total).toBe(1);
  expect(second.view("storage")).toEqual({ kind: "sqlite", place: file });
});

it("[EV-33] the same with a file: URL", async () => {
  const dir = temporaryDir();
  const { url } = await startEvents({ database: `file://${dir}/my%20events.db` });
  await post(url, eventBody());
  expect(statSync(path.join(dir, "my events.db"), { throwIfNoEntry: false })?.size).toBeGreaterThan(0);
  expect(databasePlace("postgres//user:secret@host/db")).toMatchObject({
    kind: "unknown",
    problem: expect.stringMatching(/^A colon is missing/),
  });
  expect(databasePlace("file:data/e%20f.db")).toEqual({ kind: "file", file: "data/e f.db" });
  expect(databasePlace("C:\\data\\events.db")).toEqual({ kind: "file", file: "C:\\data\\events.db" });
});

it.each([
  "mysql://a/b",
  "sqlite:///tmp/x.db",
  ":memory:",
  "postgre://user:secret@host/db",
  "postgres:db",
  "file://%zz",
  "file:x.db?mode=ro",
])("[EV-33] %s is refused and not repeated", async (database) => {
  const failure = await startEvents({ database }).then(
    () => "started",
    (error: Error) => error,
  );
  expect(failure).toMatchObject({ code: "CONFIG_INVALID", field: { name: "database" } });
  expect(JSON.stringify([failure, (failure as Error).message])).not.toMatch(/secret|mode=ro/);
});
