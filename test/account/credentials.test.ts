import crypto, { type ScryptOptions } from "node:crypto";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createBasicCache } from "../../servers/account/access/basic-cache.ts";
import { createFailureLimits } from "../../servers/core/credentials/failure-limits.ts";
import { type LoginClient, TooBusy } from "../../servers/core/credentials/login-queue.ts";
import { createPasswords } from "../../servers/core/credentials/passwords.ts";
import { curl } from "../http/curl.ts";
import { leastCpuMs, processCpuMs } from "../support/cpu-time.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { ask, basic, bearer, email, login, password, send, startAccount, userId } from "./harness.ts";

const clientAt = (address: string, connection: object = {}): LoginClient => ({ address, connection, hasLeft: () => false });
const someLogin = { client: clientAt("192.0.2.1"), account: "a@example.com" };

it("[AC-11] the secret is made once per installation, for its owner only; tokens stay valid after a restart", async () => {
  const service = await startAccount();
  const file = path.join(service.dataDir, "signing-key");
  const secret = readFileSync(file, "utf8");
  expect(Buffer.from(secret.trim(), "base64url").length).toBe(32);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(path.join(service.dataDir, "account.db")).mode & 0o777).toBe(0o600);
  const { token } = await login(service.url);
  await service.stop();
  chmodSync(file, 0o644);
  const again = await startAccount({}, service);
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([secret, 0o600]);
  expect((await ask(`${again.url}/details`, { headers: bearer(token) })).status).toBe(200);
  // Another installation has another secret.
  const other = await startAccount();
  expect((await ask(`${other.url}/details`, { headers: bearer(token) })).text).toBe('{"error":["invalidtoken"]}');
});

it("[AC-11] a key file without a valid key is named in the error and kept", async () => {
  const dataDir = temporaryDir();
  writeFileSync(path.join(dataDir, "signing-key"), "short\n", { mode: 0o600 });
  await expect(startAccount({}, { dataDir })).rejects.toMatchObject({
    code: "STORE_DAMAGED",
    message: expect.stringContaining("signing-key"),
  });
  expect(readFileSync(path.join(dataDir, "signing-key"), "utf8")).toBe("short\n");
});

it("[AC-11] a key file that a full disk or a crash left without content is made again", async () => {
  const dataDir = temporaryDir();
  writeFileSync(path.join(dataDir, "signing-key"), "", { mode: 0o600 });
  const { url } = await startAccount({}, { dataDir });
  expect((await login(url)).token).not.toBe("");
});

it("[AC-12] passwords are stored as scrypt with their parameters, and hashed again at a login when the cost has changed", async () => {
  const cheap = createPasswords({ costExponent: 10 });
  const stored = await cheap.hash("secret");
  expect(stored).toMatch(/^scrypt\$1024\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
  expect(await cheap.hash("secret")).not.toBe(stored);
  const dear = createPasswords({ costExponent: 12 });
  expect([
    await dear.verify("secret", stored, someLogin),
    await dear.verify("Secret", stored, someLogin),
    await dear.verify("secret", undefined, someLogin),
  ]).toEqual([true, false, false]);
  expect([cheap.isOutdated(stored), dear.isOutdated(stored)]).toEqual([false, true]);
  expect(await cheap.verify("secret", "not a hash", someLogin)).toBe(false);

  const service = await startAccount();
  await service.stop();
  const again = await startAccount({ scryptCost: 11 }, service);
  await login(again.url);
  await again.stop();
  const bytes = readFileSync(path.join(service.dataDir, "account.db"), "latin1");
  expect(bytes).toContain("scrypt$2048$8$1$");
  expect(bytes).not.toContain(password);
});

it("[AC-13] Basic is accepted for every call; the name ends at the first colon and both parts are UTF-8", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const answer = await curl("-u", `${email}:${password}`, `${url}/details`);
  expect([answer.status, JSON.parse(answer.body).client.email]).toEqual([200, email]);
  await act("user.setPassword", { id: await userId(service), password: "pä:ß:wörd" });
  expect((await ask(`${url}/details`, { headers: basic(email, "pä:ß:wörd") })).status).toBe(200);
  expect((await ask(`${url}/details`, { headers: basic(email, "pä") })).status).toBe(401);
  for (const credentials of ["", "%%%", Buffer.from("nocolon").toString("base64"), Buffer.from([0xff, 0x3a, 0xfe]).toString("base64")]) {
    expect((await ask(`${url}/details`, { headers: { Authorization: `Basic ${credentials}` } })).status).toBe(401);
  }
});

