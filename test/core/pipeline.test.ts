import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished } from "vitest";
import { boundPipelines } from "../../servers/core/http/connections/bound-pipelines.ts";
import { createHttpConnections } from "../../servers/core/http/connections/http-connections.ts";
import type { Pipeline } from "../../servers/core/http/connections/pipeline.ts";
import { pipelinedRequests } from "../../servers/core/http/connections/pipelined-request.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { until } from "../support/until.ts";

const connections = 40;
const requestsEach = 20;
const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/** Listens, and connects as many clients that read all; they and the server end with the test. */
async function connectMany(server: Server): Promise<Socket[]> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = Array.from({ length: connections }, () => connect((server.address() as AddressInfo).port, "127.0.0.1").resume());
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  return sockets;
}

/** Each request takes 1 ms of a clock that stands still otherwise. Returns how many of many connections were answered in each turn of the event loop. */
async function answersOfTurns(answer: (work: () => void) => RequestListener, requests = requestsEach): Promise<number[]> {
  let nowMs = 0;
  const server = createServer(
    pipelinedRequests,
    answer(() => void nowMs++),
  );
  boundPipelines(server, undefined, new WorkTurns(() => nowMs));
  let accepted = 0;
  const allAccepted = new Promise<void>((resolve) => {
    server.on("connection", () => {
      if (++accepted === connections) resolve();
    });
  });
  const sockets = await connectMany(server);
  await Promise.all([allAccepted, ...sockets.map((socket) => once(socket, "connect"))]);
  for (const socket of sockets) socket.write(get.repeat(requests));
  const turns: number[] = [];
  for (let before = 0; before < connections * requests; before = nowMs) {
    await nextTurn();
    turns.push(nowMs - before);
  }
  return turns.filter((count) => count > 0);
}

/** A turn of 4 ms, in which more may come until it has lasted twice as long, and the immediates after it. */
const mostOfTurn = 16;

it("[BL-381] requests of many connections, many in a packet of each, are begun in turns", async () => {
  const turns = await answersOfTurns((work) => (_request, response) => {
    work();
    response.end();
  });
  expect(Math.max(...turns)).toBeLessThanOrEqual(mostOfTurn);
});

it("[BL-381] a request without a body ends in its turn, also where nothing follows it", async () => {
  let ended = 0;
  await answersOfTurns(
    (work) => (request, response) => {
      work();
      request.resume().once("end", () => {
        ended++;
        response.end();
      });
    },
    1,
  );
  await until(() => ended === connections, 3_000);
});

it("[BL-381] what handlers do after they have waited for promises counts in the turn", async () => {
  const turns = await answersOfTurns((work) => async (_request, response) => {
    for (let hop = 0; hop < 5; hop++) await undefined;
    work();
    response.end();
  });
  expect(Math.max(...turns)).toBeLessThanOrEqual(mostOfTurn);
});

