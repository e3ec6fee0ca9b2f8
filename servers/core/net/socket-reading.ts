import type { Socket } from "node:net";

/** What is used of a socket without a public name: `pause` and `resume` act on its stream, and not where a parser of Node reads from the system itself. */
interface ReadSocket extends Socket {
  readonly _handle?: { readonly writeQueueSize?: number; readStart(): unknown; readStop(): unknown } | null;
}

/** Nothing more is read from the system, whoever reads. */
export function stopReading(socket: Socket): void {
  (socket as ReadSocket)._handle?.readStop();
}

/** To go on after `stopReading`. */
export function startReading(socket: Socket): void {
  // One whose handle is closed later, in its turn: Node throws where that reads any more.
  if (!socket.destroyed) (socket as ReadSocket)._handle?.readStart();
}

/** Bytes that wait for the client in the system's part of the socket; undefined where it has none any more. */
export function queuedBytes(socket: Socket): number | undefined {
  const { _handle: handle } = socket as ReadSocket;
  return handle ? (handle.writeQueueSize ?? 0) : undefined;
}
