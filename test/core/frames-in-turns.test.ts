import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { readFramesInTurns } from "../../servers/core/http/websocket/frames-in-turns.ts";
import { HeldWebSocket } from "../../servers/core/http/websocket/held-web-socket.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

const upgrade =
  "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
/** RFC 6455 §5.2: one byte with a mask of zero. */
const fragment = (opcode: number, last = false, byte = 0x78) => Buffer.from([(last ? 0x80 : 0) | opcode, 0x81, 0, 0, 0, 0, byte & 0xff]);

it("[HTTP-155] fragments of many WebSockets are read in the turns of all, and messages come whole", async () => {
  const [connections, each] = [20, 8_000];
  /** A share of a connection has 64. */
  const fragmentMs = 1 / 256;
  const opened: (WebSocket & { readonly _receiver?: { readonly _messageLength: number } })[] = [];
  const read = () => opened.reduce((sum, { _receiver: receiver }) => sum + (receiver?._messageLength ?? 0), 0);
  let ended = 0;
  const turns = new WorkTurns(() => read() * fragmentMs);
  const messages: number[] = [];
  const port = await webSocketServer((webSocket) => {
    readFramesInTurns(webSocket, turns.connection("127.0.0.1"));
    opened.push(webSocket);
    webSocket.on("message", (data: Buffer) => messages.push(data.length));
    webSocket.on("close", () => ended++);
  });
  const clients = Array.from({ length: connections }, () => openedClient(port));
  await until(() => opened.length === connections);
  const fragments = Buffer.concat([fragment(2), ...Array.from({ length: each - 1 }, () => fragment(0))]);
  for (const socket of clients) socket.write(fragments);
  let most = 0;
  for (let before = 0; before < connections * each; ) {
    await nextTurn();
    const after = read();
    most = Math.max(most, after - before);
    before = after;
  }
  // A turn of 4 ms, in which more may come until it has lasted twice as long, and a last step.
  expect(most).toBeLessThan(16 / fragmentMs);
  for (const socket of clients) socket.write(fragment(0, true));
  await until(() => messages.length === connections);
  expect(new Set(messages)).toEqual(new Set([each + 1]));
  for (const socket of clients) socket.destroy();
  await until(() => ended === connections);
});

it("[HTTP-155] small fragments of a message that has not ended take little more memory than their bytes", async () => {
  const budget = new SharedBudget(1 << 30);
  const turns = new WorkTurns();
  const messages: Buffer[] = [];
  let receiver: { readonly _fragments: readonly Buffer[]; readonly _messageLength: number } | undefined;
  const port = await webSocketServer((webSocket, socket) => {
    new HeldWebSocket(webSocket, socket, budget, turns.connection("127.0.0.1"));
    receiver = (webSocket as WebSocket & { readonly _receiver: typeof receiver })._receiver;
    webSocket.on("message", (data: Buffer) => messages.push(data));
  });
  const client = openedClient(port);
  await until(() => receiver);
  for (let message = 1; message <= 2; message++) {
    client.write(Buffer.concat([fragment(2), ...Array.from({ length: 10_000 }, (_, index) => fragment(0, false, index))]));
    await until(() => receiver?._messageLength === 10_001);
    expect(receiver?._fragments.length).toBeLessThan(400);
    client.write(fragment(0, true));
    await until(() => messages.length === message);
    expect(messages[message - 1]?.equals(Buffer.from([0x78, ...Array.from({ length: 10_000 }, (_, index) => index & 0xff), 0x78]))).toBe(
      true,
    );
  }
});

it("[HTTP-155] messages of many WebSockets are handled in the turns of all, those of each in order", async () => {
  const [connections, each] = [400, 5];
  const { turns, pass } = workTime();
  const received: string[][] = [];
  const port = await webSocketServer((webSocket) => {
    readFramesInTurns(webSocket, turns.connection("127.0.0.1"));
    const messages: string[] = [];
    received.push(messages);
    webSocket.on("message", (data) => {
      pass();
      messages.push(String(data));
    });
  });
  const handled = () => received.reduce((sum, { length }) => sum + length, 0);
  const message = (index: number) => fragment(1, true, 0x30 + index);
  const all = Buffer.concat(Array.from({ length: each }, (_, index) => message(index)));
  const clients = Array.from({ length: connections }, () => openedClient(port));
  await until(() => received.length === connections);
  for (const client of clients) client.write(all);
  let most = 0;
  for (let before = 0; before < connections * each; ) {
    await nextTurn();
    most = Math.max(most, handled() - before);
    before = handled();
  }
  expect(most).toBeLessThanOrEqual(itemsOfTurn);
  const inOrder = Array.from({ length: each }, (_, index) => String.fromCharCode(0x30 + index)).join("");
  expect(new Set(received.map((messages) => messages.join("")))).toEqual(new Set([inOrder]));
});

