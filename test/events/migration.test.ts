import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { eventColumns } from "../../contract/events.ts";
import { curl } from "../http/curl.ts";
import { checkLeaks } from "../support/check-leaks.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { device, eventBody, getPage, getStats, post, startEvents } from "./harness.ts";

checkLeaks();

const older = ["prev_filter_shown", "filter_score", "time_since_last_decision_ms"];
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
    for (const id of migrations) database.prepare("INSERT INTO _migrations VALUES (?, ?, '2026-01-01T00:00:00Z')").run(id, `000${id}`);
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

it("[EV-30] nothing is opened or made before the first request; that request makes the file, for its owner only", async () => {
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
  ]);
  database.close();
});

it.each([
  ["with the older columns and no table of migrations", undefined],
  ["with the older columns and the first migration", [1]],
  ["whose older columns are gone already", [1, 2]],
] as const)(
  "[EV-31] a file %s is brought up to date, its rows kept and counted, and a copy is kept beside it",
  async (_name, migrations) => {
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
    await expect.poll(() => logs.map(({ text }) => text).join("\n")).toContain("up to date; the file as it was is");
  },
);

it("[EV-31] columns that an even older file lacks are added", async () => {
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

it("[EV-32] a migration that cannot be finished changes nothing: all of it is one transaction", async () => {
  const dataDir = temporaryDir();
  const file = path.join(dataDir, "events.db");
  olderFile(file, 5, undefined);
  const database = new Database(file);
  // A view that uses a column keeps it from being dropped.
  database.exec("CREATE VIEW scores AS SELECT filter_score FROM events");
  database.close();
  const { url } = await startEvents({}, { dataDir });
  expect((await curl(`${url}/stats`)).status).toBe(500);
  const after = new Database(file, { readonly: true });
  expect(after.prepare("SELECT count(*) AS n FROM events").get()).toEqual({ n: 5 });
  expect(
    after.prepare("SELECT name FROM pragma_table_info('events') WHERE name IN ('filter_score', 'prev_filter_shown')").all(),
  ).toHaveLength(2);
  expect(after.prepare("SELECT name FROM sqlite_schema WHERE name = '_migrations' OR name LIKE 'roll_%'").all()).toEqual([]);
  after.close();
});

it("[EV-33] EVENTS_DB names another file, which a second start finds again", async () => {
  const file = path.join(temporaryDir(), "deep", "other.db");
  const first = await startEvents({ database: file });
  await post(first.url, eventBody());
  await first.stop();
  const second = await startEvents({ database: file });
  expect((await getPage(second.url)).total).toBe(1);
  expect(second.view("storage")).toEqual({ kind: "sqlite", place: file });
});
