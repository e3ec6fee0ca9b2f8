import { expect, it } from "vitest";
import { raw, rawConnection, startHttp, until } from "./harness.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const statuses = (text: string) => text.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(9)));
const outcomes = (service: Awaited<ReturnType<typeof startHttp>>) =>
  service.rows().map(({ target, outcome }) => `${target} ${outcome.slice(0, 3)}`);

it("[HTTP-112] garbage after a request is answered after it, in its own row", async () => {
  const service = await startHttp();
  const startedAt = performance.now();
  const answer = await raw(service.port, `${get("/delay/0.5")}GARBAGE\r\n\r\n`);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(490);
  expect(statuses(answer)).toEqual([200, 400]);
  expect(answer).toMatch(/Connection: close\r\n[\s\S]*\{"status":"error","message":"[^"]+"}$/);
  await service.ended(({ tone }) => tone === "refused");
  expect(outcomes(service)).toEqual(["/delay/0.5 200", "(malformed) 400"]);
  const malformed = service.rows().find(({ tone }) => tone === "refused");
  expect(Buffer.from(service.detail(malformed?.id ?? 0).request.body.base64, "base64").toString()).toBe("GARBAGE\r\n\r\n");
});

it("[HTTP-112] every pending response is sent first, however the garbage arrives", async () => {
  const service = await startHttp();
  const together = await raw(service.port, `${get("/delay/0.3")}${get("/health")}BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect(statuses(together)).toEqual([200, 200, 501]);
  await service.ended(({ verb }) => verb === "BREW");
  expect(outcomes(service)).toEqual(["/delay/0.3 200", "/health 200", "/pot 501"]);
  const apart = await rawConnection(service.port, get("/delay/0.3"));
  await until(() => service.rows().length === 4);
  apart.send("GARBAGE\r\n\r\n");
  await until(() => service.rows().length === 4);
  apart.send("MORE\r\n\r\n");
  expect(statuses(await apart.closed())).toEqual([200, 400]);
  const late = await raw((await startHttp({ headersTimeoutMs: 200 })).port, `${get("/delay/0.8")}GET /x HTTP/1.1\r\n`);
  expect(statuses(late)).toEqual([200, 408]);
});

it("[HTTP-112] a body that becomes invalid while an earlier response is pending is answered in order", async () => {
  const service = await startHttp();
  const bad = "POST /api/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nZZ\r\n";
  expect(statuses(await raw(service.port, get("/delay/0.3") + bad))).toEqual([200, 400]);
  await service.ended(({ verb }) => verb === "POST");
  expect(outcomes(service)).toEqual(["/delay/0.3 200", "/api/echo 400"]);
  // Whoever has been answered before the body turned bad gets no second answer.
  expect(statuses(await raw(service.port, bad.replace("/api/echo", "/nope")))).toEqual([404]);
});

it.each(["\0\x01\r\n\r\n", "X", "H\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n"])(
  "[HTTP-112] the row of %j after requests has these bytes only",
  async (garbage) => {
    const service = await startHttp();
    const post = "POST /anything HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\nabc def";
    for (const before of [get("/health"), post]) {
      const answer = rawConnection(service.port, before + garbage);
      const row = await service.ended(({ tone, id }) => tone === "refused" && id > (before === post ? 2 : 0));
      expect(Buffer.from(service.detail(row.id).request.body.base64, "base64").toString("latin1")).toBe(garbage);
      expect(statuses(await (await answer).closed())).toEqual([200, 400]);
    }
  },
);

it("[HTTP-112] a WebSocket does not open before a pending response", async () => {
  const { port } = await startHttp({ keepAliveTimeoutMs: 300 });
  const handshake = `${get("/ws/echo").slice(0, -2)}Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  expect(statuses(await raw(port, get("/delay/0.2") + handshake))).toEqual([200, 426]);
});

it("[HTTP-112] a stream continues although garbage came after its request", async () => {
  const { port } = await startHttp();
  const answer = await raw(port, `${get("/api/stream?count=4&duration=0.3")}GARBAGE\r\n\r\n`);
  expect(answer.match(/"id":\d/g)).toEqual(['"id":0', '"id":1', '"id":2', '"id":3']);
  expect(statuses(answer)).toEqual([200, 400]);
});

it("[HTTP-112] bytes after a request that closes the connection are ignored", async () => {
  const service = await startHttp();
  const request = get("/delay/0.2").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
  expect(statuses(await raw(service.port, `${request}GARBAGE\r\n\r\n`))).toEqual([200]);
  expect(outcomes(service)).toHaveLength(1);
});

it("[HTTP-131] a client that sends without reading responses is paused, and gets all of them in order", async () => {
  const post = (size: number) => `POST /delay/0.3 HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${"x".repeat(size)}`;
  for (const requests of [get("/delay/0.3").repeat(6_000), post(120).repeat(3_000)]) {
    const service = await startHttp({ delaySeconds: 1, keepAliveTimeoutMs: 300 });
    const connection = await rawConnection(service.port, requests);
    await connection.received(/^HTTP\/1.1 200/);
    // What came in one piece with the one that is too many was read already.
    expect(service.counters()?.items ?? service.rows().length).toBeLessThan(2_500);
    await connection.closed();
    expect(statuses(connection.text())).toEqual(Array(requests.match(/HTTP\/1.1/g)?.length).fill(200));
  }
});
