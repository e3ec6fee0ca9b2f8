import { expect, it } from "vitest";
import { createHttpRedaction } from "../../servers/core/http/record/http-redaction.ts";
import { redactBody } from "../../servers/core/http/record/redact-body.ts";
import { httpRequest } from "../support/http-request.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { ask, basic, bearer, email, login, password, send, startAccount } from "./harness.ts";

const isSecret = (name: string) => /token|pass|^code$/i.test(name);

it("[AC-54] only values known to be harmless are shown of a body", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['{"username":"a","password":"b"}', '{"username":"a","password":"•••"}'],
    ['{ "token" : null, "mfa": {"token":"t","methods":["m"]} }', '{ "token" : null, "mfa": {"token":"•••","methods":["m"]} }'],
    ['{"p\\u0061ssword":"b","n":1}', '{"p\\u0061ssword":"•••","n":1}'],
    ['{"password":123,"a":true}', '{"password":"•••","a":true}'],
    ['{"password":{"a":["b",{"c":"d"}]},"x":[1,2]}', '{"password":"•••","x":[1,2]}'],
    ['{"password":["b"],"x":{}}', '{"password":"•••","x":{}}'],
    ['[{"payload":{"code":"123456"}}]', '[{"payload":{"code":"•••"}}]'],
    ['{"username":"a","password":"b', '{"username":"a","password":•••'],
    ["{'password':'b'}", "{•••"],
    ['{"a":1} {"password":"b"}', '{"a":1}•••'],
    ['{password:"b"}', "{•••"],
    ["username=a&password=b&x=1", "username=a&password=•••&x=1"],
    ["p%61ssword=b&payload%5Bcode%5D=1&payload[code]=2", "p%61ssword=•••&payload%5Bcode%5D=•••&payload[code]=•••"],
    ["a=1&%zz=secret&secret", "a=1&%zz=•••&•••"],
    ['payload={"code":"1"}&list=[1,{"a":2}]', 'payload=•••&list=[1,{"a":2}]'],
    ["payload=%7B%22code%22%3A1%7D&x=%7B%7D&y=%zz", "payload=•••&x=%7B%7D&y=•••"],
    ["a=password%3Db&x=1", "a=•••&x=1"],
    ["a=b;password=c", "a=•••"],
    ["a=%257B%2522password%2522%253A%2522b%2522%257D", "a=•••"],
    ["u=http://a:b@c/&v=http://c/?d=e", "u=•••&v=http://c/?d=e"],
    ['{"a":"{\\"password\\":\\"b\\"}","c":"{\\"d\\":1}"}', '{"a":"•••","c":"{\\"d\\":1}"}'],
    ['{"a":["password=b","c=d"],"e":"http://f:g@h/"}', '{"a":["•••","c=d"],"e":"•••"}'],
    ['{"a":"100% password=b","c":"http://d/?%74oken=e"}', '{"a":"•••","c":"•••"}'],
    ["hunter2", "•••"],
    ["a=b\r\nAuthorization: Basic eA==", "•••"],
    ['"hunter2"', "•••"],
    ["", ""],
    ['{"a":1}\n', '{"a":1}\n'],
  ];
  for (const [body, shown] of cases) expect(redactBody(body, isSecret), body).toBe(shown);
  expect(redactBody('{"a":"password=b', isSecret, undefined, true)).toBe('{"a":•••');
  expect(redactBody('{"a":"b=c', isSecret, undefined, true)).toBe('{"a":"b=c');
  const byValue = (name: string, value?: string) => name === "who" && value !== "me";
  for (const [body, shown] of [
    ['{"who":"me","a":{"who":"you"}}', '{"who":"me","a":{"who":"•••"}}'],
    ['{"who":{"x":1},"a":["who","you"],"b":1}', '{"who":"•••","a":["who","you"],"b":1}'],
    ['{"who":"\\u006de","b":{"who":1}}', '{"who":"\\u006de","b":{"who":"•••"}}'],
    ["who=me&who=you&a[who]=y%6fu&who=%6de", "who=me&who=•••&a[who]=•••&who=%6de"],
  ] as const)
    expect(redactBody(body, byValue), body).toBe(shown);
  const deep = `{"a":${"[".repeat(200_000)}`;
  expect(redactBody(deep, isSecret)).toBe(deep);
});

