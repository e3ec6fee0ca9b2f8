import { expect, it, onTestFinished, vi } from "vitest";
import {
  createDigestNonces,
  type DigestAlgorithm,
  digestResponse,
  digestSecret,
  hashOf,
  parseDigestCredentials,
} from "../../servers/core/credentials/digest.ts";
import { httpRequest } from "../support/http-request.ts";
import { curl } from "./curl.ts";
import { startHttp } from "./harness.ts";
import { python } from "./python.ts";

const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString("base64")}` });

it("[HTTP-79] Basic authentication", async () => {
  const { url } = await startHttp();
  expect(JSON.parse((await curl("-u", "user:p a:ss", `${url}/basic-auth/user/p%20a:ss`)).body)).toEqual({
    authenticated: true,
    user: "user",
  });
  expect((await fetch(`${url}/basic-auth/%C3%BC/%C3%A9`, { headers: basic("ü:é") })).status).toBe(200);
  for (const headers of [undefined, basic("user:wrong"), basic("user"), { Authorization: "Basic !" }, { Authorization: "Bearer x" }]) {
    const refused = await fetch(`${url}/basic-auth/user/pass`, { headers });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, 'Basic realm="backlot", charset="UTF-8"']);
    expect(await refused.json()).toEqual({ status: "error", message: "Unauthorized" });
    const hidden = await fetch(`${url}/hidden-basic-auth/user/pass`, { headers });
    expect([hidden.status, hidden.headers.get("www-authenticate")]).toEqual([404, null]);
    await hidden.text();
  }
  expect((await fetch(`${url}/hidden-basic-auth/user/pass`, { headers: basic("user:pass") })).status).toBe(200);
});

it("[HTTP-80] any bearer token is accepted", async () => {
  const { url } = await startHttp();
  expect(await (await fetch(`${url}/bearer`, { headers: { Authorization: "Bearer abc.def-ghi==" } })).json()).toEqual({
    authenticated: true,
    token: "abc.def-ghi==",
  });
  for (const Authorization of ["Bearer", "Basic abc", "Bearer a b"]) {
    const refused = await fetch(`${url}/bearer`, { headers: { Authorization } });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    await refused.text();
  }
});

it("[HTTP-81] Digest authentication with real clients", async () => {
  const { url } = await startHttp();
  for (const path of ["auth/user/pass", "auth/user/pass/MD5", "auth/user/pass/SHA-256", "any/user/pass"]) {
    const answer = await curl("--digest", "-u", "user:pass", `${url}/digest-auth/${path}?a=1`);
    expect([path, answer.status, JSON.parse(answer.body)]).toEqual([path, 200, { authenticated: true, user: "user" }]);
    expect((await curl("--digest", "-u", "user:wrong", `${url}/digest-auth/${path}`)).status).toBe(401);
  }
  const answer = await python(`
import urllib.request
manager = urllib.request.HTTPPasswordMgrWithDefaultRealm()
manager.add_password(None, "${url}/", "user", "pass")
opener = urllib.request.build_opener(urllib.request.HTTPDigestAuthHandler(manager))
for _ in range(2):
    print(opener.open("${url}/digest-auth/auth/user/pass").status)
`);
  expect(answer).toBe("200\n200\n");
});

interface Challenge {
  readonly nonce: string;
  readonly qop: string;
  readonly algorithm: string;
  readonly stale: boolean;
}

async function challenge(url: string): Promise<Challenge> {
  const { status, headers } = await httpRequest(url);
  expect(status).toBe(401);
  return readChallenge(headers["www-authenticate"] ?? "");
}

function readChallenge(header: string): Challenge {
  expect(header).toMatch(/^Digest realm="backlot", /);
  const of = (name: string) => new RegExp(`${name}="?([^",]*(?:, auth-int)?)"?`).exec(header)?.[1] ?? "";
  return { nonce: of("nonce"), qop: of("qop"), algorithm: of("algorithm"), stale: header.includes("stale=true") };
}

