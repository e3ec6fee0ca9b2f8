import type { Socket } from "node:net";
import { type WorkConnection, WorkTurns } from "../service/work-turns.ts";
import { drained } from "./client-wait.ts";
import type { HttpRequest, HttpResponse } from "./http-route.ts";
import { ClientLeft } from "./request-body.ts";

/** Work for the requests of all clients of a service, in which their connections take turns. */
export class ClientWork {
  readonly #turns = new WorkTurns();
  readonly #connections = new WeakMap<Socket, WorkConnection>();

  /** In steps that each take a fraction of a millisecond. Rejects with ClientLeft once the client has disconnected. */
  run<Result>({ socket }: HttpRequest, steps: Iterator<void, Result>): Promise<Result> {
    let connection = this.#connections.get(socket);
    if (!connection) {
      connection = this.#turns.connection(socket.remoteAddress ?? "");
      this.#connections.set(socket, connection);
    }
    return connection.run(whileConnected(socket, steps));
  }

  /** Work that is one step. */
  once<Result>(request: HttpRequest, act: () => Result): Promise<Result> {
    return this.run(request, { next: () => ({ done: true, value: act() }) });
  }

  /** Writes pieces of the answer, which are made one in a step, as fast as the client reads. Rejects with ClientLeft. */
  async write(request: HttpRequest, response: HttpResponse, pieces: Iterable<string | Uint8Array>): Promise<void> {
    const left = pieces[Symbol.iterator]();
    while (!(await this.run(request, writeUntilFull(response, left)))) await drained(response);
  }
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
