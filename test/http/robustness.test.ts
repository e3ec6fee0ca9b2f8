import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { leastCpuMs } from "../support/cpu-time.ts";
import { curl } from "./curl.ts";
import { onEnd, raw, rawConnection, startHttp, until } from "./harness.ts";
import { python } from "./python.ts";

const error = { status: "error", message: expect.any(String) };
const stillServes = async (url: string) => expect((await fetch(`${url}/health`)).status).toBe(200);

const post = (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = { "Content-Type": "application/json" },
) => fetch(`${url}/api/echo`, { method: "POST", body, headers });

it.each(["{", '{"a":}', "nope", '{"a":1}x', "\u0000", "{'a':1}"])("[HTTP-24] %j is not JSON: 400", async (text) => {
  const { url } = await startHttp();
  const response = await post(url, text);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ status: "error", message: expect.stringMatching(/^Invalid JSON/) });
  expect((await post(url, new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
});

it("[HTTP-25] JSON of any depth gets a response", async () => {
  const service = await startHttp();
  const deep = "[".repeat(400_000) + "]".repeat(400_000);
  const response = await post(service.url, deep);
  expect([response.status, await response.text()]).toEqual([200, `{"status":"success","received":${deep}}`]);
  await stillServes(service.url);
});

it("[HTTP-26] a body above the limit is 413, and a client that sends all of it can read that", async () => {
  const { url, port } = await startHttp();
  expect(await (await post(url, `"${"x".repeat((1 << 20) - 2)}"`)).text()).toMatch(/^{"status":"success"/);
  const response = await post(url, `"${"x".repeat(1 << 20)}"`);
  expect(response.status).toBe(413);
  expect(await response.json()).toEqual(error);
  const answer = await python(`
import urllib.request, urllib.error
try:
    urllib.request.urlopen("${url}/api/echo", data=b"x" * 8000000)
except urllib.error.HTTPError as e:
    print(e.code, e.read().decode())
`);
  expect(answer).toMatch(/^413 \{"status":"error"/);
  // Chunked, so that the length is not known before.
  const connection = await rawConnection(port, "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (let sent = 0; sent < 20; sent++) connection.send(`10000\r\n${"x".repeat(65_536)}\r\n`);
  connection.send("0\r\n\r\nGET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  expect(await connection.closed()).toMatch(/^HTTP\/1.1 413 [\s\S]*HTTP\/1.1 200 [\s\S]*\{"status":"ok"}$/);
});

it("[HTTP-27] an endless body is cut off", async () => {
  const { url, port } = await startHttp();
  const connection = await rawConnection(port, "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const chunk = Buffer.from(`100000\r\n${"x".repeat(1 << 20)}\r\n`);
  let isOpen = true;
  connection.socket.once("close", () => {
    isOpen = false;
  });
  const flood = () => {
    while (isOpen && connection.socket.write(chunk));
    if (isOpen) connection.socket.once("drain", flood);
  };
  flood();
  expect(await connection.closed()).toMatch(/^HTTP\/1.1 413 |^$/);
  await stillServes(url);
});

it("[HTTP-28] Expect: 100-continue is met, refused for a body that is too large, and other expectations are 417", async () => {
  const { url, port } = await startHttp();
  const connection = await rawConnection(
    port,
    "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
  );
  await connection.received(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
  connection.send("[]");
  await connection.received(/"received":\[\]/);
  const refused = await raw(port, "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n");
  expect(refused).toMatch(/^HTTP\/1.1 413 /);
  expect(refused).not.toContain("100 Continue");
  // A final answer instead of the 100 leaves open whether the body comes: nothing more is read.
  const unread = await raw(port, "GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  expect(unread).toMatch(/^HTTP\/1.1 200 [\s\S]*Connection: close/);
  const other = await raw(port, "GET / HTTP/1.1\r\nHost: a\r\nExpect: the-unexpected\r\n\r\n");
  expect(other).toMatch(/^HTTP\/1.1 417 [\s\S]*\{"status":"error"/);
  expect((await curl("-H", "Expect: 100-continue", "-d", "a=1", `${url}/api/echo`)).all).toMatch(/100 Continue[\s\S]*"a":"1"/);
});

it("[HTTP-29] content codings are decoded; the limit holds for the decoded body too, and the row names its setting", async () => {
  const service = await startHttp();
  const { url } = service;
  const coded = (body: Buffer, coding: string) =>
    post(url, new Uint8Array(body), { "Content-Type": "application/json", "Content-Encoding": coding });
  const plain = Buffer.from('{"a":1}');
  for (const [body, coding] of [
    [gzipSync(plain), "gzip"],
    [gzipSync(plain), "X-GZIP"],
    [deflateSync(plain), "deflate"],
    [deflateRawSync(plain), "deflate"],
    [brotliCompressSync(plain), "br"],
    [gzipSync(deflateSync(plain)), "deflate, gzip"],
    [plain, "identity"],
  ] as const) {
    const response = await coded(body, coding);
    expect([response.status, await response.json()]).toEqual([200, { status: "success", received: { a: 1 } }]);
  }
  const bomb = await coded(gzipSync(Buffer.alloc(50 << 20)), "gzip");
  expect([bomb.status, await bomb.json()]).toEqual([413, error]);
  const refused = await until(() => service.rows().find(({ outcome }) => outcome === "413"));
  expect(refused.reason).toMatch(/^The body is larger than \d+ bytes once decompressed \(Largest body, HTTP_BODY_BYTES\)$/);
  const unknown = await coded(plain, "zip");
  expect([unknown.status, await unknown.json(), unknown.headers.get("accept-encoding")]).toEqual([415, error, "gzip, deflate, br"]);
  expect((await coded(plain, "gzip")).status).toBe(400);
  expect((await coded(plain, "gzip,gzip,gzip,gzip")).status).toBe(415);
  await stillServes(url);
});

it("[HTTP-30] an unknown charset is 415", async () => {
  const { url } = await startHttp();
  for (const type of ["application/json; charset=klingon", 'text/plain; charset="x-none"']) {
    const response = await post(url, "[]", { "Content-Type": type });
    expect([response.status, await response.json()]).toEqual([415, error]);
  }
  expect(
    await (await post(url, new Uint8Array(Buffer.from('["ü"]', "utf16le")), { "Content-Type": "application/json; charset=utf-16" })).json(),
  ).toMatchObject({ received: ["ü"] });
});

it("[HTTP-31] a header that is too large is 431, a target that is too long 414", async () => {
  const { url, port } = await startHttp();
  const bomb = await raw(port, `GET / HTTP/1.1\r\nHost: a\r\n${`X-${"y".repeat(60)}: ${"z".repeat(60)}\r\n`.repeat(200)}\r\n`);
  expect(bomb).toMatch(/^HTTP\/1.1 431 [\s\S]*Connection: close[\s\S]*\{"status":"error","message":"[^"]+"}$/);
  expect(await raw(port, `GET /${"x".repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(/^HTTP\/1.1 414 [\s\S]*\{"status":"error"/);
  expect((await fetch(`${url}/anything/${"x".repeat(12_000)}`)).status).toBe(200);
  await stillServes(url);
});

it("[HTTP-32] a header or a body that does not arrive in time is 408; a silent connection is only closed", async () => {
  const service = await startHttp({ headersTimeoutMs: 300, requestTimeoutMs: 500 });
  const slowHead = rawConnection(service.port, "GET / HTTP/1.1\r\nHost: a\r\nX-One: 1");
  const slowBody = rawConnection(service.port, "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  const silent = rawConnection(service.port);
  expect(await (await slowHead).closed()).toMatch(/^HTTP\/1.1 408 [\s\S]*\{"status":"error"/);
  expect(await (await slowBody).closed()).toMatch(/^HTTP\/1.1 408 [\s\S]*\{"status":"error"/);
  expect(await (await silent).closed()).toBe("");
  await service.ended((row) => row.verb === "POST" && row.outcome.startsWith("408"));
  expect(service.rows()).toHaveLength(2);
  await stillServes(service.url);
});

it("[HTTP-33] a client that disconnects during a body or a response has a row and a log line", async () => {
  const service = await startHttp();
  const half = await rawConnection(service.port, "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  await until(() => service.rows().length === 1);
  half.socket.destroy();
  expect(await service.ended((row) => row.verb === "POST")).toMatchObject({ tone: "aborted", bytesIn: 3 });
  const reader = await rawConnection(service.port, "GET /drip?duration=5&numbytes=100 HTTP/1.1\r\nHost: a\r\n\r\n");
  await reader.received(/\*/);
  reader.socket.destroy();
  const row = await service.ended((one) => one.target.startsWith("/drip"));
  expect(row).toMatchObject({ tone: "aborted", outcome: "200, client left" });
  await until(() =>
    service.logs.find((line) => line.level === "warning" && line.text.startsWith("GET /drip?duration=5&numbytes=100 200, client left ")),
  );
  await stillServes(service.url);
});

it("[HTTP-34] bad percent-encoding and control characters get a response", async () => {
  const { url, port } = await startHttp();
  for (const path of ["/api/status/%zz", "/base64/%ff%fe", "/cookies/set/%/x"]) {
    const response = await fetch(url + path);
    expect([response.status, await response.json()]).toEqual([400, error]);
  }
  expect((await fetch(`${url}/get?a=%zz&%=1`)).status).toBe(200);
  expect((await fetch(`${url}/anything/a%00b?c=%00`)).status).toBe(200);
  expect(await raw(port, "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
  expect(await raw(port, "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
});

it("[HTTP-35] HTTP/1.1 requires one valid Host", async () => {
  const { port } = await startHttp();
  for (const fields of ["", "Host: a\r\nHost: b\r\n", "Host: a b\r\n", "Host: <script>\r\n", "Host: a/b\r\n", "Host: user@a\r\n"]) {
    expect(await raw(port, `GET / HTTP/1.1\r\n${fields}\r\n`)).toMatch(/^HTTP\/1.1 400 [\s\S]*\{"status":"error"/);
  }
  for (const host of ["a:80", "[::1]:80", "127.0.0.1", ""]) {
    expect(await raw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  }
});

it("[HTTP-36] an unknown method is 501, another version 505, and CONNECT is not supported", async () => {
  const { url, port } = await startHttp();
  expect(await raw(port, "BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n")).toMatch(/^HTTP\/1.1 501 [\s\S]*\{"status":"error"/);
  expect(await raw(port, "GET / HTTP/3.7\r\nHost: a\r\n\r\n")).toMatch(/^HTTP\/1.1 505 [\s\S]*\{"status":"error"/);
  expect(await raw(port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).toMatch(/^HTTP\/1.1 505 /);
  expect(await raw(port, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n")).toMatch(
    /^HTTP\/1.1 405 [\s\S]*\{"status":"error"/,
  );
  await stillServes(url);
});

it("[HTTP-115] lines that end with LF alone are 400, not another version", async () => {
  const { port } = await startHttp();
  for (const request of ["GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.0\n\n"]) {
    expect(await raw(port, request)).toMatch(/^HTTP\/1.1 400 [\s\S]*"message":"[^"]*CRLF/);
  }
  for (const request of [
    "GET / HTTP/3.7\n\n",
    "GET / HTTP/1.2\r\nHost: a\r\n\r\n",
    "GET / HTTP/0.9\r\n\r\n",
    "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
  ]) {
    expect(await raw(port, request)).toMatch(/^HTTP\/1.1 505 /);
  }
  for (const request of ["GET / HTTP/x\r\n\r\n", "GET / HTTP/1\r\n\r\n", "GET / FTP/1.1\r\n\r\n"]) {
    expect(await raw(port, request)).toMatch(/^HTTP\/1.1 400 /);
  }
});

it("[HTTP-116] a transfer coding other than chunked is 501", async () => {
  const service = await startHttp();
  const answer = await raw(
    service.port,
    "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
  );
  expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 501"]);
  expect(answer).toMatch(/Connection: close[\s\S]*\{"status":"error","message":"[^"]*chunked/);
  const plain = "POST /api/echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  expect(await raw(service.port, plain)).toMatch(/^HTTP\/1.1 200 [\s\S]*"received":"abc"/);
});

it.each([
  ["both lengths", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"],
  ["two lengths", "Content-Length: 3\r\nContent-Length: 4\r\n"],
  ["a negative length", "Content-Length: -3\r\n"],
  ["a length with a sign", "Content-Length: +3\r\n"],
  ["a length that overflows", "Content-Length: 99999999999999999999999\r\n"],
  ["chunked not last", "Transfer-Encoding: chunked, gzip\r\n"],
  ["a folded field", "X-One: 1\r\n 2\r\n"],
  ["a space before the colon", "X-One : 1\r\n"],
  ["a bare LF", "X-One: 1\nX-Two: 2\r\n"],
])("[HTTP-37] %s: 400, and nothing after it is read as a request", async (_name, fields) => {
  const { url, port } = await startHttp();
  const answer = await raw(port, `POST /api/echo HTTP/1.1\r\nHost: a\r\n${fields}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
  await stillServes(url);
});

it("[HTTP-38] a body that becomes invalid in the middle ends its request with 400", async () => {
  const service = await startHttp();
  const answer = await raw(service.port, "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nZZ\r\n");
  expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*\{"status":"error"/);
  expect(await service.ended((row) => row.verb === "POST")).toMatchObject({ tone: "refused", bytesIn: 3 });
  expect(service.rows()).toHaveLength(1);
});

it("[HTTP-39] pipelined requests are answered in their order", async () => {
  const { port } = await startHttp();
  const request = (path: string, close = false) => `GET ${path} HTTP/1.1\r\nHost: a\r\n${close ? "Connection: close\r\n" : ""}\r\n`;
  const answer = await raw(
    port,
    request("/api/delay/0.2") + request("/api/stream?count=3&duration=0.1") + request("/api/data") + request("/health", true),
  );
  expect(answer.match(/"delay":0.2|"id":\d,"timestamp"|"active":true|"status":"ok"/g)).toEqual([
    '"delay":0.2',
    '"id":0,"timestamp"',
    '"id":1,"timestamp"',
    '"id":2,"timestamp"',
    '"active":true',
    '"status":"ok"',
  ]);
});

it("[HTTP-40] an invalid multipart body is 400", async () => {
  const { url } = await startHttp();
  for (const type of ["multipart/form-data", "multipart/form-data; boundary=x", 'multipart/form-data; boundary=""']) {
    const response = await post(url, "--y\r\nnothing", { "Content-Type": type });
    expect([response.status, await response.json()]).toEqual([400, error]);
  }
});

it("[HTTP-41] a connection that stays idle is closed", async () => {
  const { port } = await startHttp({ keepAliveTimeoutMs: 100 });
  const connection = await rawConnection(port, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(await connection.closed()).toMatch(/\{"status":"ok"}$/);
  onEnd(() => {});
});

it("[HTTP-134] JSON whose indentation takes more than four times the largest body is 413 at every route that indents it", async () => {
  const { url } = await startHttp({ bodyBytes: 100_000 });
  const nested = (depth: number, inner = "") => "[".repeat(depth) + inner + "]".repeat(depth);
  const ask = (path: string, body: string) => fetch(url + path, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  // Its size grows with the square of the depth, and with the depth times the number of values.
  for (const body of [nested(500), nested(50_000), nested(50, `${"1,".repeat(5_000)}1`)]) {
    for (const path of ["/anything", "/post", "/delay/0"]) {
      const answer = await ask(path, body);
      const message = "Indentation of the JSON takes more than 400000 bytes";
      expect([answer.status, await answer.json()]).toEqual([413, { status: "error", message }]);
    }
  }
  for (const body of [nested(400), nested(50, `${"1,".repeat(3_000)}1`)]) {
    const answer = await (await ask("/anything", body)).text();
    const spaces = answer.length - answer.replaceAll(/\s/g, "").length;
    expect([spaces < 401_000, (JSON.parse(answer) as { json: unknown }).json]).toEqual([true, JSON.parse(body)]);
  }
});

it("[HTTP-135] a form of more fields or parts than the limit is 413", async () => {
  const { url } = await startHttp({ formFields: 3 });
  const form = (count: number) => Array.from({ length: count }, (_, index) => `a=${index}`).join("&");
  const parts = (count: number, before = "") =>
    `${before}${'--"x;\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(count)}--"x;--\r\n`;
  const urlencoded = { "Content-Type": "application/x-www-form-urlencoded" };
  const multipart = { "Content-Type": 'multipart/form-data; boundary="\\"x;"; boundary=y' };
  for (const body of [form(3), `${form(3)}&`]) {
    expect(await (await post(url, body, urlencoded)).json()).toMatchObject({ received: { a: ["0", "1", "2"] } });
  }
  // RFC 2046 §5.1.1: what is in front of the first boundary is ignored.
  for (const before of ["", "\r\n", "preamble\r\n"]) {
    const epilogue = "\r\n\r\n--x";
    expect(await (await post(url, parts(3, before) + epilogue, multipart)).json()).toMatchObject({
      received: { fields: { a: ["1", "1", "1"] } },
    });
    expect(await (await post(url, parts(4, before), multipart)).text()).toBe(
      '{"status":"error","message":"The form has more than 3 fields"}',
    );
  }
  const longHeader = parts(1, "").replace("form-data", `form-data; x="${"y".repeat(17_000)}"`);
  expect(await (await post(url, longHeader, multipart)).text()).toBe(
    '{"status":"error","message":"The headers of the form\'s parts have more than 16384 bytes"}',
  );
  const refused = await post(url, form(4), urlencoded);
  expect([refused.status, await refused.json()]).toEqual([413, { status: "error", message: "The form has more than 3 fields" }]);
  const shown = await fetch(`${url}/post`, { method: "POST", body: form(4), headers: urlencoded });
  expect(await shown.json()).toMatchObject({ data: form(4), form: {} });
});

it("[HTTP-135] a form that repeats one name takes time linear in its bytes", async () => {
  const { url } = await startHttp();
  const form = (parts: number) => `${'--x\r\nContent-Disposition: form-data; name="a"; filename="f"\r\n\r\n1\r\n'.repeat(parts)}--x--\r\n`;
  const post = (path: string, body: string) =>
    fetch(url + path, { method: "POST", headers: { "Content-Type": "multipart/form-data; boundary=x" }, body });
  const answer = (await (await post("/post", form(2_000))).json()) as { files: { a: string[] } };
  expect(answer.files.a).toHaveLength(2_000);
  const cpuMs = (parts: number) =>
    leastCpuMs(async () => {
      const shown = await post("/post", form(parts));
      expect([shown.status, (await shown.text()).length]).toEqual([200, expect.any(Number)]);
    });
  // The square of the parts would take 36 times as long.
  expect(await cpuMs(12_000)).toBeLessThan(15 * Math.max(await cpuMs(2_000), 12));
});

it("[HTTP-12] a multipart form is read as browsers and other clients write it", async () => {
  const { url } = await startHttp();
  const form = new FormData();
  for (const [name, value] of [
    ['a"b;c=\r\nd', "1"],
    ["ä", "\r\n--x\r\n"],
    ["empty", ""],
  ] as const)
    form.append(name, value);
  form.append("file", new File(["\r\n\r\n--"], 'q"uote.txt', { type: "text/css" }));
  form.append("file", new File([new Uint8Array([0, 255])], "ü;.bin"));
  const echoed = (await (await fetch(`${url}/api/echo`, { method: "POST", body: form })).json()) as { received: unknown };
  const file = { field: "file", bytes: expect.any(Number) };
  expect(echoed.received).toEqual({
    fields: { 'a"b;c=\r\nd': "1", ä: "\r\n--x\r\n", empty: "" },
    files: [
      { ...file, filename: 'q"uote.txt', contentType: "text/css", text: "\r\n\r\n--" },
      { ...file, filename: "ü;.bin", contentType: "application/octet-stream", base64: "AP8=" },
    ],
  });
  const lines = [
    '--x \r\nContent-Disposition: form-data; name="b"\r\nContent-Transfer-Encoding: base64\r\n\r\nYmFz\r\n',
    '--x\r\ncontent-disposition: FORM-DATA; filename="a\\"\\\\b"; name=c\r\n\r\n--xy\r\n--xyz\r\n--x--',
  ];
  const body = lines.join("");
  const own = await post(url, body, { "Content-Type": "multipart/form-data; boundary=x" });
  expect(((await own.json()) as { received: unknown }).received).toEqual({
    fields: { b: "bas" },
    files: [{ field: "c", filename: 'a"\\b', contentType: "text/plain", bytes: 11, text: "--xy\r\n--xyz" }],
  });
  for (const [broken, type] of [
    [body.slice(0, -4), "x"],
    [body.replace("form-data", "attachment"), "x"],
    [body.replace("; name=c", ""), "x"],
    [body.replaceAll("x", "x".repeat(71)), "x".repeat(71)],
    ["--x\r\nContent-Disposition: form-data; name=a", "x"],
  ] as const) {
    const refused = await post(url, broken, { "Content-Type": `multipart/form-data; boundary=${type}` });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { status: "error", message: expect.stringMatching(/^Invalid multipart body: /) },
    ]);
  }
});
