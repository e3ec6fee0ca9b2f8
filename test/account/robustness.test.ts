import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { gzipSync } from "node:zlib";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { jsonFields } from "../../servers/account/routes/request-fields.ts";
import { curl } from "../http/curl.ts";
import { httpRequest } from "../support/http-request.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { ask, basic, bearer, email, login, password, send, startAccount } from "./harness.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20_261_121);

it("[AC-41] unknown paths are 404 and other methods 405 with Allow, in the common error shape", async () => {
  const { url } = await startAccount();
  for (const path of ["/", "/api", "/nothing", "/api/nothing", "/service/1/dns", "/api/api/details", "/details/1"]) {
    const answer = await ask(url + path, { headers: basic() });
    expect([answer.status, answer.text], path).toEqual([404, '{"error":["notfound"]}']);
  }
  expect((await ask(`${url}/nothing`, { method: "OPTIONS" })).status).toBe(404);
  const cases: readonly (readonly [string, string, string])[] = [
    ["GET", "/login", "POST, OPTIONS"],
    ["DELETE", "/details", "GET, HEAD, PUT, OPTIONS"],
    ["POST", "/api/dns", "GET, HEAD, OPTIONS"],
    ["PATCH", "/service/292/dns/1178/records/4", "PUT, DELETE, OPTIONS"],
  ];
  for (const [method, path, allow] of cases) {
    const answer = await ask(url + path, { method });
    expect([answer.status, answer.text, answer.headers.get("allow")]).toEqual([405, '{"error":["methodnotallowed"]}', allow]);
  }
});

it("[AC-42] HEAD is GET without content; OPTIONS is 204 and allows pages of any origin to send Authorization", async () => {
  const { url } = await startAccount();
  const head = await curl("--head", "-u", `${email}:${password}`, `${url}/balance`);
  expect([head.status, head.body, head.headers["content-length"]]).toEqual([200, "", "72"]);
  const preflight = await curl("-X", "OPTIONS", "-H", "Origin: https://example.com", `${url}/details`);
  expect([preflight.status, preflight.headers]).toEqual([
    204,
    expect.objectContaining({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
      "access-control-allow-headers": "Authorization, Content-Type",
      allow: "GET, HEAD, PUT, OPTIONS",
    }),
  ]);
  // A browser that asks first shall get as far as the 404.
  const asked = await curl("-X", "OPTIONS", "-H", "Access-Control-Request-Method: GET", `${url}/nothing`);
  expect([asked.status, asked.headers["access-control-allow-origin"]]).toEqual([204, "*"]);
});

it("[AC-2] escaped plain characters and repeated slashes do not change the path", async () => {
  const { url } = await startAccount();
  for (const path of ["/%64etails", "//details", "/api//details", "//api/Details?a=//b", "/details/"]) {
    expect((await httpRequest(url, { path, headers: basic() })).status, path).toBe(200);
  }
  for (const path of ["/%zz", "/invoice/%zz", "/%ff"]) {
    const answer = await httpRequest(url, { path, headers: basic() });
    expect([answer.status, answer.body], path).toEqual([400, '{"error":["invalidpath"]}']);
  }
  expect((await httpRequest(url, { path: "/details%2f", headers: basic() })).status).toBe(404);
});

it("[AC-43] a body that is not JSON, not an object or not UTF-8 is 400; unsupported encodings and types are 415", async () => {
  const { url } = await startAccount();
  const post = async (body: string | Uint8Array, headers: Record<string, string> = {}) => {
    const { status, text } = await send(`${url}/login`, "POST", body, headers);
    return [status, text];
  };
  for (const body of ["{", "{'a':1}", "undefined", "{}x", "[1,", '{"a":1']) {
    expect(await post(body), body).toEqual([400, '{"error":["invalidjson"]}']);
  }
  for (const body of ["[1]", "null", "7", '"text"', new Uint8Array([0xff, 0xfe])])
    expect(await post(body)).toEqual([400, '{"error":["invalidbody"]}']);
  // What begins like JSON is read as JSON, whatever the client calls it.
  expect((await post(`username=${email}&password=${password}`))[0]).toBe(200);
  expect(await post("{bad", { "Content-Type": "application/x-www-form-urlencoded" })).toEqual([400, '{"error":["invalidjson"]}']);
  expect(await post(gzipSync("{}"), { "Content-Encoding": "gzip" })).toEqual([415, '{"error":["unsupportedencoding"]}']);
  expect(await post("x", { "Content-Type": "multipart/form-data; boundary=x" })).toEqual([400, '{"error":["badrequest"]}']);
  expect(await post("x", { "Content-Type": "application/xml" })).toEqual([415, '{"error":["unsupportedtype"]}']);
  expect((await post(`\ufeff${JSON.stringify({ username: email, password })}`))[0]).toBe(200);
  expect((await post(`${"[".repeat(30_000)}${"]".repeat(30_000)}`))[0]).toBe(400);
});

