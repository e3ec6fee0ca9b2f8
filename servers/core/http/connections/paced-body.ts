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
 * 2 MiB of each connection in one poll. `mayRead` is asked before that goes on, `onBytes` is told of each piece.
 */
export function paceBody(
  request: IncomingMessage,
  work: Pick<WorkConnection, "readLater">,
  onBytes: (bytes: number) => void,
  mayRead: () => boolean,
): void {
  const socket = request.socket as ReadSocket;
  let bytes = 0;
  let waits = false;
  const readOn = (): void => {
    waits = false;
    bytes = 0;
    // Also where the request is paused: what comes is a piece that waits, and a "resume" does not always start what was stopped here.
    if (mayRead() && !socket.destroyed && !socket._paused) startReading(socket);
  };
  const { push } = request;
  request.push = (piece: Buffer | null, encoding?: BufferEncoding) => {
    bytes += piece?.length ?? 0;
    onBytes(piece?.length ?? 0);
    // `TlsTransport` takes such turns itself.
    if (bytes >= bytesAtOnce && !waits && !socket.encrypted) {
      waits = true;
      stopReading(socket);
      work.readLater(readOn);
    }
    return push.call(request, piece, encoding);
  };
}

/** A body with a length (RFC 9112 §6.2), while it arrives. */
export class LengthBody {
  readonly #request: IncomingMessage & { readonly _dumped?: boolean };
  bytesLeft: number;
  /** Of the piece that is being parsed. */
  bytesInPiece = 0;

  constructor(request: IncomingMessage) {
    this.#request = request;
    this.bytesLeft = Number(request.headers["content-length"]);
  }

  get isComplete(): boolean {
    return this.#request.complete;
  }

  /** To be called for each piece that the request gets. */
  readonly took = (bytes: number): void => {
    this.bytesLeft -= bytes;
    this.bytesInPiece += bytes;
  };

  /** Bytes were parsed. Of a request that was answered already, Node drops the body. */
  passed(bytes: number): void {
    this.bytesInPiece = 0;
    if (this.#request._dumped) this.bytesLeft -= bytes;
  }
}
