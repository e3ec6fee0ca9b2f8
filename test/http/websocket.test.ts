import { once } from "node:events";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import type { HttpBody } from "../../contract/traffic/http.ts";
import type { WebSocketMessage } from "../../contract/traffic/websocket.ts";
import { type HttpUnderTest, onEnd, raw, rawConnection, startHttp, until } from "./harness.ts";

async function open(service: HttpUnderTest, path = "/ws/echo", protocols: string[] = []): Promise<WebSocket> {
  const socket = new WebSocket(service.url.replace("http", "ws") + path, protocols);
  onEnd(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

const nextMessage = async (socket: WebSocket) => {
  const [data, isBinary] = (await once(socket, "message")) as [Buffer, boolean];
  return isBinary ? data : data.toString();
};

const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const handshake = (fields: string, path = "/ws/echo", method = "GET") =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${fields}\r\n`;

it("[HTTP-86] the WebSocket echoes text and binary", async () => {
  const service = await startHttp();
  const socket = await open(service, "/ws/echo?a=1", ["chat", "other"]);
  expect(socket.protocol).toBe("chat");
  for (const message of ["hello", "", "ü".repeat(10_000), Buffer.from([0, 255]), Buffer.alloc(300_000, 7)]) {
    socket.send(message);
    expect(await nextMessage(socket)).toEqual(message);
  }
  socket.ping("x");
  expect(String((await once(socket, "pong"))[0])).toBe("x");
  const accept = await rawConnection(service.port, handshake(`Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${key}`));
  // RFC 6455 §1.3
  expect(await accept.received(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 101 [\s\S]*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
});

it("[HTTP-87] a message above the limit closes the WebSocket with 1009", async () => {
  const service = await startHttp({ webSocketFrameBytes: 100 });
  const socket = await open(service);
  socket.send("x".repeat(101));
  expect((await once(socket, "close"))[0]).toBe(1009);
  expect(await service.ended((row) => row.kind === "websocket")).toMatchObject({ outcome: expect.stringContaining("closed") });
});

it("[HTTP-88] an invalid handshake is refused in the error shape", async () => {
  const { port, url } = await startHttp({ keepAliveTimeoutMs: 300 });
  const version = "Sec-WebSocket-Version: 13\r\n";
  for (const fields of [`Upgrade: websocket\r\n${version}`, `Upgrade: websocket\r\n${version}Sec-WebSocket-Key: short\r\n`]) {
    expect(await raw(port, handshake(fields))).toMatch(/^HTTP\/1.1 400 [\s\S]*\{"status":"error","message":"[^"]*Sec-WebSocket-Key/);
  }
  expect(await raw(port, handshake(`Upgrade: websocket\r\nSec-WebSocket-Version: 99\r\n${key}`))).toMatch(
    /^HTTP\/1.1 426 [\s\S]*Sec-WebSocket-Version: 13\r\n[\s\S]*\{"status":"error"/,
  );
  for (const other of ["8", "013", "13.0", "13, 8"]) {
    expect(await raw(port, handshake(`Upgrade: websocket\r\nSec-WebSocket-Version: ${other}\r\n${key}`))).toMatch(
      /^HTTP\/1.1 426 [\s\S]*Sec-WebSocket-Version: 13\r\n/,
    );
  }
  const whole = handshake(`Upgrade: websocket\r\n${version}${key}`);
  expect(await raw(port, whole.replace("Host: a\r\n", ""))).toMatch(/^HTTP\/1.1 400 [\s\S]*Host/);
  for (const list of ["", "a b", "a,a", "a,,b", Array.from({ length: 300 }, (_, index) => `p${index}`).join()]) {
    expect(await raw(port, handshake(`Upgrade: websocket\r\n${version}${key}Sec-WebSocket-Protocol: ${list}\r\n`))).toMatch(
      /^HTTP\/1.1 400 [\s\S]*Sec-WebSocket-Protocol/,
    );
  }
  // RFC 9110 §7.8: HTTP/1.0 cannot change protocol.
  expect(await raw(port, whole.replace("HTTP/1.1", "HTTP/1.0"))).toMatch(/^HTTP\/1.1 426 /);
  const plain = await fetch(`${url}/ws/echo`);
  expect([plain.status, plain.headers.get("upgrade"), await plain.json()]).toEqual([
    426,
    "websocket",
    { status: "error", message: expect.any(String) },
  ]);
});

it("[HTTP-89] an upgrade to another protocol, or on another path, is answered as plain HTTP", async () => {
  const { port } = await startHttp();
  const close = (request: string) => request.replace("Connection: Upgrade", "Connection: Upgrade, close");
  expect(await raw(port, close(handshake("Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", "/api/data")))).toMatch(
    /^HTTP\/1.1 200 [\s\S]*"active":true}$/,
  );
  expect(await raw(port, close(handshake(`Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${key}`, "/nope")))).toMatch(
    /^HTTP\/1.1 404 /,
  );
  expect(await raw(port, `${close(handshake("Upgrade: h2c\r\nContent-Length: 3\r\n", "/anything", "POST"))}abc`)).toMatch(
    /^HTTP\/1.1 200 [\s\S]*"data": "abc"/,
  );
});

it("[HTTP-266] a request that offers another protocol is answered with its body of any form, and so is the next one", async () => {
  const { port } = await startHttp();
  const offer = "Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
  const next = "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const forms = [
    ["GET /anything", "", ""],
    ["POST /anything", "Content-Length: 3\r\n", "abc"],
    ["POST /anything", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"],
    ["POST /anything", "Transfer-Encoding: chunked\r\n", `${"1\r\na\r\n".repeat(3_000)}0\r\n\r\n`],
  ] as const;
  for (const [line, field, body] of forms) {
    const head = `${line} HTTP/1.1\r\n${offer}${field}\r\n`;
    for (const pieces of [[head + body], [head, body], [head + body + next]]) {
      const connection = await rawConnection(port);
      connection.socket.setNoDelay(true);
      for (const piece of pieces) {
        connection.send(piece);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await connection.received(/^HTTP\/1\.1 200 [\s\S]*\}\s*$/);
      // Node itself drops what comes in the same piece.
      if (!pieces.includes(head + body + next)) connection.send(next);
      const answers = await connection.closed();
      expect(answers).toMatch(/\{"status":"ok"\}$/);
      if (body.includes("abc")) expect(answers).toContain('"data": "abc"');
    }
  }
});

it("[HTTP-90] frames that break the protocol close their WebSocket and nothing else", async () => {
  const service = await startHttp();
  const bystander = await open(service);
  const hello = handshake(`Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${key}`);
  // Reserved bits, no mask, a reserved opcode, a fragmented ping, text that is not UTF-8.
  for (const frame of [
    [0xf1, 0x80, 0, 0, 0, 0],
    [0x81, 0x01, 0x61],
    [0x83, 0x80, 0, 0, 0, 0],
    [0x09, 0x80, 0, 0, 0, 0],
    [0x81, 0x81, 0, 0, 0, 0, 0xff],
  ]) {
    const connection = await rawConnection(service.port, hello);
    await connection.received(/\r\n\r\n/);
    connection.send(Buffer.from(frame));
    await connection.closed();
  }
  bystander.send("still here");
  expect(await nextMessage(bystander)).toBe("still here");
});

it("[HTTP-91] the WebSocket is one row and each message its own", async () => {
  const service = await startHttp();
  const socket = await open(service);
  await until(() => service.rows().find((row) => row.kind === "websocket" && row.tone === "pending"));
  socket.send("hello");
  await nextMessage(socket);
  socket.send(Buffer.from([1, 2, 3]));
  await nextMessage(socket);
  socket.close(4_000, "done");
  const row = await service.ended((one) => one.kind === "websocket");
  expect(row).toMatchObject({ verb: "GET", target: "/ws/echo", tone: "ok", outcome: "closed 4000", bytesIn: 8, bytesOut: 8 });
  const text = await service.ended((one) => one.verb === "text");
  expect(text).toMatchObject({
    kind: "websocket-message",
    parent: row.id,
    target: "/ws/echo",
    tone: "ok",
    outcome: "echoed",
    bytesIn: 5,
    bytesOut: 5,
    preview: "hello",
  });
  expect(service.anyDetail(text.id)).toMatchObject({
    kind: "websocket-message",
    parent: row.id,
    direction: "received",
    type: "text",
    outcome: "echoed",
    body: { bytes: 5, base64: Buffer.from("hello").toString("base64") },
  });
  expect(await service.ended((one) => one.verb === "binary")).toMatchObject({ bytesIn: 3, preview: "" });
  expect(service.detail(row.id).response).toMatchObject({ status: 101, reason: "Switching Protocols" });
  const gone = await open(service);
  gone.terminate();
  expect(await service.ended((one) => one.kind === "websocket" && one.id !== row.id)).toMatchObject({
    tone: "aborted",
    outcome: "closed 1006",
  });
});

it("[HTTP-143] a large message is kept whole while the budget lasts, and says so if it was not", async () => {
  const service = await startHttp({ recordedBodyRate: 1 });
  const socket = await open(service);
  const large = "large message ".repeat(12_000);
  const bodies: HttpBody[] = [];
  for (const [count, name] of ["first", "second"].entries()) {
    socket.send(`${name} ${large}`);
    await nextMessage(socket);
    const row = await service.ended(({ preview, kind }) => kind === "websocket-message" && preview.startsWith(name));
    bodies[count] = (service.anyDetail(row.id) as WebSocketMessage).body;
  }
  socket.close();
  const bytesOf = (body: HttpBody | undefined) => Buffer.from(body?.base64 ?? "", "base64").toString();
  expect([bytesOf(bodies[0]) === `first ${large}`, bodies[0]?.overBudget]).toEqual([true, undefined]);
  expect([bytesOf(bodies[1]), bodies[1]?.overBudget]).toEqual([`second ${large}`.slice(0, 8_192), true]);
});

it("[HTTP-120] a message is a part of its connection's row, and a row with the connection as its parent", async () => {
  const service = await startHttp({ recordedBodyBytes: 10, recordedBodyRate: 0 });
  const socket = await open(service);
  for (const message of ["first", Buffer.from([1, 2]), "a text that is cut"]) {
    socket.send(message);
    await nextMessage(socket);
  }
  const last = await service.ended(({ preview }) => preview === "a text tha");
  socket.close(4_001, "enough");
  const connection = await service.ended((one) => one.kind === "websocket");
  expect(connection).toMatchObject({ parts: 6, bytesIn: 25, bytesOut: 25 });
  expect(service.anyDetail(connection.id)).toMatchObject({
    kind: "websocket",
    parts: { total: 6, bytes: 50, leftOut: 0 },
    closed: { code: 4_001, reason: "enough" },
    request: { target: "/ws/echo" },
  });
  const rows = service.rows().filter(({ parent }) => parent === connection.id);
  const body = (text: string | Buffer, bytes = text.length) => ({ bytes, base64: Buffer.from(text as string).toString("base64") });
  const part = (index: number, message: number, direction = "received") => ({
    kind: "websocket-message",
    index,
    at: expect.any(Number),
    direction,
    row: rows[message]?.id,
  });
  const echo = (index: number, message: number, bytes: number) => ({
    ...part(index, message, "sent"),
    echoOf: 2 * message,
    body: { bytes, base64: "" },
  });
  expect(service.parts(connection.id)).toEqual([
    { ...part(0, 0), type: "text", body: body("first") },
    { ...echo(1, 0, 5), type: "text" },
    { ...part(2, 1), type: "binary", body: body(Buffer.from([1, 2])) },
    { ...echo(3, 1, 2), type: "binary" },
    { ...part(4, 2), type: "text", body: body("a text tha", 18) },
    { ...echo(5, 2, 18), type: "text" },
  ]);
  expect(service.anyDetail(last.id)).toMatchObject({ index: 4, parent: connection.id, body: body("a text tha", 18), outcome: "echoed" });
});

it("[HTTP-92] a client that sends and never reads is slowed down, its messages are not queued", async () => {
  const service = await startHttp();
  const connection = await rawConnection(service.port, handshake(`Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${key}`));
  await connection.received(/\r\n\r\n/);
  connection.socket.pause();
  const payload = Buffer.alloc(60_000);
  const frame = Buffer.concat([Buffer.from([0x82, 0xfe, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]), payload]);
  for (let sent = 0; sent < 2_000; sent++) connection.socket.write(frame);
  await new Promise((resolve) => setTimeout(resolve, 500));
  // 120 MB were sent; what the service did not take waits with the sender.
  expect(connection.socket.writableLength).toBeGreaterThan(60 << 20);
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
});

it("[HTTP-130] pages of an origin that may not read responses cannot open a WebSocket", async () => {
  const page = (origin: string) => handshake(`Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${key}Origin: ${origin}\r\n`);
  const status = async (port: number, origin: string) => {
    const connection = await rawConnection(port, page(origin));
    const answer = await connection.received(/\r\n\r\n/);
    connection.socket.destroy();
    return Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);
  };
  const open = await startHttp();
  expect(await status(open.port, "https://anywhere.example")).toBe(101);
  const named = await startHttp({ corsOrigins: ["https://app.example.com"] });
  expect(await status(named.port, "https://app.example.com")).toBe(101);
  // A page of the service itself.
  expect(await status(named.port, "http://a")).toBe(101);
  expect(await status(named.port, "https://anywhere.example")).toBe(403);
  expect(await status(named.port, "null")).toBe(403);
  expect(await raw(named.port, page("https://anywhere.example"))).toMatch(
    /^HTTP\/1.1 403 [\s\S]*\{"status":"error","message":"Pages of this origin[^"]* \(HTTP_CORS_ORIGINS\)"/,
  );
});

it("[HTTP-137] thousands of tiny messages in one packet do not block others, and are echoed in order", async () => {
  const service = await startHttp();
  const socket = await open(service);
  let received = 0;
  socket.on("message", (data) => expect(Number(data)).toBe(received++));
  const messages = 3_000;
  for (let message = 0; message < messages; message++) socket.send(String(message));
  const health = await fetch(`${service.url}/health`);
  expect([health.status, await health.text()]).toEqual([200, '{"status":"ok"}']);
  expect(received).toBeLessThan(messages);
  await until(() => received === messages);
});
