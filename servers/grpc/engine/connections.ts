import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import { AddressCounts } from "../../core/limits/address-counts.ts";
import { connectionHead } from "../../core/net/client-socket.ts";
import { closeInTurns } from "../../core/net/close-in-turns.ts";
import type { FaultLog } from "../../core/net/fault-log.ts";
import type { WorkConnection, WorkTurns } from "../../core/service/work-turns.ts";
import type { BudgetedCall, CallBudgets, CallShares } from "./call-budgets.ts";
import { CallList } from "./call-list.ts";
import type { SessionReading, SessionReadings } from "./session-reading.ts";

export interface GrpcConnection extends ConnectionHead {
  readonly clientCertificate: string | undefined;
  /** Its part in the turns of all clients. */
  readonly work: WorkConnection;
  readonly openCalls: CallList<BudgetedCall>;
  /** Streams of HTTP/2 that are no calls, and whose answers the client has not read. */
  readonly refusals: Set<BudgetedCall["transport"]>;
  /** Where it speaks HTTP/2: its streams end before its socket is closed. */
  reading: SessionReading | undefined;
  /** What these have of what all calls share. */
  readonly shares: CallShares;
  /** So far. */
  calls: number;
  /** Id of the newest stream of HTTP/2 that was taken; -1 before the first. */
  lastStream: number;
}

export interface ConnectionsOptions {
  /** Open at the same time. */
  readonly connectionsPerAddress: number;
  readonly turns: WorkTurns;
  readonly readings: SessionReadings;
  readonly budgets: CallBudgets;
}

/** The open connections of a listener, and the bytes of all connections so far. */
export class GrpcConnections {
  readonly #options: ConnectionsOptions;
  readonly #faults: FaultLog;
  readonly #open = new Map<Socket, GrpcConnection>();
  readonly #ofAddresses = new AddressCounts();
  #admits = true;
  #onNone: (() => void) | undefined;
  #opened = 0;
  #closedRead = 0;
  #closedWritten = 0;

  constructor(options: ConnectionsOptions, faults: FaultLog) {
    this.#options = options;
    this.#faults = faults;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Undefined, and the socket is closed, if there are too many or no more are admitted. */
  admit(socket: Socket): GrpcConnection | undefined {
    // HTTP has its own listener; one must be there before it and after it.
    socket.on("error", () => {});
    const { connectionsPerAddress } = this.#options;
    const isTooMany = this.#ofAddresses.of(socket.remoteAddress ?? "") >= connectionsPerAddress;
    if (this.#admits && !isTooMany) {
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
    this.#ofAddresses.add(remoteAddress);
    const tls = socket instanceof TLSSocket ? socket : undefined;
    const certificate = tls?.authorized ? tls.getPeerCertificate() : undefined;
    const openCalls = new CallList<BudgetedCall>("connection");
    const connection: GrpcConnection = {
      ...connectionHead(++this.#opened, socket),
      tls: tls && `${tls.getProtocol()} ${tls.getCipher()?.name}`,
      clientCertificate: certificate?.subject && Object.values(certificate.subject).flat().join(", "),
      work: this.#options.turns.accepted(remoteAddress),
      openCalls,
      refusals: new Set(),
      reading: undefined,
      shares: this.#options.budgets.open(remoteAddress, openCalls),
      calls: 0,
      lastStream: -1,
    };
    this.#open.set(socket, connection);
    closeInTurns(socket, connection.work, () => {
      connection.reading?.over();
      return connection.reading && loseEach(connection);
    });
    socket.once("close", () => {
      this.#open.delete(socket);
      for (const share of Object.values(connection.shares)) share.close();
      this.#ofAddresses.remove(remoteAddress);
      this.#closedRead += socket.bytesRead;
      this.#closedWritten += socket.bytesWritten;
      if (this.#open.size === 0) this.#onNone?.();
    });
    return connection;
  }

  /** To be called before the socket gets a session of HTTP/2. */
  speaksHttp2(socket: Socket, connection: GrpcConnection): SessionReading {
    connection.reading = this.#options.readings.open(socket, connection.work);
    return connection.reading;
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

function* loseEach({ reading, openCalls, refusals }: GrpcConnection): Generator<void, void> {
  if (reading) yield* reading.lose();
  for (let call = openCalls.last; call; call = openCalls.last) {
    call.transport.lose();
    yield;
  }
  for (const refusal of refusals) {
    refusal.lose();
    yield;
  }
}
