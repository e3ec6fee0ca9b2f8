import { EventEmitter, once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { type WaitingResponse, waitWithClient } from "../../servers/core/http/connections/client-wait.ts";
import { writeForClient } from "../../servers/core/http/connections/client-work.ts";
import { createHttpConnections } from "../../servers/core/http/connections/http-connections.ts";
import { pipelinedRequests } from "../../servers/core/http/connections/pipelined-request.ts";
import type { HttpRequest, HttpResponse } from "../../servers/core/http/http-route.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { ClientLeft } from "../../servers/core/service/client-left.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { rawConnection } from "../http/harness.ts";
import { until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";
import { listenHttp } from "./listen-http.ts";

/** The most that is counted in a turn of the event loop, until it is `all`. */
async function mostInTurn(count: () => number, all: number): Promise<number> {
  let most = 0;
  for (let before = count(); before < all; ) {
    await nextTurn();
    const after = count();
    most = Math.max(most, after - before);
    before = after;
  }
  return most;
}

const response = (work: WaitingResponse["req"]["work"]) =>
  Object.assign(new EventEmitter(), { destroyed: false, req: { work } }) as unknown as WaitingResponse & EventEmitter;

it("[BL-381] a request that is recorded after its connection was closed is of that connection, and a stop does not wait for it", async () => {
  const connections = createHttpConnections(new WorkTurns());
  const server = createServer((socket) => connections.opened(socket, { unanswered: 32, headerBytes: 16_384 }, new SharedBudget(1 << 20)));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await once(server, "connection")) as [Socket];
  const { id } = connections.of(socket);
  client.destroy();
  socket.destroy();
  await until(() => connections.open === 0);
  expect(connections.of(socket).id).toBe(id);
  expect(connections.open).toBe(0);
  await connections.destroyAll();
});

it.each([
  ["end", (client: Socket) => client.end()],
  ["reset", (client: Socket) => client.resetAndDestroy()],
] as const)("[BL-381] connections that their clients %s at once are over in turns", async (_, leave) => {
  const { turns, pass } = workTime();
  const count = 400;
  const connections = createHttpConnections(turns);
  const accepted: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections.opened(socket, { unanswered: 32, headerBytes: 16_384 }, new SharedBudget(1 << 20));
    for (const event of ["end", "error"]) socket.on(event, () => onEnd(socket));
    accepted.push(socket.resume());
  });
  let ended = 0;
  const onEnd = (socket: Socket) => {
    pass();
    ended++;
    socket.destroy();
  };
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const clients = Array.from({ length: count }, () => connect((server.address() as AddressInfo).port, "127.0.0.1"));
  await until(() => accepted.length === count);
  for (const client of clients) leave(client.on("error", () => {}));
  expect(await mostInTurn(() => ended, count)).toBeLessThanOrEqual(itemsOfTurn);
  await until(() => connections.open === 0);
  for (const client of clients) client.destroy();
});

