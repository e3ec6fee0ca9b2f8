import type { Socket } from "node:net";

interface ReadHandle {
  readonly writeQueueSize?: number;
  /** Node has started it. */
  reading?: boolean;
  readStart(): unknown;
  readStop(): unknown;
}

/** What is used of a socket without a public name: `pause` and `resume` act on its stream, and not where a parser of Node reads from the system itself. */
interface ReadSocket extends Socket {
  readonly _handle?: ReadHandle | null;
}

/** Nothing more is read from the system, whoever reads. */
export function stopReading(socket: Socket): void {
  (socket as ReadSocket)._handle?.readStop();
}

/** The same for good, also where Node begins again: its server of HTTP does at a "resume", which may come when the socket is destroyed. */
export function endReading(socket: Socket): void {
  stopReading(socket);
  const { _handle: handle } = socket as ReadSocket;
  if (handle) handle.readStart = () => 0;
}

/** To go on after `stopReading`. Node is told: it would start what is read already, which is an error that ends the connection. */
export function startReading(socket: Socket): void {
  const { _handle: handle } = socket as ReadSocket;
  // One whose handle is closed later, in its turn: Node throws where that reads any more.
  if (!handle || socket.destroyed) return;
  handle.reading = true;
  handle.readStart();
}

/** Nothing is read until somebody goes on as with any stream. Node is told: after `stopReading` alone it would start nothing. */
export function pauseReading(socket: Socket): void {
  const { _handle: handle } = socket as ReadSocket;
  if (!handle || socket.destroyed) return;
  handle.reading = false;
  handle.readStop();
}

/**
 * Lets reading be held back, whoever starts or stops it meanwhile: what they want holds afterwards. To be called for a socket that was just accepted. The
 * returned function holds it, or lets it go on.
 */
export function holdableReading(socket: Socket): (isHeld: boolean) => void {
  const { _handle: handle } = socket as ReadSocket;
  if (!handle) return () => {};
  const { readStart, readStop } = handle;
  let isWanted = handle.reading === true;
  let isHeld = false;
  handle.readStart = () => {
    isWanted = true;
    return isHeld ? 0 : readStart.call(handle);
  };
  handle.readStop = () => {
    isWanted = false;
    return readStop.call(handle);
  };
  return (hold) => {
    if (hold === isHeld || (socket as ReadSocket)._handle !== handle) return;
    isHeld = hold;
    if (isWanted && !socket.destroyed) (hold ? readStop : readStart).call(handle);
  };
}

/** Bytes that wait for the client in the system's part of the socket; undefined where it has none any more. */
export function queuedBytes(socket: Socket): number | undefined {
  const { _handle: handle } = socket as ReadSocket;
  return handle ? (handle.writeQueueSize ?? 0) : undefined;
}
