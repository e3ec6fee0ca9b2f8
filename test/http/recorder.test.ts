import { expect, it } from "vitest";
import type { HttpBody } from "../../contract/traffic/http.ts";
import { BodyBudget, mostKeptBytes } from "../../servers/core/http/connections/body-budget.ts";
import { clientName } from "../../servers/core/http/messages/client-name.ts";
import { loggedTarget } from "../../servers/core/http/record/http-log-line.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { curl } from "./curl.ts";
import { raw, rawConnection, startHttp, until } from "./harness.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

it("[HTTP-93] a request is a row while it is pending, and the same row once it ended", async () => {
  const service = await startHttp();
  const connection = await rawConnection(service.port, "GET /api/delay/0.4 HTTP/1.1\r\nHost: a\r\nUser-Agent: curl/8.9.1\r\n\r\n");
  const pending = await until(() => service.rows()[0]);
  const peer = `127.0.0.1:${connection.socket.localPort}`;
  expect(pending).toEqual({
    id: 1,
    at: expect.any(Number),
    kind: "http",
    verb: "GET",
    target: "/api/delay/0.4",
    tone: "pending",
    outcome: "",
    bytesIn: 0,
    bytesOut: 0,
    client: "curl",
    peer,
    preview: "",
  });
  const ended = await service.ended(() => true);
  expect(ended).toEqual({
    ...pending,
    tone: "ok",
    outcome: "200",
    tookMs: expect.any(Number),
    bytesOut: 32,
    preview: '{"status":"success","delay":0.4}',
  });
  expect(ended.tookMs).toBeGreaterThanOrEqual(395);
});