it("[AC-14] accepted Basic credentials are cached as a keyed digest, for a limited time", () => {
  let at = 0;
  const cache = createBasicCache({ lastsMs: 300_000, now: () => at });
  const digest = cache.digest("YXBpOnNlY3JldA==");
  expect(digest).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  expect(createBasicCache({ lastsMs: 1 }).digest("YXBpOnNlY3JldA==")).not.toBe(digest);
  cache.add(digest, { userId: 1, credentials: 1 });
  at = 299_999;
  expect(cache.get(digest)).toMatchObject({ userId: 1 });
  at = 300_000;
  expect(cache.get(digest)).toBeUndefined();
  cache.add(digest, { userId: 1, credentials: 1 });
  cache.forgetUser(1);
  expect(cache.get(digest)).toBeUndefined();
  // Bounded, whatever comes.
  for (let index = 0; index < 10_050; index++) cache.add(`d${index}`, { userId: 2, credentials: 1 });
  expect([cache.get("d0"), cache.get("d10049")]).toEqual([undefined, expect.anything()]);
});

it("[AC-14] cached Basic credentials are checked quickly, and wrong ones are never cached", async () => {
  const { url } = await startAccount({ scryptCost: 14 });
  const request = (headers: Record<string, string>) => () => ask(`${url}/balance`, { headers });
  const first = await processCpuMs(request(basic()));
  const later = await leastCpuMs(request(basic()));
  expect(later).toBeLessThan(first / 2);
  expect(await leastCpuMs(request(basic(email, "x")), 2)).toBeGreaterThan(later * 2);
});

it("[AC-15] a new password, address or second factor clears the cached credentials at once", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const id = await userId(service);
  const status = async (headers: Record<string, string>) => (await ask(`${url}/details`, { headers })).status;
  expect(await status(basic())).toBe(200);
  await act("user.setPassword", { id, password: "another one" });
  expect([await status(basic()), await status(basic(email, "another one"))]).toEqual([401, 200]);
  expect((await send(`${url}/details`, "PUT", { email: "new@example.com" }, basic(email, "another one"))).status).toBe(200);
  expect([await status(basic(email, "another one")), await status(basic("new@example.com", "another one"))]).toEqual([401, 200]);
  await act("totp.setUp", { id });
  expect((await ask(`${url}/details`, { headers: basic("new@example.com", "another one") })).text).toBe('{"error":["mfarequired"]}');
  await act("totp.remove", { id });
  expect(await status(basic("new@example.com", "another one"))).toBe(200);
});

it("[AC-15] a new password ends the sessions, unless asked not to", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const id = await userId(service);
  const { token } = await login(url);
  await act("user.setPassword", { id, password: "second", endSessions: false });
  expect((await ask(`${url}/details`, { headers: bearer(token) })).status).toBe(200);
  await act("user.setPassword", { id, password: "third" });
  expect((await ask(`${url}/details`, { headers: bearer(token) })).status).toBe(401);
});

