import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { startReading, stopReading } from "../../net/socket-reading.ts";
import type { WorkConnection, WorkShare } from "../../turns/work-connection.ts";
import { closeCode } from "./close-code.ts";
import { FrameFault, FrameParser, frameHead, opcode } from "./frame-parser.ts";

export interface ServerWebSocketOptions {
  /** Of one message. A longer one ends the connection with 1009. */
  readonly messageBytes: number;
  /** Of its client: what it sends is read in its turns. */
  readonly work: WorkConnection;
  /** Whether pings are answered here, or by the listener of "ping". */
  readonly answersPings?: boolean;
}

interface ServerWebSocketEvents {
  message: [data: Buffer, isBinary: boolean];
  ping: [data: Buffer];
  pong: [data: Buffer];
  /** Some of what has arrived was read, or waits for its turn. */
  read: [];
  /** The client has violated the protocol; "close" follows. */
  error: [error: Error];
  /** Once. RFC 6455 §7.1.5; where the client has violated the protocol, the code that it was closed with. */
  close: [code: number, reason: string];
}

export type Sendable = string | Uint8Array | ArrayBuffer;
type Sent = (error?: Error | null) => void;

const closeTimeoutMs = 30_000;
/** RFC 6455 §5.5.3: of more pings that were not answered only the last one is. */
const mostPongs = 64;
/** Of fragments, in the share of a connection. */
const bytesOfStep = 16 << 10;
/** Read of a connection in a poll of the event loop. */
const bytesAtOnce = 64 << 10;
/** Of a frame that waits for the client: what its write takes beside its bytes, and what its sender keeps until it has left. */
const frameMemory = 1 << 10;
/** Payloads up to this are copied, so that a frame is one write. */
const copiedBytes = 1 << 10;
const ignoreResult: Sent = () => {};

/**
 * A server's side of a WebSocket (RFC 6455), after the handshake. Its frames are read one by one in the turns of all clients. Messages that come
 * behind the close frame of either side are not handed over.
 */
export class ServerWebSocket extends EventEmitter<ServerWebSocketEvents> {
  readonly #socket: Socket;
  readonly #work: WorkConnection;
  readonly #share: WorkShare;
  readonly #parser: FrameParser;
  readonly #answersPings: boolean;
  /** Read from the socket, and not yet by the parser. */
  #chunks: Buffer[] = [];
  #at = 0;
  #state: "open" | "closing" | "closed" = "open";
  #isPaused = false;
  #isReading = false;
  /** For its turn. */
  #isWaiting = false;
  /** Since it was its turn to be read. */
  #readBytes = 0;
  /** The client sends no more. */
  #hasEnded = false;
  #isSocketClosed = false;
  #hasSentClose = false;
  /** RFC 6455 §7.1.5 */
  #closed: { readonly code: number; readonly reason: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Frames whose write is not over. */
  #unsentFrames = 0;
  #pongs = 0;
  #latestPing: Buffer | undefined;