it("[AC-44] a body above the limit is 413, with and without Content-Length, and before it is sent if the client asks first", async () => {
  const { url } = await startAccount({ bodyBytes: 2_048 });
  const large = JSON.stringify({ username: email, password, padding: "x".repeat(3_000) });
  const tooLarge = await send(`${url}/login`, "POST", large);
  expect([tooLarge.status, tooLarge.text]).toEqual([413, '{"error":["bodytoolarge"]}']);
  expect((await curl("-H", "Transfer-Encoding: chunked", "-d", large, `${url}/login`)).status).toBe(413);
  expect((await curl("-H", "Expect: 100-continue", "-d", large, `${url}/login`)).all).toMatch(/^HTTP\/1.1 413/);
  const asked = await curl("-H", "Expect: 100-continue", "-d", `username=${email}&password=${password}`, `${url}/login`);
  expect(asked.all).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200/);
});

it("[AC-45] bytes that are not a request are answered in the same shape, and a client that disconnects does no harm", async () => {
  const { url, port, logs } = await startAccount();
  expect((await httpRequest(url, { path: "/service/%ff" })).status).toBe(400);
  await Promise.all(
    Array.from(
      { length: 20 },
      (_, index) =>
        new Promise<void>((resolve) => {
          const socket = connect(port, "127.0.0.1", () => {
            socket.write(
              index % 2 === 0
                ? "POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{"
                : `POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 28\r\n\r\n{"username":"a","password":"b"}`,
            );
            setTimeout(() => socket.destroy(), 5);
          });
          socket.on("close", () => resolve());
        }),
    ),
  );
  expect((await ask(`${url}/details`, { headers: basic() })).status).toBe(200);
  expect(logs.filter(({ level }) => level === "error")).toEqual([]);
});

it(`[AC-46] random requests get an answer of the API, never an internal error, and the data stays intact (seed ${seed})`, async () => {
  const service = await startAccount({ loginFailures: 100_000 });
  const { url, logs, stop, dataDir } = service;
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]) => items[random.below(items.length)] as Item;
  const { token, refresh } = await login(url);
  const paths = ["/login", "/token", "/revoke", "/mfa/verify", "/details", "/balance", "/invoice/1001", "/service/292", "/dns"];
  const zone = "/service/292/dns/1178";
  const targets = [...paths, zone, `${zone}/records`, `${zone}/records/4`, `${zone}/records/9`, "/nothing", "/service/1%00/dns/%2f"];
  const values: unknown[] = [
    null,
    true,
    -1,
    0,
    1.5,
    1e308,
    "",
    "x",
    "\0",
    "\ud800",
    "é",
    "'; DROP TABLE users; --",
    "x".repeat(3_000),
    [],
    {},
    [[1]],
  ];
  const names = [
    "username",
    "password",
    "refresh_token",
    "email",
    "city",
    "country",
    "type",
    "content",
    "ttl",
    "name",
    "priority",
    "__proto__",
  ];
  const sensible: unknown[] = [email, password, refresh, "TXT", "A", "192.0.2.5", "sub", "60"];
  function body(): string | Uint8Array {
    const fields = Object.fromEntries(
      Array.from({ length: random.below(6) }, () => [pick(names), pick(random.chance(0.5) ? sensible : values)]),
    );
    if (random.chance(0.2)) return new URLSearchParams(fields as Record<string, string>).toString();
    const bytes = Buffer.from(JSON.stringify(fields));
    if (random.chance(0.7)) return bytes;
    for (let count = 1 + random.below(4); count > 0 && bytes.length > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
    return random.chance(0.3) ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes;
  }
  const texts = [token, refresh, "x.y.z", "", `${token}x`, token.slice(1), "é".repeat(5)];
  const authorization = () =>
    pick([
      () => basic(),
      () => bearer(Buffer.from(pick(texts)).toString("latin1")),
      () => basic(pick([email, "x", ""]), pick([password, "y"])),
      () => ({ Authorization: pick(["Basic", "Basic ====", "Bearer  ", "Digest a=b", "Basic \u00ff"]) }),
      () => ({}),
    ])();
  const statuses = new Map<number, number>();
  for (let round = 0; round < 60; round++) {
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const method = pick(["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"]);
        const isEmpty = method === "GET" || method === "HEAD" || random.chance(0.1);
        const type = pick(["application/json", "application/x-www-form-urlencoded", "text/plain", "application/json; charset=utf-8", "x"]);
        const answer = await ask(url + pick(["", "/api"]) + pick(targets), {
          method,
          headers: { ...authorization(), "Content-Type": type },
          ...(!isEmpty && { body: body() as string }),
        });
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        expect([200, 400, 401, 404, 405, 415]).toContain(answer.status);
        if (answer.status !== 200 && method !== "HEAD") {
          expect(Object.keys(answer.json)).toEqual(["error"]);
          expect(answer.json.error.every((error: unknown) => typeof error === "string")).toBe(true);
        }
      }),
    );
  }
  expect([200, 400, 401, 404, 405].filter((status) => !statuses.has(status))).toEqual([]);
  expect(logs.filter(({ level }) => level === "error" || level === "warning")).toEqual([]);
  await stop();
  const database = new Sqlite(path.join(dataDir, "account.db"), { readonly: true });
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(database.pragma("foreign_key_check")).toEqual([]);
  expect(database.prepare("SELECT count(*) FROM records WHERE type = 'SOA'").pluck().get()).toBe(3);
  database.close();
});

