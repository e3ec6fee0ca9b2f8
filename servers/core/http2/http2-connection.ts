import type { Socket } from "node:net";
import { startReading, stopReading } from "../net/socket-reading.ts";
import { oneStep, type WorkConnection, type WorkShare } from "../turns/work-connection.ts";
import { FloodLimits } from "./flood-limits.ts";
import { FrameReader } from "./frame-reader.ts";
import { errorCodes, Http2Error } from "./frames.ts";
import { Http2Output } from "./http2-output.ts";
import { Http2Session, type SessionEvents, type SessionLimits } from "./http2-session.ts";
import { Keepalive, type KeepaliveTimes } from "./keepalive.ts";

export interface Http2Limits extends SessionLimits, KeepaliveTimes {}

/** Who serves the streams of a connection. */
export interface Http2Events extends Pick<SessionEvents, "onStream" | "onRefused"> {
  /** The connection is being ended because of what the client did. */
  onFault(why: string): void;
  /** An error of ours, which ends the connection. */
  onError(error: unknown): void;
  /** What the connection keeps, with its open streams, beside what their readers have and bodies that wait: bytes more, or less where it is negative. */
  onHeld(bytes: number): void;
}

/** What the client may send while what it has sent waits for its turn. */
const mostWaiting = 8 << 10;

export const notHttp2 = "its first bytes are not those of HTTP/2";

/** So long what the client sends is read and dropped after the last frame: closing before would lose it. */
const lingerMs = 1_000;

/** Of one frame: a client whose frames come in more takes turns in being read. */
const mostPieces = 16;

/**
 * The server's side of a connection of HTTP/2 (RFC 9113). What the client sends is read one frame at a time, in the turns of all clients; while it waits
 * the socket is not read.
 */
export class Http2Connection {
  readonly #socket: Socket;
  readonly #work: WorkConnection;
  readonly #events: Http2Events;
  readonly #reader = new FrameReader();
  readonly #output: Http2Output;
  readonly #session: Http2Session;
  readonly #share: WorkShare;
  /** Is over, too, where what the streams of the connection have to do waits. */
  readonly #shareOfStreams: WorkShare;
  readonly #keepalive: Keepalive;
  #heldBytes = 0;
  /** That came since the last whole frame. */
  #pieces = 0;
  /** Nothing is read from the socket. */
  #isStopped = false;
  /** For its turn. */
  #isWaiting = false;
  /** Nothing more is read or sent. */
  #isOver = false;
  /** Why it was ended, where the client did not leave. */
  #fault: string | undefined;

