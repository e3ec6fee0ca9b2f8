import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ClientLeft } from "../../service/client-left.ts";
import { oneStep } from "../../turns/work-connection.ts";
import type { HttpRequest } from "../http-route.ts";
import { drained, hasTurnToAnswer, written } from "./client-wait.ts";
import { textPieces } from "./text-pieces.ts";

/** What the work of a request needs of it. */
export type WorkingRequest = Pick<HttpRequest, "socket" | "work">;

/** Work for a request, in steps that each take a fraction of a millisecond: all connections of the service take turns. Rejects with ClientLeft once the client has disconnected. */
export function runForClient<Result>({ socket, work }: WorkingRequest, steps: Iterator<void, Result>): Promise<Result> {
  return work.run(new WhileConnected(socket, steps));
}

/** Work that is one step. */
export const runOnceForClient = <Result>(request: WorkingRequest, act: () => Result): Promise<Result> =>
  runForClient(request, oneStep(act));

/** A job of another thread, in turns likewise. It is not begun for a client that has disconnected. */
export function runElsewhereForClient<Result>({ socket, work }: WorkingRequest, job: () => Promise<Result>): Promise<Result> {
  return work.runElsewhere(() => (socket.destroyed ? Promise.reject(new ClientLeft()) : job()));
}

type Piece = string | Uint8Array;

/**
 * Writes pieces of the answer, which are made one in a step, as fast as the client reads, and none before the answers ahead have left. `undefined` is a step
 * without a piece. Rejects with ClientLeft.
 */
export async function writeForClient(
  request: WorkingRequest,
  response: ServerResponse,
  pieces: Iterable<Piece | undefined>,
): Promise<void> {
  await hasTurnToAnswer(response);
  const left = pieces[Symbol.iterator]();
  for (;;) {
    const ready = await runForClient(request, writeUntilFull(response, left));
    if (!ready) return;
    await ready.sent;
  }
}

/** So many bytes of an answer are held for its client until it is sent: they count among those of all requests. */
export function holdForClient(request: HttpRequest, bytes: number): void {
  request.entry?.head.connection.held?.hold(request, bytes);
}

/**
 * Answers 200 with texts, each of which is made in a step, as fast as the client reads. They are made when the answers ahead have left, and are held for
 * it. Rejects with ClientLeft.
 */
export async function sendTexts(
  request: HttpRequest,
  response: ServerResponse,
  type: string,
  texts: Iterable<string>,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  await hasTurnToAnswer(response);
  const onPiece = (bytes: number) => holdForClient(request, bytes);
  const pieces = await runForClient(request, textPieces(texts, onPiece));
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  response.writeHead(200, Object.entries({ "Content-Type": type, "Content-Length": String(length), ...headers }).flat());
  await writeForClient(request, response, pieces);
  response.end();
}

/** A socket writes all that waits at once, at a cost for each piece, in memory too: many small ones are far below its bound of bytes. */
const piecesAtOnce = 64;

/** In an object, because a promise for a promise would be waited for in the turns. */
interface Ready {
  readonly sent: Promise<void>;
}

/** Returns what to wait for; nothing once all are written. It waits from the write on: what comes of it may come before the next promise. */
function* writeUntilFull(response: ServerResponse, pieces: Iterator<Piece | undefined>): Generator<void, Ready | undefined> {
  for (let count = 1; ; ) {
    const { done, value } = pieces.next();
    if (done) return undefined;
    if (value !== undefined) {
      if (count++ === piecesAtOnce) return { sent: written(response, value) };
      if (!response.write(value)) return { sent: drained(response) };
    }
    yield;
  }
}

class WhileConnected<Result> implements Iterator<void, Result> {
  readonly #socket: Socket;
  readonly #steps: Iterator<void, Result>;

  constructor(socket: Socket, steps: Iterator<void, Result>) {
    this.#socket = socket;
    this.#steps = steps;
  }

  next(): IteratorResult<void, Result> {
    if (this.#socket.destroyed) throw new ClientLeft();
    return this.#steps.next();
  }
}
