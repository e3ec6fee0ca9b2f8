import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import { Http2Connection } from "../../core/http2/http2-connection.ts";
import type { Http2Stream } from "../../core/http2/http2-stream.ts";
import type { KeepaliveTimes } from "../../core/http2/keepalive.ts";
import type { RequestHead } from "../../core/http2/request-head.ts";
import { AddressCounts } from "../../core/limits/address-counts.ts";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { connectionHead } from "../../core/net/client-socket.ts";
import type { FaultLog } from "../../core/net/fault-log.ts";
import { endsBy, takeSocket } from "../../core/net/open-sockets.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { BudgetedCall, CallBudgets, CallShares } from "./call-budgets.ts";
import { CallList } from "./call-list.ts";

export interface GrpcConnection extends ConnectionHead {
  readonly clientCertificate: string | undefined;
  /** Its part in the turns of all clients. */
  readonly work: WorkConnection;
  readonly openCalls: CallList<BudgetedCall>;
  /** Where it speaks HTTP/2. */
  http2: Http2Connection | undefined;
  /** What these have of what all calls share. */
  readonly shares: CallShares;
  /** So far. */
  calls: number;
}

export interface ConnectionsOptions extends KeepaliveTimes {
  /** Open at the same time. */
  readonly connectionsPerAddress: number;
  readonly turns: WorkTurns;
  readonly budgets: CallBudgets;
  /** Open calls on a connection of HTTP/2. */
  readonly concurrentStreams: number;
  /** Of the header fields of a call. */
  readonly metadataBytes: number;
}

/** What a connection takes without calls. */
const plainBytes = 16 << 10;
const tlsBytes = 64 << 10;

/** The open connections of a listener, and the bytes of all connections so far. */
export class GrpcConnections {
  readonly #options: ConnectionsOptions;
  readonly #faults: FaultLog;
  readonly #onRefused: (connection: ConnectionHead, why: string) => void;
  readonly #open = new Map<Socket, GrpcConnection>();
  readonly #ofAddresses = new AddressCounts();
  #admits = true;
  #onNone: (() => void) | undefined;
  #opened = 0;
  #closedRead = 0;
  #closedWritten = 0;

  /** `onRefused` is called of a connection that ends before its first call and has a log line. */
  constructor(options: ConnectionsOptions, faults: FaultLog, onRefused: (connection: ConnectionHead, why: string) => void = () => {}) {
    this.#options = options;
    this.#faults = faults;
    this.#onRefused = onRefused;
  }

  get count(): number {
    return this.#open.size;
  }

  hasPlaceFor(address: string): boolean {
    return this.#ofAddresses.of(rateLimitKey(address)) < this.#options.connectionsPerAddress;
  }

  /** Undefined, and the socket is closed, if there are too many or no more are admitted. */
  admit(socket: Socket): GrpcConnection | undefined {
    // HTTP has its own listener; one must be there before it and after it.
    socket.on("error", () => {});
    const { connectionsPerAddress } = this.#options;
    if (this.#admits && this.hasPlaceFor(socket.remoteAddress ?? "")) {
      socket.setNoDelay(true);
      return this.#add(socket);
    }
    if (this.#admits) {
      this.#faults.write(`A connection from ${socket.remoteAddress} was refused: it has ${connectionsPerAddress} already.`);
    }
    socket.destroy();
    return undefined;
  }

  admitNoMore(): void {
    this.#admits = false;
  }

  #add(socket: Socket): GrpcConnection {
    const { remoteAddress = "" } = socket;
    const key = rateLimitKey(remoteAddress);
    this.#ofAddresses.add(key);
    const tls = socket instanceof TLSSocket ? socket : undefined;
    const certificate = tls?.authorized ? tls.getPeerCertificate() : undefined;
    const openCalls = new CallList<BudgetedCall>("connection");
    const end = (why: string) => {
      if (connection.http2) connection.http2.breakOff(why);
      else socket.destroy();
    };
    const connection: GrpcConnection = {
      ...connectionHead(++this.#opened, socket),
      tls: tls && `${tls.getProtocol()} ${tls.getCipher()?.name}`,
      clientCertificate: certificate?.subject && Object.values(certificate.subject).flat().join(", "),
      work: takeSocket(socket, this.#options.turns),
      openCalls,
      http2: undefined,
      shares: this.#options.budgets.open(remoteAddress, openCalls, end),
      calls: 0,
    };
    const heldBytes = tls ? tlsBytes : plainBytes;
    connection.shares.memory.add(heldBytes);
    this.#open.set(socket, connection);
    endsBy(socket, end);
    socket.once("close", () => {
      this.#open.delete(socket);
      const { open, memory } = connection.shares;
      memory.add(-heldBytes);
      memory.close();
      open.close();
      this.#ofAddresses.remove(key);
      this.#closedRead += socket.bytesRead;
      this.#closedWritten += socket.bytesWritten;
      if (this.#open.size === 0) this.#onNone?.();
    });
    return connection;
  }

  /** The socket is one of those that were admitted. `explain` may say more of why the connection ends. */
  speaksHttp2(
    socket: Socket,
    connection: GrpcConnection,
    onStream: (stream: Http2Stream, head: RequestHead) => void,
    explain: (why: string) => string = (why) => why,
  ): void {
    const faults = this.#faults;
    const limits = { ...this.#options, headerListBytes: mostHeaderBytes(this.#options) };
    connection.http2 = new Http2Connection(socket, connection.work, limits, {
      onStream,
      onRefused: (why) => faults.write(`A call from ${connection.remote} ended before a row began: ${why}.`),
      onFault: (why) => {
        const reason = explain(why);
        if (faults.closed(connection, reason) && connection.calls === 0) this.#onRefused(connection, reason);
      },
      onError: (error) => faults.failed(connection, error),
      onHeld: (bytes) => connection.shares.memory.add(bytes),
    });
  }

  /** Open streams of HTTP/2 go on, and new ones are refused. */
  async leave(): Promise<void> {
    await this.#options.turns.each([...this.#open.values()], ({ http2 }) => http2?.leave());
  }

  bytes(): { readonly read: number; readonly written: number } {
    let read = this.#closedRead;
    let written = this.#closedWritten;
    for (const socket of this.#open.keys()) {
      read += socket.bytesRead;
      written += socket.bytesWritten;
    }
    return { read, written };
  }

  /** Resolves when all are closed, or after this time. */
  async whenNone(withinMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    const none = new Promise<void>((resolve) => {
      this.#onNone = resolve;
    });
    await Promise.race([none, delay(withinMs, undefined, { ref: false })]);
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }
}

/**
 * Streams with more header fields than this are reset, so that nobody learns which call it was. What is above the limit, and not
 * above this one, becomes a call that ends with a status.
 */
const mostHeaderBytes = ({ metadataBytes }: Pick<ConnectionsOptions, "metadataBytes">): number => 2 * metadataBytes;
