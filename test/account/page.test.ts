import path from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import type { AccountToken } from "../../contract/services/account.ts";
import { ask, basic, bearer, claimsOf, email, login, password, send, startAccount, userId } from "./harness.ts";

it("[AC-48] users are listed, searched, added, edited and removed; addresses are unique", async () => {
  const { url, act, view } = await startAccount();
  const all = await act("user.list", {});
  expect([all.matching, all.users[0]]).toEqual([
    4,
    {
      id: 1,
      email,
      name: "Joe Doe",
      enabled: true,
      secondFactor: false,
      clockShiftSeconds: 0,
      lastLogin: "2016-12-30 12:24:28",
      lastAddress: "192.0.2.44",
      liveSessions: 0,
      zones: 1,
    },
  ]);
  expect((await act("user.list", { text: "ORCHARD" })).users.map((user) => user.email)).toEqual(["billing@example.org"]);
  expect((await act("user.list", { offset: 1, limit: 2 })).users.map((user) => user.id)).toEqual([2, 3]);
  const added = await act("user.add", { email: "New@Example.com", password: "one", contact: { firstname: "Neo" } });
  expect(added).toMatchObject({ id: 5, email: "New@Example.com", name: "Neo", enabled: true });
  expect((await ask(`${url}/details`, { headers: basic("new@example.com", "one") })).json.client).toMatchObject({
    firstname: "Neo",
    city: "",
  });
  expect((await ask(`${url}/dns`, { headers: basic("new@example.com", "one") })).text).toBe('{"service_ids":[],"zones":[]}');
  const taken = { code: "CALL_INVALID", message: expect.stringContaining("another user's address") };
  await expect(act("user.add", { email: "new@example.COM", password: "x" })).rejects.toMatchObject(taken);
  await expect(act("user.edit", { id: 5, email })).rejects.toMatchObject(taken);
  await expect(act("user.add", { email: "a:b@example.com", password: "x" })).rejects.toMatchObject({ code: "CALL_INVALID" });
  const edited = await act("user.edit", { id: 5, email: "neo@example.com", contact: { city: "Zion", lastname: "X" } });
  expect(edited.contact).toMatchObject({ firstname: "Neo", lastname: "X", city: "Zion" });
  expect((await ask(`${url}/details`, { headers: basic("new@example.com", "one") })).status).toBe(401);
  const { token } = await login(url, "neo@example.com", "one");
  await view("users", ({ users }) => users.some((user) => user.email === "neo@example.com" && user.liveSessions === 1));
  expect(await act("user.remove", { id: 5 })).toEqual({ removed: true });
  expect((await ask(`${url}/details`, { headers: bearer(token) })).status).toBe(401);
  expect([await act("user.read", { id: 5 }), await act("user.remove", { id: 5 })]).toEqual([null, { removed: false }]);
  await expect(act("user.enable", { id: 5, enabled: true })).rejects.toMatchObject({ code: "CALL_INVALID" });
});

