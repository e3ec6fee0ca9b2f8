import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { TLSSocket } from "node:tls";

export interface GrpcConnection {
  readonly id: number;
  readonly remote: string;
  readonly local: string;
  readonly openedAt: number;
  readonly tls: string | undefined;
  readonly clientCertificate: string | undefined;
  calls: number;
}

/** The open connections, and the bytes of all connections so far. */
export class GrpcConnections {
  readonly #open = new Map<Socket, GrpcConnection>();
  readonly #ofAddresses = new Map<string, number>();
  #onNone: (() => void) | undefined;
  #opened = 0;
  #closedRead = 0;
  #closedWritten = 0;

  get count(): number {
    return this.#open.size;
  }

  /** Number of open connections from the address of a socket. */
  countFrom({ remoteAddress = "" }: Socket): number {
    return this.#ofAddresses.get(remoteAddress) ?? 0;
  }

  add(socket: Socket): GrpcConnection {
    const { remoteAddress = "" } = socket;
    this.#ofAddresses.set(remoteAddress, this.countFrom(socket) + 1);
    const tls = socket instanceof TLSSocket ? socket : undefined;
    const certificate = tls?.authorized ? tls.getPeerCertificate() : undefined;
    const connection: GrpcConnection = {
      id: ++this.#opened,
      remote: addressText(socket.remoteAddress, socket.remotePort),
      local: addressText(socket.localAddress, socket.localPort),
      openedAt: Date.now(),
      tls: tls && `${tls.getProtocol()} ${tls.getCipher()?.name}`,
      clientCertificate: certificate?.subject && Object.values(certificate.subject).flat().join(", "),
      calls: 0,
    };
    this.#open.set(socket, connection);
    socket.once("close", () => {
      this.#open.delete(socket);
      const left = (this.#ofAddresses.get(remoteAddress) ?? 1) - 1;
      if (left > 0) this.#ofAddresses.set(remoteAddress, left);
      else this.#ofAddresses.delete(remoteAddress);
      this.#closedRead += socket.bytesRead;
      this.#closedWritten += socket.bytesWritten;
      if (this.#open.size === 0) this.#onNone?.();
    });
    return connection;
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

const addressText = (address = "", port = 0): string =>
  `${address.startsWith("::ffff:") ? address.slice(7) : address.includes(":") ? `[${address}]` : address}:${port}`;
