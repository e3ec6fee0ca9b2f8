import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { describe, expect, it } from "vitest";
import { temporaryDir } from "../support/temporary-dir.ts";
import { onEnd, raw, rawConnection, startHttp, until } from "./harness.ts";

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
  expect(Buffer.from(service.detail(malformed?.id ?? 0).request.unparsed?.base64 ?? "", "base64").toString()).toBe("GARBAGE\r\n\r\n");
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
      expect(Buffer.from(service.detail(row.id).request.unparsed?.base64 ?? "", "base64").toString("latin1")).toBe(garbage);
      expect(statuses(await (await answer).closed())).toEqual([200, 400]);
    }
  },
);

it("[HTTP-112] a WebSocket does not open before a pending response", async () => {
  const { port } = await startHttp({ keepAliveTimeoutMs: 300 });
  const handshake = `${get("/ws/echo").slice(0, -2)}Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  expect(statuses(await raw(port, get("/delay/0.2") + handshake))).toEqual([200, 426]);
});

it("[HTTP-112] CONNECT is refused after all pending responses, and its connection may be reset before", async () => {
  const service = await startHttp();
  const pipelined = get("/delay/0.2").repeat(3) + get("a:443").replace("GET", "CONNECT");
  expect(statuses(await raw(service.port, pipelined))).toEqual([200, 200, 200, 405]);
  const gone = await rawConnection(service.port, pipelined);
  await until(() => service.rows().length === 7);
  gone.socket.resetAndDestroy();
  await until(() => service.rows().every(({ tone }) => tone !== "pending"));
  // Node reads nothing after a CONNECT, so the reset is noticed when an answer is written: the first ones may have left before.
  expect(service.rows().some(({ tone }) => tone === "aborted")).toBe(true);
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
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

describe.each(["HTTP", "HTTPS"] as const)("pipelined requests over %s", (label) => {
  async function connectTo(config: Record<string, unknown>) {
    const service = await startHttp({ https: label === "HTTPS", httpsPort: 0, ...config }, temporaryDir());
    const { port, hostname } = new URL(service.endpoints.find((endpoint) => endpoint.label === label)?.url ?? "");
    const address = { port: Number(port), host: hostname };
    const socket = label === "HTTPS" ? connectTls({ ...address, rejectUnauthorized: false }) : connect(address);
    onEnd(() => socket.destroy());
    socket.on("error", () => {});
    return { service, socket };
  }

  it("[HTTP-131] all are answered in order, however many there are and however their bodies are cut", async () => {
    const { socket } = await connectTo({ unansweredRequests: 8, keepAliveTimeoutMs: 300 });
    const post = (path: string, size: number) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${"x".repeat(size)}`;
    const paths = Array.from({ length: 2_000 }, (_, index) => (index % 50 === 0 ? `/delay/0.02?${index}` : `/anything/${index}`));
    socket.write(paths.map((path, index) => (index % 3 === 0 ? post(path, index) : get(path))).join(""));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const answers = Buffer.concat(chunks).toString("latin1").split("HTTP/1.1 200 ").slice(1);
    expect(answers.map((answer) => /"url": ?"[^"]*?(\/(?:delay|anything).*?)"/.exec(answer)?.[1])).toEqual(paths);
  }, 60_000);

  it("[HTTP-131] no more than the limit are read at a time, and the rows of those that were end with the connection", async () => {
    const { service, socket } = await connectTo({ unansweredRequests: 8 });
    socket.write(get("/delay/1").repeat(1_000));
    await until(() => service.rows().length >= 8);
    await fetch(`${service.url}/health`);
    await service.ended(({ target }) => target === "/health");
    expect(service.rows()).toHaveLength(9);
    socket.destroy();
    await until(() => service.rows().every(({ tone }) => tone !== "pending"), 15_000);
    // What was read in one piece with the first ones may begin before the loss of the connection is known.
    const lost = service.rows().filter(({ tone }) => tone === "aborted");
    expect(lost.length).toBeGreaterThanOrEqual(6);
    expect(lost.every(({ outcome }) => outcome.includes("client left"))).toBe(true);
  });

  it("[HTTP-131] answers that are not read use little memory", async () => {
    const before = process.memoryUsage().arrayBuffers;
    const { service, socket } = await connectTo({ generatedBytes: 1 << 20 });
    socket.pause();
    // Each of them takes what a connection's buffers hold.
    socket.write(get("/bytes/1000000").repeat(1_000));
    await until(() => service.rows().length >= 2);
    await fetch(`${service.url}/health`);
    await service.ended(({ target }) => target === "/health");
    // Those that the connection's buffers have taken, and those that wait for their turn to answer.
    expect(service.rows().length).toBeLessThan(48);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 << 20);
  });

  it("[HTTP-131] an upgrade that is offered behind as many closes the connection", async () => {
    const { service, socket } = await connectTo({ unansweredRequests: 2 });
    const upgrade = `${get("/ws/echo").slice(0, -2)}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    socket.write(get("/delay/5").repeat(2) + upgrade + get("/health"));
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    expect((await service.ended(({ target }) => target === "/delay/5")).outcome).toBe("client left");
    expect(service.rows()).toHaveLength(2);
  });
});
