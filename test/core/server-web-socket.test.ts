import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { HeldWebSocket } from "../../servers/core/http/websocket/held-web-socket.ts";
import type { ServerWebSocket } from "../../servers/core/http/websocket/server-web-socket.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";
import { frame, openedClient, readingClient, webSocketServer } from "./web-socket-harness.ts";

const [continuation, text, binary, close, ping] = [0, 1, 2, 8, 9];
const part = { isLast: false } as const;
const sharedTurns = () => {
  const turns = new WorkTurns();
  return () => turns.connection("127.0.0.1");
};

it("[HTTP-155] fragments of many WebSockets are read in the turns of all, and messages come whole", async () => {
  const [connections, each] = [20, 60_000];
  /** A fragment has 7 bytes, a step some 16 KiB. */
  const steps = 25;
  const { turns, pass } = workTime();
  let read = 0;
  /** Each question is an item that is done. */
  const counting = (connection: WorkConnection): WorkConnection => ({
    key: connection.key,
    isCalm: false,
    usedMs: 0,
    run: (steps) => connection.run(steps),
    runElsewhere: (job) => connection.runElsewhere(job),
    wait: (...wait) => connection.wait(...wait),
    readLater: (readOn) => connection.readLater(readOn),
    join(goOn) {
      const share = connection.join(goOn);
      return {
        get isOver() {
          if (share.isOver) return true;
          pass();
          read++;
          return false;
        },
        later: () => share.later(),
      };
    },
  });
  const messages: number[] = [];
  let opened = 0;
  const port = await webSocketServer(
    () => counting(turns.connection("127.0.0.1")),
    (webSocket) => {
      opened++;
      webSocket.on("message", ({ length }) => messages.push(length));
    },
  );
  const clients = Array.from({ length: connections }, () => openedClient(port));
  await until(() => opened === connections);
  const fragments = Buffer.concat([frame(binary, "x", part), ...Array.from({ length: each - 1 }, () => frame(continuation, "x", part))]);
  for (const socket of clients) socket.write(fragments);
  let most = 0;
  for (let before = 0; read < connections * steps; before = read) {
    await nextTurn();
    most = Math.max(most, read - before);
  }
  expect(most).toBeLessThanOrEqual(itemsOfTurn + connections);
  for (const socket of clients) socket.write(frame(continuation, "x"));
  await until(() => messages.length === connections);
  expect(new Set(messages)).toEqual(new Set([each + 1]));
});

it("[HTTP-155] messages of many WebSockets are handled in the turns of all, those of each in order", async () => {
  const [connections, each] = [400, 5];
  const { turns, pass } = workTime();
  const received: string[][] = [];
  const port = await webSocketServer(
    () => turns.connection("127.0.0.1"),
    (webSocket) => {
      const messages: string[] = [];
      received.push(messages);
      webSocket.on("message", (data) => {
        pass();
        messages.push(String(data));
      });
    },
  );
  const handled = () => received.reduce((sum, { length }) => sum + length, 0);
  const all = Buffer.concat(Array.from({ length: each }, (_, index) => frame(text, String(index))));
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
  expect(new Set(received.map((messages) => messages.join("")))).toEqual(new Set(["01234"]));
});

it("[HTTP-263] where many WebSockets have begun messages, those that give way end alone, also with frames that wait for their turn", async () => {
  const connections = 60;
  const budget = new SharedBudget(4 << 20);
  let opened = 0;
  let gaveWay = 0;
  let ended = 0;
  const messages: string[] = [];
  const port = await webSocketServer(sharedTurns(), (webSocket) => {
    opened++;
    new HeldWebSocket(webSocket, "127.0.0.1", budget, () => gaveWay++);
    webSocket.on("message", (data) => messages.push(data.toString()));
    webSocket.on("close", () => ended++);
  });
  const clients = Array.from({ length: connections }, () => openedClient(port));
  await until(() => opened === connections);
  const [bystander, ...others] = clients;
  const long = frame(continuation, "x".repeat(1_000), part);
  const fragments = Buffer.concat([frame(binary, "x", part), ...Array.from({ length: 900 }, () => long)]);
  for (const socket of others) socket.write(fragments);
  await until(() => gaveWay > connections / 2);
  bystander?.write(Buffer.concat([frame(text, "x", part), frame(continuation, "x")]));
  await until(() => messages.length > 0);
  expect(messages).toEqual(["xx"]);
  for (const socket of clients) socket.destroy();
  await until(() => ended === connections);
});

