import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { SharedBudget } from "../../core/limits/shared-budget.ts";
import { ConnectionCount, type ConnectionLimits } from "../../core/net/connection-count.ts";
import { FaultLog } from "../../core/net/fault-log.ts";
import { endsBy, takeSocket } from "../../core/net/open-sockets.ts";
import { listenTcp } from "../../core/net/tcp-listener.ts";
import { listenTls, type TlsSource } from "../../core/net/tls-listener.ts";
import { everySecondInTurns } from "../../core/service/every-second.ts";
import { type ConnectionParts, RtspConnection } from "./rtsp-connection.ts";
import { WriteBatch } from "./write-batch.ts";

export interface RtspServerOptions extends Omit<ConnectionParts, "onClosed" | "writes" | "held" | "unread">, ConnectionLimits {
  readonly port: number;
  readonly openToLan: boolean;
  /** Also over TLS. */
  readonly tls: { readonly port: number; readonly certificates: TlsSource; readonly tlsHandshakes: number } | undefined;
  /** That are received in part, of all connections. */
  readonly allRequestBytes: number;
  /** That clients leave unread, of all connections. */
  readonly allUnsentBytes: number;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

export interface RtspServer {
  readonly port: number;
  /** 0 without TLS. */
  readonly tlsPort: number;
  readonly connections: number;
  /** Connections that were closed at once because there were too many. */
  readonly refused: number;
  bytes(): { readonly read: number; readonly written: number };
}

const handshakeMs = 10_000;

/** Listens for clients over TCP and TLS. */
export async function listenRtsp(options: RtspServerOptions): Promise<RtspServer> {
  const { openToLan, onStop } = options;
  const connections = new Set<RtspConnection>();
  const writes = new WriteBatch();
  const held = new SharedBudget(options.allRequestBytes);
  const unread = new SharedBudget(options.allUnsentBytes);
  const faults = new FaultLog(options.log);
  const count = new ConnectionCount(options, faults);
  /** Of connections that were closed. */
  const past = { read: 0, written: 0 };
  let nextId = 1;

  function accept(socket: Socket): void {
    if (!count.admit(socket)) return;
    takeSocket(socket, options.turns);
    const connection = new RtspConnection(nextId++, socket, { ...options, writes, held, unread, onClosed: forget });
    connections.add(connection);
    endsBy(socket, (why) => connection.lose(why));
  }

  function forget(connection: RtspConnection): void {
    connections.delete(connection);
    const { read, written } = connection.bytes;
    past.read += read;
    past.written += written;
  }

  const port = await listenTcp({ port: options.port, openToLan, createServer: () => createServer(accept), places: count, onStop });
  const tlsPort = options.tls
    ? await listenTls({
        ...options.tls,
        turns: options.turns,
        openToLan,
        faults,
        handshakeMs,
        createServer: (tls) => createTlsServer(tls, accept),
        places: count,
        onStop,
      })
    : 0;
  onStop(() => faults.flush());
  const stopTicking = everySecondInTurns(
    options.turns,
    () => connections,
    (connection, nowMs) => {
      if (connections.has(connection)) connection.tick(nowMs);
    },
  );
  onStop(() => {
    stopTicking();
    for (const connection of connections) connection.destroy();
  });
  return {
    port,
    tlsPort,
    get connections() {
      return connections.size;
    },
    get refused() {
      return count.refused;
    },
    bytes() {
      const sum = { ...past };
      for (const { bytes } of connections) {
        sum.read += bytes.read;
        sum.written += bytes.written;
      }
      return sum;
    },
  };
}
