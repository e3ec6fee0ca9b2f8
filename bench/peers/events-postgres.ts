/** Express and PostgreSQL, one INSERT for each event, no rollups. `node events-postgres.ts PORT URL` */
import express from "express";
import pg from "pg";
import { completionEvent, newEvent, newEventColumns } from "../../servers/events/completion-event.ts";

const [port, url] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 8 });
const insert = `INSERT INTO plain_events (${newEventColumns.join(", ")}) VALUES (${newEventColumns.map((_, index) => `$${index + 1}`).join(", ")})`;
await pool.query(
  `CREATE TABLE IF NOT EXISTS plain_events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ${newEventColumns.join(" text, ")} text)`,
);
await pool.query("CREATE INDEX IF NOT EXISTS plain_device ON plain_events (device_id, id)");
await pool.query("CREATE INDEX IF NOT EXISTS plain_outcome ON plain_events (outcome, id)");

const app = express();
app.use(express.json());
app.get("/stats", async (_request, response) => void response.json((await pool.query("SELECT count(*) FROM plain_events")).rows[0]));
app.post("/events", async (request, response) => {
  const parsed = completionEvent.safeParse(request.body);
  if (!parsed.success) {
    response.status(400).json({ error: "Validation failed" });
    return;
  }
  const row = newEvent(parsed.data, { created_at: new Date().toISOString(), ip_hash: "", plugin_version: "" });
  await pool.query({ name: "insert", text: insert, values: newEventColumns.map((column) => row[column]) });
  response.status(201).json({ ok: true });
});
app.listen(Number(port), "127.0.0.1");