it("[HTTP-270] frames of a few bytes that wait for their client count with the memory that they take", async () => {
  const turns = sharedTurns();
  const { promise: opening, resolve } = Promise.withResolvers<ServerWebSocket>();
  let socket: Socket | undefined;
  const port = await webSocketServer((accepted) => {
    socket = accepted;
    return turns();
  }, resolve);
  openedClient(port);
  const webSocket = await opening;
  let gaveWay = 0;
  const held = new HeldWebSocket(webSocket, "127.0.0.1", new SharedBudget(1 << 20), () => gaveWay++);
  socket?.cork();
  for (let sent = 0; sent < 1_000; sent++) webSocket.send("x");
  expect([webSocket.bufferedAmount, webSocket.unsentMemory]).toEqual([3_000, 3_000 + (1_000 << 10)]);
  held.count();
  expect(gaveWay).toBe(0);
  socket?.uncork();
  await until(() => webSocket.unsentMemory === 0);
  socket?.cork();
  for (let sent = 0; sent < 1_100; sent++) webSocket.send("x");
  held.count();
  expect(gaveWay).toBe(1);
});

it("[HTTP-265] the close is answered, and what comes behind it is not handed over", async () => {
  const ends: unknown[] = [];
  const messages: string[] = [];
  const port = await webSocketServer(sharedTurns(), (webSocket) => {
    webSocket.on("message", (data) => messages.push(String(data)));
    webSocket.on("close", (...end) => ends.push(end));
  });
  const goodbye = Buffer.concat([Buffer.from([0x0f, 0xa0]), Buffer.from("bye")]);
  const client = readingClient(port);
  client.socket.write(Buffer.concat([frame(text, "a"), frame(close, goodbye), frame(text, "b"), frame(3)]));
  await client.closed;
  await until(() => ends.length === 1);
  expect(client.received()).toEqual(Buffer.concat([Buffer.from([0x88, 5]), goodbye]));
  expect([messages, ends]).toEqual([["a"], [[4_000, "bye"]]]);
});

it("[HTTP-265] where the service closes, messages that are still on their way are passed over until the client answers", async () => {
  const ends: unknown[] = [];
  const messages: string[] = [];
  const port = await webSocketServer(sharedTurns(), (webSocket) => {
    webSocket.on("message", (data) => {
      messages.push(String(data));
      webSocket.pause();
      webSocket.close(1_001, "stops");
      expect(webSocket.isOpen).toBe(false);
    });
    webSocket.on("close", (...end) => ends.push(end));
  });
  const client = readingClient(port);
  client.socket.write(Buffer.concat([frame(text, "a"), frame(text, "b"), frame(binary, Buffer.alloc(100_000), part), frame(ping, "p")]));
  await until(() => client.received().length >= 9);
  client.socket.write(frame(close, Buffer.from([0x03, 0xe9])));
  await client.closed;
  await until(() => ends.length === 1);
  expect(client.received()).toEqual(Buffer.concat([Buffer.from([0x88, 7, 0x03, 0xe9]), Buffer.from("stops")]));
  expect([messages, ends]).toEqual([["a"], [[1_001, ""]]]);
});

