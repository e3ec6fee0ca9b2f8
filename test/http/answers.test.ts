import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { expect, it } from "vitest";
import { httpRequest } from "../support/http-request.ts";
import { answerOf, errorWith } from "./ask.ts";
import { curl } from "./curl.ts";
import { raw, startHttp } from "./harness.ts";

it("[HTTP-61] /status/:codes responds with one status or with one of several by weight", async () => {
  const { url } = await startHttp();
  for (const code of [200, 204, 301, 304, 400, 404, 418, 503]) expect((await httpRequest(`${url}/status/${code}`)).status).toBe(code);
  expect((await httpRequest(`${url}/status/302`)).headers.location).toBe("/redirect/1");
  expect((await httpRequest(`${url}/status/418`)).body).toContain("teapot");
  expect((await httpRequest(`${url}/status/401`)).headers["www-authenticate"]).toMatch(/^Basic/);
  for (const choices of ["200:0,503:1", "200:.0,503:.5"]) expect((await httpRequest(`${url}/status/${choices}`)).status).toBe(503);
  const counts: Record<number, number> = {};
  for (let draw = 0; draw < 400; draw++) {
    const { status } = await fetch(`${url}/status/200:3,500:1?seed=${draw}`);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  expect(counts[500]).toBeGreaterThan(60);
  expect(counts[500]).toBeLessThan(140);
  for (const codes of ["x", "199", "600", "200,", "200:x", "200:-1", "200:0", "200:1e3", "200:."])
    expect(await answerOf(`${url}/status/${codes}`)).toEqual(errorWith(400));
});

it("[HTTP-63] /response-headers sets and returns header fields, never the response's content type or framing", async () => {
  const { url } = await startHttp();
  const response = await fetch(
    `${url}/response-headers?X-One=1&x-one=2&ETag=%22a%22&Content-Type=text/html&x-content-type-options=no&Access-Control-Allow-Origin=x`,
  );
  expect(response.headers.get("x-one")).toBe("1, 2");
  expect(response.headers.get("etag")).toBe('"a"');
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  const body = await response.text();
  expect(JSON.parse(body)).toEqual({
    "Content-Length": String(body.length),
    "Content-Type": "application/json",
    "X-One": ["1", "2"],
    ETag: '"a"',
  });
  for (let length = 1; length < 40; length++) {
    const { headers, body } = await httpRequest(`${url}/response-headers?1=${"x".repeat(length)}`);
    expect([headers["content-length"], JSON.parse(body)["Content-Length"]]).toEqual([String(body.length), String(body.length)]);
  }
  for (const query of [
    "Clear-Site-Data=%22cookies%22",
    "Strict-Transport-Security=max-age=1",
    "Content-Length=5",
    "Transfer-Encoding=chunked",
    "Connection=close",
    "Refresh=0;url=http://evil.example",
    "a%20b=1",
    "X=%0d%0aSet-Cookie:x",
    "%00=1",
  ]) {
    expect(await answerOf(`${url}/response-headers?${query}`)).toEqual(errorWith(400));
  }
  expect((await fetch(`${url}/response-headers?a=1`, { method: "POST" })).status).toBe(200);
});

it("[HTTP-64] /trailers sends trailer fields and returns those received", async () => {
  const { port } = await startHttp();
  const answer = await raw(
    port,
    "POST /trailers HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 42\r\n\r\n",
  );
  expect(answer).toMatch(/Trailer: X-Body-Bytes, X-Body-SHA256\r\n/);
  expect(answer).toContain('"x-sum": "42"');
  expect(answer).toMatch(/\r\n0\r\nX-Body-Bytes: 3\r\nX-Body-SHA256: ba7816bf[\da-f]+\r\n\r\n$/);
  const old = await raw(port, "GET /trailers HTTP/1.0\r\n\r\n");
  expect(old).toMatch(/^HTTP\/1.1 200 /);
  expect(old).not.toContain("X-Body-Bytes");
  const head = await raw(port, "HEAD /trailers HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1.1 200 /);
  expect(head).not.toContain("Trailer");
});

it("[HTTP-65] /gzip, /deflate and /brotli respond in that coding", async () => {
  const { url } = await startHttp();
  for (const [path, coding, mark, decode] of [
    ["gzip", "gzip", "gzipped", gunzipSync],
    ["deflate", "deflate", "deflated", inflateSync],
    ["brotli", "br", "brotli", brotliDecompressSync],
  ] as const) {
    const response = await fetch(`${url}/${path}`);
    expect(response.headers.get("content-encoding")).toBe(coding);
    expect(await response.json()).toMatchObject({ [mark]: true, method: "GET", origin: "127.0.0.1", headers: { "User-Agent": "node" } });
    expect(decode).toBeTypeOf("function");
  }
  expect((await curl("--compressed", `${url}/gzip`)).body).toContain('"gzipped": true');
});

it("[HTTP-71] /etag honours If-None-Match and If-Match", async () => {
  const { url } = await startHttp();
  const status = async (headers: Record<string, string>) =>
    (await curl(...Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]), `${url}/etag/v1`)).status;
  const response = await fetch(`${url}/etag/v1`);
  expect([response.status, response.headers.get("etag")]).toEqual([200, '"v1"']);
  for (const field of ['"v1"', 'W/"v1"', '"x", "v1"', "*", "v1"]) expect(await status({ "If-None-Match": field })).toBe(304);
  expect(await status({ "If-None-Match": '"v2"' })).toBe(200);
  for (const field of ['"v1"', '"x","v1"', "*"]) expect(await status({ "If-Match": field })).toBe(200);
  for (const field of ['"v2"', 'W/"v1"']) expect(await status({ "If-Match": field })).toBe(412);
  expect(await status({ "If-Match": '"v2"', "If-None-Match": '"v1"' })).toBe(412);
  expect(await answerOf(`${url}/etag/a%0d%0ab`)).toEqual(errorWith(400));
});

it("[HTTP-72] /cache answers conditional requests with 304; /cache/:n may be cached", async () => {
  const { url } = await startHttp();
  const first = await fetch(`${url}/cache`);
  expect(first.headers.get("etag")).toMatch(/^"[\da-f]{32}"$/);
  expect(first.headers.get("last-modified")).toMatch(/GMT$/);
  for (const field of ["If-None-Match: x", "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT"]) {
    expect((await curl("-H", field, `${url}/cache`)).status).toBe(304);
  }
  expect((await fetch(`${url}/cache/60`)).headers.get("cache-control")).toBe("public, max-age=60");
});

it("[HTTP-76] /unstable fails at the rate; with a seed the query alone decides", async () => {
  const { url } = await startHttp();
  const draw = async (attempt: number, query = "seed=s&rate=0.3&status=503") =>
    (await fetch(`${url}/unstable?${query}&attempt=${attempt}`)).status;
  const attempts = Array.from({ length: 200 }, (_, index) => index);
  const once = await Promise.all(attempts.map((attempt) => draw(attempt)));
  expect(await Promise.all(attempts.map((attempt) => draw(attempt)))).toEqual(once);
  const failures = once.filter((status) => status === 503).length;
  expect(failures).toBeGreaterThan(35);
  expect(failures).toBeLessThan(85);
  expect(new Set(once)).toEqual(new Set([200, 503]));
  expect(await answerOf(`${url}/unstable?rate=0`)).toEqual([200, { status: "success" }]);
  expect(await answerOf(`${url}/unstable?rate=1`)).toEqual(errorWith(500));
  for (const query of ["rate=2", "rate=x", "status=200", "status=600"])
    expect(await answerOf(`${url}/unstable?${query}`)).toEqual(errorWith(400));
});
