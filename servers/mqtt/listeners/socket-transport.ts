import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { lingeringClose } from "../../core/net/client-socket.ts";
import { endsBy } from "../../core/net/open-sockets.ts";
import type { Transport } from "../engine/delivery/output.ts";
import { WaitingWrites } from "../engine/delivery/waiting-writes.ts";
import type { Engine } from "../engine/engine.ts";
import { type ConnectionOrigin, faultText } from "../engine/engine-observer.ts";
import { readIntoSharedBuffer } from "./shared-read-buffer.ts";

class SocketTransport implements Transport {
  /** All that had to wait is sent. */
  drained: () => void = () => {};
  private readonly waiting = new WaitingWrites();
  private hasWaited = false;
  private readonly socket: Socket;
  private readonly encrypted: boolean;

  constructor(socket: Socket, encrypted: boolean) {
    this.socket = socket;
    this.encrypted = encrypted;
  }

  get pendingBytes(): number {
    return this.socket.writableLength + this.waiting.bytes;
  }

  write(bytes: Buffer): boolean {
    const { socket, waiting } = this;
    if (socket.destroyed) return true;
    if (socket.writableLength > 0) {
      this.hasWaited = true;
      return waiting.add(bytes);
    }
    socket.write(bytes, this.onWritten);
    // If nothing is pending on a plain socket, the bytes were written synchronously.
    if (socket.writableLength > 0) this.hasWaited = true;
    else return !this.encrypted;
    return false;
  }

  private readonly onWritten = (): void => {
    const { socket, waiting } = this;
    if (!this.hasWaited || socket.destroyed || socket.writableLength > 0) return;
    if (waiting.bytes > 0) this.writeWaiting();
    else {
      this.hasWaited = false;
      this.drained();
    }
  };

  private writeWaiting(): void {
    const { socket } = this;
    socket.cork();
    for (const bytes of this.waiting.take()) socket.write(bytes, this.onWritten);
    socket.uncork();
  }

  end(): void {
    if (this.socket.destroyed) return;
    if (this.waiting.bytes > 0) this.writeWaiting();
    lingeringClose(this.socket);
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
  const transport = new SocketTransport(socket, encrypted);
  const connection = engine.open(transport, originOf(socket, encrypted));
  transport.drained = () => connection.drained();
  endsBy(socket, (why) => connection.cutOff(why));
  const onChunk = (chunk: Buffer) => connection.receive(chunk);
  if (encrypted || !readIntoSharedBuffer(socket, onChunk)) socket.on("data", onChunk);
  socket.on("end", () => {
    connection.hasLeft = true;
  });
  socket.on("close", () => connection.close("The connection was lost.", true));
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
