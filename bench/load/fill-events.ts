/** Makes a file with so many events of 20,000 devices over 300 days. `node fill-events.ts FILE ROWS` */
import { rmSync } from "node:fs";
import Database from "better-sqlite3";
import { createLog } from "../../servers/core/service/log.ts";
import { columnKind, newEventColumns } from "../../servers/events/completion-event.ts";
import { createEvents } from "../../servers/events/store/sqlite-schema.ts";
import { createSqliteStore } from "../../servers/events/store/sqlite-store.ts";

const [file = "", rowsText] = process.argv.slice(2);
const rows = Number(rowsText);
for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
const database = new Database(file);
database.pragma("journal_mode = OFF");
database.pragma("synchronous = OFF");
database.exec(createEvents);
const values: Partial<Record<string, string>> = {
  created_at: `strftime('%Y-%m-%dT%H:%M:%SZ', 1767225600 + value * 25920000 / ${rows}, 'unixepoch')`,
  ip_hash: `'${"ab".repeat(32)}'`,
  plugin_version: "'0.5.0'",
  // Squared: a few devices send most.
  device_id: "printf('0b6f3c1e-5d0a-4a53-9a0e-%012d', (value * 7919 % 20011) * (value * 104729 % 20011) / 20011)",
  outcome:
    "CASE value * 31 % 10 WHEN 0 THEN 'accepted' WHEN 1 THEN 'accepted' WHEN 2 THEN 'accepted' WHEN 3 THEN 'ignored' ELSE 'rejected' END",
  file_ext: "'.ts'",
  language: "CASE value % 5 WHEN 0 THEN 'go' WHEN 1 THEN 'rust' WHEN 2 THEN 'python' ELSE 'typescript' END",
  last_char: "')'",
  last_nonws_char: "')'",
  completion_source: "'typing'",
  provider: "CASE value % 3 WHEN 0 THEN 'local' ELSE 'remote' END",
  recent_actions: `'["IC","IC","DC"]'`,
  treesitter_scope: "'function'",
  relative_position: "value % 100 / 100.0",
  predicted_edit_ratio: "value % 50 / 50.0",
  typing_speed: "value % 80 / 10.0",
  line_count: "1 + value % 3000",
};
database.exec(`INSERT INTO events (${newEventColumns.join(", ")})
  WITH RECURSIVE series (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM series WHERE value + 1 < ${rows})
  SELECT ${newEventColumns.map((column) => values[column] ?? (columnKind(column) === "boolean" ? "value % 2" : "value % 300")).join(", ")} FROM series`);
database.close();
// Opening it makes the indexes and the rollups, as it would with a file from elsewhere.
const store = createSqliteStore({ file, log: createLog({ level: () => "error", write: () => {} }) });
await store.open();
await store.close();
rmSync(`${file}.before-0001_initial`, { force: true });
