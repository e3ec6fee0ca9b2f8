import type { Server, Socket } from "node:net";
import { AddressCounts } from "../limits/address-counts.ts";
import { rateLimitKey } from "../limits/rate-limit-client.ts";
import type { FaultLog } from "./fault-log.ts";

export interface ConnectionLimits {
  /** More are closed at once. */
  readonly connections: number;
  /** Of one IPv4 address, or one /64 of IPv6. */
  readonly connectionsPerAddress: number;
}

/** Bounds the open connections of one or more listeners. */
export class ConnectionCount {
  readonly #limits: ConnectionLimits;
  readonly #faults: Pick<FaultLog, "write"> | undefined;
  readonly #perAddress = new AddressCounts();
  #open = 0;
  #refused = 0;

  constructor(limits: ConnectionLimits, faults?: Pick<FaultLog, "write">) {
    this.#limits = limits;
    this.#faults = faults;
  }

  get open(): number {
    return this.#open;
  }

  /** So far. */
  get refused(): number {
    return this.#refused;
  }

  /** Counts the connection until it is closed. False for one too many, which it closes. */
  admit(socket: Socket): boolean {
    const { connections, connectionsPerAddress } = this.#limits;
    const key = rateLimitKey(socket.remoteAddress ?? "");
    const areAll = this.#open >= connections;
    if (areAll || this.#perAddress.of(key) >= connectionsPerAddress) {
      this.#faults?.write(`A connection of ${key} was refused: there are too many${areAll ? "" : " of this address"}.`);
      this.#refused++;
      socket.destroy();
      return false;
    }
    this.#open++;
    this.#perAddress.add(key);
    socket.once("close", () => {
      this.#open--;
      this.#perAddress.remove(key);
    });
    return true;
  }

  /** The listeners that the server has get those connections only that are admitted. */
  guard(server: Server): void {
    const takers = server.listeners("connection") as ((socket: Socket) => void)[];
    const admit = (socket: Socket) => this.admit(socket);
    server.removeAllListeners("connection");
    // `TlsAdmission` calls it for a server of its own.
    server.on("connection", function (this: Server, socket: Socket) {
      if (!admit(socket)) return;
      for (const take of takers) take.call(this, socket);
    });
  }
}
