import { randomBytes } from "node:crypto";
import type Sqlite from "better-sqlite3";
import type { SessionState, TokenKind } from "../../../contract/services/account.ts";
import { BoundedCache } from "../../core/limits/bounded-cache.ts";

export interface Session {
  readonly id: string;
  readonly user_id: number;
  readonly email: string;
  readonly state: SessionState;
  readonly ended: string | null;
  readonly started_at: number;
  readonly address: string;
  readonly client: string;
  /** When one of its tokens was used last. */
  readonly used_at: number | null;
  readonly live_tokens: number;
}

export interface StoredToken {
  readonly id: string;
  readonly session_id: string;
  readonly user_id: number;
  readonly kind: TokenKind;
  /** Without "expired": that depends on the user's clock. */
  readonly state: "live" | "used" | "revoked";
  /** By the user's own clock. */
  readonly issued_at: number;
  readonly expires_at: number;
  /** JSON. */
  readonly claims: string;
}

export type ListedToken = StoredToken & { readonly email: string; readonly clock_shift_s: number };

interface UserQuery {
  readonly user?: number | undefined;
  /** Leaves out ended sessions. */
  readonly live: boolean;
  readonly offset: number;
  readonly limit: number;
}

export interface TokenQuery extends UserQuery {
  readonly session?: string | undefined;
  readonly kind?: TokenKind | undefined;
}

export interface SessionQuery extends UserQuery {
  readonly text?: string | undefined;
}

/** By their numbers. */
export interface SessionRange {
  readonly after: number;
  readonly upTo: number;
}

export interface SessionsTable {
  begin(session: Pick<Session, "user_id" | "state" | "started_at" | "address" | "client">): string;
  setState(id: string, state: SessionState): void;
  setUsed(id: string, at: number): void;
  get(id: string, now: number): Session | undefined;
  /** Revokes its tokens too; false if it had already ended. */
  end(id: string, why: string): boolean;
  /** Ends those that the user has, some at a time. Returns where to go on while there may be more: what began meanwhile goes on. */
  endSome(userId: number, why: string, from?: SessionRange): SessionRange | undefined;
  list(query: SessionQuery, now: number): { readonly sessions: readonly Session[]; readonly matching: number };
  /** Number of live sessions of one user, or of all. */
  liveSessions(now: number, userId?: number): number;

  addToken(token: StoredToken): void;
  token(id: string): StoredToken | undefined;
  /** True for the call that changed it from live to used. */
  useToken(id: string): boolean;
  /** Its session ends with the last valid token. */
  revokeToken(id: string): boolean;
  expireToken(id: string, at: number): boolean;
  tokens(query: TokenQuery, now: number): { readonly tokens: readonly ListedToken[]; readonly matching: number };
  liveTokens(now: number): number;
  /** Deletes those that one user has, or all, some at a time. False while more are left. */
  removeSome(userId?: number): boolean;
  /** Deletes the oldest tokens of one session beyond `most`. */
  trim(sessionId: string, most: number): void;
  /** Deletes sessions that ended long ago, and the oldest beyond the limit: some hundreds at a time. False while more are left. */
  prune(now: number, most: { readonly sessions: number; readonly tokens: number }): boolean;
  /** Clears the cache: the tables were changed elsewhere, or a transaction was rolled back. */
  forgetRead(): void;
}

const remembered = 1_000;
const keptAfterEndMs = 86_400_000;
/** So many are changed or deleted in one step: a session may have one token, or hundreds. */
const atOnce = { sessions: 20, tokens: 500, looks: 500 };
/** Condition for a valid token; one parameter: now. */
const live = "tokens.state = 'live' AND tokens.expires_at > ? + users.clock_shift_s * 1000";
const liveTokensOf = `(SELECT count(*) FROM tokens WHERE tokens.session_id = sessions.id AND ${live})`;
/** Condition for a live session joined with its user; one parameter: now. */
export const isLiveSession = `sessions.state = 'live' AND EXISTS (SELECT 1 FROM tokens WHERE tokens.session_id = sessions.id AND ${live})`;

