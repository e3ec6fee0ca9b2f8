import { once } from "node:events";
import { createServer, IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { boundPipelines } from "../../servers/core/http/connections/bound-pipelines.ts";
import { pipelinedRequests } from "../../servers/core/http/connections/pipelined-request.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { onEnd, startHttp, until } from "./harness.ts";

const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
const chunks = (count: number) => "1\r\nx\r\n".repeat(count);
const end = "0\r\n\r\n";

it("[HTTP-153] the chunks of many bodies are read in the turns of all, and no more than their readers take", async () => {
  const [connections, each] = [20, 8_000];
  /** Of which a share of a connection has 256. */
  const chunkMs = 1 / 1_024;
  let read = 0;
  let mostUnread = 0;
  let answered = 0;
  const server = createServer(pipelinedRequests, (request, response) => {
    // Reads nothing until it has waited.
    setTimeout(() => {
      mostUnread = Math.max(mostUnread, request.readableLength);
      request.on("data", () => read++).once("end", () => response.end("ok", () => answered++));
    }, 50);
  });
  boundPipelines(server, undefined, new WorkTurns(() => read * chunkMs));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(() => server.close());
  for (let index = 0; index < connections; index++) {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
    onEnd(() => socket.destroy());
    socket.write(post("/") + chunks(each) + end);
  }
  let most = 0;
  for (let before = 0; answered < connections; before = read) {
    await nextTurn();
    most = Math.max(most, read - before);
  }
  expect(read).toBe(connections * each);
  // A turn of 4 ms, in which more may come until it has lasted twice as long, and a last step.
  expect(most).toBeLessThan(16 / chunkMs);
  expect(mostUnread).toBeLessThan(1_000);
});

it("[HTTP-162] of bodies that are not chunked some pieces are read in a poll of the event loop, of a few connections", async () => {
  const [connections, length] = [40, 8 << 20];
  let read = 0;
  let answered = 0;
  const turns = new WorkTurns();
  const server = createServer(pipelinedRequests, (request, response) => {
    request.on("data", (piece: Buffer) => {
      read += piece.length;
    });
    request.once("end", () => response.end("ok", () => answered++));
  });
  boundPipelines(server, undefined, turns);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(() => server.close());
  onEnd(() => turns.close());
  const body = Buffer.alloc(length);
  for (let index = 0; index < connections; index++) {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
    onEnd(() => socket.destroy());
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    socket.write(body);
  }
  let most = 0;
  for (let before = 0; answered < connections; before = read) {
    await nextTurn();
    most = Math.max(most, read - before);
  }
  expect(read).toBe(connections * length);
  // Sixteen connections with three pieces at most, and the first ones of all.
  expect(most).toBeLessThanOrEqual((16 * 3 + connections) * (64 << 10));
});

/** Its turns come late, as on a busy machine. */
class LateTurns extends WorkTurns {
  override later(connection: Parameters<WorkTurns["later"]>[0]): void {
    setTimeout(() => super.later(connection), 30);
  }
}

it("[HTTP-162] reading goes on behind a body that was long, where the next request came with its end and waited for its turn", async () => {
  const length = 128 << 10;
  let read = 0;
  const answers: (() => void)[] = [];
  const turns = new LateTurns();
  const server = createServer(pipelinedRequests, (request, response) => {
    request.on("data", (piece: Buffer) => {
      read += piece.length;
    });
    answers.push(() => response.end("ok"));
  });
  boundPipelines(server, undefined, turns);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(() => server.close());
  onEnd(() => turns.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
  onEnd(() => socket.destroy());
  const last = 1_000;
  const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
  await until(() => answers.length === 1);
  socket.write(Buffer.alloc(length - last));
  await until(() => read === length - last);
  socket.write("x".repeat(last) + get);
  await until(() => answers.length === 2);
  for (const answer of answers) answer();
  socket.write(get);
  await until(() => answers.length === 3);
});

it("[HTTP-272] what comes with the end of a body that is read late, a next request too, stays behind what came before", async () => {
  const bodies: string[] = [];
  const arrived: (() => void)[] = [];
  let socket: Socket | undefined;
  const server = createServer(pipelinedRequests, (request, response) => {
    ({ socket } = request);
    let body = "";
    arrived.push(() => {
      request.on("data", (piece: Buffer) => {
        body += piece.toString("latin1");
      });
      request.once("end", () => {
        bodies.push(body);
        response.end("ok");
      });
    });
    if (arrived.length === 2) arrived[1]?.();
  });
  boundPipelines(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(() => server.close());
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
  onEnd(() => client.destroy());
  const head = (length: number) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
  const pieces = ["a".repeat(90_000), "b".repeat(10_000), "c".repeat(20_000)] as const;
  client.write(head(120_000));
  await until(() => arrived.length === 1);
  client.write(pieces[0]);
  await until(() => socket?.readableFlowing === false);
  client.write(pieces[1]);
  await until(() => (socket?.readableLength ?? 0) > 0);
  client.write(`${pieces[2]}${head(60_000)}${"d".repeat(60_000)}`);
  for (let turns = 0; turns < 20; turns++) await nextTurn();
  arrived[0]?.();
  await until(() => bodies.length === 2);
  expect(bodies[0] === pieces.join("")).toBe(true);
  expect(bodies[1]).toBe("d".repeat(60_000));
});

it("[HTTP-153] what came is read before the end of the client's side", async () => {
  const bodies: number[] = [];
  const server = createServer(pipelinedRequests, (request) => {
    let bytes = 0;
    request.on("data", (piece: Buffer) => {
      bytes += piece.length;
    });
    request.once("end", () => bodies.push(bytes));
  });
  let nowMs = 0;
  // Each step is a share.
  boundPipelines(server, undefined, new WorkTurns(() => nowMs++));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
  socket.end(post("/") + chunks(8_000) + end);
  await once(socket, "close");
  expect(bodies).toEqual([8_000]);
});

describe.each(["HTTP", "HTTPS"] as const)("bodies in chunks of one byte over %s", (label) => {
  async function connectTo() {
    const service = await startHttp({ https: label === "HTTPS", httpsPort: 0 }, temporaryDir());
    const { port, hostname } = new URL(service.urlOf(label));
    const address = { port: Number(port), host: hostname };
    const socket = label === "HTTPS" ? connectTls({ ...address, rejectUnauthorized: false }) : connect(address);
    onEnd(() => socket.destroy());
    socket.on("error", () => {});
    const received: Buffer[] = [];
    socket.on("data", (piece: Buffer) => received.push(piece));
    const closed = once(socket, "close");
    return { service, socket, text: () => Buffer.concat(received).toString("latin1"), closed };
  }

  it("[HTTP-153] they are read whole, with what comes between and behind them", async () => {
    const { socket, text, closed } = await connectTo();
    const get = "GET /anything/last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    const fixed = `POST /anything/fixed HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n${"y".repeat(50_000)}`;
    // One that nobody reads, and one in large chunks.
    const large = `${post("/anything/large")}c350\r\n${"z".repeat(50_000)}\r\n${end}`;
    socket.write(post("/anything/one") + chunks(20_000) + end + fixed + post("/health") + chunks(20_000) + end + large + get);
    await closed;
    const answers = text().split("HTTP/1.1 ").slice(1);
    expect(answers.map((answer) => answer.slice(0, 3))).toEqual(["200", "200", "405", "200", "200"]);
    expect(answers[0]).toContain(`"${"x".repeat(20_000)}"`);
    expect(answers[1]).toContain(`"${"y".repeat(50_000)}"`);
    expect(answers[3]).toContain(`"${"z".repeat(50_000)}"`);
  });

  it("[HTTP-153] another protocol may begin behind them", async () => {
    const { service, socket, text } = await connectTo();
    socket.write(post("/anything") + chunks(10_000) + end);
    await until(() => text().includes('"url"'));
    const client = new WebSocket("ws://a/ws/echo", { createConnection: () => socket.removeAllListeners("data") });
    onEnd(() => client.terminate());
    await once(client, "open");
    client.send("x".repeat(100_000));
    const [message] = (await once(client, "message")) as [Buffer];
    expect(message).toHaveLength(100_000);
    client.close();
    await service.ended(({ kind }) => kind === "websocket");
  });
});

const stream = "/api/stream?count=0&duration=3600";
const begunBody = `Transfer-Encoding: chunked\r\n\r\n${"5\r\nhello\r\n".repeat(4)}`;

it.each([
  ["an event stream", "", `GET ${stream}`],
  ["an answer that waits for its time", "", "GET /drip?delay=8s&duration=1s"],
  ["one that waits for the answer before it", `GET ${stream} HTTP/1.1\r\nHost: a\r\n\r\n`, "GET /drip"],
  ["one that was made before its turn", `GET ${stream} HTTP/1.1\r\nHost: a\r\n\r\n`, "GET /health"],
])("[HTTP-268] a body that no route reads hides no end of its connection: %s", async (_name, before, request) => {
  const service = await startHttp({ sseSubscribers: 1 });
  const client = connect(service.port, "127.0.0.1").resume();
  onEnd(() => client.destroy());
  client.write(`${before}${request} HTTP/1.1\r\nHost: a\r\n${begunBody}`);
  const count = before === "" ? 1 : 2;
  await until(() => service.rows().length === count);
  await nextTurn();
  client.end();
  await until(() => service.rows().every(({ tone }) => tone !== "pending"), 5_000);
  expect((await fetch(`${service.url}/api/stream?count=1`)).status).toBe(200);
});

it("[HTTP-268] a body that no route reads is not kept while its answer streams", async () => {
  const pushed = vi.spyOn(IncomingMessage.prototype, "push");
  onEnd(() => pushed.mockRestore());
  const service = await startHttp();
  const client = connect(service.port, "127.0.0.1").resume();
  onEnd(() => client.destroy());
  client.write(`GET ${stream} HTTP/1.1\r\nHost: a\r\nContent-Length: 6000\r\n\r\n${"x".repeat(5_000)}`);
  await until(() => service.rows().length === 1 && pushed.mock.contexts.length > 0);
  const [request] = pushed.mock.contexts as IncomingMessage[];
  await until(() => request?.readableLength === 0);
});
