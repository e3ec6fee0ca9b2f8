import type { Socket } from "node:net";
import { connectionHead } from "../net/client-socket.ts";
import type { ConnectionFacts } from "./http-entry.ts";
import type { RecordedResponse } from "./recorded-messages.ts";

/** One TCP connection to an HTTP server. */
export interface HttpConnection extends ConnectionFacts {
  requests: number;
  latest: RecordedResponse | undefined;
  /** Pipelined requests that wait for an earlier answer (RFC 9112 §9.3.2). */
  queued: number;
  /** Reading is paused until enough of them are answered. */
  held: boolean;
}

/** Pipelined requests waiting on one connection: reading pauses above the first number and resumes below the second. */
const mostQueued = 32;
const fewQueued = 16;

export interface HttpConnections {
  opened(socket: Socket): void;
  /** Adds the TCP connection below TLS, so that it is closed even if its handshake never completes. */
  addSocket(socket: Socket): void;
  of(socket: Socket): HttpConnection;
  /** To be called for each request before its row begins. Pauses a client that sends without waiting for answers. */
  queue(socket: Socket, response: RecordedResponse): void;
  readonly open: number;
  /** Bytes on the wire since the start, heads included. */
  bytes(): { readonly read: number; readonly written: number };
  /** Ends all connections, also upgraded ones, which a server's own close leaves open. Resolves when all are closed. */
  destroyAll(): Promise<void>;
}

export function createHttpConnections(): HttpConnections {
  const open = new Map<Socket, HttpConnection>();
  const belowTls = new Set<Socket>();
  let nextId = 1;
  let readOfClosed = 0;
  let writtenOfClosed = 0;

  function opened(socket: Socket): HttpConnection {
    const connection: HttpConnection = {
      ...connectionHead(nextId++, socket),
      requests: 0,
      latest: undefined,
      queued: 0,
      held: false,
    };
    open.set(socket, connection);
    socket.once("close", () => {
      open.delete(socket);
      readOfClosed += socket.bytesRead;
      writtenOfClosed += socket.bytesWritten;
    });
    return connection;
  }

  function answered(socket: Socket, connection: HttpConnection): void {
    connection.queued -= 1;
    if (!connection.held || connection.queued > fewQueued) return;
    connection.held = false;
    // Restores the socket's own method.
    delete (socket as Partial<Socket>).resume;
    socket.resume();
  }

  /** Node resumes reading after each complete message and whenever a body is read: this keeps the socket paused. */
  function hold(socket: Socket, connection: HttpConnection): void {
    connection.held = true;
    socket.pause();
    socket.resume = () => socket;
  }

  return {
    opened,
    addSocket(socket) {
      belowTls.add(socket);
      socket.once("close", () => belowTls.delete(socket));
    },
    of: (socket) => open.get(socket) ?? opened(socket),
    queue(socket, response) {
      const connection = open.get(socket);
      if (!connection?.latest || connection.latest.closed || connection.latest.writableFinished) return;
      connection.queued += 1;
      response.once("close", () => answered(socket, connection));
      if (connection.queued > mostQueued && !connection.held) hold(socket, connection);
    },
    get open() {
      return open.size;
    },
    bytes() {
      let read = readOfClosed;
      let written = writtenOfClosed;
      for (const socket of open.keys()) {
        read += socket.bytesRead;
        written += socket.bytesWritten;
      }
      return { read, written };
    },
    async destroyAll() {
      const sockets = [...open.keys(), ...belowTls];
      const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}