it("[AC-54] the packets of Socket.IO are redacted one by one, and those that cannot be read are hidden", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['40{"room":"r","password":"b"}', '40{"room":"r","password":"•••"}'],
    ['42["join",{"room":"r","password":"b"}]', '42["join",{"room":"r","password":"•••"}]'],
    ['42/rooms,17["join",{"password":"b"}]', '42/rooms,17["join",{"password":"•••"}]'],
    ['451-["join",{"password":"b"}]', '451-["join",{"password":"•••"}]'],
    ['2\x1e40{"password":"b"}\x1e42["chat",{"text":"a=b"}]', '2\x1e40{"password":"•••"}\x1e42["chat",{"text":"a=b"}]'],
    ['\x1e{"password":"b"}\n\x1e{"a":1}\n', '\x1e{"password":"•••"}\x1e{"a":1}'],
    ['40{"password":"x=b"}', '40{"password":"•••"}'],
    ['40{"passw\\u006frd":"b"}', '40{"passw\\u006frd":"•••"}'],
    ['40{"a":1,"password":"b', '40{"a":1,"password":•••'],
    ['40{"a":1}{"password":"b"}', '40{"a":1}•••'],
    ['x40{"password":"b"}', "•••"],
    ['2\x1ex40{"password":"b"}\x1e2probe', "2\x1e•••\x1e2probe"],
    ['40/a?password=b,{"a":1}', "•••"],
    ['40/a?c=d,{"password":"b"}', "•••"],
    ['40/a c{"password":"b"}', "•••"],
    ["40/a,password=b\x1e3", "•••\x1e3"],
    ['42"password":"b"\x1e3', "•••\x1e3"],
    ["2\x1e".repeat(1_000), "•••"],
    ['40{"a":1}', '40{"a":1}'],
  ];
  for (const [body, shown] of cases) expect([body, redactBody(body, isSecret)]).toEqual([body, shown]);
});

it("[AC-54] a body that is cut or changed anywhere never shows its secret", () => {
  const random = seededRandom(7);
  const body = '{"username":"a@b.c","list":[1,{"x":"y"}],"password":"S3CR3T","more":{"refresh_token":"S3CR3T"},"n":1}';
  for (let round = 0; round < 3_000; round++) {
    const bytes = [...body.slice(0, random.below(body.length + 1))];
    const at = random.below(bytes.length + 1);
    // Names and values keep their letters: a name that was changed is no name of ours.
    if (random.chance(0.7) && !/[\w]/.test(bytes[at] ?? ""))
      bytes.splice(at, random.below(2), random.chance(0.5) ? '"' : (["{", "}", ":", ",", "\\", " "][random.below(6)] as string));
    const text = bytes.join("");
    const shown = redactBody(text, isSecret);
    // Where a change made it harmless text of another name, a reader of JSON sees the same.
    if (shown.includes("S3CR3T")) expect(() => JSON.parse(text) as unknown).not.toThrow();
  }
});

it("[AC-55] header fields with a URL are shown without its userinfo and secret query fields", () => {
  const { field, mayHoldCredential } = createHttpRedaction(isSecret);
  const shownOf = {
    Referer: ["http://x/?token=s&a=b", "http://x/?token=…&a=b"],
    Origin: ["http://u:s@x", "http://…@x"],
    "X-Original-URL": ["/login?password=s", "/login?password=…"],
    From: ["a@b.cc", "a@b.cc"],
    "Sec-WebSocket-Protocol": ["v1.echo, bearer, s", "v1.echo, bearer, …"],
    "sec-websocket-protocol": [
      "base64url.bearer.authorization.k8s.io.czNjcjN0, v4.channel.k8s.io",
      "base64url.bearer.authorization.k8s.io.…, v4.channel.k8s.io",
    ],
    "SEC-WEBSOCKET-PROTOCOL": [`mqtt,${"eyJ".repeat(20)}`, "mqtt,…"],
    "Sec-Websocket-Protocol": ["graphql-transport-ws, mqttv3.1", "graphql-transport-ws, mqttv3.1"],
    "User-Agent": ["Mozilla/5.0 (X11; rv:1.0) a/1", "Mozilla/5.0 (X11; rv:1.0) a/1"],
  } as const;
  for (const [name, [value, shown]] of Object.entries(shownOf)) {
    expect(field(name, value)).toBe(shown);
    expect(mayHoldCredential(`HTTP/1.1 200 OK\r\n${name}: ${value}\r\n\r\n`)).toBe(shown !== value);
  }
});

