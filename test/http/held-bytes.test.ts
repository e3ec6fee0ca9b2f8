import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { type HttpUnderTest, onEnd, type RawConnection, rawConnection, startHttp, until } from "./harness.ts";

const mebibyte = 1 << 20;
const limits = { bodyBytes: 4 * mebibyte, webSocketFrameBytes: 4 * mebibyte, allRequestBytes: 4 * mebibyte };

/** A request whose body lacks its last byte. */
async function begin(service: HttpUnderTest, target: string, bytes: number): Promise<RawConnection> {
  const head = `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nContent-Length: ${bytes + 1}\r\n\r\n`;
  const connection = await rawConnection(service.port, head);
  connection.send(Buffer.alloc(bytes, "x"));
  return connection;
}

it("[HTTP-148] where begun bodies of all clients have more than the limit, the largest is 503, and the others are answered", async () => {
  const service = await startHttp(limits);
  const small = await begin(service, "/anything/small", 0.5 * mebibyte);
  const large = await begin(service, "/anything/large", 2.5 * mebibyte);
  const last = await begin(service, "/anything/last", 1.25 * mebibyte);
  expect(await large.received(/\}$/)).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*too much memory/);
  for (const connection of [small, last]) {
    connection.send("x");
    await connection.received(/^HTTP\/1.1 200 /);
  }
  // What is left of the body is read and discarded.
  large.send("xGET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  await large.received(/"status":"ok"/);
  expect(await service.ended((row) => row.target === "/anything/large")).toMatchObject({
    outcome: "503",
    reason: expect.stringContaining("bytes"),
  });
});

it("[HTTP-148] bodies count until they are answered, also once they are decompressed", async () => {
  const service = await startHttp(limits);
  const coded = gzipSync(Buffer.alloc(2.5 * mebibyte));
  const fields = `Host: a\r\nContent-Encoding: gzip\r\nContent-Length: ${coded.length}`;
  const waiting = await rawConnection(service.port, `POST /delay/10 HTTP/1.1\r\n${fields}\r\n\r\n`);
  waiting.send(coded);
  const small = await begin(service, "/anything/small", 0.5 * mebibyte);
  const last = await begin(service, "/anything/last", 1.25 * mebibyte);
  await waiting.closed();
  expect(await service.ended((row) => row.target === "/delay/10")).toMatchObject({
    tone: "aborted",
    outcome: "too many bytes of requests",
  });
  for (const connection of [small, last]) {
    connection.send("x");
    await connection.received(/^HTTP\/1.1 200 /);
  }
});

it("[HTTP-148] a WebSocket with the largest begun message is closed with 1013", async () => {
  const service = await startHttp({ ...limits, allRequestBytes: 4_400_000 });
  const open = async () => {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws/echo`);
    onEnd(() => socket.terminate());
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const messages: number[] = [];
    socket.on("message", (data: Buffer) => messages.push(data.length));
    await new Promise((resolve) => socket.once("open", resolve));
    return { socket, closed, messages };
  };
  const [one, most, other] = [await open(), await open(), await open()];
  const arrived = (socket: WebSocket) => new Promise((resolve) => socket.once("pong", resolve).ping());
  one.socket.send(Buffer.alloc(mebibyte), { fin: false });
  for (let fragment = 0; fragment < 5_300; fragment++) most.socket.send("x".repeat(400), { fin: false });
  await Promise.all([arrived(one.socket), arrived(most.socket)]);
  other.socket.send(Buffer.alloc(1.5 * mebibyte), { fin: false });
  expect(await most.closed).toBe(1_013);
  for (const { socket } of [one, other]) socket.send("x", { fin: true });
  await until(() => one.messages[0] === mebibyte + 1 && other.messages[0] === 1.5 * mebibyte + 1);
  expect(await service.ended((row) => row.outcome === "closed 1013")).toMatchObject({ kind: "websocket" });
});

it("[HTTP-152] where little is left of the limit, pipelined requests wait for those before them, and nobody is cut", async () => {
  const service = await startHttp(limits);
  // Each may have read 64 KiB that it did not parse when little is left: of all that is less than a quarter of the limit.
  const [clients, each] = [8, 40];
  const get = `GET /delay/0.2 HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(15_000)}\r\n\r\n`;
  const connections = await Promise.all(
    Array.from({ length: clients }, () =>
      rawConnection(service.port, `${get.repeat(each)}GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
    ),
  );
  for (const answers of await Promise.all(connections.map(({ closed }) => closed())))
    expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(each + 1);
});

it("[HTTP-152] what was read behind a request that waits counts", async () => {
  const service = await startHttp({ ...limits, allRequestBytes: 1 << 16 });
  const filled = `GET /delay/10 HTTP/1.1\r\nHost: a\r\n\r\nPOST /anything HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n${"x".repeat(200_000)}`;
  const connection = await rawConnection(service.port, filled);
  await connection.closed();
  expect(await service.ended((row) => row.target === "/delay/10")).toMatchObject({ outcome: "too many bytes of requests" });
});

it("[HTTP-160] bodies are decompressed two at a time, so that many small ones that become large are not all in memory", async () => {
  const service = await startHttp({ ...limits, allRequestBytes: 40 * mebibyte });
  const coded = gzipSync(Buffer.alloc(4 * mebibyte));
  const head = `POST /trailers HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: ${coded.length}\r\n\r\n`;
  const all = Buffer.concat(Array.from({ length: 20 }, () => [Buffer.from(head), coded]).flat());
  const connection = await rawConnection(service.port, Buffer.concat([all, Buffer.from("GET /health HTTP/1.1\r\nHost: a\r\n\r\n")]));
  const answers = await connection.received(/"status":"ok"/);
  expect(answers.match(/^HTTP.*$/gm)).toEqual(Array(21).fill("HTTP/1.1 200 OK"));
});

it("[HTTP-160] answers are compressed two at a time likewise: one client has its turn between the many of another", async () => {
  const service = await startHttp();
  const request = `GET /brotli HTTP/1.1\r\nHost: a\r\nX-Long: ${randomBytes(6_000).toString("base64")}\r\n\r\n`;
  const many = await Promise.all(Array.from({ length: 10 }, () => rawConnection(service.port, request.repeat(32))));
  for (const connection of many) await connection.received(/200 OK/);
  const one = await rawConnection(service.port, "GET /gzip HTTP/1.1\r\nHost: a\r\n\r\n");
  await one.received(/^HTTP\/1.1 200 /);
  const rowsBefore = service.rows().filter((row) => row.target === "/brotli" && row.outcome === "200").length;
  expect(rowsBefore).toBeLessThan(200);
});
