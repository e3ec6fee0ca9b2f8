import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { oneStep, type WorkConnection, type WorkShare } from "../turns/work-connection.ts";
import { startReading, stopReading } from "./socket-reading.ts";

/** RFC 8446 §5.1: content type, version and length. */
const headerBytes = 5;
/** In a row, after the handshake: a client may change its key (RFC 8446 §4.6.3), for which each record is work and may ask for an answer. */
const recordsWithoutData = 64;

/** Where Node keeps the addresses that it has read once. */
interface SocketOverTls extends Socket {
  _peername?: object;
  _sockname?: object;
}

const transports = new WeakMap<Socket, TlsTransport>();

/** The transport below a socket of TLS that a server has accepted. */
export const tlsTransportOf = (tls: Socket): TlsTransport | undefined => transports.get(tls);

/**
 * What is between a TCP connection and TLS. Each record is work, however short it is, and Node carries out at once what a poll of the event loop has
 * read, of all connections. So what was read waits here for its turn, and is given to TLS one record at a time: who takes what it has may pause then. Nothing more is
 * read until then.
 * It has of a `Duplex` what Node's TLS uses: a whole one takes twice the time for each message.
 */
export class TlsTransport extends EventEmitter {
  readonly socket: Socket;
  readonly allowHalfOpen: boolean;
  readonly readable = true;
  readonly writable = true;
  readonly readableLength = 0;
  readonly #connection: WorkConnection;
  readonly #share: WorkShare;
  #rest: Buffer = Buffer.alloc(0);
  #isFlowing = false;
  #hasEnded = false;
  #isEndPassedOn = false;
  #isDestroyed = false;
  /** Bytes of the record that has begun, and of the header of the next one. */
  #left = 0;
  #header: number[] = [];
  /** The socket above, when the handshake is over. */
  #tls: Socket | undefined;
  #isPaused = false;
  #records = 0;
  /** Of them, when data came last; and how much there was until then. */
  #recordsWithData = 0;
  #dataBytes = 0;

  constructor(socket: Socket, connection: WorkConnection) {
    super();
    this.socket = socket;
    this.allowHalfOpen = socket.allowHalfOpen;
    // Else it would be closed at its end, with what waits here.
    socket.allowHalfOpen = true;
    // Node passes it on to sockets only.
    socket.setNoDelay(true);
    this.#connection = connection;
    this.#share = connection.join(this.#goOn);
    socket.on("data", (bytes: Buffer) => {
      stopReading(socket);
      this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
      this.#goOn();
    });
    socket.once("end", () => {
      this.#hasEnded = true;
      this.#goOn();
    });
    socket.on("error", (error) => this.#fail(error));
    socket.once("close", () => this.destroy());
    socket.resume();
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  /** Gives the socket of TLS the addresses of that below, and does not decrypt for it while it is paused: many short records make many buffers. */
  carry(tls: Socket): void {
    const { remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily } = this.socket;
    const over = tls as SocketOverTls;
    transports.set(tls, this);
    over._peername = { address: remoteAddress, port: remotePort, family: remoteFamily };
    over._sockname = { address: localAddress, port: localPort, family: localFamily };
    this.#tls = tls;
    this.#recordsWithData = this.#records;
    tls.on("pause", () => {
      this.#isPaused = true;
    });
    tls.on("resume", () => {
      this.#isPaused = false;
      // Behind what it gets now of what was kept for it.
      process.nextTick(this.#goOn);
    });
  }

  readonly #goOn = (): void => {
    while (this.#rest.length > 0) {
      if (this.#isDestroyed || !this.#isFlowing) return;
      if (this.#isPaused && this.#tls && this.#tls.readableLength > 0) return;
      if (this.#share.isOver) {
        this.#share.later();
        return;
      }
      const count = this.#recordBytes();
      const records = this.#rest.subarray(0, count);
      this.#rest = this.#rest.subarray(count);
      this.emit("data", records);
      if (this.#tls && !this.#hasData(this.#tls)) this.#fail(new Error(`${recordsWithoutData} records of TLS in a row have no data`));
    }
    if (this.#isDestroyed) return;
    if (!this.#hasEnded) {
      startReading(this.socket);
      return;
    }
    if (!this.#isFlowing || this.#isEndPassedOn) return;
    // Thousands may be cut at once.
    if (this.#share.isOver) {
      this.#share.later();
      return;
    }
    this.#isEndPassedOn = true;
    this.emit("end");
  };

  #hasData({ bytesRead }: Socket): boolean {
    if (bytesRead > this.#dataBytes) this.#recordsWithData = this.#records;
    this.#dataBytes = bytesRead;
    return this.#records - this.#recordsWithData < recordsWithoutData;
  }

  /** Of the next record, as far as it has come. */
  #recordBytes(): number {
    let at = 0;
    while (this.#left === 0 && at < this.#rest.length) {
      this.#header.push(this.#rest[at++] as number);
      if (this.#header.length < headerBytes) continue;
      this.#left = ((this.#header[3] as number) << 8) + (this.#header[4] as number);
      this.#header = [];
      this.#records++;
      break;
    }
    const taken = Math.min(this.#left, this.#rest.length - at);
    this.#left -= taken;
    return at + taken;
  }

  pause(): void {
    this.#isFlowing = false;
  }

  resume(): void {
    if (this.#isFlowing) return;
    this.#isFlowing = true;
    if (this.#rest.length > 0 || this.#hasEnded) process.nextTick(this.#goOn);
  }

  cork(): void {
    this.socket.cork();
  }

  uncork(): void {
    this.socket.uncork();
  }

  write(bytes: Buffer, done: (error?: Error | null) => void): void {
    this.socket.write(bytes, done);
  }

  end(done: () => void): void {
    this.socket.end(done);
  }

  #fail(error: Error): void {
    if (this.#isDestroyed) return;
    this.emit("error", error);
    this.destroy();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#rest = Buffer.alloc(0);
    this.socket.destroy();
    process.nextTick(() => void this.#connection.run(oneStep(() => this.emit("close"))));
  }
}
