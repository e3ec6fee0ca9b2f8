import type Sqlite from "better-sqlite3";
import { type ContactField, contactFields } from "../../../contract/services/account.ts";
import { BoundedCache } from "../../core/limits/bounded-cache.ts";
import { isLiveSession } from "./sessions-table.ts";

export type Contact = Readonly<Record<ContactField, string>>;

/** A user with the contact, as stored. */
export interface User extends Contact {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly credentials: number;
  readonly enabled: 0 | 1;
  readonly totp_secret: string | null;
  readonly totp_step: number;
  readonly clock_shift_s: number;
  readonly lastlogin: string;
  readonly ip: string;
  readonly host: string;
  readonly currency: string;
  readonly acc_credit: string;
}

export interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly contact: Partial<Contact>;
}

/** Columns that `set` may write; all but the contact's. */
export type UserChange = Partial<Omit<User, "id" | "credentials" | ContactField>>;

export interface UsersTable {
  get(id: number): User | undefined;
  byEmail(email: string): User | undefined;
  /** Throws SQLITE_CONSTRAINT_UNIQUE if the address is taken. */
  add(user: NewUser): User;
  set(id: number, change: UserChange): void;
  setContact(id: number, change: Partial<Contact>): void;
  /** Invalidates cached credentials of the user. */
  dropCredentials(id: number): void;
  /** False if this code, or a later one, was already used. `newest` is the last step whose code holds now: a later one was used while the clock was ahead. */
  useTotpStep(id: number, step: number, newest: number): boolean;
  remove(id: number): boolean;
  list(
    query: { readonly text: string; readonly offset: number; readonly limit: number },
    now: number,
  ): { readonly users: readonly ListedUser[]; readonly matching: number };
  count(): number;
  /** Clears the cache: a transaction may have been rolled back. */
  forgetRead(): void;
}

export type ListedUser = User & { readonly live_sessions: number; readonly zones: number };

const remembered = 1_000;
const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);

const joined = "FROM users JOIN contacts ON contacts.user_id = users.id";
const counts =
  `(SELECT count(*) FROM sessions WHERE sessions.user_id = users.id AND ${isLiveSession}) AS live_sessions, ` +
  "(SELECT count(*) FROM zones JOIN services ON services.id = zones.service_id WHERE services.user_id = users.id) AS zones";

export function createUsersTable(database: Sqlite.Database): UsersTable {
  /** Cache: every call of the API reads its user, which would cost more than the rest of the call. Only this process writes the file. */
  const read = new BoundedCache<number, User | undefined>(remembered);
  const byId = database.prepare(`SELECT * ${joined} WHERE users.id = ?`);
  const byEmail = database.prepare(`SELECT * ${joined} WHERE users.email = ?`);
  // SQLite's NOCASE knows the letters of ASCII only.
  database.function("lower_case", { deterministic: true }, (text: unknown) => String(text).toLowerCase());
  const byOtherCase = database.prepare(
    `SELECT * ${joined} WHERE users.email GLOB '*[^' || char(1) || '-~]*' AND lower_case(users.email) = ?`,
  );
  const insert = database.prepare("INSERT INTO users (email, password) VALUES (?, ?)");
  const insertContact = database.prepare("INSERT INTO contacts (user_id) VALUES (?)");
  const drop = database.prepare("UPDATE users SET credentials = credentials + 1 WHERE id = ?");
  const useStep = database.prepare("UPDATE users SET totp_step = ? WHERE id = ? AND (totp_step < ? OR totp_step > ?)");
  const remove = database.prepare("DELETE FROM users WHERE id = ?");
  const matches = "WHERE ? = '' OR instr(lower(email || ' ' || firstname || ' ' || lastname || ' ' || companyname), ?) > 0";
  const list = database.prepare(`SELECT *, ${counts} ${joined} ${matches} ORDER BY users.id LIMIT ? OFFSET ?`);
  const matching = database.prepare(`SELECT count(*) ${joined} ${matches}`).pluck();
  const count = database.prepare("SELECT count(*) FROM users").pluck();

  function update(table: "users" | "contacts", key: string, id: number, change: Readonly<Record<string, unknown>>): void {
    const names = Object.keys(change).filter((name) => change[name] !== undefined);
    if (names.length === 0) return;
    read.delete(id);
    const assignments = names.map((name) => `${name} = ?`).join(", ");
    database.prepare(`UPDATE ${table} SET ${assignments} WHERE ${key} = ?`).run(...names.map((name) => change[name]), id);
  }

  const readUser = (id: number) => byId.get(id) as User | undefined;
  const get = (id: number): User | undefined => read.get(id, readUser);
  function setContact(id: number, change: Partial<Contact>): void {
    update("contacts", "user_id", id, Object.fromEntries(contactFields.map((name) => [name, change[name]])));
  }

  return {
    get,
    byEmail(email) {
      const found = byEmail.get(email) ?? (isAscii(email) ? undefined : byOtherCase.get(email.toLowerCase()));
      return found as User | undefined;
    },
    add: database.transaction(({ email, password, contact }: NewUser): User => {
      const id = Number(insert.run(email, password).lastInsertRowid);
      insertContact.run(id);
      setContact(id, contact);
      return get(id) as User;
    }),
    set: (id, change) => update("users", "id", id, change),
    setContact,
    dropCredentials(id) {
      read.delete(id);
      drop.run(id);
    },
    useTotpStep(id, step, newest) {
      read.delete(id);
      return useStep.run(step, id, step, newest).changes === 1;
    },
    remove(id) {
      read.delete(id);
      return remove.run(id).changes === 1;
    },
    list({ text, offset, limit }, now) {
      const needle = text.trim().toLowerCase();
      return {
        users: list.all(now, needle, needle, limit, offset) as ListedUser[],
        matching: matching.get(needle, needle) as number,
      };
    },
    count: () => count.get() as number,
    forgetRead: () => read.clear(),
  };
}
