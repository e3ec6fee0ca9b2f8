import type { Metadata } from "@grpc/grpc-js";
import type { WorkShare } from "../../core/turns/work-connection.ts";
import type { CallEnd, CallEvents, CallHead, SentEnd } from "../engine/call-transport.ts";
import type { StartableTransport } from "../engine/listener-calls.ts";
import { inflateMessage, type MessageCoding } from "../engine/message-coding.ts";
import { StatusError, statusCode } from "../engine/status.ts";
import type { BodyReader } from "./body-reader.ts";
import type { WebCors } from "./web-cors.ts";
import type { AnswerFields, WebExchange } from "./web-exchange.ts";

export interface WebCallOptions {
  readonly exchange: WebExchange;
  readonly head: CallHead;
  readonly body: BodyReader;
  readonly cors: WebCors;
  readonly largestMessage: number;
  /** For the request of a method that takes one message to arrive; undefined for a stream. */
  readonly requestMs: number | undefined;
  /** Called for an answer that could not be written. */
  readonly onFault: (head: CallHead, error: unknown) => void;
}

/** What was sent as the end of a call. */
export interface WrittenEnd {
  readonly code: number;
  readonly message: string;
  /** If they are not header fields of the answer. */
  readonly trailers?: readonly (readonly [name: string, value: string])[];
}

/** A call on the web port: reads the messages of the request. A subclass for each protocol writes the answer. */
export abstract class WebCall implements StartableTransport {
  readonly head: CallHead;
  protected readonly exchange: WebExchange;
  readonly #options: WebCallOptions;
  readonly #body: BodyReader;
  #events: CallEvents | undefined;
  /** For the request. */
  #endWait: (() => void) | undefined;
  #isWanted = false;
  #isPumping = false;
  readonly #share: WorkShare;
  /** For its turn. */
  #isWaiting = false;
  #isInflating = false;
  #inflatedBytes = 0;
  /** Of the last message, for which the handler may wait for the end of the request. */
  #messageBytes = 0;
  receivedBytes = 0;
  /** The client has sent its last byte. */
  #hasEnded = false;
  #toldBodyEnd = false;
  /** Nothing more is read. */
  #isDone = false;
  #isOver = false;
  /** Once the exchange is closed. */
  #closed: { readonly aborted: string | undefined } | undefined;
  #written: WrittenEnd | undefined;
  #resetStatus: WrittenEnd | undefined;
  #wasEnding = false;

  constructor(options: WebCallOptions) {
    this.#options = options;
    this.head = options.head;
    this.exchange = options.exchange;
    this.#body = options.body;
    this.#share = options.head.connection.work.join(() => this.#goOn());
  }

  protected abstract writeHead(headers: Metadata | undefined, coding: MessageCoding): void;
  protected abstract writeFrame(frame: Buffer, onWritten: () => void): void;
  protected abstract writeEnd(end: CallEnd): WrittenEnd;

  start(events: CallEvents): void {
    this.#events = events;
    this.exchange.read({
      onData: (chunk) => this.#onChunk(chunk),
      onEnd: () => {
        this.#hasEnded = true;
        this.#pump();
        this.#count();
      },
      onClose: () => this.#close(),
    });
    const { requestMs } = this.#options;
    if (requestMs !== undefined) this.#endWait = this.head.connection.work.wait(requestMs, () => this.fail(tooSlow(requestMs)));
  }

