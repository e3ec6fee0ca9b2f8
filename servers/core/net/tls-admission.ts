import type { Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { type BudgetShare, SharedBudget } from "../limits/shared-budget.ts";
import { WorkTurns } from "../service/work-turns.ts";
import { clientHelloState } from "./client-hello.ts";
import type { FaultLog } from "./fault-log.ts";
import { readFirstBytes } from "./first-bytes.ts";
import { HandshakeReading } from "./handshake-reading.ts";

/** Of all clients. Each has some 50 KB. */
const mostOpen = 4_096;
/** What one may take, with the slowest group that is served and a signature. */
const handshakeMs = 1;

/** Where handshakes that fail are written. */
export type HandshakeFaults = Pick<FaultLog, "handshakeFailed">;

/**
 * Begins the handshakes of TLS servers in turns of all their clients: a first message of 200 bytes is a key exchange and a signature, and Node
 * carries out at once all that a poll of the event loop has read. So the message is read before the server gets the socket, and `HandshakeReading` bounds how
 * many of the later ones are read in a poll.
 */
export class TlsAdmission {
  #begun = 0;
  /** The work is done after the task, when Node reads what was received already: so it is counted and not measured. */
  readonly #turns = new WorkTurns(() => performance.now() + this.#begun * handshakeMs);
  readonly #budget: SharedBudget;
  readonly #open = new Map<string, { readonly socket: Socket; readonly share: BudgetShare }>();
  readonly #reading = new HandshakeReading();
  #isClosed = false;

  /** Beyond `most` handshakes that have not ended, the address that has most of them loses some. */
  constructor(most = mostOpen) {
    this.#budget = new SharedBudget(most);
  }

  /** To be called with a server of `node:tls` or `node:https` that nobody else listens to yet. A client has `withinMs` for its first message. */
  admit(server: TlsServer, withinMs: number, faults: HandshakeFaults): void {
    const [begin] = server.listeners("connection") as ((socket: Socket) => void)[];
    if (!begin) throw new Error("a TLS server takes connections");
    server.removeListener("connection", begin);
    server.on("connection", (socket: Socket) => {
      const isOpen = this.#add(socket);
      if (isOpen) this.#hold(socket, withinMs, faults, () => begin.call(server, socket));
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
    this.#reading.remove(open.socket);
    open.share.add(-1);
    open.share.close();
  }

  #hold(socket: Socket, withinMs: number, faults: HandshakeFaults, begin: () => void): void {
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
        this.#begun++;
        socket.off("error", onError);
        begin();
        this.#reading.add(socket);
      };
      const turn = this.#turns.join(socket.remoteAddress ?? "", goOn);
      goOn();
    };
    readFirstBytes(socket, withinMs, clientHelloState, take, (why) => failed(why === "late" ? "ERR_TLS_HANDSHAKE_TIMEOUT" : "ECONNRESET"));
  }

  /** Ends the handshakes that are open: they must not delay a stop. */
  close(): void {
    this.#isClosed = true;
    this.#turns.close();
    this.#reading.close();
    for (const { socket } of this.#open.values()) socket.destroy();
  }
}

/** The same for the socket below TLS. */
const nameOf = ({ remoteAddress, remotePort, localAddress }: Socket): string => `${remoteAddress} ${remotePort} ${localAddress}`;
