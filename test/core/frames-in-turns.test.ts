import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { readFramesInTurns } from "../../servers/core/http/frames-in-turns.ts";
import { WorkTurns } from "../../servers/core/service/work-turns.ts";
import { until } from "../support/until.ts";

const upgrade =
  "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
/** RFC 6455 §5.2: one byte with a mask of zero. */
const fragment = (opcode: number, last = false) => Buffer.from([(last ? 0x80 : 0) | opcode, 0x81, 0, 0, 0, 0, 0x78]);

it("[HTTP-155] fragments of many WebSockets are read in the turns of all, and messages come whole", async () => {
  const [connections, each] = [20, 8_000];
  /** A share of a connection has 64. */
  const fragmentMs = 1 / 256;
  const opened: (WebSocket & { readonly _receiver?: { readonly _numFragments: number } })[] = [];
  const read = () => opened.reduce((sum, { _receiver: receiver }) => sum + (receiver?._numFragments ?? 0), 0);
  let ended = 0;
  const turns = new WorkTurns(() => read() * fragmentMs);
  const server = createServer();
  const webSockets = new WebSocketServer({ server, maxPayload: 1 << 20, allowSynchronousEvents: false });
  const messages: number[] = [];
  webSockets.on("connection", (webSocket) => {
    readFramesInTurns(webSocket, turns.connection("127.0.0.1"));
    opened.push(webSocket);
    webSocket.on("message", (data: Buffer) => messages.push(data.length));
    webSocket.on("close", () => ended++);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const clients = Array.from({ length: connections }, () => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
    onTestFinished(() => void socket.destroy());
    socket.write(upgrade);
    return socket;
  });
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