it("[AC-16] unknown user, disabled user and wrong password get the same answer after the same work", async () => {
  const { url } = await startAccount({ scryptCost: 14, loginFailures: 1_000 });
  const scrypt = vi.spyOn(crypto, "scrypt");
  syncBuiltinESMExports();
  onTestFinished(() => {
    scrypt.mockRestore();
    syncBuiltinESMExports();
  });
  const answers = new Set<string>();
  const works: unknown[] = [];
  for (const username of [email, "nobody@example.com", "former@example.com"]) {
    scrypt.mockClear();
    const answer = await send(`${url}/login`, "POST", { username, password: "wrong" });
    const headers = [...answer.headers].filter(([field]) => !/^(?:date|x-ratelimit)/.test(field));
    answers.add(JSON.stringify([answer.status, answer.text, headers]));
    works.push(scrypt.mock.calls.map(([secret, , keyBytes, cost]) => [secret, keyBytes, (cost as ScryptOptions).N]));
  }
  expect([...answers]).toHaveLength(1);
  expect(works).toEqual(Array.from({ length: 3 }, () => [["wrong", 32, 2 ** 14]]));
});

it("[AC-17] bad or missing credentials are 401 with both challenges, and an array of strings says why", async () => {
  const { url } = await startAccount();
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{}, "loginrequired"],
    [{ Authorization: "Digest x" }, "loginrequired"],
    [{ Authorization: "Bearer" }, "loginrequired"],
    [basic(email, "x"), "wronglogin"],
    [basic("x", ""), "wronglogin"],
  ];
  for (const [headers, error] of cases) {
    const answer = await ask(`${url}/details`, { headers });
    expect([answer.status, answer.text]).toEqual([401, JSON.stringify({ error: [error] })]);
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="client portal", Basic realm="client portal", charset="UTF-8"');
  }
  for (const body of [{ username: email, password: "x" }, { username: email }, {}, { username: 7, password: [] }, ""]) {
    const answer = await send(`${url}/login`, "POST", body);
    expect([answer.status, answer.text]).toEqual([401, '{"error":["wronglogin"]}']);
    expect(answer.headers.get("www-authenticate")).toContain("Basic");
  }
});

