import { createSecretKey } from "node:crypto";
import Sqlite from "better-sqlite3";
import jsonwebtoken from "jsonwebtoken";
import { expect, it } from "vitest";
import { prepareSchema } from "../../servers/account/store/account-schema.ts";
import { createSessionsTable } from "../../servers/account/store/sessions-table.ts";
import { createUsersTable } from "../../servers/account/store/users-table.ts";
import { curl } from "../http/curl.ts";
import { ask, basic, bearer, claimsOf, email, login, password, send, signingKey, startAccount, userId } from "./harness.ts";

const pairShape = /^\{"token":"[\w-]+\.[\w-]+\.[\w-]+","refresh":"[\w-]+\.[\w-]+\.[\w-]+"\}$/;

it("[AC-1] POST /login accepts a form or JSON and returns exactly a token and a refresh token", async () => {
  const { url } = await startAccount();
  const bodies: readonly (readonly string[])[] = [
    ["-d", `username=${email}&password=${password}`],
    ["--data-urlencode", `username=${email}`, "--data-urlencode", `password=${password}`],
    ["-H", "Content-Type: application/json", "-d", JSON.stringify({ username: email, password })],
    // curl calls everything a form; others say nothing at all.
    ["-d", JSON.stringify({ username: email, password })],
    ["-H", "Content-Type:", "-d", `username=${email}&password=${password}`],
    ["-d", `username=${email.toUpperCase()}&password=${password}`],
    ["-F", `username=${email}`, "-F", `password=${password}`],
  ];
  for (const body of bodies) {
    const answer = await curl(...body, `${url}/login`);
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/json"]);
    expect(answer.body).toMatch(pairShape);
    expect(answer.headers["cache-control"]).toBe("no-store");
  }
});

it("[AC-2] every route is served under / and under /api", async () => {
  const { url } = await startAccount();
  const { token } = (await send(`${url}/api/login`, "POST", { username: email, password })).json;
  const paths = ["/details", "/balance", "/invoice", "/invoice/1001", "/service", "/service/32723", "/dns", "/service/292/dns/1178"];
  for (const path of paths) {
    const [plain, api] = await Promise.all([ask(url + path, { headers: bearer(token) }), ask(`${url}/api${path}`, { headers: basic() })]);
    expect([plain.status, api.status, api.text]).toEqual([200, 200, plain.text]);
  }
  expect((await send(`${url}/api/logout`, "POST", {}, bearer(token))).text).toBe('{"success":true}');
});

it("[AC-3] tokens are JSON Web Tokens: HS256, issuer, audience, access for an hour and refresh for 30 days, or as configured", async () => {
  const { url } = await startAccount();
  const before = Math.floor(Date.now() / 1_000);
  const { token, refresh } = await login(url);
  expect(JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString())).toEqual({ alg: "HS256", typ: "JWT" });
  const [access, renewal] = [claimsOf(token), claimsOf(refresh)];
  expect(Object.keys(access).sort()).toEqual(["aud", "exp", "iat", "iss", "jti", "sid", "sub"]);
  expect([access.iss, access.aud, access.exp - access.iat]).toEqual(["client-portal", "client-portal", 3_600]);
  expect([renewal.iss, renewal.exp - renewal.iat]).toEqual(["client-portal", 30 * 86_400]);
  expect(access.iat).toBeGreaterThanOrEqual(before);

  const other = await startAccount({ accessSeconds: 60, refreshSeconds: 120, issuer: "portal.example", audience: "clients" });
  const pair = await login(other.url);
  expect(claimsOf(pair.token)).toMatchObject({ iss: "portal.example", aud: "clients" });
  expect(claimsOf(pair.token).exp - claimsOf(pair.token).iat).toBe(60);
  expect(claimsOf(pair.refresh).exp - claimsOf(pair.refresh).iat).toBe(120);
});

it("[AC-4] a Bearer token gives access to the account; the scheme is case-insensitive", async () => {
  const { url } = await startAccount();
  const { token } = await login(url);
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    const answer = await ask(`${url}/details`, { headers: { Authorization: `${scheme} ${token}` } });
    expect([answer.status, answer.json.client.email]).toEqual([200, email]);
  }
});