interface Attempt {
  readonly nonce: string;
  readonly algorithm?: string;
  readonly qop?: string;
  readonly nc?: string;
  readonly username?: string;
  readonly shownUsername?: string;
  readonly password?: string;
  readonly body?: string;
}

/** A client of our own for what no client at hand can do. */
function authorization(path: string, attempt: Attempt): string {
  const {
    nonce,
    algorithm = "MD5",
    qop = "auth",
    nc = "00000001",
    username = "user",
    shownUsername = `username="${username}"`,
    password = "pass",
    body = "",
  } = attempt;
  const session = /-sess$/i.test(algorithm);
  const hash = algorithm.replace(/-sess$/i, "") as DigestAlgorithm;
  const secret = digestSecret(hash, username, "backlot", password);
  const input = { algorithm: hash, session, secret, method: "GET", body: Buffer.from(body) };
  const fields = `${shownUsername}, realm="backlot", uri="${path}", nonce="${nonce}", algorithm=${algorithm}, qop=${qop}, nc=${nc}, cnonce="c0ffee"`;
  const given = parseDigestCredentials(`Digest ${fields}`);
  if (!given) throw new Error("no credentials");
  return `Digest ${fields}, response="${digestResponse(input, given)}"`;
}

it("[HTTP-82] the digest of RFC 7616 §3.9.1 equals the printed one", () => {
  const given = (response: string) =>
    parseDigestCredentials(
      `Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, response="${response}"`,
    );
  for (const [algorithm, response] of [
    ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
    ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"],
  ] as const) {
    const credentials = given(response);
    if (!credentials) throw new Error("no credentials");
    const secret = digestSecret(algorithm, "Mufasa", "http-auth@example.org", "Circle of Life");
    const input = { algorithm, session: false, secret, method: "GET", body: Buffer.alloc(0) };
    expect(digestResponse(input, credentials)).toBe(response);
  }
});

it("[HTTP-83] Digest with every algorithm, auth-int, -sess, userhash and username*", async () => {
  const { url } = await startHttp();
  const status = async (path: string, attempt: Omit<Attempt, "nonce">) => {
    const { nonce } = await challenge(url + path);
    return (
      await httpRequest(url + path, {
        headers: { Authorization: authorization(path, { ...attempt, nonce }), "Content-Length": String((attempt.body ?? "").length) },
        body: attempt.body ?? "",
      })
    ).status;
  };
  for (const algorithm of ["MD5", "SHA-256", "SHA-512", "SHA-512-256", "SHA-256-sess"]) {
    expect(await status(`/digest-auth/auth/user/pass/${algorithm}`, { algorithm })).toBe(200);
    expect(await status(`/digest-auth/auth-int/user/pass/${algorithm}`, { algorithm, qop: "auth-int", body: "hello" })).toBe(200);
  }
  expect((await challenge(`${url}/digest-auth/both/user/pass`)).qop).toBe("auth, auth-int");
  expect(await status("/digest-auth/auth-int/user/pass", { qop: "auth" })).toBe(401);
  expect(await status("/digest-auth/auth/user/pass/SHA-256", { algorithm: "MD5" })).toBe(401);
  expect(await status("/digest-auth/auth/user/pass", { shownUsername: `username="${hashOf("MD5", "user:backlot")}"` })).toBe(401);
  expect(await status("/digest-auth/auth/user/pass", { shownUsername: `username="${hashOf("MD5", "user:backlot")}", userhash=true` })).toBe(
    200,
  );
  expect(
    await status("/digest-auth/auth/J%C3%A4s%C3%B8n/pass", { username: "Jäsøn", shownUsername: "username*=UTF-8''J%C3%A4s%C3%B8n" }),
  ).toBe(200);
});

