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
}

export interface HttpConnections {
  opened(socket: Socket): void;
  of(socket: Socket): HttpConnection;
  readonly open: number;
  /** Bytes on the wire since the start, heads included. */
  bytes(): { readonly read: number; readonly written: number };
  /** Ends all, also the upgraded ones that a server's own close leaves alone; resolves when each has told so. */
  destroyAll(): Promise<void>;
}

export function createHttpConnections(): HttpConnections {
  const open = new Map<Socket, HttpConnection>();
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
    };
    open.set(socket, connection);
    socket.once("close", () => {
      open.delete(socket);
      readOfClosed += socket.bytesRead;
      writtenOfClosed += socket.bytesWritten;
    });
    return connection;
  }

  return {
    opened,
    of: (socket) => open.get(socket) ?? opened(socket),
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
      const closed = [...open.keys()].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
      for (const socket of open.keys()) socket.destroy();
      await Promise.all(closed);
    },
  };
}

/** Empty where the peer has gone before it could be asked. */
function addressText(address: string | undefined, port: number | undefined): string {
  if (address === undefined || port === undefined) return "";
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
