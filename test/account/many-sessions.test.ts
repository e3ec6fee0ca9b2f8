import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { createLogins } from "../../servers/account/access/logins.ts";
import { prepareSchema } from "../../servers/account/store/account-schema.ts";
import { createSessionsTable } from "../../servers/account/store/sessions-table.ts";
import { createUsersTable, type User } from "../../servers/account/store/users-table.ts";
import { ask, bearer, email, login, type Pair, password, send, startAccount, userId } from "./harness.ts";

/** A user in a database of its own, whose sessions have so many tokens. */
function userWithSessions() {
  const database = new Sqlite(":memory:");
  onTestFinished(() => void database.close());
  prepareSchema(database, "memory");
  const [users, sessions] = [createUsersTable(database), createSessionsTable(database)];
  const { id: user_id } = users.add({ email: "one@example.com", password: "", contact: {} });
  let last = 0;
  function begin(tokens = 0): string {
    const session_id = sessions.begin({ user_id, state: "live", started_at: 0, address: "", client: "" });
    for (let token = 0; token < tokens; token++) {
      sessions.addToken({
        id: String(++last),
        session_id,
        user_id,
        kind: "access",
        state: "live",
        issued_at: 0,
        expires_at: 1,
        claims: "{}",
      });
    }
    return session_id;
  }
  const count = (from: string): number => database.prepare(`SELECT count(*) FROM ${from}`).pluck().get() as number;
  return { users, sessions, user_id, begin, count };
}

it("[AC-1] an address is the same in any case, also of letters that are not of ASCII", () => {
  const { users } = userWithSessions();
  const { id } = users.add({ email: "Ébilling@example.com", password: "", contact: {} });
  expect(["ébilling@EXAMPLE.com", "ÉBILLING@example.com"].map((email) => users.byEmail(email)?.id)).toEqual([id, id]);
  expect(["Ebilling@example.com", "èbilling@example.com"].map((email) => users.byEmail(email))).toEqual([undefined, undefined]);
});

it("[AC-10] thousands of sessions of a user end in turns, and those that begin meanwhile go on", () => {
  const { sessions, user_id, begin } = userWithSessions();
  const before = Array.from({ length: 50 }, () => begin());
  const ended = (ids: readonly string[]) => ids.filter((id) => sessions.get(id, 0)?.ended === "gone").length;
  let left = sessions.endSome(user_id, "gone");
  expect(ended(before)).toBe(20);
  const meanwhile = begin();
  while (left) left = sessions.endSome(user_id, "gone", left);
  expect([ended(before), ended([meanwhile])]).toEqual([50, 0]);
});

it("[AC-10] however many tokens the sessions have, some hundreds are changed or deleted at once", () => {
  const { users, sessions, user_id, begin, count } = userWithSessions();
  for (let session = 0; session < 30; session++) begin(300);
  const all = 30 * 300;
  let [live, most] = [all, 0];
  for (let left = sessions.endSome(user_id, "gone"); left; left = sessions.endSome(user_id, "gone", left)) {
    const now = count("tokens WHERE state = 'live'");
    most = Math.max(most, live - now);
    live = now;
  }
  expect([count("tokens WHERE state = 'live'"), count("sessions WHERE state <> 'ended'")]).toEqual([0, 0]);
  expect(most).toBeLessThanOrEqual(800);

  let kept = all;
  while (!sessions.removeSome(user_id)) {
    const now = count("tokens");
    expect(kept - now).toBeLessThanOrEqual(500);
    kept = now;
  }
  expect([count("tokens"), count("sessions"), users.remove(user_id)]).toEqual([0, 0, true]);
});

it("[AC-7] sessions beyond the limit are deleted in parts, however many tokens they have", () => {
  const { sessions, begin, count } = userWithSessions();
  for (let session = 0; session < 30; session++) begin(300);
  const most = { sessions: 10, tokens: 100_000 };
  for (let kept = count("tokens"); !sessions.prune(0, most); kept = count("tokens")) {
    expect(kept - count("tokens")).toBeLessThanOrEqual(500);
  }
  expect([count("tokens"), count("sessions")]).toEqual([3_000, 10]);
});

