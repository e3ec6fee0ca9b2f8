import type { Socket } from "node:net";
import { withoutStacks } from "../service/stackless-error.ts";
import { oneStep, type WorkConnection } from "../turns/work-connection.ts";
import { endReading } from "./socket-reading.ts";

/**
 * Closes the socket, once it is destroyed, in the turns of all: a client may cut thousands of connections at once, and each leaves handlers, rows and timers
 * behind. The same for its event "close", which Node emits later.
 */
export function closeInTurns(socket: Socket, connection: WorkConnection): void {
  // `_destroy` is what every stream has for those who make one.
  const { _destroy: destroy, emit } = socket;
  socket._destroy = (error, callback) => {
    // Node's parser would go on with what comes until then, and Node throws where it has read anything else.
    endReading(socket);
    inTurn(connection, () => {
      socket.emit = (event: string, ...values: unknown[]) => {
        if (event !== "close") return emit.apply(socket, [event, ...values] as Parameters<Socket["emit"]>);
        socket.emit = emit;
        inTurn(connection, () => socket.emit("close", ...(values as [boolean])));
        return true;
      };
      destroy.call(socket, error, callback);
    });
  };
}

const inTurn = (connection: WorkConnection, act: () => unknown): void => void connection.run(oneStep(() => withoutStacks(act)));
