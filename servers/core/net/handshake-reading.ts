import type { Socket } from "node:net";

/** Read at a time: a later message of a handshake takes up to a millisecond. */
const readAtOnce = 32;
const rotateMs = 1;

/** What is used of a socket without a public name. The TLS socket above it knows nothing of a pause. */
interface ReadSocket extends Socket {
  readonly _handle?: { readStart(): unknown; readStop(): unknown } | null;
}

/**
 * The handshakes of TLS that have begun. Node carries out at once what a poll of the event loop has read, so with many of them some are read in
 * each, and the others later. Later messages are work too: a second first message (RFC 8446 §4.1.4), and a key exchange in TLS 1.2.
 */
export class HandshakeReading {
  readonly #read = new Set<ReadSocket>();
  /** The longest waiting first. */
  readonly #stopped = new Set<ReadSocket>();
  #timer: NodeJS.Timeout | undefined;

  /** To be called when the TLS server has the socket. */
  add(socket: Socket): void {
    if (this.#read.size < readAtOnce && this.#stopped.size === 0) {
      this.#read.add(socket);
      return;
    }
    this.#stopped.add(socket);
    // The server begins to read in a tick of its own.
    process.nextTick(() => {
      if (this.#stopped.has(socket)) (socket as ReadSocket)._handle?.readStop();
    });
    this.#timer ??= setInterval(() => this.#rotate(), rotateMs);
  }

  /** The handshake is over. */
  remove(socket: Socket): void {
    this.#read.delete(socket);
    if (this.#stopped.delete(socket)) (socket as ReadSocket)._handle?.readStart();
    if (this.#stopped.size === 0) this.close();
  }

  #rotate(): void {
    for (const socket of this.#read) {
      this.#read.delete(socket);
      this.#stopped.add(socket);
      socket._handle?.readStop();
    }
    for (const socket of this.#stopped) {
      if (this.#read.size === readAtOnce) return;
      this.#stopped.delete(socket);
      this.#read.add(socket);
      socket._handle?.readStart();
    }
    this.close();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
