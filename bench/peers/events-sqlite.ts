/** What one would write first: Express, one durable transaction for each event, no rollups. `node events-sqlite.ts PORT FILE` */
import Database from "better-sqlite3";
import express from "express";
import { completionEvent, newEvent, newEventColumns } from "../../servers/events/completion-event.ts";
import { createEvents, createIndexes } from "../../servers/events/store/sqlite-schema.ts";

const [port, file] = process.argv.slice(2);
const database = new Database(file);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
for (const statement of [createEvents, ...createIndexes]) database.exec(statement);
const insert = database.prepare(`INSERT INTO events (${newEventColumns.join(", ")}) VALUES (${newEventColumns.map(() => "?").join(", ")})`);

const app = express();
app.use(express.json());
app.get("/stats", (_request, response) => void response.json(database.prepare("SELECT count(*) AS total_events FROM events").get()));
app.post("/events", (request, response) => {
  const parsed = completionEvent.safeParse(request.body);
  if (!parsed.success) {
    response.status(400).json({ error: "Validation failed" });
    return;
  }
  const row = newEvent(parsed.data, { created_at: new Date().toISOString(), ip_hash: "", plugin_version: "" });
  insert.run(...newEventColumns.map((column) => row[column]));
  response.status(201).json({ ok: true });
});
app.listen(Number(port), "127.0.0.1");