export function createSessionsTable(database: Sqlite.Database): SessionsTable {
  const insert = database.prepare("INSERT INTO sessions (id, user_id, state, started_at, address, client) VALUES (?, ?, ?, ?, ?, ?)");
  const setState = database.prepare("UPDATE sessions SET state = ? WHERE id = ?");
  const setUsed = database.prepare("UPDATE sessions SET used_at = ? WHERE id = ?");
  const get = database.prepare(
    `SELECT sessions.*, users.email, ${liveTokensOf} AS live_tokens FROM sessions JOIN users ON users.id = user_id WHERE sessions.id = ?`,
  );
  const endOne = database.prepare("UPDATE sessions SET state = 'ended', ended = ? WHERE id = ? AND state <> 'ended'");
  const revokeOf = database.prepare("UPDATE tokens SET state = 'revoked' WHERE session_id = ? AND state = 'live'");
  const someOfUser = database.prepare(
    `SELECT number, id FROM sessions WHERE user_id = ? AND number > ? AND number <= ? AND state <> 'ended' ORDER BY number LIMIT ${atOnce.sessions}`,
  );
  const newest = database.prepare("SELECT coalesce(max(number), 0) FROM sessions").pluck();
  const sessionsWhere =
    "FROM sessions JOIN users ON users.id = user_id WHERE (? IS NULL OR user_id = ?) " +
    `AND (? = 0 OR (sessions.state <> 'ended' AND EXISTS (SELECT 1 FROM tokens WHERE tokens.session_id = sessions.id AND ${live}))) ` +
    "AND (? = '' OR instr(lower(users.email || char(10) || client || char(10) || address), ?) > 0)";
  const list = database.prepare(
    `SELECT sessions.*, users.email, ${liveTokensOf} AS live_tokens ${sessionsWhere} ORDER BY number DESC LIMIT ? OFFSET ?`,
  );
  const listed = database.prepare(`SELECT count(*) ${sessionsWhere}`).pluck();
  const liveSessions = database.prepare(`SELECT count(*) FROM sessions JOIN users ON users.id = user_id WHERE ${isLiveSession}`).pluck();
  const liveSessionsOf = database
    .prepare(`SELECT count(*) FROM sessions JOIN users ON users.id = user_id WHERE ${isLiveSession} AND user_id = ?`)
    .pluck();

  const insertToken = database.prepare(
    "INSERT INTO tokens (id, session_id, user_id, kind, state, issued_at, expires_at, claims) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const token = database.prepare("SELECT * FROM tokens WHERE id = ?");
  const use = database.prepare("UPDATE tokens SET state = 'used' WHERE id = ? AND state = 'live'");
  const revoke = database.prepare("UPDATE tokens SET state = 'revoked' WHERE id = ? AND state = 'live'");
  const expire = database.prepare("UPDATE tokens SET expires_at = ? WHERE id = ? AND state = 'live' AND expires_at > ?");
  /** Cache: every call by Bearer reads its token. Only this process writes the file, and every change of a token clears the cache. */
  const read = new BoundedCache<string, StoredToken | undefined>(remembered);
  function changing<Arguments extends readonly unknown[], Result>(change: (...given: Arguments) => Result) {
    return (...given: Arguments): Result => {
      read.clear();
      return change(...given);
    };
  }
  const readToken = (id: string) => token.get(id) as StoredToken | undefined;
  const liveTokens = database.prepare(`SELECT count(*) FROM tokens JOIN users ON users.id = tokens.user_id WHERE ${live}`).pluck();
  const tokensWhere = (condition: string) => `SELECT number FROM tokens WHERE ${condition} ORDER BY number LIMIT`;
  /** Deletes some; true when that were all. */
  function pruning(condition: string): (...beyond: readonly number[]) => boolean {
    const some = database.prepare(`DELETE FROM tokens WHERE number IN (${tokensWhere(condition)} ${atOnce.tokens})`);
    return (...beyond) => some.run(...beyond).changes < atOnce.tokens;
  }
  const removeTokensOf = database.prepare(`DELETE FROM tokens WHERE number IN (${tokensWhere("session_id = ?")} ?)`);
  const removeOne = database.prepare("DELETE FROM sessions WHERE id = ?");
  /** The same for sessions with their tokens. */
  function removing(condition: string): (value: number) => boolean {
    const some = database.prepare(`SELECT id FROM sessions WHERE ${condition} ORDER BY number LIMIT ${atOnce.sessions}`).pluck();
    return (value) => {
      const ids = some.all(value) as string[];
      let left = atOnce.tokens;
      for (const id of ids) {
        left -= removeTokensOf.run(id, left).changes;
        if (left === 0) return false;
        removeOne.run(id);
      }
      return ids.length < atOnce.sessions;
    };
  }
  const mayHaveExpired = database.prepare(
    "SELECT number, expires_at, expires_at < ? + (SELECT clock_shift_s FROM users WHERE users.id = user_id) * 1000 AS has_expired FROM tokens " +
      "WHERE expires_at < ? + (SELECT max(clock_shift_s) FROM users) * 1000 AND (expires_at, number) > (?, ?) " +
      `ORDER BY expires_at, number LIMIT ${atOnce.tokens}`,
  );
  const removeToken = database.prepare("DELETE FROM tokens WHERE number = ?");
  const beforeAll: Pick<ExpiredRow, "number" | "expires_at"> = { number: 0, expires_at: Number.MIN_SAFE_INTEGER };
  let lookedUpTo = beforeAll;
  /** Looks at some of those that have expired by the clock that is furthest ahead, and deletes them if they have by their user's. Goes on behind them the next time; true behind the last. */
  function pruneExpired(before: number): boolean {
    const some = mayHaveExpired.all(before, before, lookedUpTo.expires_at, lookedUpTo.number) as ExpiredRow[];
    for (const { number, has_expired } of some) if (has_expired === 1) removeToken.run(number);
    const isDone = some.length < atOnce.tokens;
    lookedUpTo = (!isDone && some.at(-1)) || beforeAll;
    return isDone;
  }
  const pruneTokensBeyond = pruning("number <= (SELECT max(number) FROM tokens) - ?");
  const someAfter = database.prepare(
    "SELECT number, id, started_at < ? AND NOT EXISTS (SELECT 1 FROM tokens WHERE tokens.session_id = sessions.id) AS is_empty FROM sessions " +
      `WHERE number > ? ORDER BY number LIMIT ${atOnce.looks}`,
  );
  let lookedAtUpTo = 0;
  /** Looks at some sessions, and deletes those without tokens. Goes on behind them the next time; true behind the last. */
  function pruneEmpty(before: number): boolean {
    const some = someAfter.all(before, lookedAtUpTo) as { readonly number: number; readonly id: string; readonly is_empty: 0 | 1 }[];
    for (const { id, is_empty } of some) if (is_empty === 1) removeOne.run(id);
    const isDone = some.length < atOnce.looks;
    lookedAtUpTo = (!isDone && some.at(-1)?.number) || 0;
    return isDone;
  }
  /** Of what is deleted: it goes on where it was, however many parts there are to look at before it. */
  let nextPart = 0;
  const pruneBeyond = removing("number <= (SELECT max(number) FROM sessions) - ?");
  const removeOfUser = removing("user_id = ?");
  const removeAfter = removing("number > ?");
  const trim = database.prepare(
    "DELETE FROM tokens WHERE session_id = ? AND number <= " +
      "(SELECT number FROM tokens WHERE session_id = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
  );
  const endIfLast = database.prepare(
    "UPDATE sessions SET state = 'ended', ended = 'last token revoked' WHERE state <> 'ended' AND " +
      "id = (SELECT session_id FROM tokens WHERE id = ?) AND NOT EXISTS " +
      "(SELECT 1 FROM tokens WHERE session_id = sessions.id AND state = 'live')",
  );
  /** The row with its state, expired included, by the user's clock. */
  const shown = (row: Session): Session => (row.state !== "ended" && row.live_tokens === 0 ? { ...row, state: "expired" } : row);

  return {
    begin({ user_id, state, started_at, address, client }) {
      const id = randomBytes(12).toString("base64url");
      insert.run(id, user_id, state, started_at, address, client);
      return id;
    },
    setState: (id, state) => void setState.run(state, id),
    setUsed: (id, at) => void setUsed.run(at, id),
    get(id, now) {
      const found = get.get(now, id) as Session | undefined;
      return found && shown(found);
    },
    end: changing(
      database.transaction((id: string, why: string) => {
        revokeOf.run(id);
        return endOne.run(why, id).changes === 1;
      }),
    ),
    endSome: changing(
      database.transaction((userId: number, why: string, from?: SessionRange) => {
        const { after, upTo } = from ?? { after: 0, upTo: newest.get() as number };
        const some = someOfUser.all(userId, after, upTo) as { readonly number: number; readonly id: string }[];
        let tokens = 0;
        for (const { number, id } of some) {
          tokens += revokeOf.run(id).changes;
          endOne.run(why, id);
          if (tokens >= atOnce.tokens) return { after: number, upTo };
        }
        const last = some.at(-1);
        return last && some.length === atOnce.sessions ? { after: last.number, upTo } : undefined;
      }),
    ),
    list({ user = null, text = "", live: onlyLive, offset, limit }: Nullable<SessionQuery>, now) {
      const needle = (text ?? "").trim().toLowerCase();
      const filter = [user, user, onlyLive ? 1 : 0, now, needle, needle];
      const sessions = (list.all(now, ...filter, limit, offset) as Session[]).map(shown);
      return { sessions, matching: listed.get(...filter) as number };
    },
    liveSessions: (now, userId) => (userId === undefined ? liveSessions.get(now) : liveSessionsOf.get(now, userId)) as number,

    addToken: ({ id, session_id, user_id, kind, state, issued_at, expires_at, claims }) =>
      void insertToken.run(id, session_id, user_id, kind, state, issued_at, expires_at, claims),
    token: (id) => read.get(id, readToken),
    useToken: changing((id: string) => use.run(id).changes === 1),
    revokeToken: changing(
      database.transaction((id: string) => {
        const revoked = revoke.run(id).changes === 1;
        if (revoked) endIfLast.run(id);
        return revoked;
      }),
    ),
    expireToken: changing((id: string, at: number) => expire.run(at, id, at).changes === 1),
    tokens({ user, session, kind, live: onlyLive, offset, limit }, now) {
      // Only the requested conditions, so that an index is used.
      const asked = [
        ["tokens.user_id = ?", user],
        ["session_id = ?", session],
        ["kind = ?", kind],
        [live, onlyLive ? now : undefined],
      ].filter(([, value]) => value !== undefined);
      const where = asked.length === 0 ? "" : `WHERE ${asked.map(([condition]) => condition).join(" AND ")}`;
      const values = asked.map(([, value]) => value);
      const withUsers = "FROM tokens JOIN users ON users.id = tokens.user_id";
      const count = database.prepare(`SELECT count(*) ${onlyLive ? withUsers : "FROM tokens"} ${where}`).pluck();
      const list = database.prepare(
        `SELECT tokens.*, users.email, users.clock_shift_s ${withUsers} ${where} ORDER BY number DESC LIMIT ? OFFSET ?`,
      );
      return { tokens: list.all(...values, limit, offset) as ListedToken[], matching: count.get(...values) as number };
    },
    liveTokens: (now) => liveTokens.get(now) as number,
    removeSome: changing(database.transaction((userId?: number) => (userId === undefined ? removeAfter(0) : removeOfUser(userId)))),
    trim: changing((sessionId: string, most: number) => void trim.run(sessionId, sessionId, most)),
    prune: changing(
      database.transaction((now: number, most: { readonly sessions: number; readonly tokens: number }) => {
        const endedBefore = now - keptAfterEndMs;
        const parts = [
          () => pruneTokensBeyond(most.tokens),
          () => pruneExpired(endedBefore),
          () => pruneBeyond(most.sessions),
          () => pruneEmpty(endedBefore),
        ];
        while (parts[nextPart]?.()) nextPart++;
        const isDone = nextPart === parts.length;
        if (isDone) nextPart = 0;
        return isDone;
      }),
    ),
    forgetRead: () => read.clear(),
  };
}

interface ExpiredRow {
  readonly number: number;
  readonly expires_at: number;
  /** Null if the user is gone. */
  readonly has_expired: 0 | 1 | null;
}

type Nullable<Query> = { readonly [Name in keyof Query]: Query[Name] | (undefined extends Query[Name] ? null : never) };
