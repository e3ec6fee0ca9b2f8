import type { Socket } from "socket.io";
import { AddressCounts } from "../../../core/limits/address-counts.ts";
import { rateLimitKey } from "../../../core/limits/rate-limit-client.ts";

type EngineConnection = Socket["conn"];

export interface PollingLimits {
  readonly connections: number;
  /** Of one IPv4 address, or one /64 of IPv6. */
  readonly connectionsPerAddress: number;
}

/**
 * Sessions of long polling. They count like connections, which they outlive: a request opens one, and nobody may ever come back for it. Where there
 * are too many, those end for which no request has waited for the longest time.
 */
export class PollingSessions {
  readonly #limits: PollingLimits;
  readonly #keys = new Map<EngineConnection, string>();
  readonly #perAddress = new AddressCounts();
  /** For which no request waits, by address; the one that waits for its client for the longest time first. */
  readonly #left = new Map<string, Set<EngineConnection>>();

  constructor(limits: PollingLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Makes room for one more. False where all of them are polled. */
  hasRoomFor(address: string): boolean {
    const { connections, connectionsPerAddress } = this.#limits;
    const key = rateLimitKey(address);
    if (this.#perAddress.of(key) >= connectionsPerAddress) return this.#endOne(key);
    return this.#keys.size < connections || this.#endOne(this.#mostLeft());
  }

  #endOne(key: string | undefined): boolean {
    const [oldest] = (key !== undefined && this.#left.get(key)) || [];
    oldest?.close(true);
    return oldest !== undefined;
  }

  /** One client may have a hundred sessions, another one has a single one. */
  #mostLeft(): string | undefined {
    let most: string | undefined;
    for (const [key, { size }] of this.#left) if (size > (this.#left.get(most ?? "")?.size ?? 0)) most = key;
    return most;
  }

  /** Until it is closed or goes on over WebSocket, whose connection counts itself. */
  add(connection: EngineConnection, address: string): void {
    const key = rateLimitKey(address);
    this.#keys.set(connection, key);
    this.#perAddress.add(key);
    // Its first request is answered already.
    this.#leave(connection, key);
    const { transport } = connection;
    transport.on("ready", () => this.#return(connection, key));
    transport.on("drain", () => this.#leave(connection, key));
    connection.once("upgrade", () => this.remove(connection));
  }

  remove(connection: EngineConnection): void {
    const key = this.#keys.get(connection);
    if (key === undefined) return;
    this.#keys.delete(connection);
    this.#perAddress.remove(key);
    this.#return(connection, key);
  }

  #leave(connection: EngineConnection, key: string): void {
    if (!this.#keys.has(connection)) return;
    const left = this.#left.get(key);
    if (!left) this.#left.set(key, new Set([connection]));
    else {
      left.delete(connection);
      left.add(connection);
    }
  }

  #return(connection: EngineConnection, key: string): void {
    const left = this.#left.get(key);
    if (left?.delete(connection) && left.size === 0) this.#left.delete(key);
  }
}