it("[AC-54] a response head holds a credential where a field's name or value says so, and a body is redacted each time it is sent", () => {
  const redaction = createHttpRedaction(isSecret);
  const head = (...fields: string[]) => `HTTP/1.1 200 OK\r\n${fields.join("\r\n")}\r\n\r\n`;
  const plain = ["Date: Mon, 01 Jan 2024 00:00:00 GMT", "X-RateLimit-Limit: 10", "WWW-Authenticate: Basic realm=a", "Content-Length: 2"];
  expect(redaction.mayHoldCredential(head(...plain))).toBe(false);
  expect(redaction.mayHoldCredential("HTTP/1.1 200 OK\r\n\r\n")).toBe(false);
  expect(redaction.mayHoldCredential("")).toBe(false);
  for (const field of ["Set-Cookie: a=b", "x-session-token: a", "X-Echo: Bearer a", "x-echo:\tbasic a", "API-Key:a"]) {
    for (let at = 0; at <= plain.length; at++)
      expect(redaction.mayHoldCredential(head(...plain.toSpliced(at, 0, field))), field).toBe(true);
  }
  const [harmless, secret] = [Buffer.from('{"name":"é"}'), Buffer.from('{"token":"t"}')];
  for (let time = 0; time < 300; time++) {
    expect(redaction.body(harmless)).toBe(harmless);
    expect(redaction.body(secret).toString()).toBe('{"token":"•••"}');
    redaction.body(Buffer.from(`{"n":${time}}`));
  }
});

it("[AC-54] a body with hidden values says so, and that it is complete", async () => {
  const { url, details } = await startAccount({ recordedBodyBytes: 100, recordedBodyRate: 0 });
  const body = JSON.stringify({ username: email, password });
  const answer = await send(`${url}/login`, "POST", body);
  await ask(`${url}/balance`, { headers: basic() });
  const found = async (target: string) => {
    await expect.poll(() => details.findLast(({ request, response }) => request.target === target && response)).toBeDefined();
    return details.findLast(({ request, response }) => request.target === target && response) as (typeof details)[number];
  };
  const login = await found("/login");
  expect(login.request.body).toMatchObject({ bytes: body.length, hiddenIn: body.length });
  expect(login.response?.body).toMatchObject({ bytes: answer.text.length, hiddenIn: 100 });
  expect((await found("/balance")).response?.body.hiddenIn).toBeUndefined();
});

