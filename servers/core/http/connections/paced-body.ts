import type { Socket } from "node:net";
import { pauseReading, startReading, stopReading } from "../../net/socket-reading.ts";
import type { WorkConnection } from "../../turns/work-connection.ts";
import type { ArrivingBody, PipelinedRequest } from "./pipelined-request.ts";

/** What is used of sockets without a public name. */
interface ReadSocket extends Socket {
  readonly encrypted?: boolean;
  /** By Node, while many bytes of answers wait. */
  readonly _paused?: boolean;
}

/** The pipeline of its connection. */
interface Reader {
  readonly work: Pick<WorkConnection, "readLater">;
  /** It has stopped reading, and begins again itself. */
  readonly isStopped: boolean;
}

/** Of a connection in a poll of the event loop. */
const bytesAtOnce = 128 << 10;

/**
 * A body with a length (RFC 9112 §6.2), while it arrives. It is read in the turns of all connections (`readLater`), after some pieces of it: where the system has
 * received megabytes, Node reads up to 2 MiB of each connection in one poll.
 */
export class LengthBody implements ArrivingBody {
  readonly #request: PipelinedRequest & { readonly _dumped?: boolean };
  readonly #reader: Reader;
  bytesLeft: number;
  /** Of the piece that is being parsed. */
  bytesInPiece = 0;
  /** Since it was its turn to be read. */
  #bytesRead = 0;
  #waits = false;

  constructor(request: PipelinedRequest, reader: Reader) {
    this.#request = request;
    this.#reader = reader;
    this.bytesLeft = Number(request.headers["content-length"]);
  }

  get isComplete(): boolean {
    return this.#request.complete;
  }

  took(piece: Uint8Array | null): void {
    if (piece === null) return;
    this.bytesLeft -= piece.length;
    this.bytesInPiece += piece.length;
    this.#bytesRead += piece.length;
    if (this.#bytesRead >= bytesAtOnce && !this.#waits) this.#wait(this.#request.socket);
  }

  #wait(socket: ReadSocket): void {
    // `TlsTransport` takes such turns itself.
    if (socket.encrypted) return;
    this.#waits = true;
    stopReading(socket);
    this.#reader.work.readLater(() => {
      this.#waits = false;
      this.#bytesRead = 0;
      if (this.#reader.isStopped || socket._paused) pauseReading(socket);
      // Also where the request is paused: what comes is a piece that waits, and a "resume" does not always start what was stopped here.
      else startReading(socket);
    });
  }

  /** Bytes were parsed. Of a request that was answered already, Node drops the body. */
  passed(bytes: number): void {
    this.bytesInPiece = 0;
    if (this.#request._dumped) this.bytesLeft -= bytes;
  }
}
