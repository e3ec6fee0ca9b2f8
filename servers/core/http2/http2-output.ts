import type { Socket } from "node:net";
import { Rotation } from "../turns/fair-order.ts";
import type { WorkConnection, WorkShare } from "../turns/work-connection.ts";
import { FrameBatch } from "./frame-batch.ts";
import { initialWindow, largestWindow } from "./frames.ts";
import { HpackEncoder } from "./hpack-encoder.ts";
import type { Http2Stream } from "./http2-stream.ts";

/** Of frames of streams in one write. */
const batchBytes = 64 << 10;
/** Of messages in one write, each of which has somebody to be told. */
const batchMessages = 1_024;
/** Answers to frames of the client that wait: until they have left no more of its frames are read. */
const mostControlBytes = 64 << 10;
/** Room for them that each connection keeps. */
const keptControlBytes = 256;

interface OutputEvents {
  /** Something has left. */
  onRoom(): void;
  /** So many streams have each sent a frame or more. */
  onSent(streams: number): void;
  /** Frames of the connection, and what is being written: bytes more, or less where it is negative. */
  onHeld(bytes: number): void;
}

/** All connections use it one after the other. */
const batch = new FrameBatch(2 * batchBytes);

/** What goes to the client: frames of the connection first, then those of the streams in turn, one each. There is one write at a time. */
export class Http2Output {
  readonly #socket: Socket;
  readonly #share: WorkShare;
  readonly #events: OutputEvents;
  readonly encoder = new HpackEncoder();
  /** Frames of the connection that wait, one behind the other: thousands of a few bytes may. */
  readonly #control = new FrameBatch(keptControlBytes);
  /** Of those of them that are being written. */
  #leavingBytes = 0;
  #heldBytes = 0;
  /** Of which the next one is the first. */
  readonly #ready = new Rotation<Http2Stream>();
  /** They wait for the window of the connection. */
  readonly #blocked = new Set<Http2Stream>();
  #window = initialWindow;
  #isScheduled = false;
  #isWriting = false;
  #isClosed = false;

  constructor(socket: Socket, work: WorkConnection, events: OutputEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#share = work.join(() => this.#flushInTurn());
  }

  /** More answers of the connection wait than is good. */
  get isFull(): boolean {
    return this.#control.length + this.#leavingBytes >= mostControlBytes;
  }

  /** Nothing waits but what the windows do not allow. */
  get isIdle(): boolean {
    return !this.#isWriting && this.#control.length === 0 && this.#ready.size === 0;
  }

  /** A frame of the connection, or one that ends a stream. */
  sendControl(frame: Buffer): void {
    if (this.#isClosed) return;
    this.#control.push(frame);
    this.#count(frame.length);
    this.#schedule();
  }

  ready(stream: Http2Stream): void {
    if (this.#isClosed) return;
    this.#ready.add(stream);
    if (this.#isWriting) stream.keepChunks();
    else this.#schedule();
  }

  /** RFC 9113 §6.9.1: false if the window becomes too large. */
  widen(bytes: number): boolean {
    if (this.#window + bytes > largestWindow) return false;
    this.#window += bytes;
    for (const stream of this.#blocked) this.#ready.add(stream);
    this.#blocked.clear();
    this.#schedule();
    return true;
  }

  /** It is closed. While nothing leaves, thousands may be. */
  forget(stream: Http2Stream): void {
    this.#ready.delete(stream);
    this.#blocked.delete(stream);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isWriting) return;
    this.#isScheduled = true;
    // Behind all that this step of the event loop makes.
    process.nextTick(this.#flush);
  }

  #flushInTurn(): void {
    if (this.#isWriting || this.#isScheduled) return;
    if (this.#share.isOver) this.#share.later();
    else this.#flush();
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    if (this.#isClosed || this.#isWriting) return;
    const written: (() => void)[] = [];
    const ended: Http2Stream[] = [];
    const broken: Http2Stream[] = [];
    this.#leavingBytes = this.#control.length;
    this.#control.moveTo(batch);
    const room = { window: this.#window, encoder: this.encoder, batch, written };
    let sent = 0;
    while (batch.length < batchBytes && written.length < batchMessages) {
      const stream = this.#ready.take();
      if (!stream) break;
      if (!stream.canSend(room.window)) {
        if (stream.isBroken) broken.push(stream);
        else {
          if (room.window <= 0 && stream.canSend(1)) this.#blocked.add(stream);
          stream.keepChunks();
        }
        continue;
      }
      stream.send(room);
      sent++;
      if (stream.hasSentEnd) ended.push(stream);
      else this.#ready.add(stream);
    }
    this.#window = room.window;
    if (sent > 0) this.#events.onSent(sent);
    // Their frames go with the next batch.
    for (const stream of broken) stream.endBroken();
    if (batch.length === 0) return;
    this.#write(batch.take(), written);
    for (const stream of ended) stream.endSent();
  };

  #write(bytes: Buffer, written: readonly (() => void)[]): void {
    const more = bytes.length - this.#leavingBytes;
    this.#isWriting = true;
    this.#count(more);
    this.#socket.write(bytes, (error) => {
      // "close" follows.
      if (!error) this.#left(written, more);
    });
    // The client reads slower than it is sent.
    if (this.#socket.writableLength > 0) for (const stream of this.#ready.members()) stream.keepChunks();
  }

  #count(bytes: number): void {
    if (this.#isClosed) return;
    this.#heldBytes += bytes;
    this.#events.onHeld(bytes);
  }

  #left(written: readonly (() => void)[], bytes: number): void {
    this.#isWriting = false;
    this.#count(-bytes - this.#leavingBytes);
    this.#leavingBytes = 0;
    if (this.#isClosed) return;
    for (const onWritten of written) onWritten();
    this.#events.onRoom();
    if (this.#control.length > 0 || this.#ready.size > 0) this.#flushInTurn();
  }

  /** Nothing more is sent. Returns what of the connection's frames waits. */
  close(): Buffer {
    const waiting = this.#control.take();
    this.#count(-this.#heldBytes);
    this.#isClosed = true;
    this.#ready.clear();
    this.#blocked.clear();
    return waiting;
  }
}