it("[AC-49] sessions and tokens are listed decoded; each can be expired or revoked now", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const first = await login(url);
  const second = await login(url);
  const { tokens, matching } = await act("token.list", { kind: "access" });
  expect(matching).toBe(2);
  const newest = tokens[0] as AccountToken;
  expect(newest).toMatchObject({
    kind: "access",
    state: "live",
    email,
    header: { alg: "HS256", typ: "JWT" },
    payload: claimsOf(second.token),
  });
  expect(newest.endsAt).toBe(claimsOf(second.token).exp * 1_000);
  expect(await act("token.expire", { id: newest.id })).toEqual({ expired: true });
  expect((await ask(`${url}/details`, { headers: bearer(second.token) })).text).toBe('{"error":["tokenexpired"]}');
  expect((await ask(`${url}/details`, { headers: bearer(first.token) })).status).toBe(200);
  // Its refresh token still serves, as in the real course of things.
  const renewed = (await send(`${url}/token`, "POST", { refresh_token: second.refresh })).json;
  expect(await act("token.revoke", { id: claimsOf(renewed.token).jti })).toEqual({ revoked: true });
  expect((await ask(`${url}/details`, { headers: bearer(renewed.token) })).text).toBe('{"error":["tokenrevoked"]}');
  const session = claimsOf(second.token).sid;
  const listed = await act("token.list", { session });
  expect(listed.tokens.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
    "refresh live",
    "access revoked",
    "refresh used",
    "access expired",
  ]);
  expect((await act("token.list", { session, live: true })).tokens.map(({ kind }) => kind)).toEqual(["refresh"]);
  expect(await act("token.expire", { id: newest.id })).toEqual({ expired: false });
  expect(await act("token.revoke", { id: "unknown" })).toEqual({ revoked: false });

  const { sessions } = await act("session.list", { user: await userId(service), live: true });
  expect(sessions.map(({ id, state, address, client }) => [id, state, address, client])).toEqual([
    [session, "live", "127.0.0.1", "node"],
    [claimsOf(first.token).sid, "live", "127.0.0.1", "node"],
  ]);
  expect(await act("session.end", { id: session })).toEqual({ ended: true });
  expect((await send(`${url}/token`, "POST", { refresh_token: renewed.refresh })).status).toBe(401);
  expect((await act("session.list", {})).sessions[0]).toMatchObject({ state: "ended", ended: "ended from the dashboard", liveTokens: 0 });
});

it("[AC-49] sessions are filtered and counted by user, client software or address, case-insensitively", async () => {
  const { url, act } = await startAccount({ proxyHops: 1 });
  await act("user.add", { email: "new@example.org", password: "one" });
  const from = (address: string, software: string) => ({ "X-Forwarded-For": address, "User-Agent": software });
  const logIn = async (username: string, secret: string, headers: Record<string, string>) =>
    expect((await send(`${url}/login`, "POST", { username, password: secret }, headers)).status).toBe(200);
  await logIn(email, password, from("203.0.113.7", "curl/8.5.0"));
  await logIn(email, password, from("198.51.100.20", "okhttp/4.12.0"));
  await logIn("new@example.org", "one", from("203.0.113.9", "okhttp/4.12.0"));
  const found = async (query: object) => {
    const { sessions, matching } = await act("session.list", query);
    return [sessions.map(({ email: user, client }) => `${user} ${client}`), matching];
  };
  const [curl, okhttp, other] = [`${email} curl`, `${email} okhttp`, "new@example.org okhttp"];
  expect(await found({})).toEqual([[other, okhttp, curl], 3]);
  expect(await found({ text: " OKHTTP " })).toEqual([[other, okhttp], 2]);
  expect(await found({ text: "203.0.113." })).toEqual([[other, curl], 2]);
  expect(await found({ text: "@Example.org" })).toEqual([[other], 1]);
  expect(await found({ text: "okhttp", user: 1 })).toEqual([[okhttp], 1]);
  expect(await found({ text: "okhttp", offset: 1, limit: 1 })).toEqual([[okhttp], 2]);
  expect(await found({ text: "%" })).toEqual([[], 0]);
  await act("session.end", { id: (await act("session.list", { text: "curl" })).sessions[0]?.id ?? "" });
  expect(await found({ text: "203.0.113.", live: true })).toEqual([[other], 1]);
});

it("[AC-170] when a session was used last is shown soon, and after a restart, also with the file of an earlier version", async () => {
  const first = await startAccount();
  const { token } = await login(first.url);
  const use = async ({ url }: { readonly url: string }) =>
    expect((await ask(`${url}/details`, { headers: bearer(token) })).status).toBe(200);
  const usedAt = async (service: Pick<typeof first, "act">) => (await service.act("session.list", {})).sessions[0]?.usedAt;
  expect(await usedAt(first)).toBeUndefined();
  await use(first);
  const shown = await first.view("sessions", ({ sessions }) => sessions[0]?.usedAt !== undefined);
  expect(await usedAt(first)).toBe(shown.sessions[0]?.usedAt);
  await first.stop();
  const { dataDir } = first;
  const second = await startAccount({}, { dataDir });
  expect(await usedAt(second)).toBe(shown.sessions[0]?.usedAt);
  await second.stop();

  const database = new Sqlite(path.join(dataDir, "account.db"));
  database.exec("ALTER TABLE sessions DROP COLUMN used_at");
  database.close();
  const third = await startAccount({}, { dataDir });
  expect(await usedAt(third)).toBeUndefined();
  await use(third);
  expect(await usedAt(third)).toBeGreaterThan(0);
});

