import type Database from "better-sqlite3";

/**
 * Texts that clients choose may be long: each is stored once, and rows name it by its number. `subscription.shared_id` is the number of a
 * shared subscription within the file, 0 until a delivery names it. `message.record` and `recorded_at` are those of `DeliveryTrace`.
 */
const schema = `
CREATE TABLE IF NOT EXISTS session (id INTEGER PRIMARY KEY, client_id TEXT, v5 INTEGER, expiry INTEGER, disconnected_at INTEGER, will TEXT,
  address TEXT);
CREATE TABLE IF NOT EXISTS subscription (session_id INTEGER, filter TEXT, qos INTEGER, no_local INTEGER, retain_as_published INTEGER,
  retain_handling INTEGER, identifier INTEGER, shared_id INTEGER, PRIMARY KEY (session_id, filter)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS message (id INTEGER PRIMARY KEY, topic TEXT, payload BLOB, qos INTEGER, retain INTEGER, forwarded BLOB,
  expires_at INTEGER, publisher TEXT, record INTEGER, recorded_at INTEGER);
CREATE TABLE IF NOT EXISTS delivery (id INTEGER PRIMARY KEY, session_id INTEGER, message_id INTEGER, qos INTEGER, retain INTEGER,
  identifiers TEXT, packet_id INTEGER, released INTEGER, shared_id INTEGER, as_retained INTEGER);
CREATE INDEX IF NOT EXISTS delivery_of_session ON delivery (session_id);
CREATE TABLE IF NOT EXISTS received (session_id INTEGER, packet_id INTEGER, PRIMARY KEY (session_id, packet_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS retained (topic TEXT PRIMARY KEY, payload BLOB, qos INTEGER, forwarded BLOB, expires_at INTEGER, publisher TEXT,
  address TEXT) WITHOUT ROWID;
`;

/** The same rows from the tables of a file in which each has the client identifier; later ones need the earlier ones. */
const moves = [
  [
    "session",
    `INSERT INTO session (client_id, v5, expiry, disconnected_at, will, address)
      SELECT client_id, v5, expiry, disconnected_at, will, address FROM former_session;
    CREATE INDEX id_of_client ON session (client_id);`,
  ],
  [
    "subscription",
    `INSERT INTO subscription SELECT session.id, filter, qos, no_local, retain_as_published, retain_handling, identifier,
      CASE substr(filter, 1, 7) WHEN '$share/' THEN row_number() OVER () ELSE 0 END
      FROM former_subscription CROSS JOIN session USING (client_id);`,
  ],
  [
    "delivery",
    `INSERT INTO delivery SELECT former.id, session.id, message_id, qos, retain, identifiers, packet_id, released,
      coalesce((SELECT shared_id FROM subscription WHERE session_id = session.id AND filter = shared_filter), 0), 0
      FROM former_delivery AS former CROSS JOIN session USING (client_id) ORDER BY former.id;`,
  ],
  ["received", "INSERT INTO received SELECT session.id, packet_id FROM former_received CROSS JOIN session USING (client_id);"],
] as const;

/** Columns that files of earlier versions do not have. */
const added = [
  ["session", "address", "TEXT"],
  ["retained", "address", "TEXT"],
  ["message", "record", "INTEGER"],
  ["message", "recorded_at", "INTEGER"],
  ["delivery", "as_retained", "INTEGER"],
] as const;

/** Makes the tables, and brings those of older files into this form. */
export function prepareSessionSchema(database: Database.Database): void {
  const columnsOf = (table: string) => (database.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
  database.transaction(() => {
    for (const [table, column, type] of added) {
      const columns = columnsOf(table);
      if (columns.length > 0 && !columns.includes(column)) database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
    }
    const isFormer = columnsOf("session").length > 0 && !columnsOf("session").includes("id");
    const former = isFormer ? moves.filter(([table]) => columnsOf(table).length > 0) : [];
    for (const [table] of former) database.exec(`ALTER TABLE ${table} RENAME TO former_${table}`);
    database.exec(schema);
    for (const [table, move] of former) database.exec(`${move} DROP TABLE former_${table};`);
    database.exec("DROP INDEX IF EXISTS id_of_client");
  })();
}