  constructor(socket: Socket, work: WorkConnection, limits: Http2Limits, events: Http2Events) {
    this.#socket = socket;
    this.#work = work;
    this.#events = events;
    this.#share = work.join(() => this.#goOn());
    this.#shareOfStreams = work.join(() => {});
    const onHeld = (bytes: number): void => events.onHeld(bytes);
    const floods = new FloodLimits();
    this.#output = new Http2Output(socket, work, {
      onRoom: () => this.#onRoom(),
      onSent: (streams) => floods.answered(streams),
      onHeld,
    });
    this.#keepalive = new Keepalive(limits, {
      ping: (frame) => void work.run(oneStep(() => this.#output.sendControl(frame))),
      fail: (code, why) => this.#fail(code, why),
    });
    this.#session = new Http2Session(limits, floods, this.#output, {
      onStream: (stream, head) => events.onStream(stream, head),
      onHeld,
      onRefused: (why) => events.onRefused(why),
      onSettings: () => this.#keepalive.begin(),
      onPong: (content) => this.#keepalive.answered(content),
      onClosed: () => this.#endIfLeft(),
    });
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    // When the client has closed its half, ours has no use.
    socket.once("end", () => socket.destroy());
    socket.once("close", () => this.#lost());
    socket.resume();
  }

  /** Open streams go on, and new ones are refused; then the connection ends. */
  leave(): void {
    if (this.#isOver) return;
    this.#session.leave();
    this.#endIfLeft();
  }

  /** Ends the connection at once. */
  breakOff(why: string): void {
    this.#fail(errorCodes.enhanceYourCalm, why);
  }

  #receive(bytes: Buffer): void {
    if (this.#isOver) {
      this.#stop();
      this.#readLater();
      return;
    }
    this.#reader.push(bytes);
    this.#pieces++;
    if (!this.#isWaiting) {
      this.#goOn();
      return;
    }
    this.#stopIfMuch();
    this.#countHeld();
  }

  /** One that sends little reads on: to be read again it would wait behind all that send much. */
  #stopIfMuch(): void {
    if (this.#reader.length > mostWaiting) this.#stop();
  }

  #goOn(): void {
    this.#isWaiting = false;
    try {
      this.#readFrames();
      if (!this.#isOver) this.#session.settle();
    } catch (error) {
      if (error instanceof Http2Error) this.#fail(error.code, error.message);
      else {
        this.#events.onError(error);
        this.#fail(errorCodes.internal, "an error of the service");
      }
    }
    this.#countHeld();
  }

  #readFrames(): void {
    const isHttp2 = this.#reader.readPreface();
    if (isHttp2 === false) {
      this.#events.onFault(notHttp2);
      this.#socket.destroy();
      return;
    }
    // While requests wait that have begun, one frame in a turn: else ever more would be open, and none be done.
    for (let taken = 0; isHttp2 && (this.#session.isReading || this.#reader.hasNext) && !this.#isOver; taken++) {
      if (this.#output.isFull) {
        this.#stop();
        return;
      }
      if (taken === 0 ? this.#share.isOver : this.#shareOfStreams.isOver) {
        this.#isWaiting = true;
        this.#stopIfMuch();
        this.#share.later();
        return;
      }
      this.#pieces = 0;
      if (this.#session.isReading) this.#session.readOn();
      else this.#session.take(this.#reader.next());
    }
    if (this.#isOver) return;
    this.#reader.keepRestOnly();
    if (this.#pieces >= mostPieces) {
      this.#pieces = 0;
      this.#stop();
    }
    if (this.#isStopped) this.#readLater();
  }

  #stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#socket.pause();
    stopReading(this.#socket);
  }

  #readLater(): void {
    this.#work.readLater(() => {
      if (this.#socket.destroyed || this.#isWaiting) return;
      this.#isStopped = false;
      this.#socket.resume();
      startReading(this.#socket);
    });
  }

  #onRoom(): void {
    this.#endIfLeft();
    if (this.#isStopped && !this.#isWaiting && !this.#isOver && !this.#output.isFull) this.#goOn();
  }

  #countHeld(): void {
    const bytes = this.#isOver ? 0 : this.#reader.length + this.#session.heldBytes;
    if (bytes === this.#heldBytes) return;
    const more = bytes - this.#heldBytes;
    this.#heldBytes = bytes;
    this.#events.onHeld(more);
  }

  #endIfLeft(): void {
    if (this.#isOver || !this.#session.isLeaving || this.#session.streams > 0 || !this.#output.isIdle) return;
    this.#isOver = true;
    this.#end(this.#output.close());
  }

  #fail(code: number, why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#fault = why;
    this.#events.onFault(why);
    this.#end(Buffer.concat([this.#output.close(), this.#session.goaway(code)]));
    this.#loseStreams();
  }

  /** The last bytes would be lost if the socket were closed while something is unread. */
  #end(last: Buffer): void {
    const socket = this.#socket;
    this.#keepalive.end();
    this.#reader.clear();
    this.#countHeld();
    socket.end(last);
    this.#stop();
    this.#readLater();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
  }

  #lost(): void {
    this.#isOver = true;
    this.#isWaiting = false;
    this.#keepalive.end();
    this.#output.close();
    this.#reader.clear();
    this.#countHeld();
    this.#loseStreams();
  }

  /** There may be hundreds, also on other connections that are lost at the same time. */
  #loseStreams(): void {
    if (this.#session.streams > 0) void this.#work.run(this.#session.lose(this.#fault));
  }
}
