import type { FrameBatch } from "./frame-batch.ts";
import { errorCodes, frameFlags, frameHeaderBytes, frameTypes, largestFrame } from "./frames.ts";
import type { AnswerFields, HpackEncoder } from "./hpack-encoder.ts";

/** Who takes the request of a stream. None of the methods throws. */
export interface StreamReader {
  /** Comes also while the stream is paused, as far as the client's window goes. */
  onData(bytes: Buffer): void;
  /** The request has ended. */
  onEnd(): void;
  /** Both sides have ended, or the stream was reset, or its connection is lost. Nothing follows. */
  onClose(): void;
}

/** What a stream needs of its connection. */
export interface StreamOwner {
  /** Something can be sent. */
  ready(stream: Http2Stream): void;
  sendReset(stream: Http2Stream, code: number): void;
  sendWindow(stream: Http2Stream, bytes: number): void;
  closed(stream: Http2Stream): void;
}

interface Chunk {
  bytes: Buffer;
  readonly onWritten: (() => void) | undefined;
}

/** What a stream knows of its request. */
export interface StreamRequest {
  /** Of the body, if the client said so. */
  readonly contentLength: number | undefined;
  /** What the stream keeps while it is open, beside bodies. */
  readonly heldBytes: number;
}

/** What a stream may send now. */
export interface SendRoom {
  /** Of the connection's window. */
  window: number;
  readonly encoder: HpackEncoder;
  readonly batch: FrameBatch;
  /** To be called when the batch has left. */
  readonly written: (() => void)[];
}

/** Our window for a stream is larger again when so much was taken. */
const creditBytes = 32 << 10;

const headersFlags = (isLast: boolean, isEnd: boolean): number => (isLast ? frameFlags.endHeaders : 0) | (isEnd ? frameFlags.endStream : 0);

/** A request and its answer (RFC 9113 §5). */
export class Http2Stream {
  readonly id: number;
  readonly heldBytes: number;
  readonly #contentLength: number;
  reader: StreamReader | undefined;
  readonly #owner: StreamOwner;
  /** What the client may still send. */
  #receiveWindow: number;
  /** What was taken, and not told to the client. */
  #credit = 0;
  /** What arrived while nobody asked for it. */
  #held = 0;
  isPaused = false;
  /** Of the body so far. */
  #bodyBytes = 0;
  /** The client has sent its last frame. */
  hasEnded = false;
  /** What we may still send; may be negative (RFC 9113 §6.9.2). */
  sendWindow: number;
  #head: { readonly fields: AnswerFields; readonly isShared: boolean } | undefined;
  #hasAnswered = false;
  #chunks: Chunk[] = [];
  #firstChunk = 0;
  /** Chunks before this one are in memory of their own. */
  #firstBorrowed = 0;
  /** Bytes of the first chunk that were sent. */
  #sentOfFirst = 0;
  #unsentBytes = 0;
  #ending: { readonly trailers: AnswerFields | undefined; readonly isShared: boolean } | undefined;
  /** The last frame of the answer was sent. */
  hasSentEnd = false;
  #brokenWith: number | undefined;
  isClosed = false;
  /** RFC 9113 §7: with which it was closed. */
  closeCode: number = errorCodes.none;
  /** Its connection was: why the service has ended that, or undefined where the client left. */
  lost: { readonly fault: string | undefined } | undefined;

  constructor(
    id: number,
    { contentLength, heldBytes }: StreamRequest,
    windows: { readonly receive: number; readonly send: number },
    owner: StreamOwner,
  ) {
    this.id = id;
    this.heldBytes = heldBytes;
    this.#contentLength = contentLength ?? Number.POSITIVE_INFINITY;
    this.#owner = owner;
    this.#receiveWindow = windows.receive;
    this.sendWindow = windows.send;
  }

  /** The head of the answer was given. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Of the body of the answer. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Something of the answer was given and not sent. */
  get isUnsent(): boolean {
    return this.#head !== undefined || this.#unsentBytes > 0 || (this.#ending !== undefined && !this.hasSentEnd);
  }

