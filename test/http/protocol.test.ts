import { expect, it } from "vitest";
import { curl } from "./curl.ts";
import { raw, startHttp } from "./harness.ts";

it("[HTTP-14] an unknown path is 404 in the error shape", async () => {
  const { url } = await startHttp();
  const response = await fetch(`${url}/nope`);
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ status: "error", message: expect.any(String) });
  for (const path of ["/API/DATA", "/api/data/1", "/.env", "/../../etc/passwd"]) expect((await fetch(url + path)).status).toBe(404);
});

it("[HTTP-15] a known path with another method is 405 with Allow", async () => {
  const { url } = await startHttp();
  const response = await fetch(`${url}/api/data`, { method: "DELETE" });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  expect(await response.json()).toEqual({ status: "error", message: expect.any(String) });
  expect((await fetch(`${url}/api/echo`)).headers.get("allow")).toBe("POST, OPTIONS");
});

it("[HTTP-16] HEAD answers like GET, without content", async () => {
  const { url, port } = await startHttp();
  for (const path of [
    "/",
    "/api/data",
    "/get",
    "/image/png",
    "/range/26",
    "/stream/3",
    "/bytes/9?seed=1",
    "/api/stream",
    "/drip?duration=0",
    "/gzip",
    "/html",
  ]) {
    const answer = await raw(port, `HEAD ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).toMatch(/\r\n\r\n$/);
  }
  const [get, head] = await Promise.all([fetch(`${url}/api/data`), fetch(`${url}/api/data`, { method: "HEAD" })]);
  expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
});

it("[HTTP-17] OPTIONS lists the methods of a path, and OPTIONS * those of the server", async () => {
  const { url, port } = await startHttp();
  const response = await fetch(`${url}/api/echo`, { method: "OPTIONS" });
  expect([response.status, response.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
  expect((await fetch(`${url}/nope`, { method: "OPTIONS" })).status).toBe(404);
  expect(await raw(port, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).toMatch(
    /^HTTP\/1.1 204 [\s\S]*Allow: GET, HEAD, POST/,
  );
});

it("[HTTP-18] every response may be read by any page", async () => {
  const { url, port } = await startHttp();
  for (const path of ["/", "/nope", "/api/status/503", "/api/stream?count=1", "/image/png", "/redirect/1"]) {
    const response = await fetch(url + path, { headers: { Origin: "https://app.example" }, redirect: "manual" });
    await response.body?.cancel();
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  }
  expect(await raw(port, "GARBAGE\r\n\r\n")).toMatch(/^HTTP\/1.1 400 [\s\S]*Access-Control-Allow-Origin: \*/);
});

it("[HTTP-19] a preflight is answered for every path", async () => {
  const { url } = await startHttp();
  const preflight = ["-X", "OPTIONS", "-H", "Origin: https://app.example", "-H", "Access-Control-Request-Method: PUT"];
  const answer = await curl(...preflight, "-H", "Access-Control-Request-Headers: x-one, authorization", `${url}/api/echo`);
  expect(answer.status).toBe(204);
  expect(answer.headers).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    "access-control-allow-headers": "x-one, authorization",
    "access-control-max-age": "600",
  });
  const odd = await curl(...preflight, "-H", "Access-Control-Request-Headers: a b<c>", `${url}/`);
  expect(odd.headers["access-control-allow-headers"]).toBeUndefined();
});

it("[HTTP-20] only listed origins may read, and may send credentials", async () => {
  const { url } = await startHttp({ corsOrigins: ["https://app.example"] });
  const known = await fetch(url, { headers: { Origin: "https://app.example" } });
  expect(known.headers.get("access-control-allow-origin")).toBe("https://app.example");
  expect(known.headers.get("access-control-allow-credentials")).toBe("true");
  expect(known.headers.get("vary")).toBe("Origin");
  const other = await fetch(url, { headers: { Origin: "https://evil.example" } });
  expect(other.headers.get("access-control-allow-origin")).toBeNull();
});

it("[HTTP-113] a refusal before any route has the same header fields as every response", async () => {
  const named = await startHttp({ corsOrigins: ["https://app.example"] });
  const open = await startHttp();
  const post = (path: string, fields: string) => `POST ${path} HTTP/1.1\r\nOrigin: https://app.example\r\n${fields}\r\n`;
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  for (const [status, request] of [
    [413, post("/api/echo", "Host: a\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n")],
    [404, post("/nope", "Host: a\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n")],
    [400, post("/api/echo", "Content-Length: 2\r\nExpect: 100-continue\r\n")],
    [400, post("/api/echo", "Content-Length: 0\r\nExpect: more\r\n")],
    [417, post("/api/echo", "Host: a\r\nContent-Length: 0\r\nExpect: more\r\n")],
    [501, post("/api/echo", "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n")],
    [400, post("/ws/echo", `Host: a\r\n${upgrade}`).replace("POST", "GET")],
    [
      426,
      post("/ws/echo", `Host: a\r\n${upgrade}Sec-WebSocket-Version: 9\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`).replace(
        "POST",
        "GET",
      ),
    ],
  ] as const) {
    const answer = await raw(open.port, request);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    for (const field of ["X-Content-Type-Options: nosniff", "Access-Control-Allow-Origin: *", "Date: "])
      expect(answer).toContain(`${field}`);
    const own = await raw(named.port, request);
    for (const field of ["Access-Control-Allow-Origin: https://app.example", "Vary: Origin"]) expect(own).toContain(`${field}\r\n`);
  }
  const malformed = await raw(named.port, "GARBAGE\r\n\r\n");
  expect(malformed).toContain("X-Content-Type-Options: nosniff\r\n");
  expect(malformed).not.toContain("Access-Control-Allow-Origin");
});

it.each(["/image", "/api", "/gzip"])("[HTTP-114] with listed origins %s has Vary for them and for what it negotiated", async (path) => {
  const { url } = await startHttp({ corsOrigins: ["https://app.example"] });
  const response = await fetch(url + path);
  await response.arrayBuffer();
  expect(response.headers.get("vary")).toBe(path === "/gzip" ? "Origin, Accept-Encoding" : "Origin, Accept");
});

it("[HTTP-21] no response may be sniffed for another type", async () => {
  const { url, port } = await startHttp();
  for (const path of ["/", "/nope", "/bytes/5", "/base64/PGI-"])
    expect((await fetch(url + path)).headers.get("x-content-type-options")).toBe("nosniff");
  expect(await raw(port, "\0\r\n\r\n")).toMatch(/X-Content-Type-Options: nosniff/);
});

it("[HTTP-271] a target that is not encoded is shown as UTF-8, else byte by byte", async () => {
  const server = await startHttp();
  for (const [sent, shown] of [
    [Buffer.from("/get?y=é€"), "/get?y=é€"],
    [Buffer.from("/get?y=é", "latin1"), "/get?y=é"],
    [Buffer.from("/get?y=Ã\xa9é", "latin1"), "/get?y=Ã\xa9é"],
  ] as const) {
    await raw(server.port, Buffer.concat([Buffer.from("GET "), sent, Buffer.from(" HTTP/1.1\r\nHost: a\r\n\r\n")]));
    await server.ended(({ target, outcome }) => target === shown && outcome.startsWith("400, "));
  }
});

it("[HTTP-22] accepts an absolute-form target", async () => {
  const { port } = await startHttp();
  const answer = await raw(port, "GET http://somewhere.example/get?a=1 HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).toContain('"url": "http://somewhere.example/get?a=1"');
});

it("[HTTP-23] speaks HTTP/1.0 and closes then, unless asked to stay", async () => {
  const { port } = await startHttp();
  const answer = await raw(port, "GET /api/data HTTP/1.0\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).toMatch(/"active":true}$/);
  expect(await raw(port, "GET /api/stream?count=2&duration=0 HTTP/1.0\r\n\r\n")).toMatch(
    /\r\n\r\nevent: ping\nid: 0\n[\s\S]*"id":1,"timestamp":\d+}\n\n$/,
  );
});

it("[HTTP-37] a body in chunks in HTTP/1.0, which has none: 400, and nothing after it is read as a request", async () => {
  const { port } = await startHttp();
  const head = "POST /api/echo HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n";
  const answer = await raw(port, `${head}0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
  expect(answer).toContain("Transfer-Encoding is not allowed in HTTP/1.0");
});