  read(): void {
    this.#isWanted = true;
    // Asynchronous, so that the caller's step ends first.
    if (!this.#isPumping) queueMicrotask(() => this.#pump());
  }

  sentHeaders(): SentEnd["headers"] {
    return this.exchange.answered;
  }

  sendHeaders(headers: Metadata | undefined, coding: MessageCoding): void {
    this.#write(() => this.writeHead(headers, coding));
  }

  sendFrame(frame: Buffer, onWritten: () => void): void {
    this.#write(() => this.writeFrame(frame, onWritten));
  }

  end(end: CallEnd): void {
    this.#stopReading();
    this.#write(() => {
      this.#written = this.writeEnd(end);
    });
  }

  abandonUnread(): void {
    if (this.#wasEnding && this.exchange.isUnsent) this.exchange.reset();
    this.#wasEnding = true;
  }

  reset(status?: WrittenEnd): void {
    this.#stopReading();
    this.#resetStatus = status;
    this.exchange.reset(status?.code === statusCode("RESOURCE_EXHAUSTED"));
  }

  /** Begins the answer, and lets pages read all its fields. */
  protected respond(status: number, fields: AnswerFields): void {
    this.exchange.respond(status, this.#options.cors.readable(this.exchange, fields));
  }

  #write(step: () => void): void {
    // The client has left; "close" follows.
    if (this.#isOver || this.exchange.isOver) return;
    try {
      step();
    } catch (error) {
      this.#options.onFault(this.head, error);
      this.exchange.reset();
    }
  }

  #onChunk(chunk: Buffer): void {
    if (this.#isDone) return;
    try {
      this.#body.push(chunk);
    } catch (error) {
      this.fail(error as StatusError);
      return;
    }
    this.#pump();
    this.#body.keepRestOnly();
    this.#count();
    if (!this.#isWanted || this.#isWaiting) this.exchange.pause();
  }

  #goOn(): void {
    if (this.#closed) {
      this.#endInTurn();
      return;
    }
    this.#isWaiting = false;
    this.#pump();
    this.#count();
  }

  /** As much as there is time for in a turn. */
  #pump(): void {
    if (this.#isPumping || this.#isInflating || this.#isWaiting) return;
    this.#isPumping = true;
    try {
      while (this.#isWanted && !this.#isDone) {
        if (this.#body.hasNext && this.#share.isOver) {
          this.#isWaiting = true;
          this.#share.later();
          break;
        }
        const message = this.#body.next();
        if (!message && this.#body.hasNext) continue;
        if (message) {
          this.#isWanted = false;
          const { content, isCompressed } = message;
          if (!isCompressed) this.#message(content, content.length, false);
          else {
            this.#inflate(content);
            break;
          }
        } else if (!this.#hasEnded) {
          this.exchange.resume();
          break;
        } else if (!this.#toldBodyEnd) {
          this.#toldBodyEnd = true;
          this.#body.end();
        } else {
          this.#stopReading();
          this.#events?.onHalfClose();
        }
      }
    } catch (error) {
      this.fail(error as StatusError);
    } finally {
      this.#isPumping = false;
    }
  }

  #message(bytes: Buffer, wireBytes: number, compressed: boolean): void {
    this.#messageBytes = bytes.length;
    this.#events?.onMessage({ bytes, wireBytes, compressed });
  }

  #count(): void {
    const waiting = this.#hasEnded ? 0 : this.#messageBytes;
    const bytes = this.#isDone ? 0 : this.#body.heldBytes + this.#inflatedBytes + waiting;
    const more = bytes - this.receivedBytes;
    this.receivedBytes = bytes;
    this.head.connection.shares.memory.add(more);
  }

  #inflate(content: Buffer): void {
    this.#isInflating = true;
    this.#inflatedBytes = content.length;
    const { requestEncoding, connection } = this.head;
    inflateMessage(content, requestEncoding, this.#options.largestMessage, connection.work, (length) => {
      this.#inflatedBytes = content.length + length;
      this.#count();
      return !this.#isDone;
    }).then(
      (bytes) => {
        this.#isInflating = false;
        this.#inflatedBytes = 0;
        if (!this.#isDone) this.#message(bytes, content.length, true);
        this.#pump();
        this.#count();
      },
      (error: StatusError) => {
        this.#isInflating = false;
        this.fail(error);
      },
    );
  }

  fail(error: StatusError): void {
    if (this.#isDone) return;
    this.#stopReading();
    this.#events?.fail(error);
  }

  #stopReading(): void {
    this.#isDone = true;
    this.#body.clear();
    this.#count();
    this.#endWait?.();
  }

  /** As with calls of gRPC itself, hundreds may be reset by one piece. */
  #close(): void {
    this.#closed = { aborted: this.exchange.whyBroken() };
    this.#stopReading();
    this.#endInTurn();
  }

  #endInTurn(): void {
    if (this.#share.isOver) this.#share.later();
    else this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopReading();
    this.#events?.onOver(this.#sentEnd());
  }

  #sentEnd(): SentEnd {
    const { exchange } = this;
    const headers = exchange.answered;
    // A call without an end was broken off.
    const aborted = (this.#closed ?? { aborted: exchange.whyBroken() }).aborted ?? (this.#written ? undefined : "no status");
    if (aborted === undefined && this.#written) {
      const { code, message, trailers } = this.#written;
      return { headers, trailers, status: { code, message }, aborted };
    }
    // A client of HTTP/1.1 sees a lost connection, whatever the reason.
    const status = exchange.httpVersion === "2" ? this.#resetStatus : undefined;
    return { headers, trailers: undefined, status, aborted: status ? undefined : aborted };
  }
}

const tooSlow = (withinMs: number): StatusError =>
  new StatusError("DEADLINE_EXCEEDED", `the request did not arrive within ${withinMs / 1_000} s`);