it("[AC-48] a user can be created with a service, a zone and invoices, and changes to users are logged", async () => {
  const { url, act, logs } = await startAccount();
  const { id, zones } = await act("user.add", { email: "new@example.com", password: "one", withSampleRecords: true });
  expect(zones).toBe(1);
  const own = basic("new@example.com", "one");
  const dns = (await ask(`${url}/dns`, { headers: own })).json;
  expect(dns.zones).toEqual([{ domain_id: "1181", name: "user-5.example", service_id: dns.service_ids[0] }]);
  expect((await ask(`${url}/service/${dns.service_ids[0]}/dns/1181`, { headers: own })).json.records["0"]).toMatchObject({ type: "SOA" });
  expect((await ask(`${url}/invoice`, { headers: own })).json.invoices.map((invoice: { id: string }) => invoice.id)).toEqual([
    "1007",
    "1006",
  ]);
  expect((await ask(`${url}/service`, { headers: own })).json.services).toHaveLength(2);
  const pair = await login(url, "new@example.com", "one");
  await act("token.expire", { id: claimsOf(pair.token).jti });
  await act("token.revoke", { id: claimsOf(pair.refresh).jti });
  const other = claimsOf((await login(url, "new@example.com", "one")).token).sid;
  await act("session.end", { id: other });
  await act("user.edit", { id, email: "newer@example.com" });
  await act("user.shiftClock", { id, seconds: 60 });
  await act("totp.setUp", { id });
  await act("totp.remove", { id });
  await act("limits.reset", {});
  await act("user.remove", { id });
  await expect.poll(() => logs.at(-1)?.text).toBe("Removed user newer@example.com");
  const requests = /^(?:GET|POST) /;
  expect(logs.map(({ text }) => text).filter((text) => !requests.test(text) && text.includes("@example.com"))).toEqual([
    "Added user new@example.com",
    "Expired an access token of new@example.com",
    "Revoked a refresh token of new@example.com",
    "Ended a session of new@example.com",
    "Edited user new@example.com, newer@example.com from now on",
    "Shifted the clock of newer@example.com: 60 s from now",
    "Set up the second factor of newer@example.com",
    "Removed the second factor of newer@example.com",
    "Removed user newer@example.com",
  ]);
});

it("[AC-48] a contact accepts and refuses the same values as PUT /details", async () => {
  const { url, act } = await startAccount();
  for (const country of ["Germany", "D", "D1", "\u0001E"]) {
    await expect(act("user.edit", { id: 1, contact: { country } })).rejects.toMatchObject({ code: "CALL_INVALID" });
    expect((await send(`${url}/details`, "PUT", { country }, basic())).text).toBe('{"error":["invalidfield: country"]}');
  }
  for (const [given, kept] of [
    ["", ""],
    [" de ", "DE"],
  ] as const) {
    expect((await act("user.edit", { id: 1, contact: { country: given } })).contact.country).toBe(kept);
    expect((await send(`${url}/details`, "PUT", { country: given }, basic())).json.client.country).toBe(kept);
  }
  // A user that the page made sends back what it was told.
  await act("user.add", { email: "new@example.com", password: "one" });
  expect((await send(`${url}/details`, "PUT", { country: "" }, basic("new@example.com", "one"))).status).toBe(200);
  await expect(act("user.edit", { id: 1, contact: { city: "a\nb" } })).rejects.toMatchObject({ code: "CALL_INVALID" });
});