it("[AC-47] a file that is not an account database is named in the error and left unchanged", async () => {
  const dataDir = temporaryDir();
  const file = path.join(dataDir, "account.db");
  writeFileSync(file, "this is not a database at all, only a text of some length".repeat(20));
  const before = readFileSync(file);
  await expect(startAccount({}, { dataDir })).rejects.toMatchObject({
    code: "STORE_DAMAGED",
    message: expect.stringContaining("account.db"),
  });
  expect(readFileSync(file).equals(before)).toBe(true);

  const otherDir = temporaryDir();
  const other = path.join(otherDir, "account.db");
  const database = new Sqlite(other);
  database.exec("CREATE TABLE notes (text TEXT)");
  database.close();
  const otherBefore = readFileSync(other);
  await expect(startAccount({}, { dataDir: otherDir })).rejects.toMatchObject({ code: "STORE_DAMAGED" });
  expect(readFileSync(other).equals(otherBefore)).toBe(true);
});

it.each(["users", "sessions"])("[AC-47] damage in the table of %s is named at the start, in answers and to the page", async (table) => {
  const first = await startAccount();
  await login(first.url);
  await first.stop();
  const file = path.join(first.dataDir, "account.db");
  const database = new Sqlite(file);
  const pages = database.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'").pluck().all(table) as number[];
  const pageSize = database.pragma("page_size", { simple: true }) as number;
  database.close();
  const bytes = readFileSync(file);
  for (const page of pages) bytes.fill(0xa5, (page - 1) * pageSize, page * pageSize);
  writeFileSync(file, bytes);
  const named = { code: "STORE_DAMAGED", message: `${file} is not a readable database` };
  const again = await startAccount({}, first).catch((error: unknown) => error);
  if (again instanceof Error) {
    expect(again).toMatchObject(named);
    return;
  }
  const { url, act, logs } = again as Awaited<ReturnType<typeof startAccount>>;
  const answer = await send(`${url}/login`, "POST", { username: email, password });
  expect([answer.status, answer.text]).toEqual([503, '{"error":["storage"]}']);
  await expect(act("session.list", {})).rejects.toMatchObject(named);
  expect(logs.filter(({ text }) => text.includes("A request failed"))).toEqual([]);
});