  /** Begins the answer. `isShared`: the object never changes, and is used for other answers, too. */
  respond(fields: AnswerFields, isShared = false): void {
    if (this.isClosed || this.isBroken || this.#hasAnswered) return;
    this.#hasAnswered = true;
    this.#head = { fields, isShared };
    this.#owner.ready(this);
  }

  /** Calls `onWritten` when the operating system has the bytes; never, if the stream is closed before. */
  write(bytes: Buffer, onWritten?: () => void): void {
    if (this.isClosed || this.isBroken || this.#ending) return;
    this.#chunks.push({ bytes, onWritten });
    this.#unsentBytes += bytes.length;
    this.#owner.ready(this);
  }

  /** Ends the answer. What is still to come of the request is dropped. */
  end(trailers?: AnswerFields, isShared = false): void {
    if (this.isClosed || this.isBroken || this.#ending) return;
    this.#ending = { trailers, isShared };
    this.resume();
    this.#owner.ready(this);
  }

  /** RFC 9113 §5.4.2: drops what waits. */
  reset(code: number): void {
    if (this.isClosed) return;
    this.#owner.sendReset(this, code);
    this.close(code);
  }

  /** The same, behind what the windows allow to be sent: until that has left, it is open. */
  breakOff(code: number): void {
    if (this.isClosed || this.isBroken) return;
    this.#brokenWith = code;
    if (this.isUnsent) this.#owner.ready(this);
    else this.endBroken();
  }

  get isBroken(): boolean {
    return this.#brokenWith !== undefined;
  }

  /** Nothing more of it can be sent. */
  endBroken(): void {
    if (this.#brokenWith !== undefined) this.reset(this.#brokenWith);
  }

  /** The client's window does not grow until somebody takes what comes. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    if (this.#held === 0) return;
    const bytes = this.#held;
    this.#held = 0;
    this.#give(bytes);
  }

  #give(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit < creditBytes || this.hasEnded || this.isClosed) return;
    this.#receiveWindow += this.#credit;
    this.#owner.sendWindow(this, this.#credit);
    this.#credit = 0;
  }

  /** A DATA frame came, of which `frameBytes` count for the windows. Returns the code of the error that it is; undefined if it is none. */
  receive(bytes: Buffer, frameBytes: number): number | undefined {
    this.#receiveWindow -= frameBytes;
    if (this.#receiveWindow < 0) return errorCodes.flowControl;
    this.#bodyBytes += bytes.length;
    // RFC 9113 §8.1.1
    if (this.#bodyBytes > this.#contentLength) return errorCodes.protocol;
    // The reader may pause the stream for it.
    this.#held += frameBytes;
    if (bytes.length > 0) this.reader?.onData(bytes);
    if (!this.isPaused) this.resume();
    return undefined;
  }

  /** The client has ended its side. The same for the length that it announced. */
  receiveEnd(): number | undefined {
    if (this.#contentLength !== Number.POSITIVE_INFINITY && this.#contentLength !== this.#bodyBytes) return errorCodes.protocol;
    this.hasEnded = true;
    this.reader?.onEnd();
    if (this.hasSentEnd) this.close(errorCodes.none);
    return undefined;
  }

  /** The last frame of the answer is on its way. A client that is still sending is asked to stop (RFC 9113 §8.1). */
  endSent(): void {
    if (this.isClosed) return;
    if (this.hasEnded) this.close(errorCodes.none);
    // Its last frame may be among those that were read.
    else setImmediate(() => this.reset(errorCodes.none));
  }

  /** Nothing more is sent or received. */
  close(code: number): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.closeCode = code;
    this.#head = undefined;
    this.#dropChunks();
    this.#unsentBytes = 0;
    this.#owner.closed(this);
    const { reader } = this;
    this.reader = undefined;
    reader?.onClose();
  }

  lose(fault: string | undefined): void {
    if (this.isClosed) return;
    this.lost = { fault };
    this.close(errorCodes.cancel);
  }

  /** With `connectionWindow` bytes of the connection's window. */
  canSend(connectionWindow: number): boolean {
    if (this.isClosed || this.hasSentEnd || !this.#hasAnswered) return false;
    if (this.#head || this.#unsentBytes === 0) return this.#head !== undefined || this.#hasChunks || this.#ending !== undefined;
    return this.sendWindow > 0 && connectionWindow > 0;
  }

  get #hasChunks(): boolean {
    return this.#firstChunk < this.#chunks.length;
  }

  #dropChunks(): void {
    this.#chunks = [];
    this.#firstChunk = 0;
    this.#firstBorrowed = 0;
  }

  /** What waits may do so for long: small chunks are copied out of the blocks of Node's pool, which they would keep. */
  keepChunks(): void {
    const borrowed = this.#chunks.slice(Math.max(this.#firstBorrowed, this.#firstChunk)).filter(({ bytes }) => isPartOfMore(bytes));
    this.#firstBorrowed = this.#chunks.length;
    if (borrowed.length === 0) return;
    let at = 0;
    const own = Buffer.allocUnsafeSlow(borrowed.reduce((sum, { bytes }) => sum + bytes.length, 0));
    for (const chunk of borrowed) {
      const end = at + chunk.bytes.copy(own, at);
      chunk.bytes = own.subarray(at, end);
      at = end;
    }
  }

  /** Writes the head, then one DATA frame, then the end, as far as there is any of it and the windows allow. */
  send(room: SendRoom): void {
    if (this.#head) {
      const { fields, isShared } = this.#head;
      this.#head = undefined;
      const isEnd = this.#ending !== undefined && this.#ending.trailers === undefined && !this.#hasChunks;
      this.#sendFields(fields, isShared, isEnd, room);
      if (isEnd) this.hasSentEnd = true;
    }
    if (this.#hasChunks) this.#sendData(room);
    if (!this.#ending || this.#hasChunks || this.hasSentEnd) return;
    const { trailers, isShared } = this.#ending;
    if (trailers) this.#sendFields(trailers, isShared, true, room);
    else room.batch.endFrame(room.batch.beginFrame(), frameTypes.data, frameFlags.endStream, this.id);
    this.hasSentEnd = true;
  }

  /** Small chunks go into one frame. */
  #sendData(room: SendRoom): void {
    const { batch, written } = room;
    let left = Math.min(largestFrame, this.sendWindow, room.window);
    if (left <= 0 && this.#unsentBytes > 0) return;
    const at = batch.beginFrame();
    const before = batch.length;
    batch.reserve(Math.min(left, this.#unsentBytes));
    while (this.#hasChunks) {
      const { bytes, onWritten } = this.#chunks[this.#firstChunk] as Chunk;
      const count = Math.min(left, bytes.length - this.#sentOfFirst);
      bytes.copy(batch.bytes, batch.length, this.#sentOfFirst, this.#sentOfFirst + count);
      batch.length += count;
      left -= count;
      this.#sentOfFirst += count;
      if (this.#sentOfFirst < bytes.length) break;
      if (onWritten) written.push(onWritten);
      this.#sentOfFirst = 0;
      this.#chunks[this.#firstChunk++] = none;
    }
    if (!this.#hasChunks || this.#firstChunk > 1_024) {
      const left = this.#chunks.slice(this.#firstChunk);
      const borrowedFrom = Math.max(0, this.#firstBorrowed - this.#firstChunk);
      this.#dropChunks();
      this.#chunks = left;
      this.#firstBorrowed = borrowedFrom;
    }
    const sent = batch.length - before;
    this.#unsentBytes -= sent;
    this.sendWindow -= sent;
    room.window -= sent;
    const isEnd = !this.#hasChunks && this.#ending !== undefined && this.#ending.trailers === undefined;
    if (isEnd) this.hasSentEnd = true;
    batch.endFrame(at, frameTypes.data, isEnd ? frameFlags.endStream : 0, this.id);
  }

  #sendFields(fields: AnswerFields, isShared: boolean, isEnd: boolean, { batch, encoder }: SendRoom): void {
    const at = batch.beginFrame();
    encoder.encode(fields, isShared, batch);
    const start = at + frameHeaderBytes;
    if (batch.length - start <= largestFrame) {
      batch.endFrame(at, frameTypes.headers, headersFlags(true, isEnd), this.id);
      return;
    }
    const block = Buffer.from(batch.bytes.subarray(start, batch.length));
    batch.length = at;
    for (let from = 0; from < block.length; from += largestFrame) {
      const frame = batch.beginFrame();
      batch.push(block.subarray(from, from + largestFrame));
      const isLast = from + largestFrame >= block.length;
      if (from === 0) batch.endFrame(frame, frameTypes.headers, headersFlags(isLast, isEnd), this.id);
      else batch.endFrame(frame, frameTypes.continuation, headersFlags(isLast, false), this.id);
    }
  }
}

const isPartOfMore = (bytes: Buffer): boolean => bytes.buffer.byteLength > 2 * bytes.length;
const none: Chunk = { bytes: Buffer.alloc(0), onWritten: undefined };
