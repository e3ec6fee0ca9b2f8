import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { SharedBudget } from "../../limits/shared-budget.ts";
import { connectionHead } from "../../net/client-socket.ts";
import { EndsInTurns } from "../../net/ends-in-turns.ts";
import { endsBy, takeSocket } from "../../net/open-sockets.ts";
import type { WorkConnection } from "../../turns/work-connection.ts";
import type { WorkTurns } from "../../turns/work-turns.ts";
import type { ConnectionFacts } from "../record/http-entry.ts";
import type { RecordedResponse } from "../record/recorded-messages.ts";
import { HeldRequests } from "./held-requests.ts";
import { Pipeline } from "./pipeline.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";

/** One TCP connection to an HTTP server. */
export interface HttpConnection extends ConnectionFacts {
  requests: number;
  latest: RecordedResponse | undefined;
  /** None any more once another protocol has begun. */
  pipeline: Pipeline | undefined;
  readonly held: HeldRequests | undefined;
  /** In which its requests begin and are worked on, and in which it is closed. */
  readonly work: WorkConnection;
  /** For what goes on by itself, as time passes: it comes behind what clients ask for. */
  readonly pacedWork: WorkConnection;
}

export interface HttpConnections {
  /** To be called when Node's server has taken the socket. */
  opened(socket: Socket, limits: PipelineLimits, held: SharedBudget): void;
  /** Adds the TCP connection below TLS, so that it is closed even if its handshake never completes. */
  addSocket(socket: Socket): void;
  of(socket: Socket): HttpConnection;
  /** Of a socket that never became a connection of HTTP: it is not among the open ones. */
  refused(socket: Socket): HttpConnection;
  readonly open: number;
  /** Bytes on the wire since the start, heads included. */
  bytes(): { readonly read: number; readonly written: number };
  /** Ends all connections, also upgraded ones, which a server's own close leaves open. Resolves when all are closed. */
  destroyAll(): Promise<void>;
}

export function createHttpConnections(turns: WorkTurns): HttpConnections {
  const open = new Map<Socket, HttpConnection>();
  /** Of sockets that are closed: a request that waited for its turn may be recorded later. */
  const closed = new WeakMap<Socket, HttpConnection>();
  const belowTls = new Set<Socket>();
  const ends = new EndsInTurns(turns.connection(""));
  let nextId = 1;
  let readOfClosed = 0;
  let writtenOfClosed = 0;

  const workOf = (socket: Socket) => turns.connection(socket.remoteAddress ?? "");

  function create(socket: Socket, work = workOf(socket), pipeline?: Pipeline, held?: HeldRequests): HttpConnection {
    const { remoteAddress = "" } = socket;
    let pacedWork: WorkConnection | undefined;
    return {
      ...connectionHead(nextId++, socket),
      requests: 0,
      unlogged: 0,
      latest: undefined,
      pipeline,
      held,
      work,
      get pacedWork() {
        pacedWork ??= turns.background(remoteAddress);
        return pacedWork;
      },
    };
  }

  function add(socket: Socket, work?: WorkConnection, pipeline?: Pipeline, held?: HeldRequests): HttpConnection {
    const connection = create(socket, work, pipeline, held);
    open.set(socket, connection);
    socket.once("close", () => {
      open.delete(socket);
      closed.set(socket, connection);
      held?.close();
      readOfClosed += socket.bytesRead;
      writtenOfClosed += socket.bytesWritten;
    });
    return connection;
  }

  return {
    opened(socket, limits, held) {
      const address = socket.remoteAddress ?? "";
      const work = takeSocket(socket, turns);
      const disconnect = (why: string): void => {
        if (connection.pipeline) connection.pipeline.disconnect(why);
        else socket.destroy();
      };
      const forget = (): void => {
        connection.pipeline = undefined;
      };
      const heldRequests = new HeldRequests(held, address, disconnect);
      const pipeline = new Pipeline(socket, limits, work, forget, heldRequests);
      // Behind TLS the connection below has a part in them.
      if (!(socket instanceof TLSSocket)) ends.take(socket);
      const connection = add(socket, work, pipeline, heldRequests);
      endsBy(socket, disconnect);
    },
    addSocket(socket) {
      belowTls.add(socket);
      socket.once("close", () => belowTls.delete(socket));
    },
    of: (socket) => open.get(socket) ?? closed.get(socket) ?? add(socket),
    refused: (socket) => create(socket),
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
      const ends = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(ends);
    },
  };
}
