import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { startReading, stopReading } from "../../net/socket-reading.ts";
import type { WorkConnection } from "../../turns/work-connection.ts";

/** What is used of sockets without a public name. */
interface ReadSocket extends Socket {
  readonly encrypted?: boolean;
  /** By Node, while many bytes of answers wait. */
  readonly _paused?: boolean;
}

/** Of a connection in a poll of the event loop. */
const bytesAtOnce = 128 << 10;

/**
 * Lets the body of a request be read in the turns of all connections (`readLater`), after some pieces of it: where the system has received megabytes, Node reads up to
 * 2 MiB of each connection in one poll. `mayRead` is asked before that goes on.
 */
export function paceBody(request: IncomingMessage, work: Pick<WorkConnection, "readLater">, mayRead: () => boolean): void {
  const socket = request.socket as ReadSocket;
  // `TlsTransport` takes such turns itself.
  if (socket.encrypted) return;
  let bytes = 0;
  let waits = false;
  const readOn = (): void => {
    waits = false;
    bytes = 0;
    if (mayRead() && !socket.destroyed && !socket._paused && !socket.isPaused()) startReading(socket);
  };
  const { push } = request;
  request.push = (piece: Buffer | null, encoding?: BufferEncoding) => {
    bytes += piece?.length ?? 0;
    if (bytes >= bytesAtOnce && !waits) {
      waits = true;
      stopReading(socket);
      work.readLater(readOn);
    }
    return push.call(request, piece, encoding);
  };
}
