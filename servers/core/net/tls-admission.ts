import type { Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { type BudgetShare, SharedBudget } from "../limits/shared-budget.ts";
import type { WorkTurns } from "../turns/work-turns.ts";
import { clientHelloState } from "./client-hello.ts";
import { EndsInTurns } from "./ends-in-turns.ts";
import type { FaultLog } from "./fault-log.ts";
import { readFirstBytes } from "./first-bytes.ts";
import { TlsTransport } from "./tls-transport.ts";

export interface HandshakeLimits {
  /** Of the service: what comes behind a handshake takes turns with what its other listeners get. */
  readonly turns: WorkTurns;
  /** Handshakes that have not ended; beyond it, the address that has most of them loses some. */
  readonly tlsHandshakes: number;
}

/** Where handshakes that fail are written. */
export type HandshakeFaults = Pick<FaultLog, "handshakeFailed">;

/**
 * Lets TLS servers work in turns of all their clients: a first message of 200 bytes is a key exchange and a signature. It is read before the
 * server gets the connection, which gets what follows by a `TlsTransport`.
 */
export class TlsAdmission {
  readonly #turns: WorkTurns;
  readonly #ends: EndsInTurns;
  readonly #budget: SharedBudget;
  readonly #open = new Map<string, { readonly socket: Socket; readonly share: BudgetShare }>();
  #isClosed = false;

  constructor({ turns, tlsHandshakes }: HandshakeLimits) {
    this.#turns = turns;
    this.#ends = new EndsInTurns(turns.connection(""));
    this.#budget = new SharedBudget(tlsHandshakes);
  }

  /** To be called with a server of `node:tls` or `node:https` that nobody else listens to yet. A client has `withinMs` for its first message. */
  admit(server: TlsServer, withinMs: number, faults: HandshakeFaults): void {
    const [begin] = server.listeners("connection") as ((transport: TlsTransport) => void)[];
    if (!begin) throw new Error("a TLS server takes connections");
    server.removeListener("connection", begin);
    server.on("connection", (socket: Socket) => {
      const isOpen = this.#add(socket);
      if (isOpen) this.#hold(socket, withinMs, faults, (transport) => begin.call(knowing(server, transport), transport));
    });
    server.prependListener("secureConnection", (socket) => this.#remove(nameOf(socket)));
  }

  #add(socket: Socket): boolean {
    const { remoteAddress } = socket;
    if (this.#isClosed || remoteAddress === undefined) {
      socket.destroy();
      return false;
    }
    const name = nameOf(socket);
    const share = this.#budget.open(remoteAddress, () => socket.destroy());
    this.#open.set(name, { socket, share });
    socket.once("close", () => this.#remove(name));
    share.add(1);
    return !socket.destroyed;
  }

  #remove(name: string): void {
    const open = this.#open.get(name);
    if (!open) return;
    this.#open.delete(name);
    open.share.add(-1);
    open.share.close();
  }

  #hold(socket: Socket, withinMs: number, faults: HandshakeFaults, begin: (transport: TlsTransport) => void): void {
    const connection = this.#turns.accepted(socket.remoteAddress ?? "");
    this.#ends.take(socket);
    const failed = (code: string) => faults.handshakeFailed(Object.assign(new Error(code), { code }), socket);
    const onError = ({ code = "" }: NodeJS.ErrnoException) => failed(code);
    socket.once("error", onError);
    const take = (state: "complete" | "refused") => {
      if (state === "refused") {
        failed("ERR_SSL_WRONG_VERSION_NUMBER");
        socket.destroy();
        return;
      }
      const goOn = () => {
        if (socket.destroyed) return;
        if (turn.isOver) {
          turn.later();
          return;
        }
        socket.off("error", onError);
        begin(new TlsTransport(socket, connection));
      };
      const turn = connection.join(goOn);
      goOn();
    };
    readFirstBytes(socket, withinMs, clientHelloState, take, (why) => failed(why === "late" ? "ERR_TLS_HANDSHAKE_TIMEOUT" : "ECONNRESET"));
  }

  /** Ends the handshakes that are open: they must not delay a stop. */
  close(): void {
    this.#isClosed = true;
    for (const { socket } of this.#open.values()) socket.destroy();
  }
}

/** What Node takes for the server of one connection: its socket of TLS is made within, and known from the events only. */
function knowing(server: TlsServer, transport: TlsTransport): TlsServer {
  const emit = (event: string, ...values: unknown[]): boolean => {
    if (event === "secureConnection") transport.carry(values[0] as Socket);
    else if (event === "tlsClientError") transport.carry(values[1] as Socket);
    return server.emit(event, ...values);
  };
  return Object.create(server, { emit: { value: emit } }) as TlsServer;
}

/** The same for the socket below TLS. */
const nameOf = ({ remoteAddress, remotePort, localAddress }: Socket): string => `${remoteAddress} ${remotePort} ${localAddress}`;