it("[AC-49] a session is expired when its last token has expired by the user's clock, and ended when it was revoked", async () => {
  const service = await startAccount();
  const { url, act, view } = service;
  const id = await userId(service);
  const first = await login(url);
  await login(url);
  const states = async () => (await act("session.list", {})).sessions.map(({ state, liveTokens }) => `${state} ${liveTokens}`);
  const counts = async () => [(await act("session.list", { live: true })).matching, (await act("user.read", { id }))?.liveSessions];
  expect([await states(), await counts()]).toEqual([
    ["live 2", "live 2"],
    [2, 2],
  ]);
  await act("token.expire", { id: claimsOf(first.token).jti });
  expect(await states()).toEqual(["live 2", "live 1"]);
  await act("token.expire", { id: claimsOf(first.refresh).jti });
  expect([await states(), await counts()]).toEqual([
    ["live 2", "expired 0"],
    [1, 1],
  ]);
  await act("user.shiftClock", { id, seconds: 31 * 86_400 });
  expect([await states(), await counts()]).toEqual([
    ["expired 0", "expired 0"],
    [0, 0],
  ]);
  expect((await act("user.list", {})).users[0]?.liveSessions).toBe(0);
  await view("totals", ({ liveSessions, liveTokens }) => liveSessions === 0 && liveTokens === 0);
  await act("user.shiftClock", { id, seconds: 0 });
  expect([await states(), await counts()]).toEqual([
    ["live 2", "expired 0"],
    [1, 1],
  ]);
  const last = (await act("token.list", { live: true })).tokens;
  for (const token of last) await act("token.revoke", { id: token.id });
  expect(await act("session.read", { id: last[0]?.sessionId ?? "" })).toMatchObject({ state: "ended", ended: "last token revoked" });
  expect(await act("session.read", { id: "unknown" })).toBeNull();
  // Who has not brought the code in time waits no longer.
  const half = await send(`${url}/login`, "POST", { username: "mfa@example.com", password });
  expect((await states())[0]).toBe("waiting for code 1");
  // In the list as in the inspector.
  expect([(await act("user.list", { text: "mfa@" })).users[0], await act("user.read", { id: 3 })]).toMatchObject([
    { liveSessions: 0 },
    { liveSessions: 0 },
  ]);
  await act("token.expire", { id: claimsOf(half.json.mfa.token).jti });
  expect((await states())[0]).toBe("expired 0");
});

it("[AC-50] shifting one user's clock expires only that user's tokens, and shifting it back makes them valid again", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const [mine, other] = [await login(url), await login(url, "billing@example.org")];
  const id = await userId(service);
  expect((await act("user.shiftClock", { id, seconds: 3_601 })).clockShiftSeconds).toBe(3_601);
  expect((await ask(`${url}/details`, { headers: bearer(mine.token) })).text).toBe('{"error":["tokenexpired"]}');
  expect((await ask(`${url}/details`, { headers: bearer(other.token) })).status).toBe(200);
  const { tokens } = await act("token.list", { user: id });
  expect(tokens.map(({ kind, state }) => `${kind} ${state}`)).toEqual(["refresh live", "access expired"]);
  const renewed = (await send(`${url}/token`, "POST", { refresh_token: mine.refresh })).json;
  expect(Number(claimsOf(renewed.token).iat)).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1_000) + 3_600);
  expect((await ask(`${url}/details`, { headers: bearer(renewed.token) })).status).toBe(200);
  await act("user.shiftClock", { id, seconds: 0 });
  expect((await ask(`${url}/details`, { headers: bearer(mine.token) })).status).toBe(200);
});

