import type { Socket } from "node:net";
import { type WorkConnection, WorkTurns } from "../service/work-turns.ts";
import type { HttpRequest } from "./http-route.ts";
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
}

function* whileConnected<Result>(socket: Socket, steps: Iterator<void, Result>): Generator<void, Result> {
  for (;;) {
    if (socket.destroyed) throw new ClientLeft();
    const { done, value } = steps.next();
    if (done) return value;
    yield;
  }
}
