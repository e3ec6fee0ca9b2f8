import type { Socket } from "node:net";
import { oneStep } from "../service/work-turns.ts";
import { drained } from "./client-wait.ts";
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
  while (!(await runForClient(request, writeUntilFull(response, left)))) await drained(response);
}

/** Returns true once all are written. */
function* writeUntilFull(response: HttpResponse, pieces: Iterator<string | Uint8Array>): Generator<void, boolean> {
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return true;
    if (!response.write(value)) return false;
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
