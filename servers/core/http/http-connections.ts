import type { Socket } from "node:net";
import type { RecordedResponse } from "./recorded-messages.ts";

/** What is known of one TCP connection to an HTTP server. */
export interface HttpConnection {
  readonly id: number;
  /** "127.0.0.1:53110" */
  readonly remote: string;
  readonly local: string;
  readonly openedAt: number;
  /** Requests begun on it so far. */
  requests: number;
  /** The answer to the request that was begun last: the only one whose request may still be arriving. */
  latest: RecordedResponse | undefined;
  /** Requests that came before the one ahead of them was answered (RFC 9112 §9.3.2). */
  queued: number;
  /** It is not read from until enough of them are answered. */
  held: boolean;
}

/** Requests that may wait for the answers ahead of them on one connection before no more is read, and how few before it is read again. */
const mostQueued = 32;
const fewQueued = 16;

export interface HttpConnections {
  opened(socket: Socket): void;
  /** A TCP connection below TLS: it is to be ended also where its handshake never is. */
  shaking(socket: Socket): void;
  of(socket: Socket): HttpConnection;
  /** Call it for each request before its row begins: a client that does not wait for answers is read from no further. */
  queue(socket: Socket, response: RecordedResponse): void;
  readonly open: number;
  /** Bytes on the wire since the start, heads included. */
  bytes(): { readonly read: number; readonly written: number };
  /** Ends all, also the upgraded ones that a server's own close leaves alone; resolves when each is closed. */
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
      id: nextId++,
      remote: addressText(socket.remoteAddress, socket.remotePort),
      local: addressText(socket.localAddress, socket.localPort),
      openedAt: Date.now(),
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
    // The socket's own again.
    delete (socket as Partial<Socket>).resume;
    socket.resume();
  }

  /** Node reads on after each message that is complete, and whenever a body is read. */
  function hold(socket: Socket, connection: HttpConnection): void {
    connection.held = true;
    socket.pause();
    socket.resume = () => socket;
  }

  return {
    opened,
    shaking(socket) {
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

/** Empty where the peer has gone before it could be asked. */
function addressText(address: string | undefined, port: number | undefined): string {
  if (address === undefined || port === undefined) return "";
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

const lingerMs = 500;

/** Ends our side and reads on for a moment: closing with unread bytes would reset the connection, and the answer be lost with it. */
export function lingeringClose(socket: Socket, last = ""): void {
  socket.end(last);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}