it("[HTTP-155] a fragment does not keep the memory of what was read around it, and many pieces of a frame are joined", async () => {
  let opened: WebSocket | undefined;
  const port = await webSocketServer((webSocket) => {
    opened = webSocket;
    readFramesInTurns(webSocket, new WorkTurns().connection("127.0.0.1"));
  });
  const client = openedClient(port);
  const { _receiver: receiver } = (await until(() => opened)) as WebSocket & {
    readonly _receiver: { readonly _fragments: readonly Buffer[]; readonly _buffers: readonly Buffer[]; readonly _bufferedBytes: number };
  };
  const pong = Buffer.concat([Buffer.from([0x8a, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125)]);
  const pongs = Buffer.concat(Array.from({ length: 480 }, () => pong));
  for (let round = 1; round <= 10; round++) {
    client.write(Buffer.concat([fragment(round === 1 ? 2 : 0), pongs]));
    await until(() => receiver._fragments.length === round && receiver._bufferedBytes === 0);
  }
  const kept = (pieces: readonly Buffer[]) =>
    [...new Set(pieces.map(({ buffer }) => buffer))].reduce((sum, one) => sum + one.byteLength, 0);
  expect(kept(receiver._fragments)).toBeLessThan(70_000);
  // A frame of 64 KiB in a thousand writes.
  client.setNoDelay(true);
  client.write(Buffer.from([0x00, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
  for (let byte = 1; byte <= 1_000; byte++) {
    client.write("x");
    if (byte % 10 === 0) await until(() => receiver._bufferedBytes === byte);
  }
  expect(receiver._buffers.length).toBeLessThan(300);
});

/** Returns its port. */
async function webSocketServer(onOpened: (webSocket: WebSocket, socket: Socket) => void): Promise<number> {
  const server = createServer();
  const webSockets = new WebSocketServer({ server, maxPayload: 1 << 20, allowSynchronousEvents: false });
  webSockets.on("connection", (webSocket, { socket }) => onOpened(webSocket, socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A client that has asked for the upgrade and discards what it gets. */
function openedClient(port: number): Socket {
  const client = connect(port, "127.0.0.1").resume();
  onTestFinished(() => void client.destroy());
  client.write(upgrade);
  return client;
}

it("[HTTP-263] where many WebSockets have begun messages, those that give way end alone, also with frames that wait for their turn", async () => {
  const connections = 60;
  const budget = new SharedBudget(4 << 20);
  let opened = 0;
  let gaveWay = 0;
  let ended = 0;
  const messages: string[] = [];
  const turns = new WorkTurns();
  const port = await webSocketServer((webSocket, socket) => {
    opened++;
    new HeldWebSocket(webSocket, socket, budget, turns.connection("127.0.0.1"), () => gaveWay++);
    webSocket.on("message", (data: Buffer) => messages.push(data.toString()));
    webSocket.on("close", () => ended++);
  });
  const clients = Array.from({ length: connections }, () => openedClient(port).on("error", () => {}));
  await until(() => opened === connections);
  const [bystander, ...others] = clients;
  const long = Buffer.concat([Buffer.from([0x00, 0xfe, 0x03, 0xe8, 0, 0, 0, 0]), Buffer.alloc(1_000, "x")]);
  const fragments = Buffer.concat([fragment(2), ...Array.from({ length: 900 }, () => long)]);
  for (const socket of others) socket.write(fragments);
  await until(() => gaveWay > connections / 2);
  bystander?.write(Buffer.concat([fragment(1), fragment(0, true)]));
  await until(() => messages.length > 0);
  expect(messages).toEqual(["xx"]);
  for (const socket of clients) socket.destroy();
  await until(() => ended === connections);
});
