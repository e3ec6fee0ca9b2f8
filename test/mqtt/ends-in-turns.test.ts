import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { boundPipelines } from "../../servers/core/http/connections/bound-pipelines.ts";
import { pipelinedRequests } from "../../servers/core/http/connections/pipelined-request.ts";
import type { ServerWebSocket } from "../../servers/core/http/websocket/server-web-socket.ts";
import { EndsInTurns } from "../../servers/core/net/ends-in-turns.ts";
import { TlsAdmission } from "../../servers/core/net/tls-admission.ts";
import { readIntoSharedBuffer } from "../../servers/mqtt/listeners/shared-read-buffer.ts";
import { frame, openedClient, webSocketServer } from "../core/web-socket-harness.ts";
import { until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";
import { connectWire, startBroker } from "./harness.ts";

/** How many ends each turn of the event loop has. To be noted one by one. */
function endsInTime(pass: () => void) {
  const endsOfTurns: number[] = [];
  let ofTurn = 0;
  const note = () => {
    pass();
    if (ofTurn++ > 0) return;
    setImmediate(() => {
      endsOfTurns.push(ofTurn);
      ofTurn = 0;
    });
  };
  return { endsOfTurns, note };
}

/** They wait until each `goOn`. */
function heldEnds() {
  let goOn = () => {};
  const service = {
    join(act: () => void) {
      goOn = act;
      return { isOver: true, later() {} };
    },
  };
  return { ends: new EndsInTurns(service as never), goOn: () => goOn() };
}

/** Connections of which both ends are open, and what the accepted ones read. */
async function open(count: number, ends: EndsInTurns) {
  const read: string[] = [];
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    ends.take(socket);
    accepted.push(socket);
    if (!readIntoSharedBuffer(socket, (chunk) => read.push(chunk.toString()))) socket.on("data", (chunk) => read.push(chunk.toString()));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const clients = Array.from({ length: count }, () => connect((server.address() as AddressInfo).port, "127.0.0.1"));
  await Promise.all(clients.map((client) => once(client, "connect")));
  while (accepted.length < count) await new Promise(setImmediate);
  return { clients, accepted, read };
}

it("[MQTT-483] connections that their clients end at once end in turns, each once, after what it has sent", async () => {
  const { turns, pass } = workTime();
  const count = 400;
  const { clients, accepted, read } = await open(count, new EndsInTurns(turns.connection("")));
  const { endsOfTurns, note } = endsInTime(pass);
  for (const socket of accepted) socket.on("end", note);
  const closed = Promise.all(accepted.map((socket) => once(socket, "close")));
  for (const client of clients) client.end("last");
  await closed;
  expect(endsOfTurns.reduce((sum, ends) => sum + ends, 0)).toBe(count);
  expect(Math.max(...endsOfTurns)).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(endsOfTurns.length).toBeGreaterThan(1);
  expect(read).toEqual(Array(count).fill("last"));
});

it("[MQTT-483] so do those that are reset, each once, with the error", async () => {
  const { turns, pass } = workTime();
  const count = 400;
  const { clients, accepted } = await open(count, new EndsInTurns(turns.connection("")));
  const { endsOfTurns, note } = endsInTime(pass);
  const codes: unknown[] = [];
  for (const socket of accepted) socket.on("error", ({ code }: NodeJS.ErrnoException) => codes.push(code)).on("error", note);
  const closed = Promise.all(accepted.map((socket) => new Promise((resolve) => socket.on("close", resolve))));
  for (const client of clients) client.resetAndDestroy();
  expect(await closed).toEqual(Array(count).fill(true));
  expect(codes).toEqual(Array(count).fill("ECONNRESET"));
  expect(Math.max(...endsOfTurns)).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(endsOfTurns.length).toBeGreaterThan(1);
});

it("[MQTT-483] one whose reset waits is destroyed at once by others, and closes once", async () => {
  const { ends: held, goOn } = heldEnds();
  const { clients, accepted } = await open(3, held);
  const [destroyed, resumed, written] = accepted as [Socket, Socket, Socket];
  const closes: [number, boolean][] = [];
  const errors: [number, unknown][] = [];
  for (const [index, socket] of accepted.entries()) {
    socket.on("close", (hadError) => closes.push([index, hadError]));
    socket.on("error", ({ syscall }: NodeJS.ErrnoException) => errors.push([index, syscall]));
  }
  for (const client of clients) client.resetAndDestroy();
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect(accepted.map((socket) => socket.destroyed)).toEqual([false, false, false]);
  destroyed.destroy();
  expect(destroyed.destroyed).toBe(true);
  written.write("a");
  resumed.pause();
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  resumed.resume();
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect(closes.toSorted(([one], [other]) => one - other)).toEqual([
    [0, false],
    [2, true],
  ]);
  expect(resumed.destroyed).toBe(false);
  for (let times = 0; times < 4; times++) goOn();
  await until(() => closes.length === 3);
  expect(closes[2]).toEqual([1, true]);
  expect(errors).toEqual([
    [2, "write"],
    [1, "read"],
  ]);
});

it("[MQTT-483] so do WebSockets", async () => {
  const { turns, pass } = workTime();
  const count = 400;
  const { endsOfTurns, note } = endsInTime(pass);
  const read: string[] = [];
  const opened: ServerWebSocket[] = [];
  const work = (socket: Socket) => {
    const { end } = socket;
    socket.end = (...values: unknown[]) => {
      note();
      return end.apply(socket, values as Parameters<Socket["end"]>);
    };
    return turns.connection("127.0.0.1");
  };
  const port = await webSocketServer(work, (webSocket) => {
    webSocket.on("message", (data) => read.push(data.toString()));
    opened.push(webSocket);
  });
  const clients = Array.from({ length: count }, () => openedClient(port));
  await until(() => opened.length === count);
  const closed = Promise.all(opened.map((webSocket) => once(webSocket, "close")));
  for (const client of clients) client.end(frame(1, "last"));
  await closed;
  expect(endsOfTurns.reduce((sum, ends) => sum + ends, 0)).toBe(count);
  expect(Math.max(...endsOfTurns)).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(read).toEqual(Array(count).fill("last"));
});

const ways = [
  ["ended", "end", (client: Socket) => client.end()],
  ["reset", "error", (client: Socket) => client.resetAndDestroy()],
] as const;
it.each(ways)("[MQTT-483] so do connections below TLS that are %s", async (_, event, leave) => {
  const { turns, pass } = workTime();
  const count = 400;
  const { endsOfTurns, note } = endsInTime(pass);
  const admission = new TlsAdmission({ turns, tlsHandshakes: 2 * count });
  const accepted: Socket[] = [];
  const server = createServer(() => {});
  admission.admit(server as unknown as TlsServer, 60_000, { handshakeFailed() {} });
  server.on("connection", (socket) => accepted.push(socket.on(event, note)));
  onTestFinished(() => {
    admission.close();
    server.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const clients = Array.from({ length: count }, () => connect((server.address() as AddressInfo).port, "127.0.0.1"));
  await until(() => accepted.length === count);
  const closed = Promise.all(accepted.map((socket) => new Promise((resolve) => socket.on("close", resolve))));
  for (const client of clients) leave(client);
  await closed;
  expect(endsOfTurns.reduce((sum, ends) => sum + ends, 0)).toBe(count);
  expect(Math.max(...endsOfTurns)).toBeLessThanOrEqual(2 * itemsOfTurn);
});

it("[MQTT-483] one that is paused and resumed while its end waits, and one that is destroyed, end once", async () => {
  const { ends: held, goOn } = heldEnds();
  const { clients, accepted } = await open(2, held);
  const [paused, destroyed] = accepted as [Socket, Socket];
  let ends = 0;
  for (const socket of accepted) socket.on("end", () => ends++);
  for (const client of clients) client.end();
  await Promise.all(clients.map((client) => once(client, "finish")));
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  paused.pause();
  paused.resume();
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect([ends, paused.destroyed]).toEqual([0, false]);
  const closed = Promise.all([once(paused, "close"), once(destroyed, "close")]);
  destroyed.destroy();
  goOn();
  goOn();
  await closed;
  expect(ends).toBe(1);
});

it("[MQTT-483] the end of a connection that HTTP has read before waits too, behind all that came", async () => {
  const { ends, goOn } = heldEnds();
  const server = createHttpServer(pipelinedRequests);
  boundPipelines(server);
  let read = "";
  let ended = 0;
  server.on("upgrade", (_request, duplex, head) => {
    const socket = duplex as Socket;
    onTestFinished(() => void socket.destroy());
    ends.take(socket);
    socket.unshift(head);
    socket.on("data", (chunk) => {
      read += chunk;
    });
    socket.on("end", () => ended++);
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void client.destroy());
  client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nfirst ");
  await until(() => read === "first ");
  client.write("second ");
  await until(() => read === "first second ");
  client.end("last");
  await until(() => read === "first second last");
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect(ended).toBe(0);
  goOn();
  await until(() => ended === 1);
});

it("[MQTT-483] hundreds of clients that go at once have left, with their wills, and others are served", async () => {
  const broker = await startBroker();
  const watcher = await connectWire(broker, 5, { clientId: "watcher" });
  await watcher.subscribe("will/#");
  const clients = await Promise.all(
    Array.from({ length: 300 }, (_, index) => {
      const message = { topic: `will/${index}`, payload: Buffer.from("gone"), qos: 0 as const, retain: false };
      return connectWire(broker, 5, { clientId: `client ${index}`, will: { ...message, properties: undefined } });
    }),
  );
  for (const client of clients) client.destroy();
  const topics = new Set<string>();
  while (topics.size < clients.length) topics.add((await watcher.expect("publish")).topic);
  await watcher.expectNothing();
  await expect.poll(async () => (await broker.act("client.list", { text: "", offset: 0, limit: 10 })).matching).toBe(1);
});
