import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { boundPipelines } from "../../servers/core/http/connections/bound-pipelines.ts";
import { pipelinedRequests } from "../../servers/core/http/connections/pipelined-request.ts";
import { hasBody, readBody } from "../../servers/core/http/messages/request-body.ts";
import type { RecordedRequest } from "../../servers/core/http/record/recorded-messages.ts";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { listenHttp } from "./listen-http.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20_261_128);
const connections = 24;
const requestsEach = 16;

const modes = ["read", "late", "slow", "early", "unread"] as const;
type Mode = (typeof modes)[number];

interface Asked {
  readonly method: string;
  readonly mode: Mode;
  readonly body: Buffer;
  readonly bytes: Buffer;
  /** Of the answer, beside what it says of the request. */
  readonly answerBytes: number;
}

const pick = <Item>(random: SeededRandom, items: readonly Item[]): Item => items[random.below(items.length)] as Item;

/** Mostly small, at times as much as takes several reads. */
function size(random: SeededRandom): number {
  if (random.chance(0.5)) return random.below(100);
  return random.chance(0.6) ? random.below(9_000) : random.below(300_000);
}

function chunked(random: SeededRandom, body: Buffer): Buffer {
  const pieces: (string | Buffer)[] = [];
  const most = random.chance(0.3) ? 5 : 20_000;
  for (let at = 0; at < body.length; ) {
    // Many chunks of a few bytes only where the body is short.
    const piece = body.subarray(at, at + 1 + random.below(Math.max(most, body.length / 200)));
    at += piece.length;
    pieces.push(`${piece.length.toString(16)}${random.chance(0.1) ? ";a=b" : ""}\r\n`, piece, "\r\n");
  }
  pieces.push(random.chance(0.2) ? "0\r\nX-Trailer: a\r\n\r\n" : "0\r\n\r\n");
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}

function request(random: SeededRandom, number: number): Asked {
  const method = pick(random, ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);
  const hasBody = method.startsWith("P") || random.chance(0.2);
  const body = Buffer.alloc(hasBody ? size(random) : 0, `${number} ${random.below(1_000_000)} `);
  const isChunked = hasBody && random.chance(0.5);
  const framing = isChunked ? "Transfer-Encoding: chunked\r\n" : `Content-Length: ${body.length}\r\n`;
  const mode = pick(random, modes);
  const answerBytes = size(random);
  const padding = random.chance(0.1) ? `X-Padding: ${"a".repeat(random.below(6_000))}\r\n` : "";
  const head = `${method} /${number}/${mode}/${answerBytes} HTTP/1.1\r\nHost: a\r\n${padding}${hasBody ? framing : ""}\r\n`;
  return { method, mode, body, answerBytes, bytes: Buffer.concat([Buffer.from(head), isChunked ? chunked(random, body) : body]) };
}