it("[AC-55] no password, token, code or secret is in rows, details, logs or views, however it was sent", async () => {
  const service = await startAccount({ logLevel: "debug" });
  const { url, port, act, told, ended } = service;
  const secret = "s3cr3t-Passw0rd";
  await act("user.setPassword", { id: 1, password: secret });
  const { token, refresh } = await login(url, email, secret);
  await ask(`${url}/details`, { headers: bearer(token) });
  await ask(`${url}/details`, { headers: basic(email, secret) });
  const form = new URLSearchParams({ username: email, password: secret });
  await send(`${url}/login`, "POST", form.toString(), { "Content-Type": "application/x-www-form-urlencoded" });
  await send(`${url}/login`, "POST", `{"username":"${email}","password":"${secret}"`, {});
  await send(`${url}/login`, "POST", `--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n${secret}\r\n--x--`, {
    "Content-Type": "multipart/form-data; boundary=x",
  });
  await ask(`${url}/details?password=${secret}&token=${token}&x=1`, { headers: { "X-Api-Key": secret, Cookie: `session=${secret}` } });
  await httpRequest(url, { path: `http://user:${secret}@127.0.0.1:${port}/details` });
  await httpRequest(url, { headers: { Authorisation: `Basic ${Buffer.from(`a:${secret}`).toString("base64")}` } });
  const renewed = (await send(`${url}/token`, "POST", { refresh_token: refresh })).json;
  await act("try", { username: email, password: secret });
  const totp = await act("totp.setUp", { id: 1 });
  const { mfa } = (await send(`${url}/login`, "POST", { username: email, password: secret })).json;
  const { code } = (await act("totp.code", { id: 1 })) ?? { code: "none" };
  const pair = (await send(`${url}/mfa/verify`, "POST", { method: "google_authenticator", payload: { code } }, bearer(mfa.token))).json;
  await act("totp.remove", { id: 1 });
  await act("sample.start", {});
  await act("sample.stop", {});
  const last = await ask(`${url}/last`, { headers: bearer(pair.token) });
  expect(last.status).toBe(404);
  await ended(({ target }) => target === "/last");
  await service.stop();

  const all = told();
  // Bodies travel as base64: decoded, they must not hold it either.
  const decoded = [...all.matchAll(/"base64":"([^"]+)"/g)].map(([, text = ""]) => Buffer.from(text, "base64").toString()).join("\n");
  const everything = `${all}\n${decoded}`;
  const secrets = {
    secret,
    token,
    refresh,
    mfa: mfa.token,
    access: pair.token,
    next: pair.refresh,
    renewed: renewed.token,
    totp: totp.secret,
  };
  for (const [name, text] of Object.entries(secrets)) {
    expect(everything.includes(text), name).toBe(false);
    expect(everything.includes(Buffer.from(`${email}:${text}`).toString("base64")), name).toBe(false);
    // The signature is what makes a token more than its claims.
    if (text.includes(".")) expect(everything.includes(text.split(".")[2] ?? "?"), name).toBe(false);
  }
  expect(everything).not.toContain(`"code":"${code}"`);
  expect(everything).not.toContain(`"${secret}"`);
  expect(everything).toContain('"password":"•••"');
  expect(everything).toContain("Bearer •••");
  expect(everything).not.toContain("scrypt$");
});

it("[AC-55] a password entered as the user name is shown nowhere either", async () => {
  const service = await startAccount({ logLevel: "debug" });
  const { url, act, told, ended, view } = service;
  const typed = ["s3cr3t-Passw0rd", "p@ssw0rd-s3cr3t", "s3cr3t with spaces"];
  for (const [index, secret] of typed.entries()) {
    await send(`${url}/login?json${index}`, "POST", {
      username: secret,
      password: "x",
      user: secret,
      email: { a: secret },
      login: [secret],
    });
    await send(`${url}/login?form${index}`, "POST", new URLSearchParams({ username: secret, "user[name]": secret }).toString());
    await ask(`${url}/details?basic${index}`, { headers: basic(secret, "x") });
    await act("try", { username: secret, password: "x" });
  }
  await send(`${url}/login?known`, "POST", { username: email, password: "x" });
  await ended(({ target }) => target === "/login?known");
  const { busiest } = await view("limits", ({ accounts }) => accounts > typed.length);
  expect(busiest.map(({ name }) => name)).toContain("with a name that is not an e-mail address");
  await service.stop();
  const all = told();
  const decoded = [...all.matchAll(/"base64":"([^"]+)"/g)].map(([, text = ""]) => Buffer.from(text, "base64").toString()).join("\n");
  for (const secret of typed) {
    for (const form of [secret, encodeURIComponent(secret), secret.replaceAll(" ", "+")])
      expect(`${all}\n${decoded}`.toLowerCase()).not.toContain(form.toLowerCase());
  }
  expect(decoded).toContain(`"username":"${email}"`);
});

it("[AC-55] bytes that are not a request are not shown either", async () => {
  const { port, told, ended, stop } = await startAccount();
  const secret = Buffer.from(`${email}:${password}`).toString("base64");
  await httpRequest(`http://127.0.0.1:${port}`, {
    path: "/details",
    headers: { "Content-Length": "x", Authorization: `Basic ${secret}` },
  }).catch(() => {});
  await ended(({ outcome }) => outcome.startsWith("400"));
  await stop();
  const everything =
    told() + [...told().matchAll(/"base64":"([^"]+)"/g)].map(([, text = ""]) => Buffer.from(text, "base64").toString()).join();
  expect(everything).not.toContain(secret);
});

