import { expect, it } from "vitest";
import { fromBase32, hotp, matchingStep, toBase32, totp } from "../../servers/account/access/totp.ts";
import { curl } from "../http/curl.ts";
import { python } from "../http/python.ts";
import { type AccountUnderTest, ask, basic, bearer, claimsOf, email, login, password, send, startAccount, userId } from "./harness.ts";

const user = "mfa@example.com";
const secret = Buffer.from("12345678901234567890");

it("[AC-22] codes are those of RFC 4226 and RFC 6238", () => {
  // RFC 4226, appendix D
  const counted = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];
  expect(counted.map((_, counter) => hotp(secret, counter))).toEqual(counted);
  // RFC 6238, appendix B
  const timed: readonly (readonly [number, string])[] = [
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ];
  for (const [seconds, code] of timed) expect(totp(secret, seconds * 1_000, 8)).toBe(code);
});

it("[AC-22] Base32 is that of RFC 4648; letter case, spaces and padding do not matter", () => {
  const pairs: readonly (readonly [string, string])[] = [
    ["", ""],
    ["f", "MY"],
    ["fo", "MZXQ"],
    ["foo", "MZXW6"],
    ["foob", "MZXW6YQ"],
    ["fooba", "MZXW6YTB"],
    ["foobar", "MZXW6YTBOI"],
  ];
  for (const [text, encoded] of pairs) {
    expect(toBase32(Buffer.from(text))).toBe(encoded);
    expect(fromBase32(encoded)?.toString()).toBe(text);
  }
  expect(fromBase32("mzxw 6ytb oi======")?.toString()).toBe("foobar");
  expect([fromBase32("MZXW1"), fromBase32("é")]).toEqual([undefined, undefined]);
});