it("[BL-381] requests of many connections that are late at the same time are refused in turns", async () => {
  let nowMs = 0;
  const late: Socket[] = [];
  const server = createServer(pipelinedRequests);
  boundPipelines(server, undefined, new WorkTurns(() => nowMs));
  server.on("connection", (socket) => {
    const { end } = socket;
    socket.end = (...args: unknown[]) => {
      // Node ends it again when the client has.
      if (args[0]) nowMs++;
      return Reflect.apply(end, socket, args) as Socket;
    };
    late.push(socket);
  });
  const sockets = await connectMany(server);
  while (late.length < connections) await nextTurn();
  const error = Object.assign(new Error("late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
  // Node finds them again while they wait for their turn.
  for (let look = 0; look < 2; look++) for (const socket of late) server.emit("clientError", error, socket);
  const turns = [nowMs];
  for (let before = nowMs; before < connections; before = nowMs) {
    await nextTurn();
    turns.push(nowMs - before);
  }
  await Promise.all(sockets.filter(({ closed }) => !closed).map((socket) => once(socket, "close")));
  expect(nowMs).toBe(connections);
  expect(Math.max(...turns)).toBeLessThanOrEqual(mostOfTurn);
});

it("[BL-382] the next request of a connection begins when the answer before has left, or is small", async () => {
  let begun = 0;
  const server = createServer(pipelinedRequests, (_request, response) => {
    begun++;
    response.end(Buffer.alloc(8 << 20));
  });
  boundPipelines(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  socket.pause();
  socket.write(get.repeat(8));
  await once(server, "request");
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(begun).toBe(1);
  let bytes = 0;
  await new Promise<void>((resolve) => {
    socket.on("data", ({ length }) => {
      bytes += length;
      if (bytes > 8 * (8 << 20)) resolve();
    });
    socket.resume();
  });
  expect(begun).toBe(8);
});

it.each([
  ["head", "GET / HTTP/1.1\r\nHost: a\r\n"],
  ["trailers", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"],
])("[HTTP-264] tiny fields of %s are parsed in turns, and refused beyond some hundreds", async (where, before) => {
  let [pieces, bytes] = [0, 0];
  const server = createServer(pipelinedRequests, (request) => request.resume());
  boundPipelines(server, undefined, new WorkTurns(() => pieces / 4));
  server.on("connection", (socket) =>
    socket.on("data", ({ length }: Buffer) => {
      pieces++;
      bytes += length;
    }),
  );
  const sockets = await connectMany(server);
  // The parser has told of the request that has trailers: it is not answered any more.
  const answers = sockets.map(async (socket) => String((await once(socket, where === "head" ? "data" : "close"))[0]));
  for (const socket of sockets) socket.write(`${before}${"a:\r\n".repeat(15_000)}`);
  let most = 0;
  let areAnswered = false;
  const all = Promise.all(answers).finally(() => {
    areAnswered = true;
  });
  for (let earlier = 0; !areAnswered; earlier = pieces) {
    await nextTurn();
    most = Math.max(most, pieces - earlier);
  }
  expect((await all).every((answer) => where !== "head" || answer.startsWith("HTTP/1.1 431"))).toBe(true);
  expect(most).toBeLessThanOrEqual(4 * mostOfTurn);
  expect(bytes).toBeLessThan(connections * (36 << 10));
});

it("[HTTP-264] long bodies are no heads, also where they are answered before they have come", async () => {
  const server = createServer(pipelinedRequests, (request, response) => {
    if (request.url === "/early") response.end("early");
    else request.resume().on("end", () => response.end("late"));
  });
  boundPipelines(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  let answers = "";
  socket.on("data", (bytes) => {
    answers += String(bytes);
  });
  const body = "\n".repeat(200_000);
  const ask = (target: string, framing: string) => `POST ${target} HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`;
  for (const target of ["/early", "/"]) {
    socket.write(ask(target, `Content-Length: ${body.length}`));
    await until(() => target === "/" || answers.includes("early"), 3_000);
    socket.write(body);
    socket.write(`${ask(target, "Transfer-Encoding: chunked")}${body.length.toString(16)}\r\n`);
    socket.write(`${body}\r\n0\r\n\r\n`);
  }
  await until(() => answers.match(/200 OK/g)?.length === 4, 3_000);
});

it("[BL-375] a connection whose write fails, and which has sent a CONNECT behind its request, ends alone", async () => {
  const server = createServer(pipelinedRequests, ({ socket }) => void socket.destroy(new Error("write EPIPE")));
  boundPipelines(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1", () =>
    socket.write(`${get}CONNECT b:443 HTTP/1.1\r\nHost: b\r\n\r\n`),
  );
  await once(socket.resume(), "close");
});

it("[BL-493] reading goes on when Node ends its pause for answers that waited, also where the socket had stopped before", async () => {
  const sockets = new Set<Socket>();
  const server = createServer(pipelinedRequests, (request, response) => {
    sockets.add(request.socket);
    response.end("ok");
  });
  boundPipelines(server);
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void client.destroy());
  client.write(get);
  await once(client, "data");
  const [socket] = [...sockets] as unknown as (Socket & { _paused: boolean; readonly _handle: { reading: boolean; readStop(): void } })[];
  if (!socket) throw new Error("it was answered");
  // As Node does where a piece was not taken, and then where much of answers waits.
  socket._handle.reading = false;
  socket._handle.readStop();
  socket._paused = true;
  socket.pause().emit("drain");
  client.write(get);
  await once(client, "data");
});

describe("another protocol begins on a connection", () => {
  const offer = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";

  /** Connects a client that sends it, and returns what the protocol is given, and HTTP's part of the connection, which nothing here refers to. */
  async function begin(event: "upgrade" | "connect", sent: string) {
    const turns = new WorkTurns();
    onTestFinished(() => turns.close());
    const connections = createHttpConnections(turns);
    // Scarce with the first byte.
    const held = new SharedBudget(1 << 24, 1 << 22);
    let latest: ServerResponse | undefined;
    const server = createServer(pipelinedRequests, (request, response) => {
      const { pipeline } = connections.of(request.socket);
      pipeline?.begin(response);
      response.once("close", () => pipeline?.answered(response));
      latest = response;
    });
    server.on("connection", (socket) => connections.opened(socket, { unanswered: 32, headerBytes: 16_384 }, held));
    onTestFinished(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const begun = new Promise<{ socket: Socket; pipeline: WeakRef<Pipeline>; head: Buffer }>((resolve) =>
      server.on(event, (_request, socket: Socket, head: Buffer) => {
        resolve({ socket, head, pipeline: new WeakRef(connections.of(socket).pipeline as Pipeline) });
      }),
    );
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    onTestFinished(() => void client.destroy());
    client.resume().write(sent, "latin1");
    const other = await begun;
    onTestFinished(() => void other.socket.destroy());
    return { ...other, client, held, connections, latest };
  }

  async function isReleased(pipeline: WeakRef<Pipeline>): Promise<void> {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    await until(() => {
      collect();
      return pipeline.deref() === undefined;
    });
  }

  it.each([
    ["upgrade", offer],
    ["connect", "CONNECT b:443 HTTP/1.1\r\nHost: b\r\n\r\n"],
  ] as const)("[BL-494] after %s nothing of HTTP is kept, and what came with it is for that protocol, in order", async (event, head) => {
    const rest = Buffer.from(Array.from({ length: 12_000 }, (_, index) => index % 251));
    const { socket, pipeline, head: first, held, client, connections } = await begin(event, head + rest.toString("latin1"));
    const pieces = [first];
    socket.on("data", (piece: Buffer) => pieces.push(piece));
    await until(() => Buffer.concat(pieces).length === rest.length);
    expect(Buffer.concat(pieces).equals(rest)).toBe(true);
    await until(() => !held.isScarce);
    await isReleased(pipeline);
    client.write("more");
    await until(() => Buffer.concat(pieces).length === rest.length + 4);
    expect(connections.of(socket).pipeline).toBeUndefined();
  });

  it("[BL-494] behind a request that is not answered yet, what is kept for it is released with its answer", async () => {
    const { pipeline, latest, socket, client } = await begin("upgrade", get + offer);
    socket.resume();
    client.write("more");
    await nextTurn();
    expect(pipeline.deref()?.unanswered.size).toBe(1);
    latest?.end();
    await isReleased(pipeline);
  });
});
