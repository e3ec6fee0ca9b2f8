import type { Socket } from "socket.io";
import { AddressPlaces } from "../../core/limits/address-places.ts";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";

type EngineConnection = Socket["conn"];

export interface SessionLimits {
  readonly connections: number;
  /** Of one IPv4 address, or one /64 of IPv6. */
  readonly connectionsPerAddress: number;
}

/** Why there is no session, for its client. */
export const tooManySessions = "Too many clients, of this address or in all (WEBRTC_CONNECTIONS_PER_ADDRESS, WEBRTC_CONNECTIONS)";

/**
 * The sessions of all dialects: WebSockets, and those of long polling, which outlive their connections: a request opens one, and nobody may ever come
 * back for it. Where there are too many, those of long polling end for which no request has waited for the longest time. Where there are none, the address that
 * has most gives way to another one that has fewer.
 */
export class ClientSessions {
  readonly #limits: SessionLimits;
  readonly #open = new Map<object, { readonly key: string; readonly end: () => void }>();
  readonly #places = new AddressPlaces<object>();
  /** For which no request waits, by address; the one that waits for its client for the longest time first. */
  readonly #left = new Map<string, Set<EngineConnection>>();

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  /** Makes room for one more. False where none of them can end for it. */
  hasRoomFor(address: string): boolean {
    const { connections, connectionsPerAddress } = this.#limits;
    const key = rateLimitKey(address);
    if (this.#places.of(address) >= connectionsPerAddress) return this.#endOne(key);
    return this.#open.size < connections || this.#endOne(this.#mostLeft()) || this.#giveWay(address);
  }

  #giveWay(address: string): boolean {
    const session = this.#places.givingWay(address);
    if (session === undefined) return false;
    const open = this.#open.get(session);
    this.remove(session);
    open?.end();
    return true;
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

  /** Until it is removed, or `end` is called. */
  add(session: object, address: string, end: () => void): void {
    this.#open.set(session, { key: rateLimitKey(address), end });
    this.#places.add(address, session);
  }

  /** One of long polling, which may go on over WebSocket. */
  addPolling(connection: EngineConnection, address: string): void {
    this.add(connection, address, () => connection.close(true));
    const key = rateLimitKey(address);
    // Its first request is answered already.
    this.#leave(connection, key);
    const { transport } = connection;
    transport.on("ready", () => this.#return(connection, key));
    transport.on("drain", () => {
      // The last answer comes after the client has gone on.
      if (connection.transport === transport) this.#leave(connection, key);
    });
    connection.once("upgrade", () => this.#return(connection, key));
  }

  remove(session: object): void {
    const open = this.#open.get(session);
    if (!open) return;
    this.#open.delete(session);
    this.#places.remove(session);
    this.#return(session as EngineConnection, open.key);
  }

  #leave(connection: EngineConnection, key: string): void {
    if (!this.#open.has(connection)) return;
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
