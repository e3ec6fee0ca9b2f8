import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { lingeringClose } from "../../core/net/client-socket.ts";
import type { Transport } from "../engine/delivery/output.ts";
import type { Engine } from "../engine/engine.ts";
import { type ConnectionOrigin, faultText } from "../engine/engine-observer.ts";
import { readIntoSharedBuffer } from "./shared-read-buffer.ts";

class SocketTransport implements Transport {
  private readonly socket: Socket;
  private readonly encrypted: boolean;

  constructor(socket: Socket, encrypted: boolean) {
    this.socket = socket;
    this.encrypted = encrypted;
  }

  get pendingBytes(): number {
    return this.socket.writableLength;
  }

  write(bytes: Buffer): boolean {
    if (this.socket.destroyed) return true;
    this.socket.write(bytes);
    // If nothing is pending on a plain socket, the bytes were written synchronously.
    return !this.encrypted && this.socket.writableLength === 0;
  }

  end(): void {
    if (!this.socket.destroyed) lingeringClose(this.socket);
  }

  destroy(): void {
    this.socket.destroy();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }
}

/** Connects a TCP or TLS socket to the engine. */
export function serveSocket(engine: Engine, socket: Socket, encrypted: boolean): void {
  openSafely(engine, socket, () => attach(engine, socket, encrypted));
}

/** Opens a connection over the socket: what `open` throws is logged, and ends this socket only. */
export function openSafely(engine: Engine, socket: Socket, open: () => void): void {
  // A "close" event follows.
  socket.on("error", () => {});
  try {
    open();
  } catch (error) {
    engine.log.error(`An error while a connection was opened: ${faultText(error)}`);
    socket.destroy();
  }
}

function attach(engine: Engine, socket: Socket, encrypted: boolean): void {
  const connection = engine.open(new SocketTransport(socket, encrypted), originOf(socket, encrypted));
  const onChunk = (chunk: Buffer) => connection.receive(chunk);
  if (encrypted || !readIntoSharedBuffer(socket, onChunk)) socket.on("data", onChunk);
  socket.on("drain", () => connection.drained());
  socket.on("close", () => connection.close("The connection was lost."));
}

function originOf(socket: Socket, encrypted: boolean): ConnectionOrigin {
  const peer = peerOf(socket);
  if (!encrypted) return { transport: "tcp", peer };
  return { transport: "tls", peer, certificateName: certificateName(socket as TLSSocket) };
}

export const peerOf = (socket: Socket): string => `${socket.remoteAddress ?? "gone"}:${socket.remotePort ?? 0}`;

/** Common name of the client's certificate, if one was requested and verified. */
export function certificateName(socket: TLSSocket): string | undefined {
  if (!socket.authorized) return undefined;
  const name = socket.getPeerCertificate()?.subject?.CN;
  return Array.isArray(name) ? name[0] : name;
}