it("[AC-7] sessions are looked at in parts for those without tokens, which are deleted, however many have some", () => {
  const { sessions, begin, count } = userWithSessions();
  const now = 100 * 86_400_000;
  const empty = new Set<string>();
  for (let session = 0; session < 1_800; session++) {
    const id = begin(session % 3 === 0 ? 0 : 1);
    if (session % 3 === 0) empty.add(id);
  }
  let parts = 1;
  // No token has expired by a time before all of them.
  for (let kept = count("sessions"); !sessions.prune(now, { sessions: 5_000, tokens: 5_000 }); kept = count("sessions"), parts++)
    expect(kept - count("sessions")).toBeLessThanOrEqual(500);
  expect(parts).toBeGreaterThanOrEqual(4);
  expect([...empty].filter((id) => sessions.get(id, now))).toEqual([]);
});

it("[AC-7] where a clock is far ahead the tokens of the others are looked at in parts, and those that have expired are deleted each time", () => {
  const { users, sessions, user_id, begin, count } = userWithSessions();
  const { id: ahead } = users.add({ email: "ahead@example.com", password: "", contact: {} });
  users.set(ahead, { clock_shift_s: 10 * 365 * 86_400 });
  const [now, day] = [1_700_000_000_000, 86_400_000];
  const ids = { [user_id]: begin(), [ahead]: sessions.begin({ user_id: ahead, state: "live", started_at: now, address: "", client: "" }) };
  let last = 0;
  const add = (of: number, expires_at: number) => {
    const [kind, state, issued_at, claims] = ["access", "live", 0, "{}"] as const;
    sessions.addToken({ id: String(++last), session_id: ids[of] as string, user_id: of, kind, state, issued_at, expires_at, claims });
  };
  for (let times = 0; times < 2; times++) {
    for (let token = 0; token < 1_300; token++) add(user_id, now + day);
    for (let token = 0; token < 100; token++) add(ahead, now + (token % 2 === 0 ? day : 5_000 * day));
    let parts = 1;
    while (!sessions.prune(now, { sessions: 100, tokens: 100_000 })) parts++;
    expect(parts).toBe(3 + 3 * times);
    expect(count("tokens WHERE expires_at < 1700000000000 + 2 * 86400000")).toBe(1_300 * (times + 1));
    expect(count("tokens")).toBe(1_350 * (times + 1));
  }
});

it.each(["a password", "a second factor"])(
  "[AC-10] a login with %s whose user is removed while the write waits is wrong",
  async (factor) => {
    const { users, sessions, user_id, count } = userWithSessions();
    if (factor !== "a password") users.set(user_id, { totp_secret: "A" });
    const user = users.get(user_id) as User;
    const ended: string[] = [];
    const attempt = { failed: () => ended.push("failed"), dropped: () => ended.push("dropped"), succeeded: () => ended.push("succeeded") };
    const logins = createLogins({
      store: {
        users,
        sessions,
        async write(change) {
          users.remove(user_id);
          return change();
        },
      },
      check: { password: async () => ({ user, attempt }) } as never,
      tokens: { endsAt: () => 0 } as never,
      log: {} as never,
      now: () => 0,
      onChange() {},
    });
    const client = { address: "127.0.0.1", connection: {}, hasLeft: () => false, software: "" };
    await expect(logins.login(user.email, password, client)).rejects.toMatchObject({ problem: "wronglogin" });
    expect([ended, count("sessions")]).toEqual([["failed"], 0]);
  },
);

it("[AC-10] a user who is removed is refused from the first part on, and cannot log in meanwhile", async () => {
  const service = await startAccount({ loginFailures: 1_000 });
  const { url, act } = service;
  const pairs: Pair[] = [];
  for (let session = 0; session < 45; session++) pairs.push(await login(url));
  const removing = act("user.remove", { id: await userId(service, email) });
  const attempts = Promise.all(
    pairs.map(async ({ token, refresh }) => [
      (await ask(`${url}/details`, { headers: bearer(token) })).status,
      (await send(`${url}/token`, "POST", { refresh_token: refresh })).status,
    ]),
  );
  const logins = await Promise.all(Array.from({ length: 10 }, () => send(`${url}/login`, "POST", { username: email, password })));
  expect(new Set((await attempts).flat())).toEqual(new Set([401]));
  expect(new Set(logins.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['401 {"error":["wronglogin"]}']));
  expect(await removing).toEqual({ removed: true });
  expect(await act("session.list", { live: false, offset: 0, limit: 100 })).toEqual({ sessions: [], matching: 0 });
});
