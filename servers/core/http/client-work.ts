import type { Socket } from "node:net";
import { oneStep } from "../service/work-turns.ts";
import { drained, written } from "./client-wait.ts";
import type { HttpRequest, HttpResponse } from "./http-route.ts";
import { ClientLeft } from "./request-body.ts";

/** What the work of a request needs of it. */
export type WorkingRequest = Pick<HttpRequest, "socket" | "work">;

/** Work for a request, in steps that each take a fraction of a millisecond: all connections of the service take turns. Rejects with ClientLeft once the client has disconnected. */
export function runForClient<Result>({ socket, work }: WorkingRequest, steps: Iterator<void, Result>): Promise<Result> {
  return work.run(whileConnected(socket, steps));
}

/** Work that is one step. */
export const runOnceForClient = <Result>(request: WorkingRequest, act: () => Result): Promise<Result> =>
  runForClient(request, oneStep(act));

/** Writes pieces of the answer, which are made one in a step, as fast as the client reads. Rejects with ClientLeft. */
export async function writeForClient(
  request: WorkingRequest,
  response: HttpResponse,
  pieces: Iterable<string | Uint8Array>,
): Promise<void> {
  const left = pieces[Symbol.iterator]();
  for (;;) {
    const ready = await runForClient(request, writeUntilFull(response, left));
    if (!ready) return;
    await ready();
  }
}

/** A socket writes all that waits at once, at a cost for each piece: many small ones are far below its bound of bytes. */
const piecesAtOnce = 256;

/** Returns what to wait for; nothing once all are written. */
function* writeUntilFull(
  response: HttpResponse,
  pieces: Iterator<string | Uint8Array>,
): Generator<void, (() => Promise<void>) | undefined> {
  for (let count = 1; ; count++) {
    const { done, value } = pieces.next();
    if (done) return undefined;
    if (count === piecesAtOnce) {
      const sent = written(response, value);
      return () => sent;
    }
    if (!response.write(value)) return () => drained(response);
    yield;
  }
}

function* whileConnected<Result>(socket: Socket, steps: Iterator<void, Result>): Generator<void, Result> {
  for (;;) {
    if (socket.destroyed) throw new ClientLeft();
    const { done, value } = steps.next();
    if (done) return value;
    yield;
  }
}
