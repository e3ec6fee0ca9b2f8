import type { Socket } from "node:net";
import { oneStep, type WorkConnection } from "../service/work-turns.ts";

/** What is used of a socket without a public name, and what every stream has for those who make one. */
interface ClosingSocket extends Socket {
  readonly _handle?: { readStop(): unknown } | null;
}

/**
 * Closes the socket, once it is destroyed, in the turns of all: a client may cut thousands of connections at once, and each leaves handlers, rows and timers
 * behind. The same for its event "close", which Node emits later. Where it carries a session of HTTP/2, `endStreams` has the steps that end its streams;
 * "close" is not delayed then, because the session may not outlive the handle of the socket.
 */
export function closeInTurns(socket: Socket, connection: WorkConnection, endStreams?: () => Iterator<void> | undefined): void {
  const closing = socket as ClosingSocket;
  const { _destroy: destroy, emit } = closing;
  closing._destroy = (error, callback) => {
    // Node's parser would go on with what comes until then.
    closing._handle?.readStop();
    const steps = endStreams?.();
    if (steps) {
      void connection.run(eachAndThen(steps, () => destroy.call(closing, error, callback)));
      return;
    }
    inTurn(connection, () => {
      closing.emit = (event: string, ...values: unknown[]) => {
        if (event !== "close") return emit.apply(closing, [event, ...values] as Parameters<Socket["emit"]>);
        closing.emit = emit;
        inTurn(connection, () => closing.emit("close", ...(values as [boolean])));
        return true;
      };
      destroy.call(closing, error, callback);
    });
  };
}

const inTurn = (connection: WorkConnection, act: () => unknown): void => void connection.run(oneStep(() => withoutStacks(act)));

function* eachAndThen(steps: Iterator<void>, close: () => void): Generator<void, void> {
  while (!withoutStacks(() => steps.next()).done) yield;
  withoutStacks(close);
}

/** Node and the handlers make an error for each request that is cut. Its stack would take most of the time, and says nothing. */
export function withoutStacks<Result>(act: () => Result): Result {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
