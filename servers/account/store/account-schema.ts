import type Sqlite from "better-sqlite3";
import { ServiceError } from "../../core/service/service-error.ts";

const version = 1;

// Times of sessions and tokens are milliseconds; those that the API answers with are text, in its own format.
const schema = `
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  password TEXT NOT NULL,
  -- Counts up with whatever makes remembered credentials wrong.
  credentials INTEGER NOT NULL DEFAULT 1,
  enabled INTEGER NOT NULL DEFAULT 1,
  totp_secret TEXT,
  -- The newest 30 s step whose code was used: none is taken twice.
  totp_step INTEGER NOT NULL DEFAULT 0,
  clock_shift_s INTEGER NOT NULL DEFAULT 0,
  lastlogin TEXT NOT NULL DEFAULT '',
  ip TEXT NOT NULL DEFAULT '',
  host TEXT NOT NULL DEFAULT '',
  currency TEXT NOT NULL DEFAULT 'USD',
  acc_credit TEXT NOT NULL DEFAULT '0.00'
);
CREATE TABLE contacts (
  user_id INTEGER PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  type TEXT NOT NULL DEFAULT '',
  companyname TEXT NOT NULL DEFAULT '',
  companyregistrationnumber TEXT NOT NULL DEFAULT '',
  vateu TEXT NOT NULL DEFAULT '',
  firstname TEXT NOT NULL DEFAULT '',
  lastname TEXT NOT NULL DEFAULT '',
  address1 TEXT NOT NULL DEFAULT '',
  address2 TEXT NOT NULL DEFAULT '',
  city TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT '',
  postcode TEXT NOT NULL DEFAULT '',
  country TEXT NOT NULL DEFAULT '',
  phonenumber TEXT NOT NULL DEFAULT '',
  emarketing TEXT NOT NULL DEFAULT ''
);
CREATE TABLE invoices (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  number TEXT NOT NULL,
  date TEXT NOT NULL,
  datepaid TEXT NOT NULL,
  total TEXT NOT NULL,
  subtotal TEXT NOT NULL,
  status TEXT NOT NULL,
  currency TEXT NOT NULL
);
CREATE INDEX invoices_of_user ON invoices (user_id);
CREATE TABLE services (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  domain TEXT NOT NULL,
  total TEXT NOT NULL,
  status TEXT NOT NULL,
  billingcycle TEXT NOT NULL,
  next_due TEXT NOT NULL,
  category TEXT NOT NULL,
  category_url TEXT NOT NULL,
  name TEXT NOT NULL
);
CREATE INDEX services_of_user ON services (user_id);
CREATE TABLE zones (
  id INTEGER PRIMARY KEY,
  service_id INTEGER NOT NULL REFERENCES services ON DELETE CASCADE,
  name TEXT NOT NULL COLLATE NOCASE
);
CREATE INDEX zones_of_service ON zones (service_id);
CREATE TABLE records (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  zone_id INTEGER NOT NULL REFERENCES zones ON DELETE CASCADE,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  content TEXT NOT NULL,
  ttl INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  change_date INTEGER NOT NULL
);
CREATE INDEX records_of_zone ON records (zone_id);
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  state TEXT NOT NULL,
  ended TEXT,
  started_at INTEGER NOT NULL,
  address TEXT NOT NULL,
  client TEXT NOT NULL,
  used_at INTEGER
);
CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE TABLE tokens (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  claims TEXT NOT NULL
);
CREATE INDEX tokens_of_session ON tokens (session_id);
CREATE INDEX tokens_of_user ON tokens (user_id);
`;

/**
 * Counting live sessions and tokens reads only the first one, however many have ended, and deleting those that expired long ago the second. Older
 * files get them too.
 */
const indexes = `
CREATE INDEX IF NOT EXISTS live_tokens ON tokens (session_id, user_id, expires_at) WHERE state = 'live';
CREATE INDEX IF NOT EXISTS token_ends ON tokens (expires_at);
`;

/** Makes the tables in a new file. Throws STORE_DAMAGED, without touching it, for a file that is not Backlot's or is newer than this program. */
export function prepareSchema(database: Sqlite.Database, file: string): void {
  const found = database.pragma("user_version", { simple: true }) as number;
  if (found === version) {
    database.exec(indexes);
    addColumn(database, "sessions", "used_at", "INTEGER");
    return;
  }
  const tables = database.prepare("SELECT count(*) FROM sqlite_master").pluck().get() as number;
  if (found !== 0 || tables > 0) {
    throw new ServiceError(
      "STORE_DAMAGED",
      `${file} is not a database of this version's account service`,
      "It was left unchanged. Move it away to start with the sample data.",
    );
  }
  database.transaction(() => {
    database.exec(schema + indexes);
    database.pragma(`user_version = ${version}`);
  })();
}

/** To a file of an earlier version, which does without it. */
function addColumn(database: Sqlite.Database, table: string, name: string, type: string): void {
  const columns = database.pragma(`table_info(${table})`) as readonly { readonly name: string }[];
  if (!columns.some((column) => column.name === name)) database.exec(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
}

/** Child tables first. */
export const tables = ["tokens", "sessions", "records", "zones", "services", "invoices", "contacts", "users"] as const;