it("[AC-18] login responses report the failure limit; a successful login does not count as a failure", async () => {
  const { url } = await startAccount();
  const limitOf = ({ headers }: { headers: Headers }) => ["limit", "remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}`));
  const [limit, remaining, reset] = limitOf(await send(`${url}/login`, "POST", { username: email, password }));
  expect([limit, remaining]).toEqual(["25", "25"]);
  expect(Number(reset)).toBeGreaterThan(0);
  const wrong = await send(`${url}/login`, "POST", { username: email, password: "x" });
  expect(limitOf(wrong).slice(0, 2)).toEqual(["25", "24"]);
  expect(Number(limitOf(wrong)[2])).toBeGreaterThan(890);
  expect(limitOf(await ask(`${url}/details`, { headers: basic() }))).toEqual([null, null, null]);
  // Whatever is wrong: each answer of the two tells it.
  const bad = [
    await send(`${url}/login`, "POST", "{"),
    await send(`${url}/login`, "POST", { username: "x".repeat(70_000) }),
    await send(`${url}/login`, "POST", "<a/>", { "Content-Type": "text/xml" }),
    await send(`${url}/mfa/verify`, "POST", {}),
  ];
  expect(bad.map((answer) => [answer.status, ...limitOf(answer).slice(0, 2)])).toEqual(
    [400, 413, 415, 401].map((status) => [status, "25", "24"]),
  );
});

it("[AC-19] failures are limited per address: then 429 with Retry-After, also with the right password, until the window has passed", async () => {
  const { url, act } = await startAccount({ loginFailures: 3 });
  for (const username of ["a@example.com", "b@example.com", "c@example.com"]) {
    expect((await send(`${url}/login`, "POST", { username, password: "x" })).status).toBe(401);
  }
  const refused = await send(`${url}/login`, "POST", { username: email, password });
  expect([refused.status, refused.text, refused.headers.get("x-ratelimit-remaining")]).toEqual([429, '{"error":["toomanyattempts"]}', "0"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await ask(`${url}/details`, { headers: basic() })).status).toBe(429);
  await act("limits.reset", {});
  expect((await send(`${url}/login`, "POST", { username: email, password })).status).toBe(200);
});

it("[AC-19] concurrent failures cannot pass the limit together", async () => {
  const { url } = await startAccount({ loginFailures: 5 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(`${url}/login`, "POST", { username: email, password: "x" })));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
});

it("[AC-19] concurrent successful logins all pass: only failures count, and logins in progress delay others only while they run", async () => {
  const { url } = await startAccount({ loginFailures: 3 });
  const answers = await Promise.all(Array.from({ length: 30 }, () => send(`${url}/login`, "POST", { username: email, password })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  // Right and wrong ones mixed: each failure is one, and those after the last allowed one are refused.
  const mixed = await Promise.all(
    Array.from({ length: 12 }, (_, index) => send(`${url}/login`, "POST", { username: `${index}@example.com`, password: "x" })),
  );
  expect(mixed.map(({ status }) => status).sort()).toEqual([401, 401, 401, ...Array.from({ length: 9 }, () => 429)]);
});

it("[AC-19] the number of waiting logins is bounded: of who has most waiting one is asked to retry after a second", async () => {
  const limits = createFailureLimits({ failures: 1, windowMs: 1_000 });
  const first = await limits.begin(clientAt("192.0.2.1"), undefined);
  const many = clientAt("192.0.2.1", {});
  const others = Array.from({ length: 999 }, () => limits.begin(many, undefined));
  const few = limits.begin(clientAt("192.0.2.1"), undefined);
  const last = limits.begin(many, undefined);
  await expect(last).rejects.toBeInstanceOf(TooBusy);
  expect("refused" in (await limits.begin(clientAt("192.0.2.2"), undefined))).toBe(false);
  if (!("refused" in first)) first.failed();
  for (const other of [...others, few]) expect(await other).toMatchObject({ refused: true, remaining: 0 });
});

it("[AC-19] where a load test raises the limit, as many hashes may wait as logins", async () => {
  const passwords = createPasswords({ costExponent: 10 });
  const checks = Array.from({ length: 1_002 }, () => passwords.verify("x", undefined, someLogin));
  await expect(passwords.verify("x", undefined, someLogin)).rejects.toBeInstanceOf(TooBusy);
  expect(new Set(await Promise.all(checks))).toEqual(new Set([false]));
});

it("[AC-19] wrong Basic credentials count too, and cached ones are accepted while their address is limited", async () => {
  const { url } = await startAccount({ loginFailures: 2 });
  expect((await ask(`${url}/details`, { headers: basic() })).status).toBe(200);
  for (const secret of ["x", "y"]) await ask(`${url}/details`, { headers: basic("other@example.com", secret) });
  expect((await ask(`${url}/details`, { headers: basic("other@example.com", "z") })).status).toBe(429);
  expect((await ask(`${url}/details`, { headers: basic() })).status).toBe(200);
});

it("[AC-20] failures are limited per account, from any address; the window slides and a successful login resets it", async () => {
  let at = 0;
  const limits = createFailureLimits({ failures: 3, windowMs: 1_000, now: () => at });
  const attempt = async (address: string, account: string) => {
    const begun = await limits.begin(clientAt(address), account);
    return "refused" in begun ? undefined : begun;
  };
  for (const address of ["192.0.2.1", "192.0.2.2"]) (await attempt(address, "a@example.com"))?.failed();
  expect((await attempt("192.0.2.3", "A@Example.com"))?.succeeded(true)).toMatchObject({ remaining: 3 });
  for (let host = 1; host <= 3; host++) {
    at += 100;
    (await attempt(`198.51.100.${host}`, "a@example.com"))?.failed();
  }
  expect(await limits.begin(clientAt("203.0.113.9"), "a@example.com")).toEqual({ refused: true, remaining: 0, resetSeconds: 1 });
  expect(await attempt("203.0.113.9", "b@example.com")).toBeDefined();
  at = 1_100;
  expect(await attempt("203.0.113.9", "a@example.com")).toBeDefined();
  // One customer's IPv6 network is one address.
  for (let host = 1; host <= 3; host++) (await attempt(`2001:db8::${host}`, `u${host}`))?.failed();
  expect(await attempt("2001:db8::99", "u99")).toBeUndefined();
  limits.reset();
  expect(await attempt("2001:db8::99", "u99")).toBeDefined();
});

it("[AC-20] strangers who exhaust an account's failures slow down an address that logged in before, and do not lock it out", async () => {
  const limits = createFailureLimits({ failures: 3, windowMs: 60_000, slowedMs: 1 });
  const attempt = async (address: string, account = "a@example.com") => {
    const begun = await limits.begin(clientAt(address), account);
    return "refused" in begun ? undefined : begun;
  };
  (await attempt("192.0.2.1"))?.succeeded(true);
  // The right password without the second factor is no login.
  (await attempt("192.0.2.2"))?.succeeded(false);
  for (let host = 1; host <= 3; host++) (await attempt(`198.51.100.${host}`))?.failed();
  for (const stranger of ["203.0.113.9", "192.0.2.2"]) expect(await attempt(stranger), stranger).toBeUndefined();
  // Known for one account only, and limited by its own failures as every address is.
  expect((await attempt("192.0.2.1"))?.failed()).toMatchObject({ remaining: 2 });
  for (const remaining of [1, 0]) expect((await attempt("192.0.2.1"))?.failed()).toMatchObject({ remaining });
  expect(await attempt("192.0.2.1")).toBeUndefined();
  limits.reset();
  (await attempt("192.0.2.1", "b@example.com"))?.dropped();
  expect(limits.usage()).toMatchObject({ addresses: 0, accounts: 0 });

  const { url } = await startAccount({ loginFailures: 2, proxyHops: 1 });
  const from = (address: string, secret: string) =>
    send(`${url}/login`, "POST", { username: email, password: secret }, { "X-Forwarded-For": address });
  expect((await from("192.0.2.1", password)).status).toBe(200);
  const wrong = await Promise.all([1, 2].map((host) => from(`198.51.100.${host}`, "x")));
  expect(wrong.map(({ status }) => status)).toEqual([401, 401]);
  expect((await from("203.0.113.9", password)).status).toBe(429);
  expect((await from("192.0.2.1", password)).status).toBe(200);
});

it("[AC-20] X-Forwarded-For counts only where proxies are configured", async () => {
  const plain = await startAccount({ loginFailures: 1 });
  const from = (url: string, address: string) =>
    send(`${url}/login`, "POST", { username: `${address}@example.com`, password: "x" }, { "X-Forwarded-For": address });
  expect([(await from(plain.url, "192.0.2.1")).status, (await from(plain.url, "192.0.2.2")).status]).toEqual([401, 429]);
  const behind = await startAccount({ loginFailures: 1, proxyHops: 1 });
  expect([(await from(behind.url, "192.0.2.1")).status, (await from(behind.url, "192.0.2.2")).status]).toEqual([401, 401]);
});

it("[AC-21] with the option, failed logins answer 200 with the same body; too many still get 429", async () => {
  const { url } = await startAccount({ failedLoginAnswers200: true, loginFailures: 2 });
  for (const remaining of ["1", "0"]) {
    const answer = await send(`${url}/login`, "POST", { username: email, password: "x" });
    expect([answer.status, answer.text, answer.headers.get("x-ratelimit-remaining")]).toEqual([200, '{"error":["wronglogin"]}', remaining]);
    expect(answer.headers.get("www-authenticate")).toBeNull();
  }
  expect((await send(`${url}/login`, "POST", { username: email, password })).status).toBe(429);
  expect((await ask(`${url}/details`)).status).toBe(401);
});