it("[BL-381] so are those on which another protocol has begun", async () => {
  const { turns, pass } = workTime();
  const count = 400;
  const connections = createHttpConnections(turns);
  const upgraded: Socket[] = [];
  let ended = 0;
  const server = createHttpServer(pipelinedRequests);
  server.on("connection", (socket) => connections.opened(socket, { unanswered: 32, headerBytes: 16_384 }, new SharedBudget(1 << 20)));
  server.on("upgrade", (_, duplex) => {
    const socket = duplex as Socket;
    socket.resume().once("end", () => {
      pass();
      ended++;
      socket.destroy();
    });
    upgraded.push(socket);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const clients = Array.from({ length: count }, () => connect((server.address() as AddressInfo).port, "127.0.0.1"));
  for (const client of clients) client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
  await until(() => upgraded.length === count);
  for (const client of clients) client.end();
  expect(await mostInTurn(() => ended, count)).toBeLessThanOrEqual(itemsOfTurn);
  await until(() => connections.open === 0);
  for (const client of clients) client.destroy();
});

it("[BL-381] waits of thousands of requests that end at once go on in turns", async () => {
  const { turns, pass } = workTime();
  const waits = 2_000;
  let done = 0;
  for (let index = 0; index < waits; index++) {
    void waitWithClient(response(turns.connection("10.0.0.1")), 10).then(() => {
      pass();
      done++;
    });
  }
  expect(await mostInTurn(() => done, waits)).toBeLessThanOrEqual(itemsOfTurn);
});

it("[BL-381] connections whose waits end at once are woken in turns, those that ended before are not", async () => {
  const { turns, pass } = workTime();
  const waits = 5_000;
  let done = 0;
  const act = () => {
    pass();
    done++;
  };
  const ends = Array.from({ length: 2 * waits }, (_, index) => turns.connection(`10.0.0.${index % 9}`).wait(10 + (index % 3), act));
  for (let index = 1; index < ends.length; index += 2) ends[index]?.();
  expect(await mostInTurn(() => done, waits)).toBeLessThanOrEqual(itemsOfTurn);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(done).toBe(waits);
});

it("[BL-381] a wait as long as a timer can be does not end at once", async () => {
  const { turns } = workTime();
  let ended = 0;
  const end = turns.connection("10.0.0.1").wait(2 ** 31 - 1, () => ended++);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(ended).toBe(0);
  end();
});

it("[BL-381] a client that leaves while it waits for its turn is not answered", async () => {
  const leaving: WaitingResponse & EventEmitter = response({
    wait(_milliseconds: number, act: () => void) {
      setImmediate(() => {
        leaving.emit("close");
        act();
      });
      return () => {};
    },
  } as unknown as WaitingResponse["req"]["work"]);
  await expect(waitWithClient(leaving, 1)).rejects.toBeInstanceOf(ClientLeft);
});

it("[BL-381] thousands of changes of protocol that are asked for at once begin in turns", async () => {
  const { turns, pass } = workTime();
  let changed = 0;
  const { port, connections: opened } = await listenHttp({
    turns,
    upgrade: {
      accepts: () => true,
      handle(_request, socket) {
        pass();
        changed++;
        socket.destroy();
      },
    },
  });
  const clients = 400;
  const connections = await Promise.all(Array.from({ length: clients }, () => rawConnection(port)));
  while (opened.open < clients) await nextTurn();
  for (const { send } of connections) send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n");
  expect(await mostInTurn(() => changed, clients)).toBeLessThanOrEqual(itemsOfTurn);
  await Promise.all(connections.map(({ closed }) => closed()));
});

it("[HTTP-154] pieces of an answer are made when those before it have left, and few at once", async () => {
  let made = 0;
  function* pieces() {
    for (; made < 1_000; made++) yield made % 2 === 0 ? "x" : undefined;
  }
  const leaving: (() => void)[] = [];
  const waiting = Object.assign(new EventEmitter(), {
    socket: null as object | null,
    req: {},
    destroyed: false,
    write(_piece: string, onWritten?: () => void) {
      if (onWritten) leaving.push(onWritten);
      return true;
    },
  });
  const request = { socket: { destroyed: false }, work: workTime().turns.connection("10.0.0.1") } as unknown as HttpRequest;
  const writing = writeForClient(request, waiting as unknown as HttpResponse, pieces());
  await nextTurn();
  expect(made).toBe(0);
  waiting.socket = {};
  waiting.emit("socket");
  let most = 0;
  for (let before = 0; made < 1_000; before = made) {
    await until(() => leaving.length > 0 || made === 1_000);
    most = Math.max(most, made - before);
    leaving.pop()?.();
    await nextTurn();
  }
  await writing;
  expect(most).toBeLessThanOrEqual(200);
  const left = Object.assign(new EventEmitter(), { socket: null, req: {}, destroyed: false });
  const toNobody = writeForClient(request, left as unknown as HttpResponse, ["x"]);
  left.emit("close");
  await expect(toNobody).rejects.toBeInstanceOf(ClientLeft);
});
