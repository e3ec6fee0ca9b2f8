import type { Socket } from "node:net";
import { type ParsedSocket, pushTo, resume, stopReading } from "./parsed-socket.ts";
import type { PipelineMemory } from "./pipeline-limits.ts";

/** Has the bytes of a connection before Node's parser of HTTP. */
interface Taker {
  /** Null is the end. Returns whether more may come, as the stream's `push` does. */
  arrived(packet: Buffer | null): boolean;
  /** The parser has got a piece. */
  parsed(piece: Buffer): void;
  /** Node resumes reading, after each complete request and whenever a body is read. */
  resumed(): void;
}

/**
 * What arrives on a connection in front of Node's parser, and waits there, in order. Reading stops and goes on here. The socket knows its taker
 * by this alone: once another protocol has begun, it has none any more, and nothing of HTTP is kept for the connection.
 */
export class ArrivingBytes {
  readonly #socket: ParsedSocket;
  readonly #memory: PipelineMemory | undefined;
  #taker: Taker | undefined;
  /** What was read and not parsed. */
  readonly #waiting: Buffer[] = [];
  /** The last byte came, and some wait. */
  #hasEnded = false;
  #isStopped = false;

  constructor(socket: ParsedSocket, memory: PipelineMemory | undefined) {
    this.#socket = socket;
    this.#memory = memory;
  }

  giveTo(taker: Taker): void {
    this.#taker = taker;
    const socket = this.#socket;
    // Behind that of Node's parser, which does not read from the handle by itself any more.
    socket.on("data", this.#onParsed);
    socket.push = (packet: Buffer | null) => (this.#taker ? this.#taker.arrived(packet) : pushTo(socket, packet));
    socket.resume = (): Socket => {
      this.#taker?.resumed();
      return socket;
    };
  }

  readonly #onParsed = (piece: Buffer): void => this.#taker?.parsed(piece);

  /** Another protocol has begun, for which the rest is. */
  giveBack(): void {
    if (!this.#taker) return;
    this.#taker = undefined;
    const socket = this.#socket;
    // Deleted, it would leave V8 an object without a shape, slow for the protocol that begins. `push` stays: the ends of connections in turns are in front of it.
    socket.resume = resume.bind(undefined, socket);
    socket.off("data", this.#onParsed);
    for (let packet = this.take(); packet; packet = this.take()) pushTo(socket, packet);
    this.#pushEnd();
  }

  /** It waits behind the others; null is the end. */
  keep(packet: Buffer | null): void {
    if (packet === null) this.#hasEnded = true;
    else {
      this.#waiting.push(packet);
      this.#memory?.unparsed(packet.length);
    }
  }

  /** It comes before the others. */
  putBack(rest: Buffer): void {
    this.#waiting.unshift(rest);
    this.#memory?.unparsed(rest.length);
  }

  /** The next one of those that wait. */
  take(): Buffer | undefined {
    const packet = this.#waiting.shift();
    if (packet) this.#memory?.unparsed(-packet.length);
    return packet;
  }

  drop(): void {
    while (!this.isEmpty) this.take();
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  isMoreThan(bytes: number): boolean {
    const [first, second] = this.#waiting;
    return second !== undefined || (first !== undefined && first.length > bytes);
  }

  /** Nothing is read. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#socket.pause();
    // A "resume" may have been scheduled before.
    this.#socket.on("resume", stopReading);
  }

  /** Reading may begin again. */
  release(): void {
    if (this.#isStopped) this.#socket.off("resume", stopReading);
    this.#isStopped = false;
  }

  /** Nothing waits. */
  readOn(): void {
    this.#pushEnd();
    this.#socket.resume();
  }

  #pushEnd(): void {
    if (this.#hasEnded) pushTo(this.#socket, null);
    this.#hasEnded = false;
  }
}