it("[AC-47] a locked database is answered 503, and the service continues when it is unlocked", async () => {
  const { url, dataDir, logs } = await startAccount();
  const { token } = await login(url);
  const holder = new Sqlite(path.join(dataDir, "account.db"));
  holder.exec("BEGIN IMMEDIATE");
  const locked = await send(`${url}/details`, "PUT", { city: "X" }, bearer(token));
  expect([locked.status, locked.text, locked.headers.get("retry-after")]).toEqual([503, '{"error":["storage"]}', "1"]);
  expect((await ask(`${url}/details`, { headers: bearer(token) })).status).toBe(200);
  holder.exec("ROLLBACK");
  holder.close();
  expect((await send(`${url}/details`, "PUT", { city: "X" }, bearer(token))).status).toBe(200);
  expect(logs.some(({ level, text }) => level === "error" && /Another program has locked .*account\.db/.test(text))).toBe(true);
});

it("[AC-62] a file that is moved away gets no more writes, reads are answered, and moved back it is used as before", async () => {
  const { url, dataDir, logs, act } = await startAccount();
  const { token } = await login(url);
  const file = path.join(dataDir, "account.db");
  const { id: user } = (await act("user.list", { text: email })).users[0] as { id: number };
  const write = () => send(`${url}/details`, "PUT", { city: "X" }, bearer(token));
  renameSync(file, `${file}.away`);
  expect([(await write()).status, (await send(`${url}/login`, "POST", { username: email, password })).status]).toEqual([503, 503]);
  expect((await ask(`${url}/details`, { headers: bearer(token) })).status).toBe(200);
  await until(() => logs.some(({ level, text }) => level === "error" && text.startsWith(`${file} was moved or deleted while in use`)));
  await expect(act("user.remove", { id: user })).rejects.toThrow("was moved or deleted while in use");
  await expect(act("user.shiftClock", { id: user, seconds: 60 })).rejects.toThrow("was moved or deleted while in use");
  expect(existsSync(file)).toBe(false);
  renameSync(`${file}.away`, file);
  expect((await write()).status).toBe(200);
});

it("[AC-47] while another program holds the database writes wait and reads are answered", async () => {
  const { url, dataDir } = await startAccount();
  const { token } = await login(url);
  const holder = new Sqlite(path.join(dataDir, "account.db"));
  holder.exec("BEGIN IMMEDIATE");
  const answered: string[] = [];
  const writes = Array.from({ length: 5 }, async (_, index) => {
    const { status } = await send(`${url}/details`, "PUT", { city: `City ${index}` }, bearer(token));
    answered.push(`write ${status}`);
  });
  for (let count = 0; count < 3; count++) answered.push(`read ${(await ask(`${url}/details`, { headers: bearer(token) })).status}`);
  holder.exec("ROLLBACK");
  holder.close();
  await Promise.all(writes);
  expect(answered).toEqual(["read 200", "read 200", "read 200", ...writes.map(() => "write 200")]);
});

it("[AC-47] what a locked database refused is not used up: the refresh token, the code and the attempts", async () => {
  const { url, dataDir, act } = await startAccount({ loginFailures: 3 });
  const second = "mfa@example.com";
  const [pair, waiting] = [await login(url), await login(url, second)];
  const mfa = (waiting as unknown as { mfa: { token: string } }).mfa.token;
  const id = (await act("user.list", { text: second })).users[0]?.id ?? 0;
  const { code } = (await act("totp.code", { id })) ?? {};
  const refresh = () => send(`${url}/token`, "POST", { refresh_token: pair.refresh });
  const verify = () => send(`${url}/mfa/verify`, "POST", { method: "google_authenticator", payload: { code } }, bearer(mfa));
  const logIn = () => send(`${url}/login`, "POST", { username: email, password });
  const holder = new Sqlite(path.join(dataDir, "account.db"));
  holder.exec("BEGIN IMMEDIATE");
  const refused = await Promise.all([refresh(), verify(), logIn(), logIn()]);
  expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
  holder.exec("ROLLBACK");
  holder.close();
  const answers = await Promise.all([refresh(), verify(), logIn(), logIn()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

it("[AC-66] a JSON body with thousands of fields is read in steps", async () => {
  const named = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1]));
  const stepsOf = (text: string) => [...jsonFields(text)].length;
  expect([stepsOf('{"username":"a"}'), stepsOf(JSON.stringify(named))]).toEqual([0, 2]);
  const { url } = await startAccount();
  const { status, json } = await send(`${url}/details`, "PUT", named, basic());
  expect([status, json.error[0]]).toEqual([400, "unknownfield: x0"]);
});