it("[HTTP-265] a client that leaves without a close frame has sent what it has sent: code 1006", async () => {
  const ends: unknown[] = [];
  const messages: string[] = [];
  const { turns, pass } = workTime();
  const port = await webSocketServer(
    () => turns.connection("127.0.0.1"),
    (webSocket) => {
      webSocket.on("message", (data) => {
        pass();
        messages.push(String(data));
      });
      webSocket.on("close", (...end) => ends.push(end));
    },
  );
  const client = readingClient(port);
  client.socket.end(Buffer.concat(Array.from({ length: 100 }, (_, index) => frame(text, String(index)))));
  await client.closed;
  await until(() => ends.length === 1);
  expect([messages, ends]).toEqual([Array.from({ length: 100 }, (_, index) => String(index)), [[1_006, ""]]]);
});

it("[HTTP-265] a fault is answered with its code and told once, one in the service's own work with 1011", async () => {
  const told: unknown[] = [];
  const port = await webSocketServer(sharedTurns(), (webSocket) => {
    webSocket.on("message", () => {
      throw new Error("of our own");
    });
    webSocket.on("error", ({ message }) => told.push(message));
    webSocket.on("close", (code) => told.push(code));
  });
  for (const [bytes, code] of [
    [frame(text, Buffer.from([0xff])), 1_007],
    [frame(5), 1_002],
    [frame(text, "x"), 1_011],
  ] as const) {
    const client = readingClient(port);
    client.socket.write(Buffer.concat([bytes, bytes]));
    await client.closed;
    expect(client.received()).toEqual(Buffer.from([0x88, 2, code >> 8, code & 0xff]));
  }
  await until(() => told.length === 6);
  expect(told).toEqual(["A text that is not UTF-8", 1_007, "A frame with the opcode 5", 1_002, "of our own", 1_011]);
});

it("[HTTP-265] ten pings are answered each; of thousands that nobody reads the answers to, few wait, and the last one is answered", async () => {
  let opened: ServerWebSocket | undefined;
  let pings = 0;
  const port = await webSocketServer(sharedTurns(), (webSocket) => {
    opened = webSocket;
    webSocket.on("ping", () => pings++);
  });
  const client = readingClient(port);
  client.socket.write(Buffer.concat(Array.from({ length: 10 }, (_, index) => frame(ping, String(index)))));
  await until(() => client.received().length === 30);
  const webSocket = await until(() => opened);
  client.socket.pause();
  const many = 200_000;
  client.socket.write(Buffer.concat(Array.from({ length: many }, (_, index) => frame(ping, String(index).padStart(125, "0")))));
  await until(() => pings === many + 10);
  expect(webSocket.bufferedAmount).toBeLessThan(64 * 200);
  client.socket.resume();
  await until(() => client.received().includes(Buffer.from(String(many - 1).padStart(125, "0"))));
});

it("[HTTP-265] while it is paused nothing is handed over and little is read; then all comes in order", async () => {
  let opened: ServerWebSocket | undefined;
  const messages: string[] = [];
  const port = await webSocketServer(sharedTurns(), (webSocket) => {
    opened = webSocket;
    webSocket.on("message", (data) => {
      messages.push(data.toString("latin1", 0, 5));
      if (messages.length % 100 === 1) webSocket.pause();
    });
  });
  const client = openedClient(port);
  const count = 1_000;
  client.write(Buffer.concat(Array.from({ length: count }, (_, index) => frame(text, String(index).padStart(5, "0").padEnd(5_000)))));
  const webSocket = await until(() => opened);
  for (let taken = 1; taken < count; taken += 100) {
    await until(() => messages.length === taken);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(messages).toHaveLength(taken);
    expect(webSocket.arrivingBytes).toBeLessThan(300_000);
    webSocket.resume();
    // Its caller may have more to do.
    expect(messages).toHaveLength(taken);
  }
  await until(() => messages.length === count);
  expect(messages).toEqual(Array.from({ length: count }, (_, index) => String(index).padStart(5, "0")));
});