it("[AC-63] with recordCredentials the exchange has what was sent, and the log has none of it", async () => {
  const service = await startAccount({ recordCredentials: true, logLevel: "debug" });
  const { url, port, details, logs, ended } = service;
  const bodyOf = (found: (typeof details)[number] | undefined, side: "request" | "response") =>
    Buffer.from(found?.[side]?.body.base64 ?? "", "base64").toString();
  const secret = "s3cr3t-Passw0rd\n";
  const sent = JSON.stringify({ username: "typed here", password: secret });
  await send(`${url}/login?wrong`, "POST", sent);
  await ask(`${url}/details?token=t0k-in-query`, { headers: bearer("t0k.of.nobody") });
  const { token } = await login(url);
  await httpRequest(`http://127.0.0.1:${port}`, {
    path: "/details?broken",
    headers: { "Content-Length": "x", Authorization: `Basic ${btoa("a:broken-Passw0rd")}` },
  }).catch(() => {});
  await ended(({ outcome }) => outcome.startsWith("400"));
  await service.stop();

  const wrong = details.findLast(({ request }) => request.target === "/login?wrong");
  expect(bodyOf(wrong, "request")).toBe(sent);
  expect(wrong?.request.body.hiddenIn).toBeUndefined();
  const refused = details.findLast(({ request }) => request.target === "/details?token=t0k-in-query");
  expect(refused?.request.headers).toContainEqual(["Authorization", "Bearer t0k.of.nobody"]);
  expect(
    bodyOf(
      details.findLast(({ request }) => request.target === "/login"),
      "response",
    ),
  ).toContain(token);
  const broken = details.findLast(({ request }) => request.unparsed !== undefined);
  expect(Buffer.from(broken?.request.unparsed?.base64 ?? "", "base64").toString()).toContain(btoa("a:broken-Passw0rd"));
  const logged = JSON.stringify(logs);
  for (const hidden of ["s3cr3t", "t0k", "typed here", token, "broken-Passw0rd", btoa("a:broken-Passw0rd")])
    expect(logged).not.toContain(hidden);
});

it("[AC-56] a row shows the user and why the request was refused", async () => {
  const { url, ended, logs } = await startAccount();
  const { token } = await login(url);
  const cases: readonly (readonly [string, () => Promise<unknown>, string | undefined, string | undefined])[] = [
    ["/details?1", () => ask(`${url}/details?1`, { headers: bearer(token) }), email, undefined],
    ["/details?2", () => ask(`${url}/details?2`, { headers: basic() }), email, undefined],
    ["/details?3", () => ask(`${url}/details?3`), undefined, "loginrequired"],
    ["/details?4", () => ask(`${url}/details?4`, { headers: basic(email, "x") }), email, "wronglogin"],
    ["/login?5", () => send(`${url}/login?5`, "POST", { username: "no@example.com", password: "x" }), "no@example.com", "wronglogin"],
    ["/login?6", () => send(`${url}/login?6`, "POST", { username: "typed a password", password: "x" }), undefined, "wronglogin"],
    ["/invoice/7", () => ask(`${url}/invoice/7`, { headers: bearer(token) }), email, "notfound"],
    ["/details?8", () => send(`${url}/details?8`, "PUT", { shoe: 1 }, basic()), email, "unknownfield: shoe"],
  ];
  for (const [target, call, user, reason] of cases) {
    await call();
    const row = await ended((found) => found.target === target);
    expect([row.target, row.user, row.reason]).toEqual([target, user, reason]);
    // The line of the log says the same.
    const who = [user, reason].filter((part) => part !== undefined).join(": ");
    const line = () => logs.find(({ text }) => text.includes(` ${target} `))?.text;
    await expect.poll(line).toMatch(/127\.0\.0\.1:\d+/);
    expect(line()?.replace(/^.*127\.0\.0\.1:\d+ ?/, "")).toBe(who);
  }
});