it("[AC-22] the codes of the previous and the next step are accepted too, no others", () => {
  const at = 1_000_000_000_000;
  const step = Math.floor(at / 30_000);
  expect([-2, -1, 0, 1, 2].map((offset) => matchingStep(secret, hotp(secret, step + offset), at))).toEqual([
    undefined,
    step - 1,
    step,
    step + 1,
    undefined,
  ]);
  expect(["", "1", "abcdef", "1234567"].map((code) => matchingStep(secret, code, at))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

const codeOf = async (service: AccountUnderTest, name = user): Promise<string> =>
  (await service.act("totp.code", { id: await userId(service, name) }))?.code ?? "";

const begin = async (url: string) => (await send(`${url}/login`, "POST", { username: user, password })).json.mfa.token as string;

const verify = (url: string, token: string, code: unknown) =>
  send(`${url}/mfa/verify`, "POST", { method: "google_authenticator", payload: { code } }, bearer(token));

it.each(["１２３４５６", "12345é", "äöüäöü", "12345", "1234567", "", "-12345", "1e5000"])(
  "[AC-46] the code %j is a wrong one",
  async (code) => {
    const { url, logs } = await startAccount();
    expect((await verify(url, await begin(url), code)).status).toBe(401);
    expect(logs.filter(({ level }) => level === "error")).toEqual([]);
  },
);

it("[AC-23] with a second factor the login returns an MFA token, and /mfa/verify exchanges it and the code for a pair", async () => {
  const service = await startAccount();
  const { url } = service;
  const first = await curl("-d", `username=${user}&password=${password}`, `${url}/login`);
  expect(first.body).toMatch(
    /^\{"token":null,"mfa":\{"token":"[\w-]+\.[\w-]+\.[\w-]+","methods":\["google_authenticator"\],"expires_at":\d{10}\}\}$/,
  );
  const { token, expires_at } = JSON.parse(first.body).mfa;
  expect(claimsOf(token).exp).toBe(expires_at);
  expect(first.headers["x-ratelimit-limit"]).toBe("25");
  const done = await verify(url, token, await codeOf(service));
  expect([done.status, Object.keys(done.json), done.headers.get("x-ratelimit-limit")]).toEqual([200, ["token", "refresh"], "25"]);
  expect((await ask(`${url}/details`, { headers: bearer(done.json.token) })).json.client.email).toBe(user);
});

it("[AC-23] a form carries the code as payload[code]; another method is 400", async () => {
  const service = await startAccount();
  const { url } = service;
  const token = await begin(url);
  const other = await send(`${url}/mfa/verify`, "POST", { method: "sms", payload: { code: "1" } }, bearer(token));
  expect([other.status, other.text]).toEqual([400, '{"error":["unknownmethod"]}']);
  const code = await codeOf(service);
  const form = await curl(
    ...["-H", `Authorization: Bearer ${token}`, "-d", "method=google_authenticator", "--data-urlencode", `payload[code]=${code}`],
    `${url}/mfa/verify`,
  );
  expect([form.status, Object.keys(JSON.parse(form.body))]).toEqual([200, ["token", "refresh"]]);
});

it("[AC-24] the MFA token is accepted nowhere else, works once and expires; Basic alone is refused", async () => {
  const service = await startAccount({ mfaSeconds: 60 });
  const { url, act } = service;
  const token = await begin(url);
  for (const path of ["/details", "/logout", "/revoke"]) {
    const answer =
      path === "/details" ? await ask(url + path, { headers: bearer(token) }) : await send(url + path, "POST", {}, bearer(token));
    expect(answer.status).toBe(401);
  }
  expect((await send(`${url}/token`, "POST", { refresh_token: token })).status).toBe(401);
  const code = await codeOf(service);
  expect((await verify(url, token, code)).status).toBe(200);
  expect((await verify(url, token, code)).text).toBe('{"error":["tokenused"]}');
  expect((await ask(`${url}/details`, { headers: basic(user) })).text).toBe('{"error":["mfarequired"]}');
  const late = await begin(url);
  await act("user.shiftClock", { id: await userId(service, user), seconds: 61 });
  expect((await verify(url, late, await codeOf(service))).text).toBe('{"error":["tokenexpired"]}');
  const { token: access } = await login(url);
  expect((await verify(url, access, "123456")).status).toBe(401);
});

it("[AC-24] a code works for one login, a used one is not counted as a guess, and wrong codes count as failures of the account", async () => {
  const service = await startAccount({ loginFailures: 4 });
  const { url, act } = service;
  const code = await codeOf(service);
  const [first, second] = [await begin(url), await begin(url)];
  expect((await verify(url, first, code)).status).toBe(200);
  const again = await verify(url, second, code);
  expect([again.status, again.text, again.headers.get("x-ratelimit-remaining")]).toEqual([401, '{"error":["codeused"]}', "4"]);
  for (const wrong of ["", "000", "123", { a: 1 }]) expect((await verify(url, second, wrong)).status).toBe(401);
  expect((await verify(url, second, "1")).status).toBe(429);
  await act("limits.reset", {});
  // The right password does not forgive wrong codes.
  const third = await begin(url);
  for (const remaining of ["3", "2"]) {
    expect((await verify(url, third, "000000")).headers.get("x-ratelimit-remaining")).toBe(remaining);
    await begin(url);
  }
});

it("[AC-24] logins that wait for their code count for the deletion of what has expired", async () => {
  const service = await startAccount();
  const { url, act } = service;
  await begin(url);
  await act("user.shiftClock", { id: await userId(service, user), seconds: 2 * 86_400 });
  for (let count = 1; count < 250; count++) await begin(url);
  await expect.poll(async () => (await act("token.list", {})).matching).toBe(249);
});

it("[AC-24] codes used while the clock was ahead do not block later codes after it is set back", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const id = await userId(service, user);
  await act("user.shiftClock", { id, seconds: 31 * 86_400 });
  const ahead = await codeOf(service);
  expect((await verify(url, await begin(url), ahead)).status).toBe(200);
  await act("user.shiftClock", { id, seconds: 0 });
  const code = await codeOf(service);
  expect((await verify(url, await begin(url), code)).status).toBe(200);
  expect((await verify(url, await begin(url), code)).text).toBe('{"error":["codeused"]}');
});

it("[AC-25] the page sets up a second factor, with a generated or a given secret, and removes it", async () => {
  const service = await startAccount();
  const { url, act } = service;
  const id = await userId(service);
  const made = await act("totp.setUp", { id });
  expect(made.secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(made.uri).toBe(
    `otpauth://totp/client-portal:api%40example.com?secret=${made.secret}&issuer=client-portal&algorithm=SHA1&digits=6&period=30`,
  );
  // ISO/IEC 18004: 21 modules and 4 more for each version.
  expect((made.qr.modules - 21) % 4).toBe(0);
  expect(made.qr.path).toMatch(/^(M\d+ \d+h\d+v1h-\d+z)+$/);
  const given = await act("totp.setUp", { id, secret: "jbsw y3dp ehpk 3pxp" });
  expect(given.secret).toBe("JBSWY3DPEHPK3PXP");
  // An independent implementation agrees.
  const program = `
import base64, hashlib, hmac, struct, time
key = base64.b32decode("JBSWY3DPEHPK3PXP")
digest = hmac.new(key, struct.pack(">Q", int(time.time()) // 30), hashlib.sha1).digest()
offset = digest[-1] & 15
print(str((struct.unpack(">I", digest[offset:offset + 4])[0] & 0x7fffffff) % 10**6).zfill(6))`;
  const code = (await python(program)).trim();
  const { mfa } = (await send(`${url}/login`, "POST", { username: email, password })).json;
  expect((await verify(url, mfa.token, code)).status).toBe(200);
  expect((await act("totp.remove", { id })).secondFactor).toBe(false);
  expect(await act("totp.code", { id })).toBeNull();
  expect((await login(url)).token).toBeTruthy();
  await expect(act("totp.setUp", { id, secret: "189018901890189018" })).rejects.toMatchObject({ code: "CALL_INVALID" });
});