it("[AC-5] the algorithm is pinned; signature, issuer, audience and expiry are checked; a refresh token is not accepted as an access token", async () => {
  const service = await startAccount();
  const { url } = service;
  const { token, refresh } = await login(url);
  const claims = claimsOf(token);
  const key = createSecretKey(signingKey(service));
  const parts = token.split(".");
  const none = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${parts[1]}.`;
  const sign = (payload: object, algorithm: jsonwebtoken.Algorithm = "HS256", secret = key) =>
    jsonwebtoken.sign(payload, secret, { algorithm });
  const now = Math.floor(Date.now() / 1_000);
  expect((await ask(`${url}/details`, { headers: bearer(sign(claims)) })).status).toBe(200);
  const forged: readonly (readonly [string, string])[] = [
    [none, "invalidtoken"],
    [sign(claims, "HS512"), "invalidtoken"],
    [sign(claims, "HS256", createSecretKey(Buffer.alloc(32, 7))), "invalidtoken"],
    [`${parts[0]}.${parts[1]}.${(parts[2] ?? "").slice(0, -2)}AA`, "invalidtoken"],
    [sign({ ...claims, iss: "another" }), "invalidtoken"],
    [sign({ ...claims, aud: "another" }), "invalidtoken"],
    [sign({ ...claims, exp: now - 1 }), "tokenexpired"],
    [sign({ ...claims, jti: "unknown" }), "tokenrevoked"],
    [sign({ sub: "1", iss: "client-portal", aud: "client-portal" }), "invalidtoken"],
    [refresh, "invalidtoken"],
    ["x", "invalidtoken"],
    ["a.b.c", "invalidtoken"],
  ];
  for (const [text, error] of forged) {
    const answer = await ask(`${url}/details`, { headers: bearer(text) });
    expect([answer.status, answer.text], text).toEqual([401, JSON.stringify({ error: [error] })]);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer realm="client portal", error="invalid_token", error_description="/);
  }
  expect((await send(`${url}/token`, "POST", { refresh_token: token })).status).toBe(401);
});

it("[AC-160] the row says why credentials were refused, without them", async () => {
  const service = await startAccount();
  const { url } = service;
  const { token, refresh } = await login(url);
  const claims = claimsOf(token);
  const now = Math.floor(Date.now() / 1_000);
  const key = createSecretKey(signingKey(service));
  const sign = (payload: object, secret = key) => jsonwebtoken.sign(payload, secret, { algorithm: "HS256" });
  const other = createSecretKey(Buffer.alloc(32, 7));
  const tokens: readonly (readonly [authorization: string, reason: string])[] = [
    [`Bearer "${token}"`, "invalidtoken: it is in quotes or brackets"],
    ["Bearer opaque-secret", "invalidtoken: it is not a JWT"],
    [`Bearer ${sign(claims, other)}`, "invalidtoken: wrong signature"],
    [
      `Bearer ${sign({ ...claims, iss: "https://id.example", exp: now - 1 }, other)}`,
      'invalidtoken: wrong signature, issuer "https://id.example", expired',
    ],
    [`Bearer ${sign({ ...claims, iss: "i".repeat(1_000) })}`, `invalidtoken: issuer "${"i".repeat(60)}"`],
    [`Bearer ${sign({ ...claims, aud: "another" })}`, "invalidtoken: other audience"],
    [`Bearer ${refresh}`, "invalidtoken: of kind refresh"],
    [`Bearer ${jsonwebtoken.sign(claims, null, { algorithm: "none" })}`, "invalidtoken: no signature"],
    [`Bearer ${jsonwebtoken.sign(claims, key, { algorithm: "HS512" })}`, "invalidtoken: not signed with HS256"],
    [`Token ${token}`, "loginrequired: the scheme Token is unknown here"],
    [`Tokken ${token}`, "loginrequired: without a known scheme: Bearer or Basic"],
    [token, "loginrequired: without a known scheme: Bearer or Basic"],
    ["Bearer", "loginrequired: nothing behind Bearer"],
    ["Bearer two words", "loginrequired: spaces in the credentials"],
    ["Basic !!!", "wronglogin: not the Base64 of a name, a colon and a password"],
  ];
  for (const [index, [authorization, reason]] of tokens.entries()) {
    const answer = await ask(`${url}/details?n=${index}`, { headers: { Authorization: authorization } });
    expect([answer.status, answer.text]).toEqual([401, JSON.stringify({ error: [reason.split(":")[0]] })]);
    expect((await service.ended(({ target }) => target === `/details?n=${index}`)).reason).toBe(reason);
  }
  const [, , signature = ""] = token.split(".");
  for (const secret of [signature, "opaque-secret", "two words", "!!!"]) expect(service.told()).not.toContain(secret);
});

it("[AC-6] POST /token gives a new pair for a refresh token, by form or JSON, and the old one no longer works", async () => {
  const { url } = await startAccount();
  const first = await login(url);
  const second = await send(`${url}/token`, "POST", { refresh_token: first.refresh });
  expect([second.status, second.text]).toEqual([200, expect.stringMatching(pairShape)]);
  const third = await curl("-d", `refresh_token=${second.json.refresh}`, `${url}/token`);
  expect([third.status, third.body]).toEqual([200, expect.stringMatching(pairShape)]);
  for (const { token } of [first, second.json, JSON.parse(third.body)]) {
    expect((await ask(`${url}/details`, { headers: bearer(token) })).status).toBe(200);
  }
  const again = await send(`${url}/token`, "POST", { refresh_token: second.json.refresh });
  expect([again.status, again.text]).toEqual([401, '{"error":["tokenused"]}']);
  const missing = await send(`${url}/token`, "POST", {});
  expect([missing.status, missing.text]).toEqual([400, '{"error":["missingfield: refresh_token"]}']);
});

it("[AC-6] of concurrent requests with the same refresh token, exactly one gets a pair", async () => {
  const { url } = await startAccount();
  const { refresh } = await login(url);
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(`${url}/token`, "POST", { refresh_token: refresh })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

it("[AC-7] a session keeps its newest 500 tokens; a refresh token that was dropped still ends it", async () => {
  const { url, act } = await startAccount();
  const first = await login(url);
  let pair = first;
  for (let round = 0; round < 260; round++) pair = (await send(`${url}/token`, "POST", { refresh_token: pair.refresh })).json;
  expect((await act("token.list", {})).matching).toBe(500);
  expect((await ask(`${url}/details`, { headers: bearer(pair.token) })).status).toBe(200);
  expect((await send(`${url}/token`, "POST", { refresh_token: first.refresh })).text).toBe('{"error":["tokenused"]}');
  expect((await ask(`${url}/details`, { headers: bearer(pair.token) })).text).toBe('{"error":["tokenrevoked"]}');
});

it("[AC-7] what has long expired is deleted, by the user's own clock", () => {
  const database = new Sqlite(":memory:");
  prepareSchema(database, "memory");
  const [users, sessions] = [createUsersTable(database), createSessionsTable(database)];
  const now = 1_700_000_000_000;
  const day = 86_400_000;
  const kept = [0, -40, 40].map((days) => {
    const { id } = users.add({ email: `${days}@example.com`, password: "", contact: {} });
    users.set(id, { clock_shift_s: days * 86_400 });
    const session_id = sessions.begin({ user_id: id, state: "live", started_at: now, address: "", client: "" });
    return [-2 * day, day].map((ahead, index) => {
      const expires_at = now + days * day + ahead;
      const token = {
        id: `${days} ${index}`,
        session_id,
        user_id: id,
        kind: "access",
        state: "live",
        issued_at: 0,
        expires_at,
        claims: "{}",
      } as const;
      sessions.addToken(token);
      return token.id;
    });
  });
  sessions.prune(now, { sessions: 100, tokens: 100 });
  expect(kept.map((ids) => ids.map((id) => sessions.token(id) !== undefined))).toEqual([
    [false, true],
    [false, true],
    [false, true],
  ]);
  database.close();
});

it("[AC-7] what has expired at once is deleted in parts", () => {
  const database = new Sqlite(":memory:");
  prepareSchema(database, "memory");
  const [users, sessions] = [createUsersTable(database), createSessionsTable(database)];
  const { id } = users.add({ email: "one@example.com", password: "", contact: {} });
  const session_id = sessions.begin({ user_id: id, state: "live", started_at: 0, address: "", client: "" });
  const now = 1_700_000_000_000;
  for (let number = 0; number < 1_200; number++)
    sessions.addToken({
      id: String(number),
      session_id,
      user_id: id,
      kind: "access",
      state: "live",
      issued_at: 0,
      expires_at: 1,
      claims: "{}",
    });
  const left = () => sessions.tokens({ live: false, offset: 0, limit: 1 }, now).matching;
  const prune = () => [sessions.prune(now, { sessions: 100, tokens: 2_000 }), left()];
  expect([prune(), prune(), prune()]).toEqual([
    [false, 700],
    [false, 200],
    [true, 0],
  ]);
  expect(sessions.get(session_id, now)).toBeUndefined();
  database.close();
});

it("[AC-7] a reused refresh token ends its session, and no other", async () => {
  const { url } = await startAccount();
  const [stolen, other] = [await login(url), await login(url)];
  const next = (await send(`${url}/token`, "POST", { refresh_token: stolen.refresh })).json;
  await send(`${url}/token`, "POST", { refresh_token: stolen.refresh });
  for (const token of [stolen.token, next.token]) {
    const answer = await ask(`${url}/details`, { headers: bearer(token) });
    expect([answer.status, answer.text]).toEqual([401, '{"error":["tokenrevoked"]}']);
  }
  expect((await send(`${url}/token`, "POST", { refresh_token: next.refresh })).status).toBe(401);
  expect((await ask(`${url}/details`, { headers: bearer(other.token) })).status).toBe(200);
});

it("[AC-8] POST /revoke ends the session of a refresh token or of a Bearer", async () => {
  const { url } = await startAccount();
  const [first, second] = [await login(url), await login(url)];
  const byForm = await curl("-d", `refresh_token=${first.refresh}`, `${url}/revoke`);
  expect([byForm.status, byForm.body]).toEqual([200, '{"success":true}']);
  const byBearer = await curl("-X", "POST", "-H", `Authorization: Bearer ${second.token}`, `${url}/revoke`);
  expect([byBearer.status, byBearer.body]).toEqual([200, '{"success":true}']);
  for (const { token, refresh } of [first, second]) {
    expect((await ask(`${url}/details`, { headers: bearer(token) })).text).toBe('{"error":["tokenrevoked"]}');
    expect((await send(`${url}/token`, "POST", { refresh_token: refresh })).text).toBe('{"error":["tokenrevoked"]}');
  }
  // RFC 7009 §2.2: revoking twice is no mistake, bringing another's text is.
  expect((await send(`${url}/revoke`, "POST", { refresh_token: first.refresh })).status).toBe(200);
  expect((await send(`${url}/revoke`, "POST", { refresh_token: "x.y.z" })).status).toBe(401);
  expect((await send(`${url}/revoke`, "POST", {})).status).toBe(401);
});

it("[AC-9] POST /logout refuses that token from then on, and its refresh token; it takes a Bearer only", async () => {
  const { url } = await startAccount();
  const { token, refresh } = await login(url);
  expect((await send(`${url}/logout`, "POST", {}, basic())).status).toBe(401);
  const answer = await curl("-X", "POST", "-H", `Authorization: Bearer ${token}`, `${url}/logout`);
  expect([answer.status, answer.body]).toEqual([200, '{"success":true}']);
  expect((await ask(`${url}/details`, { headers: bearer(token) })).text).toBe('{"error":["tokenrevoked"]}');
  expect((await send(`${url}/token`, "POST", { refresh_token: refresh })).status).toBe(401);
  expect((await send(`${url}/logout`, "POST", {}, bearer(token))).status).toBe(401);
});

it("[AC-10] a disabled user is refused with token, Basic and login, also after a restart", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const { token } = await login(url);
  expect((await ask(`${url}/details`, { headers: basic() })).status).toBe(200);
  await act("user.enable", { id: await userId(service), enabled: false });
  expect((await ask(`${url}/details`, { headers: bearer(token) })).status).toBe(401);
  expect((await ask(`${url}/details`, { headers: basic() })).text).toBe('{"error":["wronglogin"]}');
  expect((await send(`${url}/login`, "POST", { username: email, password })).text).toBe('{"error":["wronglogin"]}');
  await service.stop();
  const again = await startAccount({}, service);
  expect((await ask(`${again.url}/details`, { headers: basic() })).status).toBe(401);
  await again.act("user.enable", { id: await userId(again), enabled: true });
  expect((await ask(`${again.url}/details`, { headers: basic() })).status).toBe(200);
});
