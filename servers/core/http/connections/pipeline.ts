import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { WorkConnection, WorkShare } from "../../turns/work-connection.ts";
import { ArrivingBytes } from "./arriving-bytes.ts";
import { ArrivingHead } from "./arriving-head.ts";
import { ChunkedBody, isChunked } from "./chunked-body.ts";
import { closeUnanswered } from "./close-unanswered.ts";
import { countDroppedBytes, takeDroppedBytes } from "./dropped-bytes.ts";
import { LengthBody } from "./paced-body.ts";
import {
  type ClientError,
  headerOverflow,
  ignoreError,
  nothing,
  type ParsedRequest,
  type ParsedSocket,
  passOn,
  pauseParser,
  pushTo,
  type RequestParser,
  resume,
} from "./parsed-socket.ts";
import type { PipelineLimits, PipelineMemory } from "./pipeline-limits.ts";
import { UnansweredResponses } from "./unanswered-responses.ts";

/** What the parser gets at once of heads: a head may have a field in each fourth byte. */
const headStepBytes = 4 << 10;

/**
 * The requests of one connection that were read and not answered (RFC 9112 §9.3.2). The next one begins when the connection has its turn among
 * all, the handler of the one before has waited for something or is done, and no more waits for the client than a socket should hold. Until then,
 * and with as many unanswered requests as the limit until half of them are answered, neither the parser nor the socket reads on. A pause of
 * the socket alone is not enough: the parser would go through all that was read in one piece, which may be thousands of requests, and all of
 * their answers would be held.
 */
export class Pipeline {
  readonly #socket: ParsedSocket;
  readonly #most: number;
  readonly #mostHeadSize: number;
  readonly #memory: PipelineMemory | undefined;
  /** Of the connection. */
  readonly work: WorkConnection;
  readonly #share: WorkShare;
  readonly #unanswered = new UnansweredResponses();
  #latest: ServerResponse | undefined;
  /** One of them, which another protocol could have followed. */
  #offersUpgrade = false;
  readonly #arriving: ArrivingBytes;
  /** Lets a request begin. */
  #take: RequestParser["onIncoming"] | undefined;
  /** The request whose head was the last that was parsed: it has not begun. */
  #next: ParsedRequest | undefined;
  #nextKeepsAlive = false;
  /** The parser was paused, and has not reported yet how far it came. */
  #isPausing = false;
  /** Nothing is parsed. */
  #held = false;
  #isReleasing = false;
  /** The body that arrives, if it is chunked. The parser gets it in steps. */
  #body: ChunkedBody | undefined;
  /** Of its bytes, the reader has not taken all. */
  #awaitsReader = false;
  readonly #head: ArrivingHead;
  /** Its head is too large: nothing more is parsed. */
  #isRefused = false;
  #hasFault = false;
  /** The share was not over when the piece came that is being parsed: the first request in it begins. */
  #mayBeginFirst = false;
  /** Another protocol has begun. */
  #isOver = false;
  readonly #onOver: () => void;

  /** Not in the constructor: what that holds of Node's parser would be held as long as the connection. */
  readonly #onClose = (): void => this.#closed();