  constructor(socket: Socket, { messageBytes, work, answersPings = true }: ServerWebSocketOptions) {
    super();
    this.#socket = socket;
    this.#work = work;
    this.#answersPings = answersPings;
    this.#parser = new FrameParser(messageBytes);
    this.#share = work.join(() => {
      this.#isWaiting = false;
      this.#read();
    });
    socket.setTimeout(0);
    socket.setNoDelay(true);
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("close", this.#onClose);
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** What the client has not taken yet. */
  get bufferedAmount(): number {
    return this.#socket.writableLength;
  }

  /** Memory of that: a client may ask for thousands of frames of a few bytes. */
  get unsentMemory(): number {
    const { writableLength } = this.#socket;
    return writableLength === 0 ? 0 : writableLength + frameMemory * this.#unsentFrames;
  }

  /** Memory of the message that arrives, and of what was read behind it. */
  get arrivingBytes(): number {
    return this.#chunks.reduce((sum, { length }) => sum + length, 0) + this.#socket.readableLength + this.#parser.heldBytes;
  }

  /** `sent` gets an error where the client has left. Text is text, bytes are binary unless `binary` says otherwise. */
  send(data: Sendable, options: { readonly binary?: boolean } | Sent = {}, sent: Sent = ignoreResult): void {
    if (typeof options === "function") {
      this.send(data, {}, options);
      return;
    }
    const isBinary = options.binary ?? typeof data !== "string";
    this.#sendFrame(isBinary ? opcode.binary : opcode.text, data instanceof ArrayBuffer ? new Uint8Array(data) : data, sent);
  }

  ping(data: Uint8Array = noBytes): void {
    this.#sendFrame(opcode.ping, data, ignoreResult);
  }

  pong(data: Uint8Array, sent: Sent = ignoreResult): void {
    this.#sendFrame(opcode.pong, data, sent);
  }

  #sendFrame(kind: number, data: string | Uint8Array, sent: Sent): void {
    if (this.#hasSentClose || !this.#socket.writable) {
      process.nextTick(sent, new Error("The WebSocket is closed"));
      return;
    }
    const socket = this.#socket;
    this.#unsentFrames++;
    const onWritten: Sent = (error) => {
      this.#unsentFrames--;
      sent(error);
    };
    const length = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    const head = frameHead(kind, length);
    if (length <= copiedBytes) {
      const frame = Buffer.allocUnsafe(head.length + length);
      frame.set(head);
      if (typeof data === "string") frame.write(data, head.length);
      else frame.set(data, head.length);
      socket.write(frame, onWritten);
      return;
    }
    socket.cork();
    socket.write(head);
    socket.write(data, onWritten);
    socket.uncork();
  }

  /** Nothing is handed over until `resume`; what was read before waits, and no more is read. */
  pause(): void {
    this.#isPaused = true;
    this.#stopReading();
  }

  /** As that of a stream: what waits is handed over behind the caller, who may pause it again. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    process.nextTick(this.#readNext);
  }

  /**
   * With a close frame (RFC 6455 §7.1.2). What was not handed over is dropped. `reason` is at most 123 bytes. So much time has the client to read what was sent, to answer
   * the close frame and to close.
   */
  close(code?: number, reason = "", timeoutMs = closeTimeoutMs): void {
    if (this.#isSocketClosed) this.terminate();
    if (this.#state !== "open") return;
    this.#state = "closing";
    const status = Buffer.alloc(code === undefined ? 0 : 2);
    if (code !== undefined) status.writeUInt16BE(code);
    this.#sendFrame(opcode.close, Buffer.concat([status, Buffer.from(code === undefined ? "" : reason)]), ignoreResult);
    this.#hasSentClose = true;
    this.#expectEnd(timeoutMs);
    this.#parser.skipMessages();
    // For the client's close frame.
    this.resume();
  }

  /** With a close frame behind which nothing is expected (RFC 6455 §7.1.7): what comes is discarded, and so is what was not handed over. */
  fail(code: number, reason = "", timeoutMs = closeTimeoutMs): void {
    if (this.#closed || this.#state === "closed") return;
    this.#closed = { code, reason };
    this.close(code, reason, timeoutMs);
    this.#endOutput();
    // Of what it has read, and where it was paused.
    this.#read();
  }

  /** At once, without a close frame. */
  terminate(): void {
    if (this.#state === "closed") return;
    this.#state = "closing";
    this.#drop();
    this.#socket.destroy();
    // It may have been closed before, with messages that waited for their turn.
    if (this.#isSocketClosed) this.#read();
  }

  #expectEnd(timeoutMs: number): void {
    this.#timer ??= setTimeout(() => this.#socket.destroy(), timeoutMs);
  }

  #drop(): void {
    this.#isWaiting = false;
    this.#chunks = [];
    this.#at = 0;
    this.#parser.skipMessages();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#readBytes += chunk.length;
    if (this.#closed) {
      // Discarded: closing with unread bytes would reset the connection, and the close frame be lost with it.
      if (this.#readBytes >= bytesAtOnce) this.#readOn();
      return;
    }
    this.#chunks.push(chunk);
    this.#read();
  };

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    this.#read();
  };

  readonly #onError = (): void => {
    this.#drop();
    this.#socket.destroy();
  };

  readonly #onClose = (): void => {
    clearTimeout(this.#timer);
    this.#isSocketClosed = true;
    // A client may send its last messages and leave.
    const rest = this.#socket.readableLength > 0 && !this.#closed ? this.#socket.read(this.#socket.readableLength) : undefined;
    if (rest) this.#chunks.push(rest);
    this.#read();
  };

  readonly #readNext = (): void => this.#read();

  /** Reads what is there while it is this connection's turn, and goes on with the socket behind that. */
  #read(): void {
    if (this.#isReading || this.#isWaiting) return;
    this.#isReading = true;
    try {
      this.#readChunks();
    } catch (error) {
      this.#fault(error instanceof Error ? error : new Error(String(error)));
    }
    this.#isReading = false;
    this.emit("read");
    if (this.#isWaiting || this.#chunks.length > 0) this.#stopReading();
    else if (this.#isSocketClosed) this.#end();
    else if (this.#hasEnded) this.#endInTurn();
    else if (!this.#isPaused && (this.#socket.isPaused() || this.#readBytes >= bytesAtOnce)) this.#readOn();
  }

  #readChunks(): void {
    /** Of the last step, which may have hundreds of fragments or a message. */
    let bytes = bytesOfStep;
    for (;;) {
      const chunk = this.#chunks[0];
      // After the socket is closed nobody resumes it.
      if (!chunk || (this.#isPaused && !this.#isSocketClosed)) return;
      if (bytes >= bytesOfStep) {
        if (this.#share.isOver) {
          this.#isWaiting = true;
          // What is read behind this was there before.
          this.#readBytes = bytesAtOnce;
          this.#share.later();
          return;
        }
        bytes = 0;
      }
      const from = this.#at;
      this.#at = this.#parser.read(chunk, from);
      bytes = this.#parser.event ? bytesOfStep : bytes + this.#at - from;
      if (this.#at >= chunk.length) {
        this.#chunks.shift();
        this.#at = 0;
      }
      this.#handOver();
    }
  }

  #handOver(): void {
    const { event } = this.#parser;
    switch (event?.kind) {
      case undefined:
        return;
      case "message":
        this.emit("message", event.data, event.isBinary);
        return;
      case "ping":
        if (this.#answersPings) this.#answerPing(event.data);
        this.emit("ping", event.data);
        return;
      case "pong":
        this.emit("pong", event.data);
        return;
      case "close":
        this.#closed = event;
        this.close(event.code === closeCode.noStatus ? undefined : event.code, event.reason);
        this.#endOutput();
        return;
      default:
        event satisfies undefined;
    }
  }

  #answerPing(data: Buffer): void {
    if (this.#pongs >= mostPongs) {
      this.#latestPing = Buffer.from(data);
      return;
    }
    this.#pongs++;
    this.pong(data, this.#onPong);
  }

  readonly #onPong = (): void => {
    this.#pongs--;
    const ping = this.#latestPing;
    this.#latestPing = undefined;
    if (ping) this.#answerPing(ping);
  };

  #fault(error: Error): void {
    if (this.#closed) return;
    this.fail(error instanceof FrameFault ? error.code : closeCode.internalError);
    if (this.listenerCount("error") > 0) this.emit("error", error);
  }

  /** Nothing is expected of the client but that it closes. */
  #endOutput(): void {
    this.#drop();
    this.#socket.end();
  }

  /** The client has ended its side. Thousands may do so at once. */
  #endInTurn(): void {
    if (this.#share.isOver) {
      this.#isWaiting = true;
      this.#share.later();
      return;
    }
    if (this.#state === "open") this.#state = "closing";
    this.#expectEnd(closeTimeoutMs);
    this.#socket.end();
  }

  #stopReading(): void {
    this.#socket.pause();
    // A pause holds when one more piece has been read.
    if (!(this.#socket instanceof TLSSocket)) stopReading(this.#socket);
  }

  #readOn(): void {
    const readOn = () => {
      if (this.#isPaused || this.#isWaiting || this.#chunks.length > 0 || this.#socket.destroyed) return;
      this.#socket.resume();
      if (!(this.#socket instanceof TLSSocket)) startReading(this.#socket);
    };
    if (this.#readBytes < bytesAtOnce) readOn();
    else {
      // One that sends much takes turns in being read too.
      this.#readBytes = 0;
      this.#stopReading();
      this.#work.readLater(readOn);
    }
  }

  #end(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    const { code, reason } = this.#closed ?? { code: closeCode.abnormal, reason: "" };
    this.emit("close", code, reason);
  }
}

const noBytes = Buffer.alloc(0);
