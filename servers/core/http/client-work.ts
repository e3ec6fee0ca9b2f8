import type { WorkTurns } from "../service/work-turns.ts";
import type { HttpRequest } from "./http-route.ts";
import { ClientLeft } from "./request-body.ts";

/** Work for one request, in steps that each take a fraction of a millisecond. Rejects with ClientLeft once the client has disconnected. */
export function workForClient<Result>(turns: WorkTurns, request: HttpRequest, steps: Iterator<void, Result>): Promise<Result> {
  return turns.run(request.socket.remoteAddress ?? "", whileConnected(request, steps));
}

function* whileConnected<Result>({ socket }: HttpRequest, steps: Iterator<void, Result>): Generator<void, Result> {
  for (;;) {
    if (socket.destroyed) throw new ClientLeft();
    const { done, value } = steps.next();
    if (done) return value;
    yield;
  }
}