  /**
   * To be called when Node's server has taken the socket. `work` is that of the connection: requests begin in its turns, and what is unanswered at its end is closed in
   * them. `onOver` is called when another protocol has begun and all is answered: nothing of this is needed any more, and whoever refers to it has to forget it.
   */
  constructor(socket: Socket, limits: PipelineLimits, work: WorkConnection, onOver: () => void, memory?: PipelineMemory) {
    this.#onOver = onOver;
    this.#memory = memory;
    this.#arriving = new ArrivingBytes(socket, memory);
    this.#head = new ArrivingHead((bytes) => memory?.unparsed(bytes));
    this.#socket = socket;
    this.#most = limits.unanswered;
    this.#mostHeadSize = 2 * limits.headerBytes;
    this.work = work;
    this.#share = work.join(() => this.#release());
    work.goesOn = () => this.#latest?.headersSent === false;
    socket.once("close", this.#onClose);
    // Node takes its own listener away at a CONNECT, which may stand behind a request whose answer could not be written.
    socket.on("error", ignoreError);
    const { parser } = this.#socket;
    if (!parser) return;
    this.#arriving.giveTo({
      arrived: (packet) => this.#arrived(packet),
      parsed: (piece) => this.#parsed(piece),
      resumed: () => this.#resumed(),
    });
    countDroppedBytes(parser);
    this.#take = parser.onIncoming;
    parser.onIncoming = (request, keepsAlive) => this.#incoming(request, keepsAlive);
  }

  /** The parser tells of a head. What this returns goes to it. */
  #incoming(request: ParsedRequest, keepsAlive: boolean): number {
    this.#head.ended();
    // A head comes behind the end of the body before.
    this.#body = undefined;
    // After a CONNECT the parser reads nothing more.
    if (request.method === "CONNECT") return this.#take?.(request, keepsAlive) ?? 0;
    const { upgrade } = request;
    if (this.#mayBegin(upgrade)) {
      const result = this.#begin(request, keepsAlive);
      // Behind a pause, one that offers another protocol would be taken for accepted.
      if (!this.#body || upgrade) return result;
    } else [this.#next, this.#nextKeepsAlive] = [request, keepsAlive];
    this.#isPausing = true;
    this.#hold();
    if (!this.#next || this.#hasRoom(this.#most - 1)) this.#releaseInTurn();
    else this.#arriving.stop();
    return pauseParser;
  }

  #begin(request: ParsedRequest, keepsAlive: boolean): number {
    const result = this.#take?.(request, keepsAlive) ?? 0;
    // Else no body is parsed.
    if (result === 0 && isChunked(request)) request.arriving = this.#body = new ChunkedBody(request);
    else if (request.headers["content-length"] !== undefined) request.arriving = this.#head.precedes(new LengthBody(request, this));
    return result;
  }

  #resumed(): void {
    const socket = this.#socket;
    if (!this.#held) {
      resume(socket);
      // The stream would not ask for more: it has not got what came.
      if (!socket.destroyed) socket._read(0);
    } else if (this.#awaitsReader) this.#releaseInTurn();
    this.#awaitsReader = false;
  }

  #parsed(piece: Buffer): void {
    this.#mayBeginFirst = false;
    const { parser } = this.#socket;
    if (!parser) this.#leave();
    if (!parser || this.#isRefused) return;
    // What came while the parser was paused waits.
    if (this.#held && !this.#head.hasEnded) return;
    const dropped = takeDroppedBytes(parser, piece);
    this.#head.parsed(dropped ? piece.subarray(0, -dropped.length) : piece, this.#body);
    if (dropped) this.#keep(dropped);
    if (this.#head.size <= this.#mostHeadSize) return;
    this.#isRefused = true;
    this.#arriving.drop();
    this.#socket.server?.emit("clientError", headerOverflow(this.#head.bytes), this.#socket);
  }

  /** It is parsed when the request before is answered. */
  #keep(rest: Buffer): void {
    this.#body = undefined;
    this.#arriving.putBack(rest);
    this.#hold();
    if (this.#unanswered.size === 0) this.#releaseInTurn();
  }

  /** Returns whether more may come, as the stream's own method does. What waits in the stream comes first. */
  #arrived(packet: Buffer | null): boolean {
    if (!this.#socket.parser) {
      this.#leave();
      return pushTo(this.#socket, packet);
    }
    if (this.#isRefused) return packet === null ? pushTo(this.#socket, null) : true;
    if (packet && this.#socket.readableLength > 0) return pushTo(this.#socket, packet);
    if (!this.#held && !this.#body && (packet === null || this.#mayParse(packet.length))) return passOn(this.#socket, packet);
    this.#arriving.keep(packet);
    if (this.#held) this.#arriving.stop();
    else {
      this.#hold();
      this.#releaseInTurn();
    }
    return !this.isStopped;
  }

  #mayParse(bytes: number): boolean {
    if (bytes <= this.#head.bodyBytesLeft) return true;
    this.#mayBeginFirst = bytes <= headStepBytes && !this.#share.isOver;
    return this.#mayBeginFirst;
  }

  #mayBegin(upgrade: boolean): boolean {
    const hasRoom = this.#hasRoom(this.#most - 1);
    const isGranted = this.#mayBeginFirst;
    this.#mayBeginFirst = false;
    if (!upgrade) return hasRoom && this.#latest?.writableEnded !== false && (isGranted || !this.#share.isOver);
    // The parser has to know at once whether another protocol begins, so this cannot wait.
    const isFirst = hasRoom && !this.#offersUpgrade;
    if (!isFirst) this.#socket.destroy();
    this.#offersUpgrade = true;
    return isFirst;
  }

  /** At most so many requests are unanswered, little of their answers waits, and there is memory for more than one of each connection. */
  #hasRoom(unanswered: number): boolean {
    const { size } = this.#unanswered;
    return size === 0 || (size <= unanswered && this.#memory?.isScarce !== true && this.unsentBytes <= this.#socket.writableHighWaterMark);
  }

  /** Another protocol has begun: the rest is for it, and nothing is kept for the connection once all is answered. */
  #leave(): void {
    this.#isOver = true;
    this.#arriving.giveBack();
    if (this.#unanswered.size > 0) return;
    this.#socket.off("close", this.#onClose);
    this.work.goesOn = undefined;
    this.#onOver();
  }

  /** Nothing is read until it is the connection's turn, or requests are answered. */
  get isStopped(): boolean {
    return this.#arriving.isStopped;
  }

  get socket(): Socket {
    return this.#socket;
  }

  get unanswered(): Pick<UnansweredResponses, "size"> {
    return this.#unanswered;
  }

  /** What was written of all answers and has not left. */
  get unsentBytes(): number {
    // What another protocol has written is no answer.
    if (this.#isOver && this.#unanswered.size === 0) return 0;
    return this.#unanswered.unsentBytes(this.#socket.writableLength);
  }

  /**
   * True, once, for an error of the parser that has to be answered. What follows a request that closes the connection is ignored (RFC 9112 §9.6), and
   * further errors are consequences of the same fault.
   */
  isFault(error: ClientError): boolean {
    const isBehindTheLast = error.code === "HPE_CLOSED_CONNECTION" && this.#socket.writable;
    if (this.handles(error) || this.#hasFault || isBehindTheLast) return false;
    this.#hasFault = true;
    return true;
  }

  /** Calls back, perhaps at once, when all that has begun is answered. False where a request has come in part: its answer may wait for the rest. */
  whenAnswered(then: () => void): boolean {
    const latest = this.#latest;
    if (latest && !latest.req.complete) return false;
    if (latest) latest.once("close", then);
    else then();
    return true;
  }

  /** Ends the connection with all of its unanswered requests; their rows say why. */
  disconnect(reason: string): void {
    this.#unanswered.abort(reason);
    this.#socket.destroy();
  }

  begin(response: ServerResponse): void {
    this.#unanswered.add(response);
    this.#latest = response;
  }

  /** To be called when the response has emitted "close". */
  answered(response: ServerResponse): void {
    this.#unanswered.delete(response);
    if (response === this.#latest) this.#latest = undefined;
    if (this.#unanswered.size === 0) this.#offersUpgrade = false;
    if (this.#isOver) this.#leave();
    else if (this.#held && this.#hasRoom(this.#most / 2)) this.#releaseInTurn();
  }

  #releaseInTurn(): void {
    if (!this.#isReleasing) this.#share.later();
    this.#isReleasing = true;
  }

  /** True for an error that says no more than that the parser is paused. */
  handles(error: ClientError): boolean {
    const { code, rawPacket, bytesParsed = 0 } = error;
    if (code === "ERR_HTTP_REQUEST_TIMEOUT") return this.#held; // It is late only because it was not read.
    if (code !== "HPE_PAUSED") {
      if (!this.#isRefused) this.#head.complete(error);
      return false;
    }
    if (this.#isPausing) {
      this.#isPausing = false;
      if (rawPacket && bytesParsed < rawPacket.length) this.#arriving.putBack(rawPacket.subarray(bytesParsed));
    } else {
      // TLS passes on all that it has decrypted, also while nothing should be read.
      if (rawPacket) this.#arriving.keep(rawPacket);
      this.#hold();
    }
    return true;
  }

  /** Reading goes on until more comes than a small piece: most clients send no more, and to stop and begin takes as long as to parse. */
  #hold(): void {
    if (this.#held) return;
    this.#held = true;
    // Node's own pause ends here: it would resume the parser before the bytes that wait.
    this.#socket._paused = false;
    if (this.#arriving.isMoreThan(headStepBytes)) this.#arriving.stop();
  }

  #release(): void {
    const socket = this.#socket;
    this.#isReleasing = false;
    this.#awaitsReader = false;
    this.#held = false;
    this.#arriving.release();
    const next = this.#next;
    this.#next = undefined;
    // An answer that closes the connection is the last one (RFC 9112 §9.6).
    if (socket.destroyed || socket.writableEnded || this.#isRefused) return;
    if (next) this.#begin(next, this.#nextKeepsAlive);
    // The parser was paused behind the head: a request without a body ends when it goes on, and more bytes may never come.
    if (next && this.#arriving.isEmpty) this.#arriving.keep(nothing);
    while (socket.parser && !this.#held && !socket.destroyed) {
      if (socket._paused) {
        // Node resumes both after its own pause, but knows nothing of the bytes that wait.
        if (!this.#arriving.isEmpty) this.#hold();
        return;
      }
      socket.parser.resume();
      const packet = this.#arriving.take();
      if (packet === undefined) {
        this.#arriving.readOn();
        return;
      }
      this.#parseStep(packet);
    }
    if (socket.parser) return;
    this.#leave();
    // Nobody may ever read from it, and its end has to be seen.
    socket._read(0);
  }

  #parseStep(packet: Buffer): void {
    const body = this.#body;
    const stepBytes = body ? body.step.bytes : Math.max(headStepBytes, this.#head.bodyBytesLeft);
    if (packet.length > stepBytes) this.#arriving.putBack(packet.subarray(stepBytes));
    this.#socket.emit("data", packet.subarray(0, stepBytes));
    if (!body) {
      if (this.#held || this.#arriving.isEmpty || !this.#share.isOver) return;
      this.#hold();
      this.#releaseInTurn();
      return;
    }
    // Behind its end, the next one may have begun.
    if (this.#body !== body) return;
    if (body.isComplete) this.#body = undefined;
    else if (!this.#held) this.#tookStep(body);
  }

  #tookStep(body: ChunkedBody): void {
    const { isOver } = this.#share;
    body.step.took(isOver);
    this.#awaitsReader = body.isUnread;
    if (!this.#awaitsReader && !isOver) return;
    this.#hold();
    if (!this.#awaitsReader) this.#releaseInTurn();
  }

  #closed(): void {
    this.#arriving.drop();
    this.#body = undefined;
    this.#next = undefined;
    if (this.#unanswered.size > 0) void this.work.run(closeUnanswered(this.#unanswered));
  }
}