it("[AC-51] Try sends real requests: login, second factor, then a call; or one call with Basic", async () => {
  const { act, ended } = await startAccount();
  const plain = await act("try", { username: email, password, target: "/api/dns" });
  expect([plain.codeNeeded, plain.steps.map(({ title, status }) => `${title} ${status}`)]).toEqual([false, ["login 200", "call 200"]]);
  const call = plain.steps[1];
  expect(Buffer.from(call?.body.base64 ?? "", "base64").toString()).toContain('"domain_id":"1178"');
  expect(call?.request.headers[0]?.[1]).toMatch(/^Bearer ey/);
  expect((await ended(({ target }) => target === "/login")).client).toBe("backlot");
  const row = await ended(({ target }) => target === "/api/dns");
  expect([row.id, row.user]).toEqual([call?.row, email]);

  const wrong = await act("try", { username: email, password: "x" });
  expect(wrong.steps.map(({ title, status }) => `${title} ${status}`)).toEqual(["login 401"]);
  const basicTry = await act("try", {
    username: email,
    password,
    scheme: "basic",
    method: "PUT",
    target: "/details",
    body: '{"city":"X"}',
  });
  expect(basicTry.steps.map(({ title, status }) => `${title} ${status}`)).toEqual(["call 200"]);
  const half = await act("try", { username: "mfa@example.com", password });
  expect([half.codeNeeded, half.steps.length]).toEqual([true, 1]);
  const { code } = (await act("totp.code", { id: 3 })) ?? { code: "" };
  const whole = await act("try", { username: "mfa@example.com", password, code });
  expect(whole.steps.map(({ title, status }) => `${title} ${status}`)).toEqual(["login 200", "second factor 200", "call 200"]);
  await expect(act("try", { username: email, password, target: "//elsewhere.example/" })).rejects.toMatchObject({ code: "CALL_INVALID" });
});

it("[AC-52] sample traffic runs until stopped, and stops by itself where its login is refused", async () => {
  const { act, view, ended } = await startAccount();
  await act("sample.start", {});
  await view("sample", ({ running }) => running);
  expect((await ended(({ target }) => target === "/login")).tone).toBe("ok");
  expect((await ended(({ target }) => target === "/service")).user).toBe(email);
  await act("sample.stop", {});
  await view("sample", ({ running }) => !running);
  const other = await startAccount();
  await other.act("user.setPassword", { id: 1, password: "changed" });
  await other.act("sample.start", {});
  await other.ended(({ target, outcome }) => target === "/login" && outcome === "401");
  await expect.poll(() => other.logs.some(({ text }) => text.includes("Sample traffic stopped"))).toBe(true);
});

it("[AC-53] views report totals, users, sessions, tokens and limits, with a bounded size", async () => {
  const { url, act, view } = await startAccount({ loginFailures: 1_000 });
  await view("users", ({ users }) => users.length === 4);
  await Promise.all(Array.from({ length: 60 }, () => login(url)));
  const tokens = await view("tokens", ({ matching }) => matching === 120);
  expect(tokens.tokens).toHaveLength(100);
  expect(await view("sessions", ({ matching }) => matching === 60)).toMatchObject({ sessions: { length: 60 } });
  await send(`${url}/login`, "POST", { username: "a@example.com", password: "x" });
  const limits = await view("limits", ({ accounts }) => accounts === 1);
  expect(limits).toMatchObject({ failures: 1_000, windowSeconds: 900, addresses: 1 });
  expect(limits.busiest).toEqual([
    { kind: "address", name: "127.0.0.1", failures: 1 },
    { kind: "account", name: "a@example.com", failures: 1 },
  ]);
  const totals = await view("totals", ({ failedLogins }) => failedLogins === 1);
  expect(totals).toMatchObject({ users: 4, liveSessions: 60, liveTokens: 120, logins: 60 });
  // Whatever the limit counts has failed, Basic's too; a login is done with its second factor.
  await ask(`${url}/details`, { headers: basic(email, "x") });
  await act("try", { username: "mfa@example.com", password, code: (await act("totp.code", { id: 3 }))?.code ?? "" });
  await view("totals", ({ failedLogins, logins }) => failedLogins === 2 && logins === 61);
});

it("[AC-53] the counts of the views use an index, also in a file that was created without it", async () => {
  const service = await startAccount();
  await service.stop();
  const file = path.join(service.dataDir, "account.db");
  const made = new Sqlite(file);
  made.exec("DROP INDEX live_tokens");
  made.close();
  await (await startAccount({}, service)).stop();
  const again = new Sqlite(file, { readonly: true });
  expect(again.prepare("SELECT sql FROM sqlite_master WHERE name = 'live_tokens'").pluck().get()).toContain("WHERE state = 'live'");
  again.close();
});
