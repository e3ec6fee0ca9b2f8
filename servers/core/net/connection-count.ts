import type { Server, Socket } from "node:net";
import { LimitedPlaces } from "../limits/limited-places.ts";
import { rateLimitKey } from "../limits/rate-limit-client.ts";
import type { FaultLog } from "./fault-log.ts";
import { guardConnections } from "./guard-connections.ts";
import { endConnection } from "./open-sockets.ts";

export interface ConnectionLimits {
  /** Of more, those of the address that has most are closed. */
  readonly connections: number;
  /** Of one IPv4 address, or one /64 of IPv6. */
  readonly connectionsPerAddress: number;
}

/** Bounds the open connections of one or more listeners. */
export class ConnectionCount {
  readonly #faults: Pick<FaultLog, "write"> | undefined;
  readonly #places: LimitedPlaces<Socket>;
  #refused = 0;

  constructor({ connections, connectionsPerAddress }: ConnectionLimits, faults?: Pick<FaultLog, "write">) {
    this.#faults = faults;
    this.#places = new LimitedPlaces<Socket>({ most: connections, mostOfAddress: connectionsPerAddress }, (socket) => {
      faults?.write(
        `A connection of ${rateLimitKey(socket.remoteAddress ?? "")} was closed for one of another address: there are too many.`,
      );
      endConnection(socket, "too many connections: this address had most");
    });
  }

  get open(): number {
    return this.#places.size;
  }

  /** So far. */
  get refused(): number {
    return this.#refused;
  }

  /** Whether one more of this address would be admitted now; see `ListenOptions`. */
  hasPlaceFor(address: string): boolean {
    return this.#places.hasPlaceFor(address);
  }

  /** Counts the connection until it is closed. False for one too many, which it closes. */
  admit(socket: Socket): boolean {
    const { remoteAddress = "" } = socket;
    const lack = this.#places.lacksPlaceFor(remoteAddress);
    if (lack) {
      const whose = lack === "of all" ? "" : ` ${lack}`;
      this.#faults?.write(`A connection of ${rateLimitKey(remoteAddress)} was refused: there are too many${whose}.`);
      this.#refused++;
      socket.destroy();
      return false;
    }
    this.#places.add(remoteAddress, socket);
    socket.once("close", () => this.#places.remove(socket));
    return true;
  }

  /** The listeners that the server has get those connections only that are admitted. */
  guard(server: Server): void {
    guardConnections(server, (socket) => this.admit(socket));
  }
}