it("[HTTP-84] a replayed, used-up or foreign nonce is refused; the first two are stale", async () => {
  const { url } = await startHttp();
  const ask = async (path: string, attempt: Attempt) => {
    const { status, headers } = await httpRequest(url + path, { headers: { Authorization: authorization(path, attempt) } });
    return [status, status === 401 && readChallenge(headers["www-authenticate"] ?? "").stale];
  };
  const path = "/digest-auth/auth/user/pass";
  const { nonce } = await challenge(url + path);
  expect(await ask(path, { nonce })).toEqual([200, false]);
  expect(await ask(path, { nonce })).toEqual([401, true]);
  expect(await ask(path, { nonce, nc: "00000002" })).toEqual([200, false]);
  expect(await ask(path, { nonce: "made-up" })).toEqual([401, false]);
  const limited = "/digest-auth/auth/user/pass/MD5/2";
  const { nonce: twice } = await challenge(url + limited);
  expect(await ask(limited, { nonce: twice, nc: "00000001" })).toEqual([200, false]);
  expect(await ask(limited, { nonce: twice, nc: "00000002" })).toEqual([200, false]);
  expect(await ask(limited, { nonce: twice, nc: "00000003" })).toEqual([401, true]);
  expect((await httpRequest(url + path, { headers: { Authorization: authorization("/elsewhere", { nonce }) } })).status).toBe(400);
  expect((await httpRequest(`${url}${path}?require-cookie=1`)).headers["set-cookie"]).toEqual(["fake=fake_value; Path=/"]);
});

it("[HTTP-84] a count is used once, in any order near the highest, and those of a nonce that is forgotten are stale", () => {
  let now = 1_000_000;
  const nonces = createDigestNonces(() => now);
  const first = nonces.issue(Number.POSITIVE_INFINITY);
  const use = (nonce: string, count: number) => nonces.use(nonce, count.toString(16).padStart(8, "0"));
  expect([1, 3, 2, 3, 2, 1].map((count) => use(first, count))).toEqual(["fresh", "fresh", "fresh", "stale", "stale", "stale"]);
  expect([34, 4, 3, 34, 0xffff_ffff, 35].map((count) => use(first, count))).toEqual(["fresh", "fresh", "stale", "stale", "fresh", "stale"]);
  const limited = nonces.issue(1);
  expect([use(limited, 1), use(limited, 2)]).toEqual(["fresh", "stale"]);
  const unused = nonces.issue(Number.POSITIVE_INFINITY);
  now++;
  const later = Array.from({ length: 10_001 }, () => nonces.issue(Number.POSITIVE_INFINITY));
  for (const nonce of later) expect(use(nonce, 1)).toBe("fresh");
  expect([use(first, 0xffff_ffff), use(unused, 1), use(later.at(-1) as string, 2)]).toEqual(["stale", "stale", "fresh"]);
});

it("[HTTP-84] nonces that are new after the clock of the machine was set back are fresh", () => {
  const clock = vi.spyOn(Date, "now").mockReturnValue(2e12);
  onTestFinished(() => clock.mockRestore());
  const nonces = createDigestNonces();
  const use = () => nonces.use(nonces.issue(Number.POSITIVE_INFINITY), "00000001");
  // So many that some are forgotten.
  for (let count = 0; count < 10_002; count++) use();
  clock.mockReturnValue(1e12);
  expect(use()).toBe("fresh");
});

it("[HTTP-85] a nonce is stale after five minutes", () => {
  let now = 1_000_000;
  const nonces = createDigestNonces(() => now);
  const nonce = nonces.issue(Number.POSITIVE_INFINITY);
  expect(nonces.use(nonce, "00000001")).toBe("fresh");
  now += 299_000;
  expect(nonces.use(nonce, "00000002")).toBe("fresh");
  now += 2_000;
  expect(nonces.use(nonce, "00000003")).toBe("stale");
  expect(nonces.use(`${nonce}x`, "00000004")).toBe("foreign");
});
