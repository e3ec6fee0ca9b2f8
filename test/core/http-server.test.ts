/** What every service that speaks HTTP does before its own routes, through one server in core. */
import { describe, expect, it } from "vitest";
import { malformedBytes, readableFields } from "../../servers/core/http/messages/malformed-request.ts";
import { startAccount } from "../account/harness.ts";
import { startEvents } from "../events/harness.ts";
import { raw, rawConnection, startHttp } from "../http/harness.ts";
import { threadCpuMs } from "../support/cpu-time.ts";

interface HttpService {
  readonly id: string;
  readonly start: () => Promise<{ readonly port: number }>;
  /** A route that reads a body. */
  readonly post: string;
  readonly body: string;
  readonly answered: RegExp;
  readonly error: RegExp;
}

const services: readonly HttpService[] = [
  {
    id: "http",
    start: startHttp,
    post: "POST /api/echo",
    body: "[]",
    answered: /HTTP\/1.1 200 /,
    error: /\r\n\r\n\{"status":"error","message":"[^"]+"\}$/,
  },
  {
    id: "account",
    start: startAccount,
    post: "POST /login",
    body: '{"username":"api@example.com","password":"backlot-demo"}',
    answered: /HTTP\/1.1 200 [\s\S]*"token"/,
    error: /\r\n\r\n\{"error":\["[^"]+"\]\}$/,
  },
  {
    id: "events",
    start: startEvents,
    post: "POST /events",
    body: "{}",
    answered: /HTTP\/1.1 400 [\s\S]*"Validation failed"/,
    error: /\r\n\r\n\{"error":"[^"]+"\}$/,
  },
];

describe.each(services)("$id", ({ start, post, body, answered, error }) => {
  it("[BL-68] is not a proxy: CONNECT is 405 in the service's error shape", async () => {
    const { port } = await start();
    for (const target of ["example.com:443", "/details", "*"]) {
      const answer = await raw(port, `CONNECT ${target} HTTP/1.1\r\nHost: example.com\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1.1 405 /);
      expect(answer).toMatch(/\r\nContent-Type: application\/json/);
      expect(answer).toMatch(/\r\nAllow: \r\n/);
      expect(answer).toMatch(error);
    }
  });

  it("[BL-68] refuses a request without exactly one valid Host, or with an unknown expectation", async () => {
    const { port } = await start();
    for (const [fields, status] of [
      ["", 400],
      ["Host: a\r\nHost: a\r\n", 400],
      ["Host: a/b\r\n", 400],
      ["Host: a@b\r\n", 400],
      ["Host: a b\r\nExpect: 100-continue\r\n", 400],
      ["Host: a\r\nExpect: more\r\n", 417],
    ] as const) {
      const answer = await raw(port, `${post} HTTP/1.1\r\n${fields}Content-Length: 0\r\n\r\n`);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).toMatch(error);
      for (const field of ["Connection: close", "X-Content-Type-Options: nosniff", "Access-Control-Allow-Origin: *"])
        expect(answer).toContain(`${field}\r\n`);
    }
  });

  it("[BL-473] refuses a target in absolute form without a host", async () => {
    const { port } = await start();
    for (const target of ["http:///get", "http://:80/get", "HTTP://?a", "https://me@/get", "http://me:pass@:80"]) {
      const answer = await raw(port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect(answer, target).toMatch(/^HTTP\/1.1 400 /);
      expect(answer, target).toMatch(error);
    }
    const named = await raw(port, "GET http://me@a:80/no-such-path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(named).toMatch(/^HTTP\/1.1 404 /);
  });

  const asking = (line: string, length: number) =>
    `${line} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`;

  it("[BL-69] sends 100 Continue when it will read the body, and not when it refuses the request first", async () => {
    const { port } = await start();
    const connection = await rawConnection(port, asking(post, body.length));
    await connection.received(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
    connection.send(body);
    await connection.received(answered);
    // The connection is good for another one.
    connection.send(asking("POST /no-such-path", 5));
    const all = await connection.closed();
    expect(all.match(/100 Continue/g)).toHaveLength(1);
    expect(all).toMatch(/HTTP\/1.1 404 [\s\S]*Connection: close/);
    const tooLarge = await raw(port, asking(post, 50_000_000));
    expect(tooLarge).toMatch(/^HTTP\/1.1 413 /);
    expect(tooLarge).toMatch(error);
  });

  it("[BL-69] refuses a body that is too large, and a client that sends it anyway can read the refusal", async () => {
    const { port } = await start();
    const size = 4 << 20;
    const head = `${post} HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n`;
    const connection = await rawConnection(port, `${head}\r\n`);
    await connection.received(/^HTTP\/1.1 413 /);
    connection.send(Buffer.alloc(size, "x"));
    connection.send("GET /no-such-path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(await connection.closed()).toMatch(/^HTTP\/1.1 413 [\s\S]*HTTP\/1.1 404 /);
    // Where the answer ends the connection it comes when all is read: closing earlier would take it away from who still sends.
    const closing = await rawConnection(port, `${head}Connection: close\r\n\r\n`);
    closing.send(Buffer.alloc(size, "x"));
    expect(await closing.closed()).toMatch(/^HTTP\/1.1 413 /);
  });
});

it("[HTTP-156] the fields of a malformed request are read in a time that grows with their bytes", () => {
  const bytes = (spaces: number) => Buffer.from(`B\x01D / HTTP/1.1\r\nName: \t a b \t \r\nx: ${" ".repeat(spaces)}y\r\n\r\n`);
  expect(readableFields(bytes(1))).toEqual({ rawHeaders: ["Name", "a b", "x", "y"], userAgent: undefined });
  // Behind the value.
  const long = Buffer.from(`B\x01D / HTTP/1.1\r\na: x${" ".repeat(60_000)}y\r\n\r\n`);
  expect(threadCpuMs(() => readableFields(long))).toBeLessThan(200);
});

it("[HTTP-112] what came before a malformed request in its packet is not of it, also where that is answered already", () => {
  const before = "GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\nabc def";
  const rawPacket = Buffer.from(`${before}X`);
  const error = Object.assign(new Error("Parse Error"), { code: "HPE_INVALID_METHOD", rawPacket, bytesParsed: before.length });
  expect(malformedBytes(error, 0)?.toString()).toBe("X");
});
