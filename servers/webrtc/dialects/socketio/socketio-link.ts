import type { Socket } from "socket.io";
import type { PeerLink } from "../../signalling/peer.ts";
import type { PeerEvent, Refusal } from "../../signalling/signalling-event.ts";
import { acknowledgedJoin, type EncodePacket } from "./encode-packet.ts";
import type { SocketIoConnection } from "./socketio-connection.ts";

/** The way to a client of Socket.IO. */
export class SocketIoLink implements PeerLink {
  readonly #socket: Socket;
  readonly #connection: SocketIoConnection;
  readonly #encode: EncodePacket;
  #refusal: Refusal | undefined;
  /** The event that asks to join, and for an answer: it has both at once. */
  acknowledgesJoin: number | undefined;

  constructor(socket: Socket, connection: SocketIoConnection, encode: EncodePacket) {
    this.#socket = socket;
    this.#connection = connection;
    this.#encode = encode;
  }

  get unsentBytes(): number {
    return this.#connection.unsentBytes;
  }

  /** Each packet counts with more than its text. */
  get unsentMemory(): number {
    return this.#connection.unsentBytes;
  }

  get sentBytes(): number {
    return this.#connection.sentBytes;
  }

  /** Of the message that was just refused. */
  takeRefusal(): Refusal | { readonly code: "refused" } {
    const refusal = this.#refusal ?? { code: "refused" as const };
    this.#refusal = undefined;
    return refusal;
  }

  deliver(event: PeerEvent): void {
    if (event.type === "error") this.#refusal = { code: event.code, message: event.message };
    const packet = this.#encode(event);
    if (packet === undefined) return;
    this.#socket.conn.write(packet);
    if (event.type !== "joined" || this.acknowledgesJoin === undefined) return;
    this.#socket.conn.write(acknowledgedJoin(this.acknowledgesJoin, packet));
    this.acknowledgesJoin = undefined;
  }

  hold(): void {
    this.#connection.input.hold();
  }

  release(): void {
    this.#connection.input.release();
  }

  close(): void {
    this.#connection.end();
    this.#socket.disconnect(true);
  }
}
