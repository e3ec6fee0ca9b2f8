import type { ServerResponse } from "node:http";
import { withoutStacks } from "../../service/stackless-error.ts";

/** Of a connection that was closed, one in a step. Those that wait for others: the one that has the socket is closed by Node. */
export function* closeUnanswered(responses: Iterable<ServerResponse>): Generator<void, void> {
  for (const response of responses) {
    if (!response.closed && !response.socket) withoutStacks(() => response.emit("close"));
    yield;
  }
}