it.each([
  ["/api/status/200", "ok"],
  ["/api/status/301", "neutral"],
  ["/api/status/404", "refused"],
  ["/api/status/503", "failed"],
])("[HTTP-94] %s has the tone %s", async (path, tone) => {
  const service = await startHttp();
  await raw(service.port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  expect(await service.ended(() => true)).toMatchObject({ tone, outcome: path.slice(-3) });
});

it("[HTTP-95] the detail has the exchange as it crossed the wire", async () => {
  const service = await startHttp();
  const connection = await rawConnection(service.port, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  await connection.received(/ok"}$/);
  connection.send(
    'POST /api/echo?x=%20 HTTP/1.1\r\nhOsT: a\r\nX-Two: 1\r\nx-two: 2\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n3\r\n:1}\r\n0\r\nX-Trailer: t\r\n\r\n',
  );
  await connection.received(/"received"/);
  const row = await service.ended(({ verb }) => verb === "POST");
  expect(row.preview).toBe('{"a":1}');
  const detail = service.detail(row.id);
  const answer = '{"status":"success","received":{"a":1}}';
  expect(detail).toEqual({
    kind: "http",
    id: row.id,
    at: row.at,
    request: {
      method: "POST",
      target: "/api/echo?x=%20",
      httpVersion: "1.1",
      headers: [
        ["hOsT", "a"],
        ["X-Two", "1"],
        ["x-two", "2"],
        ["Content-Type", "application/json"],
        ["Transfer-Encoding", "chunked"],
      ],
      trailers: [["X-Trailer", "t"]],
      body: { bytes: 7, base64: base64('{"a":1}') },
    },
    response: {
      status: 200,
      reason: "OK",
      headers: expect.arrayContaining([
        ["Content-Length", String(answer.length)],
        ["Date", expect.stringMatching(/GMT$/)],
        ["Connection", "keep-alive"],
      ]),
      body: { bytes: answer.length, base64: base64(answer) },
    },
    timing: { receiveMs: expect.any(Number), answerMs: expect.any(Number), sendMs: expect.any(Number), totalMs: expect.any(Number) },
    connection: {
      id: 1,
      remote: `127.0.0.1:${connection.socket.localPort}`,
      local: `127.0.0.1:${service.port}`,
      requests: 2,
      openedAt: expect.any(Number),
    },
  });
  const { receiveMs = 0, answerMs = 0, sendMs = 0, totalMs = 0 } = detail.timing;
  expect(receiveMs + answerMs + sendMs).toBeCloseTo(totalMs, 1);
});

it("[HTTP-96] bodies are recorded up to the configured size, and counted whole", async () => {
  const service = await startHttp({ recordedBodyBytes: 10, recordedBodyRate: 0 });
  await fetch(`${service.url}/anything`, { method: "POST", body: "0123456789abcdef" }).then((response) => response.text());
  const posted = await service.ended(({ verb }) => verb === "POST");
  const { request, response } = service.detail(posted.id);
  expect(request.body).toEqual({ bytes: 16, base64: base64("0123456789") });
  expect(response?.body).toMatchObject({ bytes: posted.bytesOut, base64: base64('{\n  "args"') });
  await fetch(`${service.url}/bytes/50000`).then((answer) => answer.arrayBuffer());
  expect(await service.ended(({ verb }) => verb === "GET")).toMatchObject({ bytesOut: 50_000, preview: "" });
});

it("[HTTP-143] bodies are kept to 256 KiB while the budget lasts; after that only their first bytes, which is said", async () => {
  const service = await startHttp({ recordedBodyRate: 1 });
  const body = "0123456789".repeat(30_000);
  await fetch(`${service.url}/anything`, { method: "POST", body }).then((answer) => answer.text());
  const { request, response } = service.detail((await service.ended(({ verb }) => verb === "POST")).id);
  const keptOf = ({ base64: kept }: HttpBody) => Buffer.from(kept, "base64").toString();
  expect([request.body.bytes, keptOf(request.body) === body.slice(0, 262_144), request.body.overBudget]).toEqual([
    300_000,
    true,
    undefined,
  ]);
  // The request has used up nearly all of it.
  expect([response && keptOf(response.body).length, response?.body.overBudget]).toEqual([8_192, true]);
});

it("[HTTP-143] the budget of bodies is a rate, and saves up for one second or one body", () => {
  let now = 0;
  const [slow, fast] = [1_000, 1_000_000].map((rate) => new BodyBudget(rate, () => now)) as [BodyBudget, BodyBudget];
  expect([slow.take(mostKeptBytes), slow.take(1), fast.take(1_000_000), fast.take(1)]).toEqual([true, false, true, false]);
  now = 500;
  expect([slow.take(501), slow.take(500), slow.take(1), fast.take(500_001), fast.take(500_000)]).toEqual([false, true, false, false, true]);
  now = 10_000_000;
  expect([slow.take(mostKeptBytes + 1), slow.take(mostKeptBytes), fast.take(1_000_001), fast.take(1_000_000)]).toEqual([
    false,
    true,
    false,
    true,
  ]);
});

it.each([
  ["404, of a length", "POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello", 5, true],
  ["404, in chunks", "POST /none HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 0, true],
  ["405", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello", 5, true],
  ["400, of its Host", "POST /anything HTTP/1.1\r\nContent-Length: 9\r\n\r\nhello", 5, true],
  ["413", "POST /anything HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\nhello", 5, true],
  ["413, expected", "POST /anything HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n", 0, true],
  ["404, expected", "POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", 0, true],
  ["417", "POST /anything HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: more\r\n\r\n", 0, true],
  ["400, of a chunk", "POST /anything HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n", 5, true],
  ["404, whole", "POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", 5, undefined],
  ["404, without one", "POST /none HTTP/1.1\r\nHost: a\r\n\r\n", 0, undefined],
])(
  "[HTTP-280] the body of a request that is answered before all of it came is recorded as a part: %s",
  async (status, request, bytes, isPart) => {
    const service = await startHttp();
    const connection = await rawConnection(service.port, request);
    await connection.received(new RegExp(`^HTTP/1.1 ${status.slice(0, 3)}`));
    const row = await service.ended(({ tookMs }) => tookMs !== undefined);
    const { body } = service.detail(row.id).request;
    expect([body.bytes, body.isPart]).toEqual([bytes, isPart]);
  },
);

it("[HTTP-280] so is that of a client that leaves before its end", async () => {
  const service = await startHttp();
  const connection = await rawConnection(service.port, "POST /anything HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello");
  await until(() => service.rows()[0]?.bytesIn === 5);
  connection.socket.destroy();
  const { body } = service.detail((await service.ended(() => true)).id).request;
  expect(body).toEqual({ bytes: 5, base64: base64("hello"), isPart: true });
});

it("[HTTP-97] HEAD, 204 and 304 are recorded without content", async () => {
  const service = await startHttp();
  for (const [method, path] of [
    ["HEAD", "/api/data"],
    ["GET", "/api/status/204"],
    ["GET", "/api/status/304"],
  ] as const) {
    await raw(service.port, `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const row = await service.ended(({ target, verb }) => target === path && verb === method);
    expect(row.bytesOut).toBe(0);
  }
});

it("[HTTP-98] bytes that never became a request are a row too", async () => {
  const service = await startHttp();
  await raw(service.port, "GET /bad\x01path HTTP/1.1\r\nHost: a\r\n\r\n");
  const row = await service.ended(() => true);
  expect(row).toMatchObject({
    kind: "http",
    verb: "GET",
    target: "/bad",
    tone: "refused",
    outcome: expect.stringMatching(/^400, Malformed request/),
  });
  const detail = service.detail(row.id);
  expect(Buffer.from(detail.request.unparsed?.base64 ?? "", "base64").toString("latin1")).toContain("/bad\x01path");
  expect(detail.response).toMatchObject({ status: 400, reason: "Bad Request", headers: expect.arrayContaining([["Connection", "close"]]) });
  expect(detail.aborted).toContain("Malformed request");
});

it("[HTTP-98] such a row has the header fields that can be read, and no body", async () => {
  const service = await startHttp();
  const sent = "FOO /any HTTP/1.1\r\nHost: a\r\nUser-Agent: curl/8.5.0\r\nBad Header: 1\r\nCookie: sid=1 \r\nContent-Length: 2\r\n\r\nhi";
  await raw(service.port, sent);
  const row = await service.ended(() => true);
  expect(row).toMatchObject({ verb: "FOO", target: "/any", client: "curl", bytesIn: 0 });
  const { request } = service.detail(row.id);
  expect(request).toMatchObject({
    headers: [
      ["Host", "a"],
      ["User-Agent", "curl/8.5.0"],
      ["Cookie", "sid=1"],
      ["Content-Length", "2"],
    ],
    body: { bytes: 0, base64: "" },
    unparsed: { bytes: sent.length, base64: Buffer.from(sent).toString("base64") },
  });
});

it("[HTTP-98] such a row has what came in earlier pieces too, and nothing of the body before", async () => {
  const service = await startHttp();
  const connection = await rawConnection(service.port, "POST /anything HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
  const garbage = ["GET /in/pieces HTTP/1.1\r\nHo", "st: a\r\nBad Header: 1\r\n\r\n"];
  for (const piece of [`cde${garbage[0]}`, garbage[1] as string]) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    connection.send(piece);
  }
  await connection.closed();
  const row = await service.ended(({ tone }) => tone === "refused");
  const bytes = Buffer.from(service.detail(row.id).request.unparsed?.base64 ?? "", "base64").toString();
  expect([row.target, bytes]).toEqual(["/in/pieces", garbage.join("")]);
});

it("[HTTP-99] each finished request is one log line", async () => {
  const service = await startHttp();
  await curl(`${service.url}/api/data`);
  await curl(`${service.url}/api/status/503`);
  await until(() => service.logs.length >= 2);
  const line = (text: string) => new RegExp(`^${text} \\d+(?:\\.\\d)? ms \\d+ B curl 127\\.0\\.0\\.1:\\d+$`);
  expect(service.logs[0]).toMatchObject({ level: "info", text: expect.stringMatching(line("GET /api/data 200")) });
  expect(service.logs[1]).toMatchObject({ level: "info", text: expect.stringMatching(line("GET /api/status/503 503")) });
});

it("[HTTP-100] no log line shows a secret", async () => {
  const service = await startHttp({ logLevel: "debug" });
  const secret = "s3cr3t-value";
  for (const query of [
    `token=${secret}`,
    `a=1&API_KEY=${secret}`,
    `pass%77ord=${secret}`,
    `x=1&%zz&client_secret=${secret}`,
    `sig=${secret}`,
    `user=a&pass=${secret}`,
    `access_token=${secret}#x`,
  ]) {
    await raw(
      service.port,
      `GET /get?${query.replace("#x", "")} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\nCookie: s=${secret}\r\nConnection: close\r\n\r\n`,
    );
  }
  await raw(service.port, `GET http://user:${secret}@a/get HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await until(() => service.logs.filter(({ text }) => text.includes("/get")).length === 8);
  expect(service.logs.filter(({ text }) => text.includes(secret))).toEqual([]);
  const paths = [
    `/basic-auth/u/${secret}`,
    `/hidden-basic-auth/u/${secret}/`,
    `/digest-auth/auth/u/${secret}/MD5`,
    `http://a/digest-auth/auth/u/${secret}`,
    `/cookies/set/name/${secret}`,
    `/cookies/set?name=${secret}`,
    `/redirect-to?url=http%3A%2F%2Fu%3A${secret}%40127.0.0.1%2F`,
    `/redirect-to?url=http://u:${secret}@127.0.0.1/`,
    `/redirect-to?url=http%253A%252F%252Fu%253A${secret}%2540127.0.0.1%252F`,
    `/redirect-to?url=http%3A%2F%2Fa%2F%3Ftoken%3D${secret}`,
    `/anything/http://u:${secret}@a/`,
    `/anything/http%3A%2F%2Fu:${secret}%40a/`,
    `/get?payload={%22password%22:%22${secret}%22}`,
    `/get?payload=%7B%22\\u0070assword%22:%22${secret}%22}`,
    `/get?q=password%3D${secret}`,
    `/get?password%3D${secret}`,
    `/get?%2570assword=${secret}`,
    `/get#password=${secret}`,
    `//basic-auth/u/${secret}`,
    `/./basic-auth/u/${secret}`,
    `/BASIC-AUTH/u/${secret}`,
    `/basic%2Dauth/u/${secret}`,
    `/%62asic-auth/u/${secret}`,
    `/hidden-basic-%61uth%2Fu%2f${secret}`,
    `/digest-aut%68/auth/u/${secret}`,
    `/c%6fokies/set/name/${secret}`,
    `/cookies/%73et?name=${secret}`,
  ];
  for (const path of paths) await raw(service.port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await until(() => service.logs.filter(({ level }) => level === "info").length === 8 + paths.length);
  expect(service.logs.filter(({ text }) => text.includes(secret))).toEqual([]);
  expect(service.logs.map(({ text }) => text.split(" ")[1])).toContain("/basic-auth/u/…");
  expect(loggedTarget("/a?url=http://b/?c=d&e=f@g")).toBe("/a?url=http://b/?c=d&e=f@g");
  expect(loggedTarget(`u:${secret}@a:443`)).toBe("…@a:443");
  expect(loggedTarget("/a@b?c=d#e")).toBe("/a@b?c=d#e");
  for (const long of ["\\", "%5c", "?", "/", "&", '"', '" ', "#", "u:"]) {
    const characters = 1_024_000;
    const cpuMs = (length: number) => {
      const [query, path] = [`/a@?token=@${long.repeat(length / long.length)}`, `/a@${long.repeat(length / long.length)}`];
      return threadCpuMs(() => {
        for (let done = 0; done < characters; done += length) [loggedTarget(query), loggedTarget(path)];
      });
    };
    // In linear time: in that of the square of the length, one long target would take 64 times as long as 64 short ones.
    expect(cpuMs(characters)).toBeLessThan(16 * Math.max(cpuMs(characters / 64), 40));
  }
  expect(loggedTarget("/a?b=1&token=x&c=2")).toBe("/a?b=1&token=…&c=2");
  expect(loggedTarget("/a?b=1")).toBe("/a?b=1");
});

it.each([
  ["curl/8.9.1", "curl"],
  ["okhttp/4.12.0", "okhttp"],
  ["python-requests/2.32.3", "python-requests"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox"],
  ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "Chrome"],
  ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0", "Edge"],
  ["Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15", "Safari"],
  ["Dalvik/2.1.0 (Linux; U; Android 14)", "Dalvik"],
  ["(odd)", ""],
  ["okhttp/4.12.0 Backlot-sample", "okhttp (sample)"],
  ["Backlot-sample/1.0 grpc-node-js/1.14.0", "Backlot (sample)"],
])("[HTTP-101] [BL-365] the client %s is called %s", (userAgent, name) => {
  expect(clientName(userAgent)).toBe(name);
});

it("[HTTP-102] the counters have requests, bytes, connections, p95 and 5xx", async () => {
  const service = await startHttp();
  await curl(`${service.url}/api/data`);
  await curl(`${service.url}/api/status/500`);
  const open = await rawConnection(service.port, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  await open.received(/ok/);
  // The connections of the first two may close a moment later.
  const settled = () => service.counters()?.items === 3 && service.counters()?.clients === 1;
  const counters = await until(() => (settled() ? service.counters() : undefined));
  // On a busy machine tenths give way to whole milliseconds.
  expect(counters).toMatchObject({ clients: 1, note: expect.stringMatching(/^p95 \d+(\.\d)? ms · 5xx: 1 of 3$/) });
  expect(counters?.bytesIn).toBeGreaterThan(100);
  expect(counters?.bytesOut).toBeGreaterThan(500);
});