/** The connection is closed behind its answer. */
const lastOf = (number: number): Asked => ({
  method: "GET",
  mode: "read",
  body: Buffer.alloc(0),
  answerBytes: 0,
  bytes: Buffer.from(`GET /${number}/read/0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
});

const hash = (bytes: Buffer) => createHash("sha1").update(bytes).digest("hex");

/** What the answer begins with. */
const summary = (number: number, body: Buffer | undefined): string => `${number} ${body ? `${body.length} ${hash(body)}` : "unread"};`;

const isRead = (mode: Mode): boolean => mode !== "early" && mode !== "unread";

async function turnsOf(random: SeededRandom, most: number): Promise<void> {
  for (let turns = random.below(most); turns > 0; turns--) await nextTurn();
}

type Read = (request: IncomingMessage, response: ServerResponse, random: SeededRandom, isSlow: boolean) => Promise<Buffer>;

const readStream: Read = async (stream, _response, random, isSlow) => {
  // Of a service's server, the stream of such a request is closed from its beginning.
  if (!hasBody(stream)) return Buffer.alloc(0);
  const pieces: Buffer[] = [];
  if (!isSlow) {
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    await once(stream, "end");
    return Buffer.concat(pieces);
  }
  for await (const piece of stream) {
    pieces.push(piece);
    await turnsOf(random, 4);
  }
  return Buffer.concat(pieces);
};

/** Answers as the target of the request says. */
async function answer(request: IncomingMessage, response: ServerResponse, random: SeededRandom, read: Read): Promise<void> {
  const [, number, mode, answerBytes] = (request.url ?? "").split("/");
  if (mode !== "read" && mode !== "early") await turnsOf(random, random.chance(0.3) ? 100 : 12);
  const body = isRead(mode as Mode) ? await read(request, response, random, mode === "slow") : undefined;
  if (random.chance(0.3)) await turnsOf(random, 12);
  const start = summary(Number(number), body);
  response.writeHead(200, { "Content-Length": start.length + Number(answerBytes) });
  response.end(start + "x".repeat(Number(answerBytes)));
}

/** Its time passes by chance, so that shares are over anywhere, and connections are read late. */
function randomTurns(random: SeededRandom): WorkTurns {
  let nowMs = 0;
  const turns = new WorkTurns(() => {
    if (random.chance(0.2)) nowMs += random.below(3) / 8;
    return nowMs;
  });
  onTestFinished(() => turns.close());
  const { connection } = turns;
  turns.connection = (address) => {
    const work: WorkConnection = connection.call(turns, address);
    const { readLater } = work;
    work.readLater = (readOn) => void turnsOf(random, 6).then(() => readLater.call(work, readOn));
    return work;
  };
  return turns;
}

/** Sends the requests in pieces, and reads the answers late. Returns what came before the connection was closed. */
async function exchange(port: number, asked: readonly Asked[], random: SeededRandom): Promise<Buffer> {
  const socket: Socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  const pieces: Buffer[] = [];
  let isClosed = false;
  socket.on("data", (piece: Buffer) => {
    pieces.push(piece);
    if (!random.chance(0.2)) return;
    socket.pause();
    void turnsOf(random, 8).then(() => socket.resume());
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  const all = Buffer.concat(asked.map(({ bytes }) => bytes));
  const largest = pick(random, [40, 5_000, 30_000, 100_000, 1_000_000]);
  for (let at = 0; at < all.length && !isClosed; ) {
    const piece = all.subarray(at, at + 1 + random.below(Math.max(largest, all.length / 300)));
    at += piece.length;
    socket.write(piece);
    await turnsOf(random, 4);
  }
  // Else it says below which answer is missing.
  await until(() => isClosed, 10_000).catch(() => {});
  socket.destroy();
  return Buffer.concat(pieces);
}

/** The answers by their bodies; `methods` are those of the requests. */
function answersIn(bytes: Buffer, methods: readonly string[]): string[] {
  const answers: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf("\r\n\r\n", at);
    if (end === -1) break;
    const head = bytes.toString("latin1", at, end);
    const length = methods[answers.length] === "HEAD" ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    at = end + 4 + length;
    answers.push(`${head.slice(9, 12)} ${bytes.toString("latin1", end + 4, at)}`);
  }
  return answers;
}

const recordedBody: Read = (asked, response) => readBody(asked as RecordedRequest, response, 1 << 24);

const servers: readonly [string, (random: SeededRandom, turns: WorkTurns, seen: string[]) => Promise<number>][] = [
  [
    "a server of Node",
    async (random, turns, seen) => {
      const server = createServer(pipelinedRequests, (asked, response) => {
        seen.push(`${asked.socket.remotePort} ${asked.url?.split("/")[1]}`);
        void answer(asked, response, random, readStream).catch(() => response.destroy());
      });
      boundPipelines(server, pick(random, [1, 3, 32]), turns);
      onTestFinished(() => void server.close());
      await once(server.listen(0, "127.0.0.1"), "listening");
      return (server.address() as AddressInfo).port;
    },
  ],
  [
    "a server of a service",
    async (random, turns, seen) => {
      const { port } = await listenHttp({
        turns,
        heldBytes: 1 << 28,
        allUnsentBytes: 1 << 28,
        dispatch: (asked, response) => {
          seen.push(`${asked.socket.remotePort} ${asked.url?.split("/")[1]}`);
          const read = random.chance(0.3) ? readStream : recordedBody;
          void answer(asked, response, random, read).catch(() => response.destroy());
        },
      });
      return port;
    },
  ],
];

it.each(servers)(
  `[HTTP-273] of %s, requests in any pieces are answered once, in order, each with its own body (seed ${seed})`,
  async (_, listen) => {
    for (let round = 0; round < connections; round++) {
      const random = seededRandom(seed + round);
      const seen: string[] = [];
      const port = await listen(random, randomTurns(random), seen);
      const asked = Array.from({ length: 1 + random.below(requestsEach) }, (_, number) => request(random, number));
      asked.push(lastOf(asked.length));
      const wanted = asked.map(({ method, mode, body, answerBytes }, number) =>
        method === "HEAD" ? "200 " : `200 ${summary(number, isRead(mode) ? body : undefined)}${"x".repeat(answerBytes)}`,
      );
      const bytes = await exchange(port, asked, random);
      const answers = answersIn(
        bytes,
        asked.map(({ method }) => method),
      );
      const differs = wanted.findIndex((text, index) => text !== answers[index]);
      const of = (text: string | undefined) => text?.slice(0, 100);
      const where = `seed ${seed + round}, request ${differs}: ${asked[differs]?.bytes.subarray(0, 60)}`;
      expect([differs, of(answers[differs]), answers.length], where).toEqual([-1, of(wanted[differs]), wanted.length]);
      expect(seen.map((one) => Number(one.split(" ")[1]))).toEqual(asked.map((_, number) => number));
    }
  },
);
